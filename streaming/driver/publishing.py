"""Publishing what the ledger has committed, and parking the tables whose folder does not allow it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState, TableStatus
from connectors.landing_zone.metadata import metadata_of
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.redo import Published
from connectors.landing_zone.schema import PinnedSchema
from streaming.driver.resuming import ZONE_REASON, resume_of, stopped, with_beneath
from streaming.landing.files import file_extension
from streaming.plan import JobOptions, TableOptions


class ZonePublisher:
    """Carries the ledger's pending files to their numbers."""

    def __init__(self, publisher: Publisher, job: JobOptions) -> None:
        self._publisher = publisher
        self._job = job

    def publish_pending(self, ledger: Ledger) -> None:
        """Publish every pending file and confirm it; a table whose folder refuses its file is parked in the ledger.

        Raises:
            Transient: the storage failed for longer than the back-off lasts; call again.
        """
        files = waiting_files(ledger.state)
        if files:
            settle(ledger, self._publisher.publish(files, table_metadata(files, ledger.state, self._job)))


def waiting_files(state: LedgerState) -> dict[str, LandedFile]:
    """The pending files that may be published: all but those of tables that stand still because of their folder."""
    return {table: file for table, file in state.pending.items() if not stands_still_by_zone(state.tables[table])}


def stands_still_by_zone(table: TableState) -> bool:
    """Whether the table is parked because of its folder."""
    parked = table.parked
    return table.status is TableStatus.PARKED and parked is not None and parked.reason.startswith(ZONE_REASON)


def settle(ledger: Ledger, published: Published) -> None:
    """Confirm what is published and park the tables that have to stop."""
    ledger.confirm(published.confirmed)
    park_tables(ledger, published.stopped)


def park_tables(ledger: Ledger, stopped: Mapping[str, BridgeError]) -> None:
    """Record in a version of its own that these tables stand still, each with its error.

    Raises:
        FencedError: another driver owns the zone; what looked like damage may be its work.
    """
    if stopped:
        ledger.check_fence()
        ledger.commit(Draft(tables={name: _parked(ledger.state, name, error) for name, error in stopped.items()}))


def table_metadata(files: Mapping[str, LandedFile], state: LedgerState, job: JobOptions) -> dict[str, bytes]:
    """``_metadata.json`` for the tables whose file is their first."""
    return {name: _metadata(state.tables[name], state, job) for name, file in files.items() if file.sequence == 1}


def metadata_as_written(tables: Mapping[str, TableState], state: LedgerState, job: JobOptions) -> dict[str, bytes]:
    """``_metadata.json`` of the tables that have files, as it was when the first of them was published."""
    return {
        name: _metadata(table, state, job)
        for name, table in tables.items()
        if table.sequence and (table.metadata or table.schema)
    }


def _metadata(table: TableState, state: LedgerState, job: JobOptions) -> bytes:
    if table.metadata:
        return table.metadata.encode()
    schema = msgspec.json.decode(state.schemas[table.schema], type=PinnedSchema)
    return metadata_of(schema, _text_format(table, job)).to_json()


def _text_format(table: TableState, job: JobOptions) -> DelimitedFormat | None:
    """The format that the table's files were written in; the settings may ask for another one by now."""
    if table.extension == file_extension(TableOptions()):
        return None
    separator = table.column_separator or job.options_for(SourceTable(*table.source)).column_separator
    return DelimitedFormat(column_separator=separator, gzip=table.extension.endswith(".gz"))


def _parked(state: LedgerState, name: str, error: BridgeError) -> TableState:
    table = state.tables[name]
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__.removesuffix("Error")).lower()
    where = ", ".join(f"{fact}={value}" for fact, value in error.facts.items())
    after = stopped(
        table,
        resume_of(table, state.topics),
        reason=ZONE_REASON + kind,
        message=f"{error.message} [{where}]" if where else error.message,
        remedy=error.remedy,
    )
    return with_beneath(after, table)
