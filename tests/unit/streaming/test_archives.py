"""What a worker imported from an archive costs nothing at the next task, and the archive can still be imported from."""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from zipimport import zipimporter

import pytest

from streaming.task.archives import forget_archives


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """On the path; with a package of two modules."""
    made = tmp_path / "library.zip"
    with zipfile.ZipFile(made, "w") as library:
        library.writestr("in_archive/__init__.py", "")
        library.writestr("in_archive/first.py", "NAME = 'first'")
        library.writestr("in_archive/second.py", "NAME = 'second'")
    monkeypatch.syspath_prepend(str(made))
    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == "in_archive"]:
        del sys.modules[name]


def finders(archive: Path) -> list[str]:
    return [
        path
        for path, finder in sys.path_importer_cache.items()
        if isinstance(finder, zipimporter) and finder.archive == str(archive)
    ]


def test_no_finder_of_an_archive_is_left_to_read_it_again(archive: Path) -> None:
    importlib.import_module("in_archive.first")
    assert sorted(finders(archive)) == [str(archive), str(archive / "in_archive")]
    forget_archives()
    assert finders(archive) == []


def test_other_finders_stay() -> None:
    folder = str(Path(__file__).parent)
    sys.path_importer_cache.pop(folder, None)
    importlib.machinery.PathFinder.find_spec("nothing", [folder])
    forget_archives()
    assert folder in sys.path_importer_cache


def test_modules_of_the_archive_stay_and_others_can_still_be_imported(archive: Path) -> None:
    first = importlib.import_module("in_archive.first")
    forget_archives()
    importlib.invalidate_caches()
    assert importlib.import_module("in_archive.first") is first
    assert importlib.import_module("in_archive.second").NAME == "second"
