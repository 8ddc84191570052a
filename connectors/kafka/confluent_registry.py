"""Schemas by id from a registry that speaks Confluent's protocol (Schema Registry API reference, "Schemas")."""

from __future__ import annotations

import contextlib
import functools
import ssl
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError

from connectors.kafka.avro_references import inline_references
from connectors.kafka.registry_answers import (
    AbsentError,
    RefusedError,
    check_references,
    garbled,
    no_answer,
    refusal,
    unusable_file,
)
from connectors.kafka.registry_config import RegistryConfig
from connectors.told import told

_FIRST_WAIT_MS = 200
_MOST_SUBJECTS = 100
"""Subjects that are tried, to find one that may be read."""

Answer = TypeVar("Answer")


class ConfluentSchemas:
    """The schemas of one registry.

    Raises:
        RegistryAccessError: a certificate file cannot be used.
    """

    def __init__(self, config: RegistryConfig) -> None:
        self._url = config.confluent_url
        self._config = config
        self._readable: str | None = None
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
            RefusedError: it refuses this question, or (FailedError) fails at it.
            RegistryUnavailableError: the registry cannot be asked now.
            RegistryAccessError: it refuses these credentials.
        """
        try:
            schema = self._ask(lambda: self._client.get_schema(schema_id))
            if schema.schema_type not in (None, "AVRO"):
                raise AbsentError(f"the schema is of type {told(schema.schema_type)}, not Avro")
            return inline_references(self._text(schema), self._referenced(schema))
        finally:
            # It keeps each answer for good, one without a schema too; whoever asks here keeps what is worth it.
            self._client.clear_caches()

    def reads_any(self) -> bool:
        """Whether these credentials may read any schema; raises as :meth:`avro`, but for the first two."""
        readable = self._readable
        try:
            if readable is not None and self._reads(readable):
                return True
            subjects = self._ask(lambda: list(self._client.get_subjects())[:_MOST_SUBJECTS])
            self._readable = next(filter(self._reads, subjects), None)
        except (AbsentError, RefusedError):
            return False
        finally:
            self._client.clear_caches()
        return self._readable is not None

    def _reads(self, subject: str) -> bool:
        with contextlib.suppress(AbsentError, RefusedError):
            latest = self._ask(functools.partial(self._client.get_latest_version, subject))
            return bool(self._text(latest.schema))
        return False

    def _referenced(self, schema: Schema) -> list[str]:
        """The texts of the schemas that one refers to, directly and through others."""
        found: dict[tuple[str, int], str] = {}
        pending = [schema]
        while pending:
            for reference in pending.pop().references or ():
                at = _place(reference)
                if at in found:
                    continue
                check_references(len(found))
                registered = self._ask(functools.partial(self._version, *at))
                found[at] = self._text(registered)
                pending.append(registered)
        return list(found.values())

    def _text(self, schema: Schema) -> str:
        if not schema.schema_str or not isinstance(schema.schema_str, str):
            raise garbled("it holds no schema", self._url)
        return schema.schema_str

    def _version(self, subject: str, version: int) -> Schema:
        return self._client.get_version(subject, version, deleted=True).schema

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        try:
            return question()
        except SchemaRegistryError as problem:
            raise refusal(problem.http_status_code, self._told(problem.error_message), self._url) from problem
        except Exception as problem:
            # Its network errors are those of whichever HTTP package is installed; all mean the same here.
            raise no_answer(f"{type(problem).__name__}: {self._told(problem)}", self._url) from problem

    def _told(self, text: object) -> str:
        return told(text, self._config.username, self._config.password)


def _place(reference: SchemaReference) -> tuple[str, int]:
    """Subject and version that a schema refers to."""
    try:
        (reference.subject or "").encode()
        return str(reference.subject), int(reference.version or 0)
    except (AttributeError, TypeError, ValueError, OverflowError) as problem:
        raise AbsentError(f"it refers to what is no subject and version: {told(problem)}") from problem
