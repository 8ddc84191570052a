"""The whole configuration of one source database."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from connectors.fabric.place import ids_of
from streaming.policies import Markers
from streaming.settings.destination import DeadLetters, LandingZone, Parquet, Publish, State, is_local, location_problem
from streaming.settings.fabric import Fabric, StatusSource
from streaming.settings.format import Connector, Format
from streaming.settings.kafka import Kafka, Registry
from streaming.settings.lineage import Lineage
from streaming.settings.observing import Http, Metrics
from streaming.settings.runtime import Log, Ordering, Requests, Retry, Spark, Trigger
from streaming.settings.scalars import matching
from streaming.settings.section import KeyPath, Section
from streaming.settings.source import Source
from streaming.settings.tables import Tables

ENVIRONMENT_PREFIX = "CDC_BRIDGE_"
ENVIRONMENT_DELIMITER = "__"

SourceName = Annotated[
    str,
    matching(
        r"[a-z0-9][a-z0-9._-]{0,99}",
        "is not a source's name: up to 100 lower-case letters, digits, dots, dashes, underscores; no sign first",
    ),
]


class BridgeSettings(Section, BaseSettings):
    """Everything that one YAML file configures: one source database into one landing zone."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter=ENVIRONMENT_DELIMITER,
        env_ignore_empty=True,
    )

    name: SourceName = Field(examples=["shop"])
    """Name of the source: lower-case letters, digits, dots, dashes. Part of topic and query names, and the ledger is
    bound to it: keep it."""
    kafka: Kafka
    """The Kafka cluster and the topics that Debezium writes."""
    source: Source = Source()
    """The source database and its connector, for rebuilds, check and reconcile."""
    registry: Registry | None = None
    """The schema registry; needed for Avro."""
    connector: Connector = Connector.AUTO
    """Debezium connector that wrote the events; auto reads it from each event."""
    format: Format = Format()
    """Encoding of the records, where they don't say so themselves."""
    tables: Tables = Tables()
    """Which tables land, under which names, and by which rules."""
    markers: Markers = Markers.SAFE
    """safe never writes row marker 0 for a table with a key; natural does where a row is proven new, until
    the connector begins again, if the connector sends truncates or there are none."""
    landing_zone: LandingZone
    """Where the tables go."""
    parquet: Parquet = Parquet()
    """Encoding of Parquet files."""
    state: State = State()
    """Where the ledger and Spark's checkpoint live."""
    dead_letters: DeadLetters = DeadLetters()
    """Where records go that can't be decoded."""
    trigger: Trigger = Trigger()
    """When a micro-batch starts and how much it takes."""
    spark: Spark = Spark()
    """The Spark session."""
    ordering: Ordering = Ordering()
    """How events of several partitions of one table are merged."""
    publish: Publish = Publish()
    """How committed files become visible."""
    requests: Requests = Requests()
    """What people ask of the running bridge with pause, resume and resync."""
    retry: Retry = Retry()
    """What follows a failure that may pass."""
    log: Log = Log()
    """Logging, to standard error."""
    http: Http = Http()
    """The server for probes (`/livez`, `/readyz`, `/startupz`), Prometheus (`/metrics`) and a status page (`/`)."""
    metrics: Metrics = Metrics()
    """What `/metrics` shows."""
    lineage: Lineage = Lineage()
    """OpenLineage events of a run, see [Lineage](lineage.md); none without `url` or `client_file`."""
    fabric: Fabric = Fabric()
    """What is asked about mirroring, see [Fabric's status](fabric-status.md). It is only looked at, never changed."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file, whose content arrives as keyword arguments."""
        return env_settings, init_settings

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        """Broken rules across sections: (path, message that continues the path)."""
        return self.problems_among(frozenset(type(self).model_fields))

    def problems_among(self, sound: Set[str]) -> Iterator[tuple[KeyPath, str]]:
        """The broken rules that concern none but these keys of the file; the others may be missing or invalid."""
        if {"landing_zone", "state"} <= sound:
            yield from self._storage_problems()
        if {"landing_zone", "fabric"} <= sound:
            yield from self._fabric_problems()
        if {"name", "kafka", "dead_letters"} <= sound and self.dead_letter_topic in self.kafka.topics:
            yield ("dead_letters", "topic"), "is one of kafka.topics: dead letters would be read as events"

    def _fabric_problems(self) -> Iterator[tuple[KeyPath, str]]:
        if self.fabric.status is StatusSource.REST and self.mirrored_ids is None:
            yield ("fabric", "workspace_id"), "is required, with item_id: landing_zone.url does not tell both ids"

    def _storage_problems(self) -> Iterator[tuple[KeyPath, str]]:
        problem = location_problem(self.landing_zone.location_of(self.state_url))
        if self.state.url is not None and problem is not None:
            yield ("state", "url"), problem
        if not is_local(self.state_url) and self.state.checkpoint is None:
            yield ("state", "checkpoint"), "is required: the state is not a local folder that could hold it"
        if f"{self.state_url}/".startswith(f"{self.landing_zone.url}/"):
            yield (
                ("state", "url"),
                "lies in the landing zone, where it would be taken for a table: give it its own folder",
            )

    @property
    def state_url(self) -> str:
        """Storage of the ledger: ``state.url``, else ``<last segment>-state`` beside the landing zone."""
        return self.state.url or f"{self.landing_zone.url}-state"

    @property
    def checkpoint(self) -> Path:
        """Local folder of Spark's checkpoint: ``state.checkpoint``, else ``checkpoint`` in the local state folder."""
        if self.state.checkpoint is not None:
            return self.state.checkpoint
        return Path(posixpath.join(unquote(urlsplit(self.state_url).path), "checkpoint"))

    @property
    def mirrored_ids(self) -> tuple[str, str] | None:
        """Ids of the workspace and of the mirrored database: those of ``fabric``, else those of the landing zone."""
        if self.fabric.workspace_id is not None and self.fabric.item_id is not None:
            return self.fabric.workspace_id, self.fabric.item_id
        return ids_of(self.landing_zone.location_of(self.landing_zone.url))

    @property
    def dead_letter_topic(self) -> str:
        """``dead_letters.topic``, else ``cdc-bridge.<name>.dead-letters``."""
        return self.dead_letters.topic or f"cdc-bridge.{self.name}.dead-letters"
