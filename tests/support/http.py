"""What a server answers to a plain request."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

SECONDS = 60


@dataclass(frozen=True)
class Answered:
    """A response; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: str

    @property
    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """The body as Prometheus reads it: values by name and labels."""
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.body)
            for sample in family.samples
        }

    def value(self, metric: str, **labels: str) -> float | None:
        """One series of :attr:`samples`; None where it is not there."""
        return self.samples.get((metric, frozenset(labels.items())))


def ask(url: str, path: str = "/", method: str = "GET", **headers: str) -> Answered:
    """Ask a server on a port of this machine."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return Answered(
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            response.read().decode(),
        )
    finally:
        connection.close()
