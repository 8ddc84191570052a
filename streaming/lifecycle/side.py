"""Landing records of one table beside the stream: the table's next file, in a version that leaves the offsets alone.

The same functions decode and land as in a micro-batch, with a plan that holds the one table. What the records of other
tables in the range come to was settled when the stream passed them, and is not counted again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from connectors.debezium.events import RawRecords
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import TableState
from streaming.driver.batch import BatchReport, DecodeAndLand, land_range
from streaming.driver.publishing import ZonePublisher
from streaming.driver.stages import BatchFigures
from streaming.landing.shaping.refusals import UNAVAILABLE_VALUE
from streaming.lifecycle.outside import Ranges
from streaming.plan import BatchPlan, JobOptions
from streaming.task.decode import decode_and_land
from streaming.task.merge import merge_and_land
from streaming.task.results import RESULT_SCHEMA, Results, read_results, together
from streaming.task.worker import Worker

_COUNTED_BY_THE_STREAM = ("records", "position_resets", "skipped.", "dead_letters.")


@dataclass(frozen=True)
class Landed:
    """What a range came to, before it is committed.

    Attributes:
        state: the table after its last landed row; ``PARKED`` if one of the events cannot be taken.
        events: of the table in the range, landed or passed over.
    """

    state: TableState
    events: int


def land_beside(
    name: str,
    going_on: TableState,
    ranges: Ranges,
    job: JobOptions,
    ledger: Ledger,
    publisher: ZonePublisher,
    action: DecodeAndLand,
    after: Callable[[Landed], TableState],
    *,
    unchanged: Callable[[], None] = lambda: None,
    letters: int = 0,
    handled: tuple[str, ...] = (),
) -> BatchReport:
    """Land what these ranges hold of the table, as its next number, and publish it.

    Args:
        name: the landing zone's name of the table, which the ledger knows.
        going_on: the table's state as its next event meets it: with neither ``parked`` nor a pending file.
        ranges: of every topic and partition that feeds the table, also where nothing is to be read; the ends go into
            the file's footer as the places up to which the table has landed.
        action: carries out the plan: Spark over a range of Kafka, or :func:`land_records` in this process.
        after: what the ledger is to record of the table then.
        unchanged: raises where the records that were read need not be those of the ranges; asked before the commit.
        letters: how many dead letters the records are; 0 for a range of Kafka.
        handled: ids of the requests that this carries out.

    Raises:
        BridgeError: as :func:`streaming.driver.batch.run_batch`; nothing is lost or doubled if it is called again.
    """
    began = time.monotonic()
    state = ledger.state
    seen = msgspec.structs.replace(state, tables={**state.tables, name: going_on})
    draft, results = land_range(job, seen, ranges, action, only=name)
    mine = [result for result in results.tables if result.table == name]
    landed = Landed(draft.tables.get(name, going_on), sum(result.events for result in mine))
    recorded = after(landed)
    counters = _counters(draft, landed.state.dead_letters - going_on.dead_letters)
    unchanged()
    committed = ledger.commit(
        Draft(
            files={table: msgspec.structs.replace(file, letters=letters) for table, file in draft.files.items()},
            tables={name: recorded},
            schemas=draft.schemas,
            merging=draft.merging,
            counters=counters,
            handled=handled,
        )
    )
    publisher.publish_pending(ledger)
    stopped = landed.state.parked is not None and recorded.parked is not None
    return BatchReport(
        version=committed.version,
        offsets=sum(end - start for topic in ranges.values() for start, end in topic.partitions.values()),
        files=dict(draft.files),
        parked=(name,) if stopped else (),
        notes=tuple(f"{name}: {note}" for result in mine for note in result.notes),
        stops={name: recorded.parked} if stopped and recorded.parked is not None else {},
        seconds=time.monotonic() - began,
        table=name,
        figures=BatchFigures.beside(counters, results),
    )


def land_records(plan: BatchPlan, records: Iterable[RawRecords], worker: Worker) -> Results:
    """Carry out a plan in this process, for few records.

    Args:
        records: of the plan's ranges and nothing else; of each partition together and in offset order.
    """
    rows = list(decode_and_land(records, plan, worker))
    if plan.merges:
        sorted_rows = pa.Table.from_batches(together(rows), RESULT_SCHEMA).sort_by(
            [("table", "ascending"), ("sort_key", "ascending")]
        )
        rows = list(merge_and_land(sorted_rows.to_batches(), plan, worker))
    return read_results((row.kind, row.payload) for row in rows)


def _counters(draft: Draft, left_out: int) -> dict[str, int]:
    mine = {name: count for name, count in draft.counters.items() if not name.startswith(_COUNTED_BY_THE_STREAM)}
    return {**mine, f"dead_letters.{UNAVAILABLE_VALUE}": left_out} if left_out else mine
