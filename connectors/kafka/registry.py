"""Writer schemas of Avro records, by any of the ids that a record may carry.

Confluent's protocol has one kind of id. Apicurio has three: those of its Confluent-compatible API, content ids, and
global ids; the last two are asked for at its own API. A schema never changes under its id, so what is found is kept.
That nothing is found is not: somebody may have written an id into a record that a connector's next schema gets.

An id that is refused is refused alone as long as these credentials read other schemas: the schema may be somebody
else's. Anybody can write any id into a record, so that alone must not stop anything. So it is with an id that the
registry fails at (HTTP 500, a proxy's page in the schema's place), once it has for a minute, and gave others meanwhile.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import assert_never

from connectors.debezium.errors import UnknownSchemaError
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.apicurio_registry import ApicurioSchemas
from connectors.kafka.registry_answers import AbsentError, EndlessError, FailedError, RefusedError
from connectors.kafka.registry_config import RegistryConfig, RegistryKind

_log = logging.getLogger(__name__)

__all__ = ["Registry", "RegistryConfig", "RegistryKind"]

_ALONE_SECONDS = 60.0
"""How long the registry has to fail at one id alone before that is the id's fault."""
_PAUSE_SECONDS = 5.0

# Somebody who names another schema in every record must not fill the memory.
_KEPT_IDS = 4096
_KEPT_CHARACTERS = 64 * 1024 * 1024


class Registry:
    """The schema registry as decoding needs it (:class:`connectors.debezium.wire.SchemaLookup`).

    Lives as long as its worker; no schema is asked for twice, unless there are very many. Any threads may ask at once.

    Args:
        clock: seconds that only rise; sleep: waits so many.

    Raises:
        RegistryAccessError: a certificate file of the configuration cannot be used.
    """

    def __init__(
        self,
        config: RegistryConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        # Imported here: most records are JSON, and every worker of Spark would load its client for nothing.
        from connectors.kafka.confluent_registry import ConfluentSchemas

        self._config = config
        self._clock = clock
        self._sleep = sleep
        self._confluent = ConfluentSchemas(config)
        native = config.apicurio_url
        self._apicurio = ApicurioSchemas(config, native) if native is not None else None
        self._found: dict[tuple[SchemaIdKind, int], str] = {}
        self._held = 0
        self._endless: dict[tuple[SchemaIdKind, int], str] = {}
        self._failing: dict[tuple[SchemaIdKind, int], tuple[float, float]] = {}
        self._keeping = threading.Lock()

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        """The Avro schema's JSON text, named types of other schemas written into it.

        Raises:
            UnknownSchemaError: the registry answers and has no Avro schema of this id, or no ids of this kind, or
                refuses this one, or has failed at it for a minute, and gives others.
            RegistryUnavailableError: it cannot be asked now; to be tried again, nothing is decided about the record.
            RegistryAccessError: it refuses these credentials.
        """
        at = (kind, schema_id)
        with self._keeping:
            found, endless = self._found.get(at), self._endless.get(at)
        if found is not None:
            return found
        if endless is not None:
            raise self._unknown(schema_id, endless, _ABSENT_REMEDY)
        try:
            schema = self._ask_patiently(at)
        except AbsentError as problem:
            what = f"has no Avro schema with the {kind} id {schema_id}: {problem}"
            if isinstance(problem, EndlessError):
                self._keep_endless(at, what)
            raise self._unknown(schema_id, what, _ABSENT_REMEDY) from problem
        except FailedError as problem:
            what = f"gives other schemas, and fails for a minute at the one with the {kind} id {schema_id}: {problem}"
            raise self._unknown(schema_id, what, _FAILED_REMEDY) from problem
        except RefusedError as problem:
            if not self._lets_in():
                raise problem.otherwise from problem
            what = f"gives other schemas, and refuses the one with the {kind} id {schema_id}: {problem}"
            raise self._unknown(schema_id, what, _REFUSED_REMEDY) from problem
        self._keep(at, schema)
        return schema

    def _keep(self, at: tuple[SchemaIdKind, int], schema: str) -> None:
        with self._keeping:
            if len(self._found) >= _KEPT_IDS or self._held + len(schema) > _KEPT_CHARACTERS:
                self._found.clear()
                self._held = 0
            self._found[at] = schema
            self._held += len(schema)

    def _keep_endless(self, at: tuple[SchemaIdKind, int], what: str) -> None:
        with self._keeping:
            if len(self._endless) >= _KEPT_IDS:
                self._endless.clear()
            self._endless[at] = what

    def _ask_patiently(self, at: tuple[SchemaIdKind, int]) -> str:
        """As :meth:`_ask`, and again for a minute where the registry fails at this id and gives others."""
        while True:
            try:
                schema = self._ask(*at)
            except FailedError as problem:
                if not self._gives_others(at[0]):
                    with self._keeping:
                        self._failing.clear()
                    raise problem.otherwise from problem
                if self._has_failed_for(at) >= _ALONE_SECONDS:
                    raise
                _log.warning(
                    "The schema registry gives other schemas, and fails at one: %s",
                    problem,
                    extra={"facts": {"schema_id": at[1], "kind": str(at[0])}},
                )
                self._sleep(_PAUSE_SECONDS)
            else:
                with self._keeping:
                    self._failing.pop(at, None)
                return schema

    def _gives_others(self, kind: SchemaIdKind) -> bool:
        """Whether it gives a schema at the API of this kind of id; raises as :meth:`avro_schema`.

        Confluent's is asked for its subjects: an id that was read before could come from a cache in front of it.
        """
        if kind is SchemaIdKind.CONFLUENT or self._apicurio is None:
            return self._confluent.reads_any()
        with self._keeping:
            known = next((at for at in reversed(self._found) if at[0] is kind), None)
        return known is not None and self._answers(*known)

    def _has_failed_for(self, at: tuple[SchemaIdKind, int]) -> float:
        """Seconds since the first failure at an id, without a pause in which nobody has asked."""
        now = self._clock()
        with self._keeping:
            first, last = self._failing.get(at, (now, now))
            first = first if now - last <= _ALONE_SECONDS else now
            if len(self._failing) >= _KEPT_IDS:
                self._failing.clear()
            self._failing[at] = (first, now)
        return now - first

    def _lets_in(self) -> bool:
        """Whether these credentials may read any schema; raises as :meth:`avro_schema`."""
        with self._keeping:
            known = next(reversed(self._found), None)
        return (known is not None and self._answers(*known)) or self._confluent.reads_any()

    def _answers(self, kind: SchemaIdKind, schema_id: int) -> bool:
        with contextlib.suppress(AbsentError, RefusedError):
            return bool(self._ask(kind, schema_id))
        return False

    def _ask(self, kind: SchemaIdKind, schema_id: int) -> str:
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

    def _unknown(self, schema_id: int, what: str, remedy: str) -> UnknownSchemaError:
        return UnknownSchemaError(
            f"the schema registry {what}", remedy=remedy, schema_id=schema_id, url=self._config.url
        )


_ABSENT_REMEDY = (
    "check that registry.url is the registry that the connector's converter writes to, and that the schema was not "
    "deleted for good"
)
_REFUSED_REMEDY = (
    "let the user of registry read the schema's subject if it is the connector's; otherwise find out who writes such "
    "records into the topic"
)
_FAILED_REMEDY = (
    "look into the registry's log why it fails at this id: if the schema is the connector's, mend it and replay the "
    "records; otherwise find out who writes such records into the topic"
)
