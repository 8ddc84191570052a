"""Schemas by content id and global id from Apicurio's own API (Apicurio Registry, "Core Registry API", v2 and v3)."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

import msgspec
import urllib3

from connectors.debezium.wire import QUESTIONS_AT_ONCE
from connectors.json_errors import DECODE_ERRORS
from connectors.kafka.avro_references import inline_references
from connectors.kafka.errors import RegistryUnavailableError
from connectors.kafka.registry_answers import (
    AbsentError,
    FailedError,
    check_references,
    garbled,
    no_answer,
    refusal,
    unusable_file,
)
from connectors.kafka.registry_config import RegistryConfig
from connectors.told import told

_FIRST_WAIT_SECONDS = 0.2
# Attempts are counted here, where the pauses between them are known.
_ONLY_REDIRECTS = urllib3.Retry(total=None, connect=0, read=0, redirect=3, status=0, other=0)


class _Reference(msgspec.Struct, frozen=True):
    # Apicurio writes the default group as null in version 2 and as "default" in version 3.
    artifact_id: str = msgspec.field(name="artifactId")
    version: str | None = None
    group_id: str | None = msgspec.field(name="groupId", default=None)


class ApicurioSchemas:
    """The schemas of one registry.

    Args:
        url: of the API, ending in ``/apis/registry/v2`` or ``/v3``.

    Raises:
        RegistryAccessError: a certificate file cannot be used.
    """

    def __init__(self, config: RegistryConfig, url: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url = url
        self._config = config
        self._sleep = sleep
        headers = {"Accept": "application/json, */*"}
        if config.username is not None:
            pair = f"{config.username}:{config.password or ''}"
            headers |= urllib3.make_headers(basic_auth=pair)
        try:
            tls = ssl.create_default_context(cafile=config.ca_file)
            if config.certificate_file is not None:
                tls.load_cert_chain(config.certificate_file, config.key_file)
        except (OSError, ssl.SSLError) as problem:
            raise unusable_file(problem, url) from problem
        self._connections = urllib3.PoolManager(
            headers=headers, timeout=config.timeout, ssl_context=tls, maxsize=QUESTIONS_AT_ONCE
        )

    def by_content_id(self, content_id: int) -> str:
        """The schema's text, references inlined.

        Raises:
            AbsentError: there is no content of this id, or none that could be an Avro schema.
            RefusedError: it refuses this question, or (FailedError) fails at it.
            RegistryUnavailableError: the registry cannot be asked now.
            RegistryAccessError: it refuses these credentials.
        """
        return self._standing_alone(f"ids/contentIds/{content_id}", f"ids/contentIds/{content_id}/references")

    def by_global_id(self, global_id: int) -> str:
        """As :meth:`by_content_id`, for the id of one version of one artifact."""
        return self._standing_alone(f"ids/globalIds/{global_id}", f"ids/globalIds/{global_id}/references")

    def _standing_alone(self, content: str, references: str) -> str:
        return inline_references(self._text(content), self._referenced(references))

    def _referenced(self, references: str) -> list[str]:
        """The texts of the schemas that one refers to, directly and through others.

        Args:
            references: where the registry lists the direct ones.
        """
        found: dict[_Reference, str] = {}
        pending = [references]
        while pending:
            for reference in self._listed(pending.pop()):
                if reference in found:
                    continue
                check_references(len(found))
                group = quote(reference.group_id or "default", safe="")
                artifact = quote(reference.artifact_id, safe="")
                version = quote(reference.version or "", safe="")
                base = f"groups/{group}/artifacts/{artifact}/versions/{version}"
                found[reference] = self._text(f"{base}/content" if self._url.endswith("/v3") else base)
                pending.append(f"{base}/references")
        return list(found.values())

    def _listed(self, path: str) -> list[_Reference]:
        try:
            return msgspec.json.decode(self._get(path), type=list[_Reference])
        except AbsentError:  # an old server, which knows no references
            return []
        except DECODE_ERRORS as problem:
            raise garbled(self._told(problem), self._url) from problem

    def _text(self, path: str) -> str:
        try:
            return self._get(path).decode()
        except UnicodeDecodeError as problem:
            # Anything can be an artifact; JSON is UTF-8 (RFC 8259, "Character Encoding").
            raise AbsentError(f"the artifact is not UTF-8, so no Avro schema: {self._told(problem)}") from problem

    def _told(self, text: object) -> str:
        return told(text, self._config.username, self._config.password)

    def _get(self, path: str) -> bytes:
        wait = _FIRST_WAIT_SECONDS
        for attempt in range(1, self._config.attempts + 1):
            try:
                answer = self._connections.request("GET", f"{self._url}/{path}", retries=_ONLY_REDIRECTS)
            except urllib3.exceptions.HTTPError as problem:
                cause = problem.reason if isinstance(problem, urllib3.exceptions.MaxRetryError) else problem
                error: Exception = no_answer(f"{type(cause).__name__}: {self._told(cause)}", self._url)
            else:
                page = answer.headers.get("Content-Type", "").lower().startswith("text/html")
                if answer.status == HTTPStatus.OK and not page:
                    return answer.data
                said = self._told(answer.data.decode(errors="replace"))
                error = (
                    garbled(said, self._url)
                    if answer.status == HTTPStatus.OK
                    else refusal(answer.status, said, self._url)
                )
                if not isinstance(error, RegistryUnavailableError | FailedError):
                    raise error
            if attempt < self._config.attempts:
                self._sleep(wait)
                wait *= 2
        raise error
