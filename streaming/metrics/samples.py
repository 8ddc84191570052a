"""The present values of all gauges, and of the counts that the ledger keeps: a function of one moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from streaming.metrics.connect_watch import ConnectorTrouble
from streaming.metrics.declared import durations, files, lag, process, source, tables
from streaming.metrics.fabric_samples import of_mirrored_table, of_mirroring
from streaming.metrics.lag import (
    KafkaView,
    headroom_seconds,
    stream_waiting,
    table_waiting,
    waited_seconds,
)
from streaming.metrics.metric import ALL, Combine, Metric
from streaming.metrics.mirrored import unmirrored_seconds
from streaming.metrics.observed import Observed
from streaming.metrics.sample import Sample
from streaming.metrics.tallies import Labels

SOURCE_TO_KAFKA, KAFKA_TO_FILE, FILE_TO_MIRRORED = "source_to_kafka", "kafka_to_file", "file_to_mirrored"


LEFT_OUT_ON_PURPOSE = frozenset({"dropped", "excluded"})
"""Reasons to stand still after which nobody waits for what a table has passed over."""


def samples(observed: Observed, *, per_table: bool, per_partition: bool) -> Iterator[Sample]:
    """Everything that is known now; what is not known has no sample.

    Where one series is to stand for all, what would hide or distort the others is left out.

    Args:
        per_table: False leaves out the lag of tables that stand still, and the headroom of those that do so on purpose.
        per_partition: False leaves out the headroom of partitions that it does not threaten.
    """
    yield from _process(observed)
    if observed.mirroring is not None:
        yield from of_mirroring(observed.mirroring)
    if observed.state is None:
        return
    state = observed.state
    yield Sample(process.LEDGER_VERSION, state.version)
    yield Sample(process.LEDGER_EPOCH, state.epoch)
    yield Sample(files.PENDING_FILES, len(state.pending))
    statuses = Counter(table.status for table in state.tables.values())
    for status in TableStatus:
        yield Sample(tables.TABLES, statuses[status], (status.value,))
    for name, table in state.tables.items():
        yield from _table(name, table, state, observed, per_table=per_table)
        if observed.mirroring is not None and name in observed.mirroring.tables:
            yield from of_mirrored_table(name, observed.mirroring.tables[name])
    if observed.kafka is not None:
        yield from _partitions(state, observed.kafka, observed.now_ms, all_of_them=per_partition)


def combined(found: list[Sample], labels: frozenset[str]) -> list[Sample]:
    """The samples with each of ``labels`` set to :data:`~streaming.metrics.metric.ALL`, those alike made one."""
    groups: dict[tuple[Metric, Labels], list[float]] = {}
    for sample in found:
        pairs = zip(sample.metric.labels, sample.labels, strict=True)
        key = tuple(ALL if label in labels else value for label, value in pairs)
        groups.setdefault((sample.metric, key), []).append(sample.value)
    return [Sample(metric, _one(metric, values), key) for (metric, key), values in groups.items()]


def _one(metric: Metric, values: list[float]) -> float:
    match metric.combine:
        case Combine.MAX:
            return max(values)
        case Combine.MIN:
            return min(values)
        case Combine.SUM | Combine.NONE:
            return sum(values)


def _process(observed: Observed) -> Iterator[Sample]:
    yield Sample(process.START_TIME, observed.started_ms / 1000)
    yield Sample(durations.BATCH_IN_HAND_SECONDS, observed.batch_seconds)
    yield Sample(process.LIVE, observed.live)
    yield Sample(process.READY, observed.ready)
    if observed.last_success_ms:
        yield Sample(process.LAST_SUCCESS, observed.last_success_ms / 1000)
    if observed.kafka is not None:
        yield Sample(lag.KAFKA_SEEN, observed.kafka.at_ms / 1000)
    yield from _source(observed)


def _source(observed: Observed) -> Iterator[Sample]:
    if observed.kafka is not None:
        yield Sample(source.SOURCE_HEARTBEATS, observed.kafka.beats)
        silence = observed.kafka.silence_seconds
        if silence is not None:
            yield Sample(source.SOURCE_SILENCE_SECONDS, silence)
    if observed.connector is not None:
        yield Sample(source.CONNECT_SEEN, observed.connector.at_ms / 1000)
        if observed.connector.at_ms:
            for cause in ConnectorTrouble:
                yield Sample(source.CONNECTOR_TROUBLE, cause in observed.connector.troubles, (cause.value,))


def _table(
    name: str, table: TableState, state: LedgerState, observed: Observed, *, per_table: bool
) -> Iterator[Sample]:
    with_lag = per_table or table.parked is None
    published = published_number(name, table, state)
    yield Sample(tables.TABLE_STATE, 1, (name, table.status.value))
    if table.parked is not None and table.status is TableStatus.PARKED:
        yield Sample(tables.TABLE_PARKED, 1, (name, table.parked.reason))
    yield Sample(lag.LAST_PUBLISHED, published, (name,))
    yield Sample(tables.LATE_EVENTS, table.late, (name,))
    if with_lag and name in observed.source_seconds:
        yield Sample(lag.LAG_SECONDS, observed.source_seconds[name], (name, SOURCE_TO_KAFKA))
    if observed.kafka is not None:
        yield from _table_in_kafka(name, table, state, observed.kafka, observed.now_ms, per_table=per_table)
    mirrored = observed.mirrored.get(name)
    if mirrored is not None:
        yield Sample(lag.LAST_MIRRORED, mirrored.number, (name,))
        yield Sample(lag.UNMIRRORED_FILES, max(0, published - mirrored.number), (name,))
        if with_lag:
            seconds = unmirrored_seconds(published, observed.publish_times(name), mirrored, observed.now_ms)
            yield Sample(lag.LAG_SECONDS, seconds, (name, FILE_TO_MIRRORED))


def _table_in_kafka(
    name: str, table: TableState, state: LedgerState, kafka: KafkaView, now_ms: int, *, per_table: bool
) -> Iterator[Sample]:
    waiting = table_waiting(table, state, kafka)
    if not waiting:
        return
    yield Sample(lag.TABLE_OFFSETS_BEHIND, sum(one.behind for one in waiting), (name,))
    seconds = waited_seconds(waiting, kafka, now_ms)
    if seconds is not None and (per_table or table.parked is None):
        yield Sample(lag.LAG_SECONDS, seconds, (name, KAFKA_TO_FILE))
    if table.parked is not None and (per_table or table.parked.reason not in LEFT_OUT_ON_PURPOSE):
        rooms = [headroom_seconds(one, kafka, now_ms) for one in waiting]
        known = [room for room in rooms if room is not None]
        if known:
            yield Sample(lag.TABLE_RETENTION_HEADROOM_SECONDS, min(known), (name,))


def _partitions(state: LedgerState, kafka: KafkaView, now_ms: int, *, all_of_them: bool) -> Iterator[Sample]:
    for one in stream_waiting(state, kafka):
        labels = (one.topic, str(one.partition))
        headroom = one.landed - one.earliest
        yield Sample(lag.OFFSETS_BEHIND, one.behind, labels)
        # Kafka's oldest record cannot come past what has not landed before it has passed as much as waits there.
        if all_of_them or one.behind > headroom:
            yield Sample(lag.RETENTION_HEADROOM_OFFSETS, headroom, labels)
        seconds = headroom_seconds(one, kafka, now_ms)
        if seconds is not None and (all_of_them or one.behind):
            yield Sample(lag.RETENTION_HEADROOM_SECONDS, seconds, labels)


def published_number(name: str, table: TableState, state: LedgerState) -> int:
    """Number of the last file that is in the table's folder: a pending one is not."""
    pending = state.pending.get(name)
    return table.sequence if pending is None else min(table.sequence, pending.sequence - 1)
