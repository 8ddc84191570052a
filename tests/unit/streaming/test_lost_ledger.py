"""A lost ledger is made again from the zone: whatever was lost when, the tables end as if nothing had happened."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from connectors.landing_zone.ledger.version_file import encode
from connectors.landing_zone.recovery import inspect_tables
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.verify import verify_zone
from tests.unit.streaming.landed_shop import row
from tests.unit.streaming.lost_ledgers import CARTS, LINES, NOTES, ORDERS, World, proofs, some, undisturbed


@pytest.mark.parametrize("seed", range(24))
def test_whatever_is_lost_whenever_every_event_lands_exactly_once(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    world = World(tmp_path / "a", chance)
    for batch in range(chance.randrange(1, 7)):
        world.loading = batch <= seed % 3 - 1
        world.arrive(chance.randrange(1, 12))
        world.land()
    for _ in range(chance.randrange(1, 3)):
        world.take_back(0.4)
        world.lose()
        world.rebuild()
        assert {table.status for table in world.job.ledger.state.tables.values()} <= {
            TableStatus.LOADING,
            TableStatus.STREAMING,
        }
        assert inspect_tables(world.job.zone, world.job.ledger.state.tables) == {}
        world.arrive(chance.randrange(0, 10))
        world.land()

    truth = undisturbed(world, tmp_path / "b")
    assert world.content() == truth.content()
    assert world.landed_rows() == truth.landed_rows()
    zone = open_zone(world.job.zone)
    assert [finding for finding in verify_zone(zone) if finding.severity.value == "problem"] == []


class TestGround:
    def test_reading_goes_on_where_the_copy_ended_and_tables_where_their_files_do(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        at_copy = world.copied()
        world.log.append(ORDERS.create(row(99), 1_000))
        world.land()
        assert world.copied() == at_copy, "nothing has changed that no file says"
        world.lose()
        made = world.rebuild()
        assert made.copied == at_copy.version
        assert made.state.topics == at_copy.topics
        assert set(proofs(made).values()) == {Proof.FOOTER}
        end = len(world.log.partitions["shop.orders"][0])
        assert made.state.tables["public.orders"].landed_to == {"shop.orders": {0: end}}
        assert made.state.version == made.state.commits + 1_000_000
        assert world.job.ledger.state.ledger_id == at_copy.ledger_id
        assert world.job.ledger.state.epoch == at_copy.epoch + 2, "the rebuild's claim, and that of the next start"

    def test_a_table_whose_first_file_got_no_number_loses_no_row(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(CARTS.create(row(1), 1))
        world.land()
        world.log.append(CARTS.create(row(2), 2))
        world.log.append(NOTES.create(row(3), 3))
        world.land()
        assert world.take_back(1.0) == 2
        world.lose()
        world.rebuild()
        assert [one["id"] for one in world.job.rows("public.notes")] == [3]
        assert [one["id"] for one in world.job.rows("public.carts")] == [1, 2]

    def test_a_table_that_stood_still_before_its_first_file_stands_still(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(CARTS.create(row(1), 1))
        world.log.append(NOTES.truncate(2))
        world.land()
        world.log.append(CARTS.create(row(2), 3))
        world.log.append(NOTES.create(row(3), 4))
        world.land()
        before = world.job.ledger.state.tables["public.notes"].parked
        world.lose()
        world.rebuild()
        after = world.job.ledger.state.tables["public.notes"].parked
        assert before is not None
        assert after is not None
        assert (after.reason, after.resume) == (before.reason, before.resume)

    def test_what_a_truncate_removed_stays_removed(self, tmp_path: Path) -> None:
        world = World(tmp_path, random.Random(1))
        world.log.append(LINES.create(row(2), 10))
        world.land()
        table = world.job.ledger.state.tables["public.lines"]
        truncated = replace(table, truncated=f"{9:016x}{9:016x}{1_700_000_000_009:016x}")
        world.job.ledger.commit(Draft(tables={"public.lines": truncated}))
        world.log.append(LINES.create(row(4), 20))
        world.land()
        world.lose()
        assert proofs(world.rebuild())["public.lines"] is Proof.FOOTER
        world.log.append(LINES.at(1).read(row(5), 2))
        world.land()
        assert [one["id"] for one in world.job.rows("public.lines")] == [2, 4]

    def test_the_copy_follows_what_no_file_says_and_otherwise_once_an_hour(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        clock = itertools.count(0, 1_000_000)
        world.job.ledger._now_ms = lambda: next(clock)
        before, head, copies = world.copied().version, world.job.ledger.state.version, []
        for lsn in range(2_000, 2_009):
            world.log.append(ORDERS.update(row(1), lsn))
            world.land()
            copies.append(world.copied().version)
        assert copies == [before] * 4 + [head + 5] * 4 + [head + 9], "each version is 1,000 s later"
        table = world.job.ledger.state.tables["public.orders"]
        world.job.ledger.commit(Draft(tables={"public.orders": replace(table, doubt_ms=7)}))
        assert world.copied() == world.job.ledger.state

    def test_a_copy_of_another_ledger_is_not_taken(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        world.job.zone.put(SNAPSHOT_COPY, encode(LedgerState(ledger_id="other", version=7, epoch=1, writer="w")))
        world.lose()
        assert world.rebuild().copied is None

    def test_of_a_damaged_ledger_the_readable_versions_count_and_all_are_set_aside(self, tmp_path: Path) -> None:
        world = some(tmp_path)
        last = world.job.ledger.state.version
        folder = tmp_path / "state" / "ledger"
        (folder / f"{last:020d}.json").write_bytes(b'{"version":')
        made = world.rebuild()
        assert made.copied == last - 1
        assert set(proofs(made).values()) == {Proof.FOOTER}
        aside = tmp_path / "state" / "ledger-set-aside" / "4711"
        kept = [path.name for path in sorted(aside.iterdir())]
        assert kept == [f"{number:020d}.json" for number in range(1, last + 1)]
        assert (aside / f"{last:020d}.json").read_bytes() == b'{"version":'
        assert min(int(path.stem) for path in folder.iterdir()) == made.state.version + 1
