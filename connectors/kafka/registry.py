"""Writer schemas of Avro records, by any of the ids that a record may carry.

Confluent's protocol has one kind of id. Apicurio has three: those of its Confluent-compatible API, content ids, and
global ids; the last two are asked for at its own API. A schema never changes under its id, so what is found is kept
for good, and that nothing is found only for a while: a connector may be registering it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import assert_never

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.apicurio_registry import ApicurioSchemas
from connectors.kafka.confluent_registry import ConfluentSchemas
from connectors.kafka.registry_answers import AbsentError
from connectors.kafka.registry_config import RegistryConfig, RegistryKind

__all__ = ["Registry", "RegistryConfig", "RegistryKind"]


class Registry:
    """The schema registry as decoding needs it (:class:`connectors.debezium.wire.SchemaLookup`).

    Lives as long as its worker; nothing is asked for twice. Not for several threads at once.

    Args:
        clock: seconds that only rise.

    Raises:
        RegistryAccessError: a certificate file of the configuration cannot be used.
    """

    def __init__(self, config: RegistryConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._clock = clock
        self._confluent = ConfluentSchemas(config)
        native = config.apicurio_url
        self._apicurio = ApicurioSchemas(config, native) if native is not None else None
        self._found: dict[tuple[SchemaIdKind, int], str] = {}
        self._absent: dict[tuple[SchemaIdKind, int], tuple[float, str]] = {}

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        """The Avro schema's JSON text, named types of other schemas written into it.

        Raises:
            UnknownSchemaError: the registry answers and has no Avro schema of this id, or no ids of this kind.
            RegistryUnavailableError: it cannot be asked now; to be tried again, nothing is decided about the record.
            RegistryAccessError: it refuses these credentials.
        """
        at = (kind, schema_id)
        found = self._found.get(at)
        if found is not None:
            return found
        asked, why = self._absent.get(at, (float("-inf"), ""))
        if self._clock() - asked < self._config.unknown_seconds:
            raise self._unknown(schema_id, kind, why)
        try:
            schema = self._ask(schema_id, kind)
        except AbsentError as problem:
            self._absent[at] = (self._clock(), str(problem))
            raise self._unknown(schema_id, kind, str(problem)) from problem
        self._absent.pop(at, None)
        self._found[at] = schema
        return schema

    def _ask(self, schema_id: int, kind: SchemaIdKind) -> str:
        match kind:
            case SchemaIdKind.CONFLUENT:
                return self._confluent.avro(schema_id)
            case SchemaIdKind.CONTENT:
                # A Confluent-compatible API of Apicurio takes content ids by default.
                return self._apicurio.by_content_id(schema_id) if self._apicurio else self._confluent.avro(schema_id)
            case SchemaIdKind.GLOBAL:
                if self._apicurio is None:
                    raise AbsentError("this registry has no global ids; set registry.kind to apicurio if it is one")
                return self._apicurio.by_global_id(schema_id)
            case _:
                assert_never(kind)

    def _unknown(self, schema_id: int, kind: SchemaIdKind, why: str) -> UnknownSchemaError:
        return UnknownSchemaError(
            f"the schema registry has no Avro schema with the {kind} id {schema_id}: {why}",
            remedy="check that registry.url is the registry that the connector's converter writes to, and that the "
            "schema was not deleted for good",
            schema_id=schema_id,
            url=self._config.url,
        )
