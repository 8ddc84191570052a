"""A committed file that was lost is made again from Kafka, or counts as read by a person's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.errors import LostFileError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, new_request
from streaming.policies import OnTruncate
from streaming.resolving.decision import Decision
from streaming.resolving.remaking import NotRemadeError
from streaming.resolving.resolve import Outcome
from tests.remedies.broken_zones import carry_out, require_health, stands
from tests.remedies.lost_files import (
    TRUTH,
    Resolving,
    decided,
    goes_on,
    healthy,
    landed_twice,
    lose,
    pending,
    problems,
    reason,
    started,
)
from tests.remedies.site import Site
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return landed_twice(World(tmp_path))


class TestALostFile:
    def test_is_made_again_from_kafka_with_the_same_bytes_under_its_number(self, world: World) -> None:
        before = dict(world.zone.files)
        file = lose(world)
        started(world)
        assert reason(world) == "zone:lost_file"

        done = Resolving(world)()

        assert (done.outcome, done.written, done.asked) == (Outcome.REMADE, True, True)
        assert world.zone.files[file.target] == before[file.target]
        assert world.ledger.pending == {}
        healthy(world)
        goes_on(world)
        assert (world.table.status, world.rows(), problems(world)) == (TableStatus.STREAMING, TRUTH, [])
        assert decided(world) == [
            "file 2 was lost, and made again from Kafka with the same rows (ann@home)",
            "file 2 was published by resolve (ann@home)",
        ]

    def test_is_made_again_before_the_bridge_has_noticed(self, world: World) -> None:
        lose(world)
        done = Resolving(world)()
        assert (done.outcome, done.asked) == (Outcome.REMADE, False)
        healthy(world)
        goes_on(world)
        assert world.rows() == TRUTH

    def test_that_is_staged_damaged_is_made_again(self, world: World) -> None:
        file = lose(world)
        world.zone.write(file.staged, b"half")
        assert Resolving(world)(look_only=True).outcome is Outcome.REMADE
        Resolving(world)()
        healthy(world)
        goes_on(world)
        assert world.rows() == TRUTH

    def test_of_several_partitions_is_made_again_in_the_same_order(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.send(*(ORDERS.at(key % 2).read(row(key), 10 + key) for key in range(6)))
        world.driver().land()
        world.send(*(ORDERS.at(key % 2).update(row(key, f"n{key}"), 90 - key) for key in range(6)))
        world.driver().land()
        body = world.zone.files[pending(world).target]
        file = lose(world)
        Resolving(world)()
        assert world.zone.files[file.target] == body
        healthy(world)
        assert [one["name"] for one in world.rows()] == [f"n{key}" for key in range(6)]

    def test_of_a_catch_up_is_made_again(self, tmp_path: Path) -> None:
        world = World(tmp_path, policies={"on_truncate": OnTruncate.PARK}, chunk=2)
        world.send(ORDERS.create(row(1, "one"), 10))
        world.driver().land()
        world.send(ORDERS.truncate(11), *(ORDERS.create(row(key, "n"), 10 + key) for key in range(2, 7)))
        world.driver().land()
        world.policies["on_truncate"] = OnTruncate.IGNORE
        catching_up(world)
        driver = world.driver()
        driver.chores.run()
        body = world.zone.files[pending(world).target]
        assert world.table.status is TableStatus.CATCHING_UP
        file = lose(world)
        assert Resolving(world)().outcome is Outcome.REMADE
        assert world.zone.files[file.target] == body
        healthy(world)
        assert [one["id"] for one in world.rows()] == [1, 2, 3, 4, 5, 6]

    def test_that_is_the_tables_first_brings_its_metadata_along(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.send(ORDERS.create(row(1, "one"), 10))
        world.driver().land()
        before = dict(world.zone.files)
        for path in [path for path in world.zone.files if path.startswith("public.schema/")]:
            del world.zone.files[path]
        Resolving(world)()
        assert world.files() == {path: body for path, body in sorted(before.items()) if not path.startswith("_")}
        healthy(world)

    def test_whose_rows_would_be_others_under_the_present_settings_is_not_made_again(self, world: World) -> None:
        lose(world)
        started(world)
        world.policies["soft_delete"] = "deleted"
        version = world.ledger.version
        with pytest.raises(NotRemadeError) as raised:
            Resolving(world)()
        assert "cannot be made again from Kafka: " in raised.value.message
        assert raised.value.remedy == (
            f"`cdc-bridge resync CONFIG {NAME}`; or put the file back from a backup under its staged name and "
            f"`cdc-bridge resolve CONFIG {NAME}`; or, only if the replicator had read it before it went, "
            f"`cdc-bridge resolve CONFIG {NAME} --decide consumed`"
        )
        assert world.ledger.version == version, "nothing was written, nobody fenced"

    def test_of_a_topic_that_was_made_anew_is_not_made_again(self, world: World) -> None:
        lose(world)
        world.log.ids[ORDERS.topic] = "another"
        with pytest.raises(NotRemadeError, match="deleted and created again"):
            Resolving(world)()

    def test_whose_version_was_pruned_is_not_made_again(self, world: World) -> None:
        lose(world)
        world.driver()
        head = Ledger.open(MemoryStorage(world.state), now_ms=lambda: 0)
        head.claim("alone", "host")
        for number in range(1, world.ledger.version):
            world.state.files.pop(f"ledger/{number:020d}.json")
        with pytest.raises(NotRemadeError, match="not kept any more"):
            Resolving(world)()

    def test_that_was_read_before_it_went_counts_as_read_on_a_persons_word(self, world: World) -> None:
        file = lose(world)
        started(world)
        done = Resolving(world)(Decision.CONSUMED)
        assert (done.outcome, world.ledger.pending) == (Outcome.CONSUMED, {})
        assert file.target not in world.zone.files
        healthy(world)
        goes_on(world)
        assert world.table.sequence == 3
        assert (world.table.status, problems(world)) == (TableStatus.STREAMING, [])
        assert decided(world) == ["file 2 is not to be seen and was read by the replicator (ann@home)"]
        started(world)
        assert world.table.status is TableStatus.STREAMING

    def test_that_counts_as_read_leaves_every_later_crash_to_be_rolled_forward(self, world: World) -> None:
        lose(world)
        Resolving(world)(Decision.CONSUMED)
        healthy(world)
        world.send(ORDERS.create(row(4, "four"), 30))
        world.driver().land()
        file = pending(world)
        assert (file.sequence, file.follows_unseen) == (3, True)
        world.zone.write(file.staged, world.zone.files.pop(file.target))
        started(world)
        assert file.target in world.zone.files
        assert world.table.status is not TableStatus.PARKED

    def test_that_counts_as_read_is_forgotten_with_the_generation(self, world: World) -> None:
        lose(world)
        Resolving(world)(Decision.CONSUMED)
        world.snapshot = (ORDERS.reread(row(1, "uno"), 40),)
        world.ask()
        healthy(world)
        assert (world.table.generation, world.table.unseen) == (2, 0)


@pytest.mark.kafka
def test_that_retention_has_removed_is_not_made_again(site: Site) -> None:
    """The remedy that takes nobody's word."""
    landed_twice(site)
    lose(site)
    started(site)
    site.expire(3)
    refused = site.shell.follow(stands(site, LostFileError), "resolve")
    assert (refused.code, refused.error, "retention has removed" in refused.err) == (1, NotRemadeError.__name__, True)
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    carry_out(site, refused.remedy, "resync")
    require_health(site)


def catching_up(world: World) -> None:
    """Ask for the table to go on, as a person does."""
    world.ask(new_request(Action.RESUME, now_ms=1, by="ann@home", table=NAME))
