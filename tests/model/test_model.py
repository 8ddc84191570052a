"""The commit protocol keeps its promises at every moment of every schedule, within the bounds of the short form.

``make model`` goes further; docs/adr/0017 says what is and what is not explored.
"""

from __future__ import annotations

import hashlib
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.ledger.owner import OWNER_FILE
from connectors.landing_zone.redo import Published
from tests.model.bounds import SHORT
from tests.model.explorer import explore
from tests.model.promises import PromiseBroken
from tests.model.world import Bounds, Call, World


@pytest.mark.parametrize("name", SHORT)
def test_every_schedule_within_the_short_bounds_keeps_every_promise(name: str) -> None:
    explored = explore(SHORT[name])

    assert explored.finding is None, str(explored.finding)
    assert explored.moments > 500


def test_without_disturbance_there_is_one_schedule_and_all_events_land() -> None:
    explored = explore(Bounds())

    assert explored.finding is None, str(explored.finding)
    assert explored.worlds == 2


def test_a_broken_promise_is_told_with_the_steps_that_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.driver.startup.recover", _recover_nothing)

    finding = explore(Bounds(faults=1)).finding

    assert finding is not None
    assert isinstance(finding.error, BaseException)
    assert finding.told[0] == "a driver starts, its source cuts (2, 4, 6)"
    assert any("crash" in step or "fails" in step for step in finding.told)


def test_a_driver_that_nothing_hinders_comes_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one start would follow the other, and no exploration would end."""
    monkeypatch.setattr("connectors.landing_zone.redo._prepare_folder", lambda *_: None)

    finding = explore(Bounds()).finding

    assert finding is not None
    assert str(finding.error).startswith("driver-0-0-0 gives up, although nothing hinders it: ")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("public.schema/a/00000000000000000002.parquet", "can be seen before its predecessor"),
        ("public.schema/a/00000000000000000001.parquet", "can be seen before its metadata"),
    ],
)
def test_the_witness_objects_to_a_file_that_comes_too_early(path: str, why: str) -> None:
    world = World(Bounds())

    with pytest.raises(PromiseBroken, match=why):
        world.zone_files[path] = b"content"


def test_the_witness_objects_to_a_file_that_no_version_binds() -> None:
    world = World(Bounds())
    world.zone_files["public.schema/a/_metadata.json"] = b"{}"

    with pytest.raises(PromiseBroken, match="although the ledger binds None"):
        world.zone_files["public.schema/a/00000000000000000001.parquet"] = b"content"


def test_the_witness_objects_to_the_removal_of_a_file_that_is_bound_and_was_never_seen() -> None:
    world = World(Bounds())
    world.zone_files["_scratchPad/1/file"] = b"content"
    world.seen.bound["public.a"] = (1, hashlib.sha256(b"content").hexdigest(), "_scratchPad/1/file")

    with pytest.raises(PromiseBroken, match=r"file 1 of public.a is bound to it and was never seen"):
        del world.zone_files["_scratchPad/1/file"]


_SEEN = "public.schema/a/00000000000000000001.parquet"
_CONSUMED = "public.schema/a/_ProcessedFiles/00000000000000000001.parquet"


def landed() -> World:
    """A zone whose table ``public.a`` has two files, each with the first event that is left."""
    world = World(Bounds(consumed=2))
    world.zone_files["public.schema/a/_metadata.json"] = b"{}"
    for number, offset in ((1, 0), (2, 2)):
        body = pq_file(offset)
        world.seen.bound["public.a"] = (number, hashlib.sha256(body).hexdigest(), f"_scratchPad/1/{number}")
        world.zone_files[f"public.schema/a/{number:020d}.parquet"] = body
    return world


def pq_file(offset: int) -> bytes:
    """A landing file of one row, as far as the witness reads it."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"offset": pa.array([offset], pa.int64())}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (_SEEN, "is removed, and not by the replicator"),
        ("public.schema/a/00000000000000000002.parquet", "is removed, and not by the replicator"),
        ("public.schema/a/_metadata.json", "is removed, although files of its table could be seen"),
    ],
)
def test_the_witness_objects_when_what_could_be_seen_vanishes_unread(path: str, why: str) -> None:
    world = landed()

    with pytest.raises(PromiseBroken, match=f"{path} {why}"):
        world.apply(Call("zone", "delete", (path,)))


def test_the_witness_objects_to_a_file_that_is_written_over_another_one() -> None:
    world = landed()

    with pytest.raises(PromiseBroken, match="can be seen a second time"):
        world.apply(Call("zone", "put", (_SEEN, b"content")))


def test_the_replicator_alone_takes_files_away() -> None:
    world = landed()

    world.replicator_moves()[f"the replicator moves {_SEEN}"]()
    with pytest.raises(PromiseBroken, match=f"{_CONSUMED} is removed, and not by the replicator"):
        world.apply(Call("zone", "delete", (_CONSUMED,)))
    with pytest.raises(PromiseBroken, match=f"{_CONSUMED} is not written by the replicator"):
        world.apply(Call("zone", "put", (_CONSUMED, b"content")))
    world.replicator_moves()["the replicator cleans up public.schema/a"]()

    assert sorted(world.zone_files) == [
        "public.schema/a/00000000000000000002.parquet",
        "public.schema/a/_metadata.json",
    ]


@pytest.mark.parametrize(("told", "of_lost"), [(True, True), (True, False), (False, True)])
def test_a_zone_without_ledger_is_lost_if_a_driver_that_slept_has_made_it_its_own_and_nobody_else(
    told: bool, of_lost: bool
) -> None:
    world = World(Bounds())
    if told:
        world.none_is_lost()

    world.apply(Call("zone", "put_if_absent", (OWNER_FILE, b"{}")), of_lost=of_lost)

    assert world.lost == (told and of_lost)


def test_two_worlds_with_the_same_content_have_the_same_key_however_it_came_about() -> None:
    one, other = World(Bounds()), World(Bounds())
    one.zone_files["x"] = b"1"
    one.zone_files["y"] = b"2"
    other.zone_files["y"] = b"old"
    other.zone_files["y"] = b"2"
    other.zone_files["z"] = b"3"
    del other.zone_files["z"]
    other.zone_files["x"] = b"1"

    assert one.key() == other.key()
    assert one.copied().key() == one.key()


def _recover_nothing(*_: object, **__: object) -> Published:
    return Published(confirmed=frozenset(), stopped={})
