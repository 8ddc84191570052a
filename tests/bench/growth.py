"""Time and memory of a micro-batch as tables, partitions, columns, rows and the ledger grow: ``make bench-growth``.

``python -m tests.bench.growth [DIMENSION ...] [--sizes 2]``. Every point is a process of its own on topics of its own;
what counts are the seconds from one of its micro-batches to the next, the first ones left out. The result goes to
docs/measured/growth.json after each dimension; those that are there already stay, as long as machine and commit are the
same. All of it takes about an hour.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from tests.bench.elsewhere import TOO_MUCH, now
from tests.bench.growth_dimensions import COUNTED, DIMENSIONS, Dimension
from tests.bench.growth_point import Point, measured
from tests.bench.growth_results import FILE, GrowthResults, curves, load, merged, save, worse
from tests.bench.machine import this_machine


def main(dimensions: Sequence[Dimension], sizes: int | None, batches: int, scratch: Path | None, out: Path) -> None:
    """Measure the dimensions one after the other.

    Args:
        sizes: how many of each, the smallest first; None for all.
        batches: that count at each point.
        scratch: see :func:`~tests.bench.growth_ledger.write_versions`.
    """
    began, before = time.monotonic(), now()
    machine = this_machine()
    when = datetime.now(UTC).date().isoformat()
    print(machine.text(), flush=True)
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-growth-"))
    points: list[Point] = []
    try:
        with (
            EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker,
            EmbeddedRegistry() as registry,
        ):
            for dimension in dimensions:
                print(f"{dimension.about}: {dimension.fixed}", flush=True)
                for size in dimension.sizes[:sizes]:
                    place = folder / f"{dimension.name}-{size}"
                    servers = broker.bootstrap_servers
                    points.append(measured(dimension, size, batches, place, scratch, servers, registry))
                    print(points[-1].line(), flush=True)
                found = GrowthResults(machine, when, before.share_elsewhere(now()), tuple(points), curves(points))
                save(merged(load(out) if out.exists() else None, found), out)
    finally:
        shutil.rmtree(folder)
    for each in found.curves:
        print(f"{each.dimension}: {each.measure} {each.text()}: {each.first:.3g} to {each.last:.3g}")
    for each in worse(found.curves):
        print(f"worse than linear: {each.measure} by {each.dimension} {each.text()}")
    if found.elsewhere > TOO_MUCH:
        print(f"worth nothing: other work had {found.elsewhere:.0%} of this machine's cores meanwhile")
    print(f"{time.monotonic() - began:,.0f} s in all; every point is in {out}")


def chosen(names: Sequence[str]) -> list[Dimension]:
    """The dimensions of these names, all of them for none.

    Raises:
        SystemExit: one of them is not there; lists those that are.
    """
    known = {each.name: each for each in DIMENSIONS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no dimension is called {', '.join(unknown)}: take some of {', '.join(known)}")
    return [known[name] for name in names] if names else list(DIMENSIONS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth", description=__doc__)
    parser.add_argument("dimension", nargs="*", help=", ".join(each.name for each in DIMENSIONS))
    parser.add_argument("--sizes", type=int, help="how many of each dimension, the smallest first")
    parser.add_argument("--batches", type=int, default=COUNTED, help="micro-batches that count at each size")
    parser.add_argument("--ledger-folder", type=Path, help="where long ledgers are written first, best in memory")
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    main(chosen(given.dimension), given.sizes, given.batches, given.ledger_folder, given.out)
