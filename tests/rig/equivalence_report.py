"""What the last long equivalence runs have found: kept in tests/golden/equivalence.json, shown in docs/equivalence.md.

``make equivalence`` writes both; ``make docs-equivalence`` the page alone, from what is kept.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden" / "equivalence.json"
BEGIN = "<!-- Written by make equivalence -->"
END = "<!-- End of what make equivalence has written -->"
_SOURCES = {"postgresql": "PostgreSQL", "mariadb": "MariaDB"}
_FORMATS = {
    "json": "JSON",
    "json-schema": "JSON with schema",
    "avro": "Avro",
    "avro-headers": "Avro with ids in headers",
}
_HEADER = (
    "| source | partitions | runs | rows compared | cells compared | micro-batches | kinds of changes | differences "
    "| inserts of existing keys | `reconcile`: tables, key ranges | its differences |"
)


@dataclass(frozen=True)
class Run:
    """One long run.

    Attributes:
        source: database and format, as :class:`tests.rig.equivalence.Source` is written.
        rows, cells: of the database, compared.
        differences: missing, extra and different ones, by the comparison with ``SELECT *``.
        existing_keys: inserts of keys that the mirror already had.
        changes: how often each kind of change was made.
        reconciled: tables that `reconcile` was asked about; ``ranges``: key ranges it read of them.
        not_equal: those of these tables that it did not find equal.
    """

    source: str
    partitions: int
    seed: int
    rows: int
    cells: int
    batches: int
    differences: int
    existing_keys: int
    changes: Mapping[str, int]
    reconciled: int
    ranges: int
    not_equal: int

    @property
    def name(self) -> str:
        return f"{self.source}-{self.partitions}-{self.seed}"


class MarkerError(Exception):
    """The page has no place for the section."""


def read_runs(path: Path = GOLDEN) -> list[Run]:
    """The runs that are kept, as they were run."""
    known: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    return [Run(**each) for each in known]


def keep(run: Run, path: Path = GOLDEN) -> None:
    """Keep a run, in the place of an earlier one of the same name."""
    runs = {each.name: each for each in read_runs(path)} | {run.name: run}
    path.write_text(json.dumps([asdict(each) for each in runs.values()], indent=1, ensure_ascii=False) + "\n")


def section(runs: Sequence[Run]) -> str:
    """The page's section: a line per source, format and number of partitions, and one for all together."""
    kinds = sorted({kind for run in runs for kind in run.changes})
    places = sorted({(run.source, run.partitions) for run in runs}, key=_place)
    groups = [[run for run in runs if (run.source, run.partitions) == place] for place in places]
    lines = [_line(*_titles(group[0]), group, kinds) for group in groups]
    together = _line("**together**", "", runs, kinds)
    changes: Counter[str] = Counter()
    for run in runs:
        changes.update(run.changes)
    made = ", ".join(f"{kind} {changes[kind]:,}" for kind in kinds)
    table = [_HEADER, "|---|" + "---:|" * (_HEADER.count("|") - 2), *lines, together]
    return "\n".join([*table, "", f"Changes of all runs, by kind: {made}."])


def page(text: str, runs: Sequence[Run]) -> str:
    """The page with its section written anew.

    Raises:
        MarkerError: the markers are not there once each, the one before the other.
    """
    before, found, rest = text.partition(BEGIN)
    written, ends, after = rest.partition(END)
    if not (found and ends) or BEGIN in written + after or END in before + after:
        raise MarkerError(f"the page needs {BEGIN!r} once, and {END!r} once behind it")
    return f"{before}{BEGIN}\n{section(runs)}\n{END}{after}"


def _place(place: tuple[str, int]) -> tuple[int, int, int]:
    source, partitions = place
    dialect, _, form = source.partition("-")
    return list(_SOURCES).index(dialect), list(_FORMATS).index(form), partitions


def _titles(run: Run) -> tuple[str, str]:
    dialect, _, form = run.source.partition("-")
    return f"{_SOURCES[dialect]}, {_FORMATS[form]}", str(run.partitions)


def _line(title: str, partitions: str, runs: Sequence[Run], kinds: Sequence[str]) -> str:
    cells = [title, partitions, f"{len(runs):,}", *_sums(runs)]
    cells.insert(6, f"{sum(any(run.changes.get(kind) for run in runs) for kind in kinds)} of {len(kinds)}")
    return f"| {' | '.join(cells)} |"


def _sums(runs: Iterable[Run]) -> Iterator[str]:
    each = list(runs)
    for name in ("rows", "cells", "batches", "differences", "existing_keys"):
        yield f"{sum(getattr(run, name) for run in each):,}"
    yield f"{sum(run.reconciled for run in each):,}, {sum(run.ranges for run in each):,}"
    yield f"{sum(run.not_equal for run in each):,}"


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.write_text(page(where.read_text(), read_runs()))
