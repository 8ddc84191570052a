"""What this machine has to offer: Java, and a place for Spark's checkpoint."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from connectors.errors import BridgeError
from connectors.java import USUAL_FOLDERS, select_java
from streaming.checks.check import Check, failed, ok, problem


def check_java(environ: Mapping[str, str] = os.environ, folders: tuple[str, ...] = USUAL_FOLDERS) -> Iterator[Check]:
    """A Java that Spark can run on."""
    try:
        java = select_java(environ, folders)
    except BridgeError as error:
        yield failed("java", error)
        return
    yield ok("java", f"Java {java.version} at {java.home}")


def check_checkpoint_folder(folder: Path) -> Iterator[Check]:
    """The checkpoint's folder can be written, or made; it is not made here."""
    place = folder
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        detail = f"nothing can be written in {place}: {error.strerror or error}"
        yield problem("checkpoint folder", detail, "let state.checkpoint name a local folder that this user may write")
        return
    made = "" if place == folder else "; it is made at the first start"
    yield ok("checkpoint folder", f"{folder} can be written{made}")
