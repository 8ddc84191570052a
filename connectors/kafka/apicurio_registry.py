"""Schemas by content id and global id from Apicurio's own API (Apicurio Registry, "Core Registry API", v2 and v3)."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

import msgspec
import urllib3

from connectors.json_errors import DECODE_ERRORS
from connectors.kafka.avro_references import inline_references
from connectors.kafka.registry_answers import AbsentError, garbled, no_answer, refusal, unusable_file
from connectors.kafka.registry_config import RegistryConfig

_FIRST_WAIT_SECONDS = 0.2
_SAID = 200
_PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
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
        self._connections = urllib3.PoolManager(headers=headers, timeout=config.timeout, ssl_context=tls)

    def by_content_id(self, content_id: int) -> str:
        """The schema's text, references inlined.

        Raises:
            AbsentError: there is no content of this id.
            RegistryUnavailableError: the registry cannot be asked now.
            RegistryAccessError: it refuses these credentials.
        """
        return self._standing_alone(f"ids/contentIds/{content_id}", f"ids/contentIds/{content_id}/references")

    def by_global_id(self, global_id: int) -> str:
        """As :meth:`by_content_id`, for the id of one version of one artifact."""
        return self._standing_alone(f"ids/globalIds/{global_id}", f"ids/globalIds/{global_id}/references")

    def _standing_alone(self, content: str, references: str) -> str:
        schema = self._text(content)
        return inline_references(schema, list(self._referenced(references, {}).values()))

    def _referenced(self, path: str, found: dict[_Reference, str]) -> dict[_Reference, str]:
        try:
            listed = msgspec.json.decode(self._get(path), type=list[_Reference])
        except AbsentError:  # an old server, which knows no references
            return found
        except DECODE_ERRORS as problem:
            raise garbled(str(problem), self._url) from problem
        for reference in listed:
            if reference not in found:
                group = quote(reference.group_id or "default", safe="")
                artifact = quote(reference.artifact_id, safe="")
                version = quote(reference.version or "", safe="")
                base = f"groups/{group}/artifacts/{artifact}/versions/{version}"
                content = f"{base}/content" if self._url.endswith("/v3") else base
                found[reference] = self._text(content)
                self._referenced(f"{base}/references", found)
        return found

    def _text(self, path: str) -> str:
        try:
            return self._get(path).decode()
        except UnicodeDecodeError as problem:
            raise garbled(str(problem), self._url) from problem

    def _get(self, path: str) -> bytes:
        wait = _FIRST_WAIT_SECONDS
        for attempt in range(1, self._config.attempts + 1):
            try:
                answer = self._connections.request("GET", f"{self._url}/{path}", retries=_ONLY_REDIRECTS)
            except urllib3.exceptions.HTTPError as problem:
                cause = problem.reason if isinstance(problem, urllib3.exceptions.MaxRetryError) else problem
                error: Exception = no_answer(f"{type(cause).__name__}: {cause}", self._url)
            else:
                said = answer.data[:_SAID].decode(errors="replace")
                if answer.status != HTTPStatus.OK:
                    error = refusal(answer.status, said, self._url)
                    if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR and answer.status not in _PASSING:
                        raise error
                elif answer.headers.get("Content-Type", "").lower().startswith("text/html"):
                    error = garbled(said, self._url)
                else:
                    return answer.data
            if attempt < self._config.attempts:
                self._sleep(wait)
                wait *= 2
        raise error
