"""Where lineage events go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pydantic import Field, FilePath, SecretStr

from streaming.settings.kafka import BaseUrl
from streaming.settings.scalars import Duration
from streaming.settings.secrets import secret_text, secret_twice
from streaming.settings.section import KeyPath, Section


class Lineage(Section):
    """OpenLineage events of a run, see [Lineage](lineage.md); none without `url` or `client_file`."""

    url: BaseUrl | None = Field(default=None, examples=["http://marquez:5000"])
    """Address of the server that takes OpenLineage events over HTTP."""
    endpoint: str = Field(default="api/v1/lineage", pattern=r"^[^\s?#]+$")
    """Path behind the address that events are posted to."""
    api_key: SecretStr | None = None
    """Key that the server asks for, sent as a bearer token; better in the environment or in a file."""
    api_key_file: FilePath | None = Field(default=None, examples=["/run/secrets/lineage-api-key"])
    """File that holds the key."""
    ca_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/lineage-ca.pem"])
    """PEM file with the certificate authorities of the server; without it the ones that Python's requests knows."""
    client_file: FilePath | None = Field(default=None, examples=["/etc/cdc-bridge/openlineage.yml"])
    """The OpenLineage client's own configuration instead of url, for each of its transports (file, Kafka, ...)."""
    namespace: str = Field(default="cdc-bridge", min_length=1)
    """Namespace of the job; its name is the source's."""
    interval: Duration = timedelta(minutes=1)
    """Time that one event of a running job stands for; micro-batches within are added up."""
    timeout: Duration = timedelta(seconds=5)
    """Longest wait for an answer, and at the end of a run for the last event to be taken."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from secret_twice("api_key", self.api_key, self.api_key_file)
        if self.url is not None and self.client_file is not None:
            yield ("client_file",), "can't be set together with url: keep one of the two"
        for key in ("api_key", "api_key_file", "ca_file"):
            if self.url is None and getattr(self, key) is not None:
                yield (key,), "has no effect without url: set it, or remove the key"
        if self.interval < timedelta(seconds=1):
            yield ("interval",), "must be at least 1s"
        if self.timeout < timedelta(seconds=1):
            yield ("timeout",), "must be at least 1s"

    @property
    def on(self) -> bool:
        """Whether events are sent."""
        return self.url is not None or self.client_file is not None

    def api_key_text(self) -> str | None:
        """The key from whichever setting holds it; raises as :func:`secret_text`."""
        return secret_text(self.api_key, self.api_key_file)
