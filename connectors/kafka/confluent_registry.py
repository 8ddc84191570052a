"""Schemas by id from a registry that speaks Confluent's protocol (Schema Registry API reference, "Schemas")."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Callable

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError

from connectors.kafka.avro_references import inline_references
from connectors.kafka.registry_answers import AbsentError, garbled, no_answer, refusal, unusable_file
from connectors.kafka.registry_config import RegistryConfig

_FIRST_WAIT_MS = 200


class ConfluentSchemas:
    """The schemas of one registry.

    Raises:
        RegistryAccessError: a certificate file cannot be used.
    """

    def __init__(self, config: RegistryConfig) -> None:
        self._url = config.confluent_url
        options: dict[str, object] = {
            "url": self._url,
            "timeout": config.timeout,
            "max.retries": config.attempts - 1,
            "retries.wait.ms": _FIRST_WAIT_MS,
            "basic.auth.user.info": f"{config.username}:{config.password or ''}" if config.username else None,
            "ssl.ca.location": config.ca_file,
            "ssl.certificate.location": config.certificate_file,
            "ssl.key.location": config.key_file,
        }
        try:
            self._client = SchemaRegistryClient({name: value for name, value in options.items() if value is not None})
        except (OSError, ssl.SSLError) as problem:
            raise unusable_file(problem, self._url) from problem

    def avro(self, schema_id: int) -> str:
        """The Avro schema's text, references inlined.

        Raises:
            AbsentError: there is no Avro schema of this id.
            RegistryUnavailableError: the registry cannot be asked now.
            RegistryAccessError: it refuses these credentials.
        """
        schema = self._ask(lambda: self._client.get_schema(schema_id))
        if schema.schema_type not in (None, "AVRO"):
            raise AbsentError(f"the schema is of type {schema.schema_type}, not Avro")
        return inline_references(self._text(schema), list(self._referenced(schema, {}).values()))

    def _referenced(self, schema: Schema, found: dict[tuple[str, int], str]) -> dict[tuple[str, int], str]:
        for reference in schema.references or ():
            at = (str(reference.subject), int(reference.version or 0))
            if at in found:
                continue
            registered = self._ask(functools.partial(self._version, *at))
            found[at] = self._text(registered)
            self._referenced(registered, found)
        return found

    def _text(self, schema: Schema) -> str:
        if not schema.schema_str:
            self._client.clear_caches()  # else it goes on to be the answer
            raise garbled("it holds no schema", self._url)
        return schema.schema_str

    def _version(self, subject: str, version: int) -> Schema:
        return self._client.get_version(subject, version, deleted=True).schema

    def _ask(self, question: Callable[[], Schema]) -> Schema:
        try:
            return question()
        except SchemaRegistryError as problem:
            raise refusal(problem.http_status_code, problem.error_message, self._url) from problem
        except Exception as problem:
            # Its network errors are those of whichever HTTP package is installed; all mean the same here.
            raise no_answer(f"{type(problem).__name__}: {problem}", self._url) from problem
