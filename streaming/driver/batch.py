"""One micro-batch: plan, decode and land, commit, publish.

The order of the steps is the guarantee (architecture, "One micro-batch"):

1. plan: Spark's range for this batch, trimmed to what the ledger has not landed;
2. decode and land: one Spark action; files are staged, nothing is visible yet;
3. commit: one version of the ledger binds numbers to content;
4. publish: staged files get their numbers, all tables side by side.

A crash before 3 leaves staged files that nobody names; a crash after 3 is rolled forward at the next start.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.errors import EarlierAttemptError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import Dropped, LandedFile, LedgerState, Parked, PlannedTopic
from streaming.driver.assemble import assemble, doubtful_tables
from streaming.driver.checkpoint import Planned
from streaming.driver.dropping import drops_in, record_drops
from streaming.driver.leaders import Leaders, with_epochs
from streaming.driver.planning import is_new, plan_batch, planned_topics, require_still_the_same
from streaming.driver.publishing import ZonePublisher
from streaming.driver.renamed_columns import record_renamed_columns
from streaming.driver.source_notes import change_notes
from streaming.driver.stages import BatchFigures, Stage, Stages
from streaming.plan import BatchPlan, JobOptions
from streaming.sources import Source
from streaming.task.results import Results

# The one Spark action: from a plan to what the tasks said.
DecodeAndLand = Callable[[BatchPlan], Results]


@dataclass(frozen=True)
class BatchReport:
    """What one micro-batch did, for logs, progress and metrics.

    Attributes:
        version: the ledger's version that it became; None when its range held nothing new.
        offsets: length of its range, over all partitions.
        files: what it landed, by table.
        parked: tables that this batch parked; ``stops`` says why.
        notes: schema changes and the like, for people.
        seconds: from the plan to the last published file.
        table: whose catch-up it is, beside the stream; empty for a micro-batch.
        figures: what else there is to count.
    """

    version: int | None
    offsets: int = 0
    files: Mapping[str, LandedFile] = field(default_factory=dict)
    parked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stops: Mapping[str, Parked] = field(default_factory=dict)
    seconds: float = 0.0
    table: str = ""
    figures: BatchFigures = field(default_factory=BatchFigures)

    @property
    def carried(self) -> bool:
        """Whether it carried records; a version that did not records what the source's catalog has shown."""
        return bool(self.offsets or self.files)


def run_batch(
    planned: Planned,
    topic_ids: Callable[[], Mapping[str, str]],
    leaders: Leaders,
    job: JobOptions,
    ledger: Ledger,
    publisher: ZonePublisher,
    decode_and_land: DecodeAndLand,
) -> BatchReport:
    """Carry one micro-batch from Kafka's offsets to numbered files.

    Args:
        planned: Spark's range for the batch; replayed, re-planned or differently cut ranges are harmless.
        topic_ids: Kafka's id of every topic in the range, asked for before anything is read and after all is.
        leaders: Kafka's leaders of the partitions, asked before anything is read.

    Raises:
        BridgeError: see the steps; after any error the same range can be run again.
    """
    began = time.monotonic()
    stages = Stages()
    with stages.measured(Stage.PUBLISH):
        publisher.publish_pending(ledger)
    with stages.measured(Stage.PLAN):
        topics = planned_topics(planned, ledger.state, topic_ids())
    if not is_new(topics, ledger.state):
        return BatchReport(version=None)
    with stages.measured(Stage.PLAN):
        topics = with_epochs(topics, ledger.state, leaders)

    before = ledger.state
    draft, results = land_range(job, before, topics, decode_and_land, stages=stages)
    try:
        with stages.measured(Stage.COMMIT):
            require_still_the_same(topics, topic_ids())
            state = ledger.commit(draft)
    except EarlierAttemptError:
        publisher.publish_pending(ledger)
        raise
    with stages.measured(Stage.PUBLISH):
        publisher.publish_pending(ledger)
    pass_failpoint(Failpoint.BATCH_END)
    stops = new_stops(before, ledger.state)
    return BatchReport(
        version=state.version,
        offsets=sum(end - start for topic in topics.values() for start, end in topic.partitions.values()),
        files={table: file for table, file in state.pending.items() if table in draft.files},
        parked=tuple(stops),
        notes=(
            *change_notes(results, before, state),
            *(f"{result.table}: {note}" for result in results.tables for note in result.notes),
        ),
        stops=stops,
        seconds=time.monotonic() - began,
        figures=BatchFigures.of(stages, draft.counters, results),
    )


def land_range(
    job: JobOptions,
    state: LedgerState,
    topics: Mapping[str, PlannedTopic],
    decode_and_land: DecodeAndLand,
    only: str | None = None,
    stages: Stages | None = None,
) -> tuple[Draft, Results]:
    """Stage the files of a range, in as many attempts as it takes to know which tables merge, are doubtful, or dropped.

    Args:
        state: what the ledger knows before the range.
        only: the one table that lands; see :class:`~streaming.plan.BatchPlan`.
        stages: gets the time that it takes.

    Returns:
        the version that the last attempt makes, and what its tasks said.
    """
    merging: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    drops: dict[Source, Dropped] = {}
    stages = stages or Stages()
    while True:
        with stages.measured(Stage.PLAN):
            plan = plan_batch(job, state, topics, uuid.uuid4().hex, merging, doubtful, only, drops)
        with stages.measured(Stage.MERGE if plan.merges else Stage.LAND):
            results = decode_and_land(plan)
        draft = assemble(results, topics, state, merging)
        found = doubtful_tables(results)
        told = {} if only is not None else {**drops_in(results, state), **drops}
        unaware = any(result.state.source in told.keys() - drops.keys() for result in results.tables)
        if isinstance(draft, Draft) and not found and not unaware:
            draft = record_drops(draft, told, state, topics, job)
            return (draft if only is not None else record_renamed_columns(draft, results, state, topics, job)), results
        drops = told
        merging = merging if isinstance(draft, Draft) else merging.union(draft.topics)
        doubtful = doubtful.union(found)


def new_stops(before: LedgerState, after: LedgerState) -> dict[str, Parked]:
    """The tables that stand still now and did not before."""
    return {
        name: table.parked
        for name, table in after.tables.items()
        if table.parked is not None and (name not in before.tables or before.tables[name].parked is None)
    }
