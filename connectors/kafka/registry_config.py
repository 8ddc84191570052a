"""Where a schema registry is and how to be let in: plain values that travel to executors."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

_APICURIO_PATH = re.compile(r"/apis/(ccompat|registry)/v\d+/?$")


class RegistryKind(enum.StrEnum):
    """Protocols of a schema registry."""

    CONFLUENT = "confluent"
    """Confluent's, which Karapace and Redpanda speak too."""
    APICURIO = "apicurio"
    """Apicurio's own API for content ids and global ids, and its Confluent-compatible one."""


@dataclass(frozen=True)
class RegistryConfig:
    """A schema registry; hashable, and its secrets do not show.

    Attributes:
        url: for Confluent the base of the API, several separated by commas; for Apicurio its base, or the address of
            either API: ``http://registry:8080``, ``.../apis/ccompat/v7``, ``.../apis/registry/v2``.
        username, password: HTTP basic authentication.
        ca_file: PEM file of the authorities that sign the registry's certificate; the system's when absent.
        certificate_file, key_file: PEM files for mutual TLS.
        native_url: Apicurio's own API where it cannot be derived from ``url``.
        timeout: seconds for each request, of which a failing one is made ``attempts`` times.
    """

    url: str
    kind: RegistryKind = RegistryKind.CONFLUENT
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    native_url: str | None = None
    timeout: float = 10.0
    attempts: int = 3

    @property
    def confluent_url(self) -> str:
        """The API with ``/schemas/ids/N``."""
        urls = [one.strip().rstrip("/") for one in self.url.split(",")]
        return ",".join(self._compatible(one) for one in urls)

    @property
    def apicurio_url(self) -> str | None:
        """The API with ``/ids/contentIds/N``; ``None`` for a registry that has none."""
        if self.native_url is not None:
            return self.native_url.rstrip("/")
        url = self.url.split(",")[0].strip().rstrip("/")
        match = _APICURIO_PATH.search(url)
        if match is None:
            return f"{url}/apis/registry/v2" if self.kind is RegistryKind.APICURIO else None
        return url if match[1] == "registry" else f"{url[: match.start()]}/apis/registry/v2"

    def _compatible(self, url: str) -> str:
        match = _APICURIO_PATH.search(url)
        if match is not None:
            return url if match[1] == "ccompat" else f"{url[: match.start()]}/apis/ccompat/v7"
        return f"{url}/apis/ccompat/v7" if self.kind is RegistryKind.APICURIO else url
