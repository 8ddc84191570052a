"""What the system says of the checkpoint's disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from streaming.driver.checkpoint_disk import disk_faults, try_to_write


@pytest.mark.parametrize(
    ("number", "kind", "message", "remedy"),
    [
        (
            errno.EROFS,
            StorageDeniedError,
            "The file system of Spark's checkpoint cannot be written",
            "mount the volume",
        ),
        (errno.EACCES, StorageDeniedError, "The file system of Spark's checkpoint refuses access", "give the bridge's"),
        (errno.EPERM, StorageDeniedError, "The file system of Spark's checkpoint refuses access", "give the bridge's"),
        (errno.ENOSPC, StorageError, "The disk of Spark's checkpoint is full", "free space or enlarge the volume"),
        (errno.EDQUOT, StorageError, "The disk of Spark's checkpoint is full", "free space or enlarge the volume"),
        (errno.EIO, StorageError, "The disk of Spark's checkpoint failed", "check the disk of"),
        (errno.EBUSY, StorageDeniedError, "No checkpoint of Spark can be there", "look at what is at the path of"),
        (errno.ENOTDIR, StorageDeniedError, "No checkpoint of Spark can be there", "look at what is at the path of"),
    ],
)
def test_each_is_told_with_its_reason_the_checkpoint_and_what_to_do(
    number: int, kind: type[StorageError | StorageDeniedError], message: str, remedy: str
) -> None:
    with pytest.raises((StorageError, StorageDeniedError)) as told, disk_faults(Path("/checkpoint")):
        raise OSError(number, os.strerror(number))

    assert type(told.value) is kind
    assert told.value.message == f"{message}: {os.strerror(number)}"
    assert told.value.facts == {"checkpoint": "/checkpoint"}
    assert told.value.remedy.startswith(remedy)
    assert "state.checkpoint" in told.value.remedy


def test_a_folder_that_can_be_written_is_made_and_left_empty(tmp_path: Path) -> None:
    try_to_write(tmp_path / "deep" / "checkpoint")
    assert list((tmp_path / "deep" / "checkpoint").iterdir()) == []


def test_a_folder_whose_parent_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageDeniedError, match="can be there: Not a directory"), disk_faults(tmp_path):
        try_to_write(tmp_path / "file" / "checkpoint")
