"""A number that somebody else took: the bridge's file gets it back, or its rows land behind the other one."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.disputed import SET_ASIDE, Trouble
from connectors.landing_zone.ledger.state import TableStatus
from streaming.resolving.decision import Decision, DecisionRefusedError
from streaming.resolving.remaking import NotRemadeError
from streaming.resolving.resolve import Outcome
from tests.remedies.broken_zones import require_health
from tests.remedies.lost_files import (
    FOREIGN,
    TRUTH,
    Resolving,
    goes_on,
    healthy,
    landed_twice,
    lose,
    pending,
    problems,
    reason,
    started,
    take,
)
from tests.remedies.site import Site
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return landed_twice(World(tmp_path))


class TestANumberThatSomebodyElseTook:
    def test_needs_a_decision_and_nothing_is_done_without_one(self, world: World) -> None:
        take(world, FOREIGN)
        started(world)
        assert reason(world) == "zone:sequence_conflict"
        before = dict(world.zone.files), dict(world.state.files)
        done = Resolving(world)()
        assert (done.outcome, done.written) == (Outcome.UNDECIDED, False)
        assert done.disputed is not None
        assert done.disputed.trouble is Trouble.CONFLICT
        assert [(copy.bytes, copy.read, copy.ours) for copy in done.disputed.copies] == [(len(FOREIGN), False, False)]
        assert (world.zone.files, world.state.files) == before

    def test_gives_the_number_back_when_the_other_file_may_be_moved_aside(self, world: World) -> None:
        file = take(world, FOREIGN)
        started(world)
        done = Resolving(world)(Decision.SET_ASIDE)
        assert done.outcome is Outcome.ASIDE
        assert done.aside == (f"{SET_ASIDE}/{world.now_ms}/{file.target}",)
        assert world.zone.files[done.aside[0]] == FOREIGN, "moved, not deleted"
        healthy(world)
        goes_on(world)
        assert (world.table.status, world.rows(), problems(world)) == (TableStatus.STREAMING, TRUTH, [])

    def test_gets_the_bridges_file_made_again_where_that_is_lost_too(self, world: World) -> None:
        file = take(world, FOREIGN)
        del world.zone.files[file.staged]
        Resolving(world)(Decision.SET_ASIDE)
        healthy(world)
        goes_on(world)
        assert world.rows() == TRUTH

    def test_is_not_moved_aside_before_the_bridges_own_file_is_there(self, world: World) -> None:
        file = take(world, FOREIGN)
        del world.zone.files[file.staged]
        world.log.earliest[ORDERS.topic, 0] = 3
        with pytest.raises(NotRemadeError):
            Resolving(world)(Decision.SET_ASIDE)
        assert world.zone.files[file.target] == FOREIGN

    def test_is_never_moved_once_the_replicator_has_read_it(self, world: World) -> None:
        take(world, FOREIGN, read=True)
        started(world)
        with pytest.raises(DecisionRefusedError, match="has read the other file"):
            Resolving(world)(Decision.SET_ASIDE)

    @pytest.mark.parametrize("read", [False, True])
    def test_keeps_the_other_file_and_the_bridges_rows_land_behind_it(self, world: World, read: bool) -> None:
        other = world.zone.files[f"public.schema/orders/{1:020d}.parquet"]
        take(world, other, read=read)
        started(world)
        done = Resolving(world)(Decision.KEEP)
        assert (done.outcome, world.ledger.pending) == (Outcome.KEPT, {})
        healthy(world)
        goes_on(world)
        assert (world.table.status, world.rows(), problems(world)) == (TableStatus.STREAMING, TRUTH, [])
        assert world.table.sequence == 4, "file 2 is the other one, 3 has the bridge's rows, 4 the new one"

    def test_does_not_keep_what_nobody_can_read(self, world: World) -> None:
        take(world, FOREIGN)
        started(world)
        with pytest.raises(DecisionRefusedError, match="cannot be kept: the replicator cannot read it either"):
            Resolving(world)(Decision.KEEP)

    def test_does_not_keep_another_table_from_the_start(self, tmp_path: Path) -> None:
        world = World(tmp_path)
        world.send(ORDERS.create(row(1, "one"), 10))
        world.driver().land()
        take(world, world.zone.files[pending(world).target] + b"x")
        with pytest.raises(DecisionRefusedError, match="the table's first file"):
            Resolving(world)(Decision.KEEP)


@pytest.mark.parametrize("decision", [Decision.SET_ASIDE, Decision.KEEP])
def test_a_decision_about_another_trouble_is_refused(world: World, decision: Decision) -> None:
    lose(world)
    with pytest.raises(DecisionRefusedError) as raised:
        Resolving(world)(decision)
    assert raised.value.message == f"{decision.value} is refused: the trouble is another one (lost)"
    assert raised.value.remedy.startswith(f"`cdc-bridge resolve CONFIG {NAME} --dry-run` shows what is there")


@pytest.mark.kafka
def test_a_refused_decision_is_followed_by_one_that_fits(site: Site) -> None:
    landed_twice(site)
    take(site, site.zone.files[f"public.schema/orders/{1:020d}.parquet"], read=True)
    started(site)
    resolve = f"cdc-bridge resolve CONFIG {NAME}"
    refused = site.shell.type(f"{resolve} --decide {Decision.SET_ASIDE.value}")
    assert (refused.code, refused.error) == (1, DecisionRefusedError.__name__)
    looked = site.shell.follow(refused.remedy, "resolve")
    named = refused.remedy.partition("(--decide ")[2].partition(")")[0]
    assert f"  --decide {named}: " in looked.out
    assert site.shell.type(f"{resolve} --decide {named}").code == 0
    require_health(site)


@pytest.mark.parametrize("look_only", [True, False])
def test_what_has_gone_meanwhile_cannot_be_kept(world: World, look_only: bool) -> None:
    file = take(world, FOREIGN)
    started(world)
    del world.zone.files[file.target]
    before = dict(world.zone.files), dict(world.state.files)
    with pytest.raises(DecisionRefusedError) as raised:
        Resolving(world)(Decision.KEEP, look_only=look_only)
    assert raised.value.message == f"{Decision.KEEP.value} is refused: no other file is under the number any more"
    assert raised.value.remedy == (
        f"`cdc-bridge resolve CONFIG {NAME} --dry-run` shows what is there and what fits (no --decide: the bridge's "
        f"own file is published); or `cdc-bridge resync CONFIG {NAME}`"
    )
    assert (world.zone.files, world.state.files) == before
    assert Resolving(world)().outcome is Outcome.PUBLISHED
    healthy(world)
    goes_on(world)
    assert world.rows() == TRUTH


def test_a_taken_number_does_not_count_as_read(world: World) -> None:
    take(world, FOREIGN)
    with pytest.raises(DecisionRefusedError, match=r"the trouble is another one \(conflict\)"):
        Resolving(world)(Decision.CONSUMED)
