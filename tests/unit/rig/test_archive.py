"""Archives are unpacked by every Python that the project runs on, and nowhere but where they should."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from tests.support.archive import unpack


def archive(folder: Path, name: str, content: bytes) -> Path:
    path = folder / "made.tar.gz"
    member = tarfile.TarInfo(name)
    member.size = len(content)
    with tarfile.open(path, "w:gz") as made:
        made.addfile(member, io.BytesIO(content))
    return path


def test_an_archive_is_unpacked_into_a_folder_that_is_made(tmp_path: Path) -> None:
    unpack(archive(tmp_path, "worker/libs/one.jar", b"jar"), tmp_path / "content")
    assert (tmp_path / "content/worker/libs/one.jar").read_bytes() == b"jar"


def test_a_python_without_extraction_filters_unpacks_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    unpack(archive(tmp_path, "worker/libs/one.jar", b"jar"), tmp_path / "content")
    assert (tmp_path / "content/worker/libs/one.jar").read_bytes() == b"jar"
