"""What the ledger lets nobody do with a pending file, whatever the command says."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidDraftError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LandedFile
from streaming.reporting.history import history
from tests.remedies.lost_files import landed_twice, pending
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.rebuild_world import NAME, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return landed_twice(World(tmp_path))


def claimed(world: World) -> Ledger:
    """A ledger whose zone nobody has looked at yet, so that file 2 is pending."""
    ledger = Ledger.open(MemoryStorage(world.state), now_ms=lambda: 0)
    ledger.claim("resolve", "host")
    return ledger


def drafts(file: LandedFile) -> list[tuple[Draft, str]]:
    staged = replace(file, staged="_scratchPad/elsewhere", sha256="other", bytes=1)
    said = {NAME: "ann says so"}
    return [
        (Draft(remade={NAME: replace(staged, logical="other")}), "File 2 was made again with other rows"),
        (Draft(remade={NAME: replace(staged, rows={"4": 9})}), "File 2 was made again with other rows"),
        (Draft(remade={NAME: replace(staged, sequence=3)}), "File 3 is not the pending one of the table"),
        (Draft(remade={NAME: replace(staged, generation=2)}), "File 2 is not the pending one of the table"),
        (Draft(remade={NAME: replace(staged, target="t")}), "File 2 is not the pending one of the table"),
        (Draft(remade={"public.none": staged}), "File 2 is not the pending one of the table"),
        (Draft(vouched={NAME: file}), "The pending file of a table would count as published without anybody's word"),
        (Draft(vouched={NAME: replace(file, sequence=1)}, decided=said), "File 1 is not the pending one of the table"),
        (
            Draft(vouched={NAME: file}, remade={NAME: staged}, decided=said),
            "The pending file of a table would be settled in two ways",
        ),
    ]


@pytest.mark.parametrize("index", range(9))
def test_a_pending_file_is_only_replaced_by_itself(world: World, index: int) -> None:
    draft, message = drafts(pending(world))[index]
    ledger = claimed(world)
    with pytest.raises(InvalidDraftError) as raised:
        ledger.commit(draft)
    assert raised.value.message == message


def test_a_file_that_was_made_again_is_the_one_to_publish(world: World) -> None:
    file = pending(world)
    again = replace(file, staged="_scratchPad/elsewhere", sha256="other", bytes=1)
    state = claimed(world).commit(Draft(remade={NAME: again}, decided={NAME: "made again"}))
    assert (state.pending[NAME], state.tables[NAME].sha256, state.tables[NAME].sequence) == (again, "other", 2)
    version = read_version(MemoryStorage(world.state), state.version)
    assert (version.files, version.decided) == ({NAME: again}, {NAME: "made again"})


def test_a_file_that_somebody_vouches_for_is_pending_no_more_and_the_word_is_kept(world: World) -> None:
    file = pending(world)
    state = claimed(world).commit(Draft(vouched={NAME: file}, decided={NAME: "ann: it was read"}))
    assert NAME not in state.pending
    (entry,) = history(MemoryStorage(world.state), 1)
    assert (entry.decided, entry.values()["decided"]) == ({NAME: "ann: it was read"},) * 2
