"""Where a demo keeps its things: a temporary folder, or one that the user keeps and a later demo uses again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connectors.errors import Terminal

MARK = ".cdc-bridge-demo"


class DemoFolderError(Terminal):
    """The folder to keep the demo in cannot be used."""


@contextmanager
def demo_folder(keep: Path | None) -> Iterator[Path]:
    """An empty folder, removed afterwards unless it is to be kept.

    Only a folder that is new, empty, or of an earlier demo is taken; the earlier demo's content is removed first.

    Raises:
        DemoFolderError: the folder holds something else, or cannot be written.
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="cdc-bridge-demo-", ignore_cleanup_errors=True) as temporary:
            yield Path(temporary)
        return
    folder = keep.absolute()
    try:
        if folder.is_dir() and any(folder.iterdir()):
            _require_own(folder)
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).touch()
    except OSError as error:
        raise DemoFolderError(
            f"the demo's folder cannot be used: {error.strerror or error}",
            remedy="name a folder that this user may write, `cdc-bridge demo --keep FOLDER`, or leave --keep out",
            folder=folder,
        ) from error
    yield folder


def _require_own(folder: Path) -> None:
    if not (folder / MARK).exists():
        raise DemoFolderError(
            "the folder holds something else than an earlier demo",
            remedy="name a new or an empty folder, `cdc-bridge demo --keep FOLDER`: the demo removes what an earlier "
            "one has left, and nothing else",
            folder=folder,
        )
