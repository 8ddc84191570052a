"""Run events in the words of OpenLineage, with the client's own types. Imported only where lineage is on.

A run of the job is a run in OpenLineage's sense: one ``START``, a ``RUNNING`` per window, one of ``COMPLETE``, ``FAIL``
and ``ABORT``. Each event stands for its window alone, which the job's emission pattern says, so that statistics of
several events may be added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from urllib.parse import quote

import attr
import msgspec
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    RunFacet,
    column_lineage_dataset,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    processing_engine_run,
    schema_dataset,
)

from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.schema import PinnedSchema
from streaming.lineage.names import DatasetNames
from streaming.lineage.windows import Landed, Window
from streaming.metrics.build import Build

LEDGER_FACET = "cdcBridge_ledger"

# Made before the sender's thread begins: msgspec must not meet a type in two threads at once.
_PINNED = msgspec.json.Decoder(PinnedSchema)


def package_url() -> str:
    """The bridge as a package URL: who has made an event."""
    return f"pkg:pypi/cdc-bridge@{quote(version('cdc-bridge'))}"


@attr.define
class LedgerRunFacet(RunFacet):
    """Which versions of the ledger an event tells of; ``ledger_run_facet.json`` is its schema."""

    ledger: str
    state: str
    epoch: int
    version: int
    firstVersion: int | None = None
    lastVersion: int | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{package_url()}#streaming/lineage/ledger_run_facet.json"


@dataclass(frozen=True)
class RunIdentity:
    """What is the same in all events of a run.

    Attributes:
        run: a UUID of its own for each run.
        namespace, name: of the job.
        state: URL of the ledger's storage.
        seconds: that a window lasts.
        drains: the run ends by itself, at what is in the topics now.
    """

    run: str
    namespace: str
    name: str
    names: DatasetNames
    state: str
    seconds: int
    build: Build
    drains: bool


def run_event(
    identity: RunIdentity, state: RunState, window: Window, at: datetime, error: BaseException | None = None
) -> RunEvent:
    """The event of one window.

    Args:
        at: when the window ended, with its time zone.
        error: what ended the run.
    """
    landed = {name: one for name, one in window.tables.items() if name in window.state.tables}
    topics = sorted({topic for one in landed.values() for topic in one.topics})
    return RunEvent(
        eventType=state,
        eventTime=at.isoformat(timespec="milliseconds"),
        run=Run(identity.run, _run_facets(identity, window, error)),
        job=Job(identity.namespace, identity.name, {"jobType": _job_type(identity)}),
        inputs=[InputDataset(identity.names.kafka, topic) for topic in topics],
        outputs=[_output(identity.names, window.state, table, one) for table, one in sorted(landed.items())],
        producer=package_url(),
    )


def _run_facets(identity: RunIdentity, window: Window, error: BaseException | None) -> dict[str, RunFacet]:
    first, last = window.versions or (None, None)
    producer = package_url()
    facets: dict[str, RunFacet] = {
        "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
            version=identity.build.spark,
            name="spark",
            openlineageAdapterVersion=identity.build.version,
            producer=producer,
        )
    }
    if window.state.version:
        facets[LEDGER_FACET] = LedgerRunFacet(
            ledger=window.state.ledger_id,
            state=identity.state,
            epoch=window.state.epoch,
            version=window.state.version,
            firstVersion=first,
            lastVersion=last,
            producer=producer,
        )
    if error is not None:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            message=f"{type(error).__name__}: {error}", programmingLanguage="python", producer=producer
        )
    return facets


def _job_type(identity: RunIdentity) -> job_type_job.JobTypeJobFacet:
    return job_type_job.JobTypeJobFacet(
        processingType="BATCH" if identity.drains else "STREAMING",
        integration="CDC_BRIDGE",
        jobType="JOB",
        emissionPattern=job_type_job.EmissionPattern("PERIODIC", "COMPLETE_SNAPSHOT", identity.seconds),
        producer=package_url(),
    )


def _output(names: DatasetNames, state: LedgerState, table: str, landed: Landed) -> OutputDataset:
    known = state.tables[table]
    facets = {}
    if known.schema in state.schemas:
        pinned = _PINNED.decode(state.schemas[known.schema])
        facets = {"schema": _schema(pinned), "columnLineage": _column_lineage(names, pinned, landed)}
    return OutputDataset(
        names.zone,
        names.table(known.folder),
        facets=facets,
        outputFacets={
            "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                rowCount=landed.rows, size=landed.bytes, fileCount=landed.files, producer=package_url()
            )
        },
    )


def _schema(pinned: PinnedSchema) -> schema_dataset.SchemaDatasetFacet:
    return schema_dataset.SchemaDatasetFacet(
        fields=[
            schema_dataset.SchemaDatasetFacetFields(column.name, column.type, ordinal_position=number)
            for number, column in enumerate(pinned.columns, start=1)
        ],
        producer=package_url(),
    )


def _column_lineage(
    names: DatasetNames, pinned: PinnedSchema, landed: Landed
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    # Says of each table which topics are its own: the event's inputs are those of all its tables together.
    topics = sorted(landed.topics)
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            column.name: column_lineage_dataset.Fields(
                [column_lineage_dataset.InputField(names.kafka, topic, column.source) for topic in topics]
            )
            for column in pinned.columns
            if column.source
        },
        producer=package_url(),
    )
