"""Kafka Connect dies in the middle of the workload and sends a tail again: no row doubles, none grows stale.

Each kill falls between two statements of transactions that are open at the same time, while Connect is sending; the
workload writes on as if nothing had happened. ``CDC_BRIDGE_EQUIVALENCE=long`` (``make equivalence``) kills more often,
and takes every encoding with every setting of ``markers``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial

import pytest

from connectors.landing_zone.replay import ObservationKind
from tests.rig import Connector, Converter, Rig, until
from tests.rig.equivalence import Source, repeated_events, running, set_aside
from tests.rig.tables import TABLES, Dialect
from tests.rig.worker import FLUSH_MS
from tests.rig.workload import Workload
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

LONG = os.environ.get("CDC_BRIDGE_EQUIVALENCE") == "long"
TAIL = 1_000
"""Row events that a worker has sent at least when it is killed."""
RECORDS = TAIL * 3 // 2
"""Records to wait for until it has: a fifth of what the workload makes are tombstones, which are no row events."""
NEVER_MS = 600_000
"""Offsets are committed so seldom that a killed worker sends everything since its start again."""
FLUSHES_MS = (NEVER_MS, NEVER_MS, FLUSH_MS) * (4 if LONG else 1)
"""For each kill, how often the worker that is started behind it commits offsets. Of one that does so often, the tail
begins wherever it was, inside of a transaction as well."""
STATEMENTS = 200
PAUSE = 0.01
"""Seconds between two statements while Connect comes back, so that it has not too much to send."""
RUNS = [
    (Source(dialect, converter), markers)
    for dialect in Dialect
    for converter in (Converter.JSON_SCHEMA, Converter.AVRO)
    for markers in ("natural", "safe")
    # Each pair of a database, an encoding and a setting is in one of four.
    if LONG or (dialect is Dialect.POSTGRESQL) is ((converter is Converter.AVRO) is (markers == "safe"))
]
# An event that is sent twice is two rows of a table without key, which the guarantees say.
KEYED = tuple(table for table in TABLES if table.key)


def sent_more(connector: Connector, than: int) -> bool:
    return connector.sent() > than


def write_until(done: Future[None], workload: Workload) -> None:
    """The workload goes on until something else is done."""
    while not done.done():
        workload.step()
        wait([done], timeout=PAUSE)
    done.result()


@pytest.mark.parametrize(("source", "markers"), RUNS, ids=str)
def test_a_killed_connect_doubles_no_row_and_leaves_none_stale(
    rig: Rig, bridge: MakeBridge, source: Source, markers: str
) -> None:
    db = source.database(rig)
    workload = Workload(db, source.dialect, seed=7, tables=KEYED)
    workload.create()
    workload.load(12)
    connector = source.connect(rig, db, partitions=3)
    connector.wait_streaming()
    made = bridge(**source.bridge_settings(rig, KEYED), markers=markers)
    moments = random.Random(7)
    open_at: list[dict[int, int]] = []

    with closing(workload), running(made), ThreadPoolExecutor(1) as aside:
        for flush_ms in FLUSHES_MS:
            middle = connector.sent() + RECORDS
            workload.bulk(TAIL)
            write_until(
                aside.submit(until, partial(sent_more, connector, middle), "the connector is in the middle of it"),
                workload,
            )
            statements = moments.randrange(20)
            while statements > 0 or len(workload.changing) < 3:
                workload.step()
                statements -= 1
            open_at.append(workload.changing)
            rig.worker.kill()
            write_until(aside.submit(rig.worker.start, offset_flush_ms=flush_ms), workload)
        for _ in range(STATEMENTS):
            workload.step()
        workload.end()
        connector.wait_caught_up()
    made.run()

    across = [
        sum(workload.committed.get(number, 0) > before for number, before in transactions.items())
        for transactions in open_at
    ]
    assert sum(across) > 0, "transactions wrote before a kill and behind it, and were committed"
    assert repeated_events(rig, connector, source.converter) > 2 * TAIL
    assert [each for each in source.verdicts(made, db, KEYED) if not each.equal] == []
    assert set_aside(made.ledger) == {}
    doubled = [
        seen
        for name in made.ledger.tables
        for seen in made.replayed(name).observations
        if seen.kind is ObservationKind.INSERT_OF_EXISTING_KEY
    ]
    assert doubled == []
    inserted = {name for name in made.ledger.tables if made.replayed(name).rows_per_marker.get("0")}
    assert bool(inserted) is (markers == "natural")
