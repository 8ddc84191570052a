"""Histories of a table's rows, as Debezium would put them into Kafka, and how Kafka's records are cut into batches.

A history is drawn by hypothesis; whatever it draws is legal at the source. The connector may crash and send a tail of
what it has sent again, at new offsets, and the source's log may start again at lower positions (failover).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.driver.checkpoint import Offsets
from tests.support.plain_job import Log
from tests.support.records import Position, Row, Table

COLUMNS = (Column("id", Kind.INT64, optional=False), Column("step", Kind.INT64))
KEYS = 6
COMMIT_STEP = 1_000

# Makes an event's record for the connector run that sends it.
Emit = Callable[[str], Record]


@dataclass
class History:
    """What happened, and what the table contains in the end.

    Attributes:
        events: the records of each event, in commit order.
        snapshot: the records of the initial snapshot.
        seen: how many of the events the snapshot has seen; the stream begins at one of them, or after.
        rows: the fold of the history.
    """

    places: list[Table]
    events: list[list[Emit]] = field(default_factory=list)
    snapshot: list[Emit] = field(default_factory=list)
    seen: int = 0
    rows: dict[int, Row] = field(default_factory=dict)
    step: int = 0

    def load(self, lsn: int) -> None:
        """Take the snapshot now, at this position."""
        self.seen = len(self.events)
        for row in self.rows.values():
            self.snapshot.append(self._read(row, lsn))

    def apply(self, kind: str, key: int, other: int, position: Position) -> None:
        """One change, made legal: a key that is not there is inserted, a move onto another row is an update."""
        if key not in self.rows:
            row = self.rows[key] = self._row(key)
            self.events.append([lambda run: self._at(key, run).create(row, position)])
            return
        old = self.rows[key]
        if kind == "delete":
            del self.rows[key]
            self.events.append(
                [lambda run: self._at(key, run).delete(old, position), lambda run: self._at(key, run).tombstone(old)]
            )
        elif kind.startswith("move") and other not in self.rows:
            self._move(kind, old, other, position)
        else:
            row = self.rows[key] = self._row(key)
            self.events.append([lambda run: self._at(key, run).update(row, position)])

    def _read(self, row: Row, lsn: int) -> Emit:
        return lambda run: self._at(_key(row), run).read(row, lsn)

    def _move(self, kind: str, old: Row, other: int, position: Position) -> None:
        """The connector sends a delete and a create; a connector that sends one update keeps it in one partition."""
        key = _key(old)
        del self.rows[key]
        row = self.rows[other] = self._row(other)
        if kind == "move in one event" and self.places[key] == self.places[other]:
            self.events.append([lambda run: self._at(other, run).update(row, position, before=old)])
            return
        self.events.append(
            [
                lambda run: self._at(key, run).delete(old, position, moved_to=row),
                lambda run: self._at(key, run).tombstone(old),
                lambda run: self._at(other, run).create(row, position, moved_from=old),
            ]
        )

    def _row(self, key: int) -> Row:
        self.step += 1
        return {"id": key, "step": self.step}

    def _at(self, key: int, run: str) -> Table:
        return replace(self.places[key], run=run)


@dataclass(frozen=True)
class Case:
    """A history in Kafka.

    Attributes:
        rows: what the table must contain in the end, by key.
        streamed: rows from this one on, by the column ``step``, have only been streamed.
        batches: (start, end) of the micro-batches, the last of which ends where Kafka does.
    """

    log: Log
    rows: list[Row]
    streamed: int
    batches: list[tuple[Offsets, Offsets]]


def _key(row: Row) -> int:
    key = row["id"]
    assert isinstance(key, int)
    return key


@st.composite
def cases(draw: st.DrawFn, *, crashes: bool = True, failovers: bool = True) -> Case:
    """Any history, spread over any partitions, cut anywhere."""
    history = History(draw(_places()))
    streamed = _live(draw, history, failovers=failovers)
    log = _emitted(draw, history, crashes=crashes)
    rows = [history.rows[key] for key in sorted(history.rows)]
    return Case(log, rows, streamed, _cut(draw, log))


@st.composite
def _places(draw: st.DrawFn) -> list[Table]:
    """Topic and partition of each key."""
    layout = draw(st.sampled_from([[("a", 0)], [("a", 0), ("a", 1), ("a", 2)], [("a", 0), ("b", 0)]]))
    tables = [
        Table(topic=topic, partition=partition, columns=COLUMNS, encoding=Encoding.JSON) for topic, partition in layout
    ]
    return [draw(st.sampled_from(tables)) for _ in range(KEYS)]


def _live(draw: st.DrawFn, history: History, *, failovers: bool) -> int:
    """Transactions in commit order; their positions overlap, as those of concurrent transactions do.

    Returns:
        the first step after the snapshot.
    """
    key = st.integers(0, KEYS - 1)
    kind = st.sampled_from(["change", "change", "delete", "move", "move in one event"])
    change = st.tuples(kind, key, key, st.integers(1, 3 * COMMIT_STEP))
    transaction = st.lists(change, min_size=1, max_size=3, unique_by=lambda each: each[3])
    commit = 10 * COMMIT_STEP
    for one in draw(st.lists(transaction, max_size=4)):
        commit = _commit(history, one, commit)
    history.load(commit)
    loaded = history.step
    for one in draw(st.lists(transaction, max_size=8)):
        if failovers and draw(st.integers(0, 9)) == 0:
            commit = 4 * COMMIT_STEP
        commit = _commit(history, one, commit)
    return loaded + 1


def _commit(history: History, transaction: list[tuple[str, int, int, int]], commit: int) -> int:
    """Apply a transaction after the one that ended at ``commit``; returns its own end."""
    end = commit + COMMIT_STEP
    back = sorted((back for *_, back in transaction), reverse=True)
    for (kind, key, other, _), before in zip(transaction, back, strict=True):
        history.apply(kind, key, other, Position(commit, end - before))
    return end


def _emitted(draw: st.DrawFn, history: History, *, crashes: bool) -> Log:
    """What the connector sends: the snapshot, then the stream; after a crash it goes on from an earlier event."""
    log = Log()
    for row in history.snapshot:
        log.append(row("run-0"))
    count = len(history.events)
    # A stream may begin before its snapshot was taken.
    at = draw(st.integers(0, history.seen)) if crashes else history.seen
    stops = sorted(draw(st.lists(st.integers(at, count), max_size=2))) if crashes else []
    for run, stop in enumerate([*stops, count]):
        for event in history.events[at:stop]:
            for record in event:
                log.append(record(f"run-{run}"))
        at = draw(st.integers(min(at, stop), stop))
    return log


def _cut(draw: st.DrawFn, log: Log) -> list[tuple[Offsets, Offsets]]:
    """Ranges of micro-batches; a source may plan from below where the last batch ended.

    The first batch takes something of every partition, as Spark's source does: a table that streamed before its first
    snapshot row arrives is parked, since deletes may be missing.
    """
    ends = log.ends()
    bounds: list[Offsets] = [{topic: dict.fromkeys(numbers, 0) for topic, numbers in ends.items()}]
    for _ in range(draw(st.integers(0, 3))):
        bounds.append(
            {
                topic: {
                    number: draw(st.integers(max(1, bounds[-1][topic][number]), end)) for number, end in each.items()
                }
                for topic, each in ends.items()
            }
        )
    bounds.append(ends)
    return [(bounds[max(0, index - draw(st.integers(0, 1)))], end) for index, end in enumerate(bounds[1:])]
