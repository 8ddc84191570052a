"""What keeps Spark's checkpoint from being written or read, through what a start says to one that lands each row once.

On a disk that can only be read: :mod:`tests.catalogue.test_checkpoint_disk`.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from connectors.landing_zone.errors import OffsetGapError, StorageDeniedError
from tests.remedies.plain_user import as_plain_user
from tests.remedies.shell import Printed, Shell
from tests.remedies.test_running_errors import RUN, ended, said_until, typed
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.support.told_commands import commands
from tests.unit.streaming.landed_shop import row

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WHERE = "Spark's checkpoint (state.checkpoint; without it, the folder checkpoint in the state)"


def require_landed(bridge: Bridge, started: Printed, *names: str) -> None:
    """The start has landed every row once."""
    assert started.code == 0, started
    assert [each["name"] for each in bridge.rows()] == list(names)
    assert bridge.replayed().rows_per_marker == {"4": len(names)}, "nothing twice"


def test_storage_denied_of_a_checkpoint_in_a_folder_without_rights(
    unstarted: Bridge, shell: Shell, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir(mode=0o500)
    unstarted.changes["state"] = {"checkpoint": str(own / "checkpoint")}
    unstarted.write_settings()
    refused = as_plain_user(lambda: shell.type_apart(RUN))
    assert (refused.code, refused.error) == (1, StorageDeniedError.__name__), refused
    assert refused.act == f"give the bridge's user the right to read, write and list {WHERE}"
    assert f"checkpoint: {own}/checkpoint" in refused.err
    own.chmod(0o700)
    [again] = commands(refused.remedy)
    require_landed(unstarted, as_plain_user(lambda: shell.type_apart(again)), "uno")


def test_storage_denied_of_a_checkpoint_whose_place_a_file_has(unstarted: Bridge, shell: Shell, tmp_path: Path) -> None:
    checkpoint = unstarted.settings.checkpoint
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("somebody's")
    refused = shell.type_apart(RUN)
    assert (refused.code, refused.error) == (1, StorageDeniedError.__name__), refused
    look = f"look at what is at the path of {WHERE}: it must be a folder that the bridge can make and rename, so not a"
    assert (refused.act.startswith(look), f"checkpoint: {checkpoint}" in refused.err) == (True, True)
    checkpoint.rename(tmp_path / "theirs")
    [again] = commands(refused.remedy)
    require_landed(unstarted, shell.type_apart(again), "uno")


def test_offset_gap_of_a_checkpoint_that_is_ahead(unstarted: Bridge, cluster: Cluster) -> None:
    """Somebody puts another one's file in the place of the last batch's while the bridge runs."""
    orders = Table(unstarted.changes["kafka__topics"][0])
    config = unstarted.write_settings(trigger__interval="0s")
    with typed(f"cdc-bridge run {config}") as process:
        said_until(process, "version 2: 1 offset -> 1 row in 1 file")
        [newest] = (unstarted.settings.checkpoint / "offsets").glob("[0-9]*")
        whole = newest.read_text()
        ahead = whole.replace('{"0":1}', '{"0":5}')
        assert ahead != whole
        newest.write_text(ahead)
        cluster.send(orders.create(row(3, "three"), 11))
        refused = ended(process)
    assert (refused.code, refused.error) == (1, OffsetGapError.__name__), refused
    assert "Spark would go on at offset 5, but 1 is the next one to land" in refused.err
    assert refused.act.startswith(
        "restart the job: it sets Spark's checkpoint aside and reads on where the ledger ends"
    )
    [again] = commands(refused.remedy)
    with typed(again) as process:
        said_until(process, "1 offset -> 1 row in 1 file")
        process.send_signal(signal.SIGTERM)
        require_landed(unstarted, ended(process), "uno", "three")
    assert unstarted.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()
