"""What OpenLineage calls the topics and the tables of a bridge, by its naming rules (specification, "Naming")."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from streaming.settings import BridgeSettings


@dataclass(frozen=True)
class DatasetNames:
    """Namespaces of a bridge's datasets.

    Attributes:
        kafka: ``kafka://host:port`` of the first bootstrap server.
        zone: ``file``, or ``abfss://container@host``.
        folder: path of the landing zone in its namespace; of a local one with the slash it begins with.
    """

    kafka: str
    zone: str
    folder: str

    def table(self, folder: str) -> str:
        """The name of the table in a folder of the zone."""
        return f"{self.folder}/{folder}" if self.folder else folder


def dataset_names(settings: BridgeSettings) -> DatasetNames:
    """The names by a bridge's settings."""
    server = settings.kafka.bootstrap_servers.split(",")[0].strip()
    parts = urlsplit(settings.landing_zone.url)
    path = unquote(parts.path).rstrip("/")
    if parts.scheme == "file":
        return DatasetNames(f"kafka://{server}", "file", path)
    return DatasetNames(f"kafka://{server}", f"{parts.scheme}://{parts.netloc}", path.lstrip("/"))
