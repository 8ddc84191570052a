"""Comparing one table while both sides move.

1. The mirror is read as it is (M), then the whole source in one snapshot, range by range: candidates are the keys whose
   rows differ. Those that the same snapshot does not find by their own key can't be followed, and stay undecided.
2. The candidates' rows are read again from the source, at a place L of its log. Those that equal M now are settled.
3. The mirror is awaited until it covers L, and the files that have come since M are looked through. A candidate that
   is in none of them differs for good: the mirror has had every event up to L, none of them was about this key, and so
   M is what it should have been at L. The others get their new M, and 2 follows again.

Where nothing but silence says that L is covered (:mod:`streaming.reconciling.coverage`), the files that have come are
looked through all the same; what is in none of them is read once more, and needs a better proof.

So lag is never taken for a difference: what cannot be proven within the time is undecided.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.replay import Progress
from connectors.landing_zone.storage.protocol import Storage
from connectors.source_database.catalog import DatabaseTable, SourceColumn
from connectors.source_database.position import LogPosition
from connectors.source_database.snapshot import BATCH_ROWS, Value
from streaming.reconciling.columns import ColumnPlan
from streaming.reconciling.coverage import Covered, Evidence, Uncovered, Watch
from streaming.reconciling.index import KeyRange, MirrorIndex
from streaming.reconciling.mirror import Mirror, apply_later, later_rows, read_mirror
from streaming.reconciling.moment import Moment
from streaming.reconciling.outcome import TableOutcome, Verdict, counted, difference, differs, unless_unproven
from streaming.reconciling.rows import Row, landed_key, source_rows
from streaming.wording import count_text

MOST_CANDIDATES = 100_000
"""Differing keys that are followed; of more, the first so many."""
SHOWN_RANGES = 20
_MOVING = "still moving: their rows change faster than they can be compared"
_ONLY_SILENT = "the topics are silent, which proves nothing, and no round was left to wait for more: raise --rounds"


@dataclass(frozen=True)
class Limits:
    """How long and how far.

    Attributes:
        wait: seconds to wait, each time, for the mirror to cover what was read.
        rounds: how often differing keys are read again.
        shown: differences that are kept with their values.
        batch: rows of a key range.
    """

    wait: float = 120.0
    rounds: int = 5
    shown: int = 20
    batch: int = BATCH_ROWS


@dataclass(frozen=True)
class Sides:
    """Where the two sides of a table are.

    Attributes:
        source: opens a transaction that sees one moment of the database.
    """

    source: Callable[[], AbstractContextManager[Moment]]
    zone: Storage
    watch: Watch


@dataclass(frozen=True)
class Steps:
    """Told what is being done, for a progress bar: rows of the source so far, of an estimated total."""

    on_replay: Callable[[Progress], None]
    on_rows: Callable[[str, int, int], None]
    on_wait: Callable[[str, str], None]


@dataclass
class _Candidates:
    """Differing keys by hash: the key as the database takes it, and the landed rows.

    Attributes:
        left_out: keys beyond the most that are followed.
        lost: keys by which the database does not find the row that has them.
    """

    keys: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    landed: dict[int, list[Row]] = field(default_factory=dict)
    left_out: int = 0
    lost: int = 0

    def add(self, identity: int, key: tuple[Value, ...]) -> None:
        if identity in self.keys:
            return
        if len(self.keys) >= MOST_CANDIDATES:
            self.left_out += 1
        else:
            self.keys[identity] = key

    def lose(self, identities: Sequence[int]) -> None:
        self.lost += len(identities)
        _drop(self, identities)


@dataclass
class _Scan:
    rows: int = 0
    ranges: int = 0
    differing_ranges: int = 0
    differing: list[KeyRange] = field(default_factory=list)
    unproven: tuple[SourceColumn, ...] = ()


class TableComparison:
    """One table, once.

    Args:
        name: in the landing zone.
        state: what the ledger knows of it.
        plan: which columns are compared.
    """

    def __init__(
        self,
        sides: Sides,
        name: str,
        state: TableState,
        table: DatabaseTable,
        plan: ColumnPlan,
        limits: Limits,
        steps: Steps,
    ) -> None:
        self._sides = sides
        self._name = name
        self._state = state
        self._table = table
        self._plan = plan
        self._limits = limits
        self._steps = steps
        self._columns = [column.source for column in plan.compared]
        self._order = [column.source.name for column in plan.key]

    def run(self) -> TableOutcome:
        """Compare the table.

        Raises:
            BridgeError: the database, the zone or Kafka cannot be read.
        """
        mirror = read_mirror(self._sides.zone, self._name, self._state, self._plan.deleted, self._steps.on_replay)
        scan, candidates = self._scan(mirror)
        outcome = TableOutcome(
            name=self._name,
            source=str(self._table),
            verdict=Verdict.EQUAL,
            source_rows=scan.rows,
            mirrored_rows=mirror.table.num_rows,
            ranges=scan.ranges,
            ranges_differing=scan.differing_ranges,
            differing=tuple(scan.differing),
            compared=tuple(column.name for column in self._plan.compared),
            left_out=self._plan.left_out,
            number=mirror.number,
        )
        # Nothing but the candidates is needed from here on.
        number = mirror.number
        del mirror
        return unless_unproven(self._settle(outcome, candidates, number), scan.unproven)

    def _scan(self, mirror: Mirror) -> tuple[_Scan, _Candidates]:
        """Meet every row of the source with the mirror's, in one snapshot."""
        index = MirrorIndex(self._plan, mirror.table)
        scan, candidates = _Scan(), _Candidates()
        with self._sides.source() as seen:
            for columns in seen.rows(self._table, self._columns, self._order, self._limits.batch):
                rows = source_rows(self._plan, columns)
                range_, differing = index.meet(rows)
                scan.rows += len(rows)
                scan.ranges += 1
                if not range_.equal:
                    scan.differing_ranges += 1
                    scan.differing += [range_] if len(scan.differing) < SHOWN_RANGES else []
                for row in differing.tolist():
                    candidates.add(int(rows.identity[row]), self._written_key(columns, row))
                self._steps.on_rows(self._name, scan.rows, mirror.table.num_rows)
            scan.unproven = seen.holding(self._table, self._plan.unproven)
            if self._plan.key and candidates.keys:
                found = self._read_again(seen, candidates)
                candidates.lose([one for one in candidates.keys if one not in found])
        unmet = index.unmet().tolist()
        known = unmet[:MOST_CANDIDATES]
        landed = index.rows_of(known)
        for identity in known:
            candidates.add(identity, landed_key(self._plan, landed[identity][0]))
        candidates.left_out += len(unmet) - len(known)
        candidates.landed = index.rows_of(list(candidates.keys))
        return scan, candidates

    def _settle(self, outcome: TableOutcome, candidates: _Candidates, number: int) -> TableOutcome:
        """Follow the candidates until each is settled, proven different, or the time is over."""
        proven: list[tuple[list[Row], list[Row]]] = []
        reason, proof = "", False
        for _ in range(self._limits.rounds):
            if not candidates.keys:
                break
            with self._sides.source() as seen:
                position, found = seen.position, self._read_again(seen, candidates)
            _drop(candidates, [one for one in candidates.keys if not _differ(found, candidates, one)])
            if not candidates.keys:
                break
            covered = self._cover(position, proof=proof)
            if isinstance(covered, Uncovered):
                reason = covered.reason
                break
            state = covered.state.tables[self._name]
            if state.generation != self._state.generation:
                reason = "the table was rebuilt meanwhile"
                break
            touched = self._follow(candidates, state, number)
            number = state.sequence
            outcome = replace(outcome, position=str(position), evidence=covered.evidence.value, number=number)
            proof = covered.evidence is Evidence.SILENCE
            still = [] if proof else [one for one in candidates.keys if one not in touched]
            proven += [(found.get(one, []), candidates.landed.get(one, [])) for one in still]
            _drop(candidates, still)
            _drop(candidates, [one for one in candidates.keys if not _differ(found, candidates, one)])
        else:
            reason = (_ONLY_SILENT if proof else _MOVING) if candidates.keys else ""
        return self._judged(outcome, proven, candidates, reason)

    def _judged(
        self,
        outcome: TableOutcome,
        proven: Sequence[tuple[list[Row], list[Row]]],
        candidates: _Candidates,
        reason: str,
    ) -> TableOutcome:
        found = [difference(self._plan, ours, theirs) for ours, theirs in proven]
        if candidates.left_out:
            reason = reason or f"more than {MOST_CANDIDATES:,} keys differ; {candidates.left_out:,} were not followed"
        if candidates.lost:
            reason = (
                reason or f"the database does not find {count_text(candidates.lost, 'differing row')} by its own key"
            )
        open_keys = len(candidates.keys) + candidates.left_out + candidates.lost
        verdict = Verdict.DIFFERENT if found else Verdict.UNDECIDED if open_keys else Verdict.EQUAL
        return replace(
            outcome,
            verdict=verdict,
            reason=reason,
            counts=counted(found),
            shown=tuple(itertools.islice(found, self._limits.shown)),
            undecided=open_keys,
        )

    def _cover(self, position: LogPosition | None, *, proof: bool) -> Covered | Uncovered:
        self._steps.on_wait(self._name, f"waits for the mirror to cover {position}")
        return self._sides.watch.cover(self._name, position, self._limits.wait, proof=proof)

    def _read_again(self, seen: Moment, candidates: _Candidates) -> dict[int, list[Row]]:
        """The source's rows of the candidates; a table without key is read as a whole."""
        if self._plan.key:
            pieces = seen.rows_with(self._table, self._columns, self._order, list(candidates.keys.values()))
        else:
            pieces = seen.rows(self._table, self._columns, (), self._limits.batch)
        found: dict[int, list[Row]] = {}
        for columns in pieces:
            rows = source_rows(self._plan, columns)
            for row, identity in enumerate(rows.identity.tolist()):
                if identity in candidates.keys:
                    found.setdefault(identity, []).append(rows.row(row))
        return found

    def _follow(self, candidates: _Candidates, state: TableState, number: int) -> set[int]:
        """Apply what later files say of the candidates; returns those of which they say something."""
        touched: set[int] = set()
        for later in later_rows(self._sides.zone, self._name, state, self._plan, number, candidates.keys):
            touched.add(later.identity)
            candidates.landed[later.identity] = apply_later(candidates.landed.get(later.identity, []), later)
        return touched

    def _written_key(self, columns: Sequence[Sequence[Value]], row: int) -> tuple[Value, ...]:
        return tuple(columns[place][row] for place, column in enumerate(self._plan.compared) if column.key)


def _differ(found: dict[int, list[Row]], candidates: _Candidates, identity: int) -> bool:
    return differs(found.get(identity, []), candidates.landed.get(identity, []))


def _drop(candidates: _Candidates, identities: Iterable[int]) -> None:
    for identity in identities:
        candidates.keys.pop(identity)
        candidates.landed.pop(identity, None)
