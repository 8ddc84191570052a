"""Schemas by content id and global id from Apicurio's own API (Apicurio Registry, "Core Registry API", v2 and v3)."""

from __future__ import annotations

import base64
import http.client
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http import HTTPStatus

import msgspec

from connectors.kafka.avro_references import inline_references
from connectors.kafka.registry_answers import AbsentError, no_answer, refusal, unusable_file
from connectors.kafka.registry_config import RegistryConfig

_FIRST_WAIT_SECONDS = 0.2
_SAID = 200


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
        self._authorization = None
        if config.username is not None:
            pair = f"{config.username}:{config.password or ''}".encode()
            self._authorization = f"Basic {base64.b64encode(pair).decode()}"
        try:
            self._tls = ssl.create_default_context(cafile=config.ca_file)
            if config.certificate_file is not None:
                self._tls.load_cert_chain(config.certificate_file, config.key_file)
        except (OSError, ssl.SSLError) as problem:
            raise unusable_file(problem, url) from problem

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
        schema = self._get(content).decode()
        return inline_references(schema, list(self._referenced(references, {}).values()))

    def _referenced(self, path: str, found: dict[_Reference, str]) -> dict[_Reference, str]:
        try:
            listed = msgspec.json.decode(self._get(path), type=list[_Reference])
        except AbsentError:  # an old server, which knows no references
            return found
        for reference in listed:
            if reference not in found:
                group = urllib.parse.quote(reference.group_id or "default", safe="")
                artifact = urllib.parse.quote(reference.artifact_id, safe="")
                version = urllib.parse.quote(reference.version or "", safe="")
                base = f"groups/{group}/artifacts/{artifact}/versions/{version}"
                content = f"{base}/content" if self._url.endswith("/v3") else base
                found[reference] = self._get(content).decode()
                self._referenced(f"{base}/references", found)
        return found

    def _get(self, path: str) -> bytes:
        url = f"{self._url}/{path}"
        request = urllib.request.Request(url, headers={"Accept": "application/json, */*"})  # noqa: S310
        if self._authorization is not None:
            request.add_header("Authorization", self._authorization)
        wait = _FIRST_WAIT_SECONDS
        for attempt in range(1, self._config.attempts + 1):
            try:
                with urllib.request.urlopen(request, timeout=self._config.timeout, context=self._tls) as answer:  # noqa: S310
                    return bytes(answer.read())
            except urllib.error.HTTPError as problem:
                passing = problem.code >= HTTPStatus.INTERNAL_SERVER_ERROR or problem.code in (408, 429)
                error: Exception = refusal(problem.code, problem.read(_SAID).decode(errors="replace"), self._url)
                if not passing:
                    raise error from problem
            except (OSError, http.client.HTTPException) as problem:
                error = no_answer(f"{type(problem).__name__}: {problem}", self._url)
            if attempt < self._config.attempts:
                self._sleep(wait)
                wait *= 2
        raise error
