"""What this machine has to offer: Java, and a place for Spark's checkpoint."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from connectors.errors import BridgeError
from connectors.java import USUAL_FOLDERS, java_home_fault, select_java
from streaming.checks.check import Check, failed, ok, problem, warning


def check_java(environ: Mapping[str, str] = os.environ, folders: tuple[str, ...] = USUAL_FOLDERS) -> Iterator[Check]:
    """A Java that Spark can run on, and whether it is the one that ``JAVA_HOME`` names."""
    try:
        java = select_java(environ, folders)
    except BridgeError as error:
        yield failed("java", error)
        return
    fault = java_home_fault(java, environ)
    if fault is None:
        yield ok("java", f"Java {java.version} at {java.home}")
    else:
        detail = f"{fault}; Java {java.version} at {java.home} is used instead"
        yield warning("java", detail, "let JAVA_HOME name a Java 17 or 21 that is there, or unset it")


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
