"""Loading the bridge's own extension modules, which are optional: where there is no C compiler there are none."""

from __future__ import annotations

import hashlib
import importlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CValue = Any
"""A value of C, as cffi holds it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Extension:
    """The functions of a module's C header, as cffi shows them.

    Attributes:
        ffi: makes and holds C values.
        lib: the functions and constants.
    """

    ffi: Any
    lib: Any


def digest(folder: Path, name: str) -> int:
    """What tells C sources from others; ``kernel_build.py`` puts it into the module."""
    text = b"".join((folder / f"{name}.{suffix}").read_bytes() for suffix in ("h", "c"))
    return int.from_bytes(hashlib.sha256(text).digest()[:7])


def load(module: str, folder: Path, name: str, without: str) -> Extension | None:
    """The module, or ``None``: silently where there is none, with a warning where there is one without use.

    Args:
        folder: where the sources are that it has to be built of, ``<name>.h`` and ``<name>.c``; a wheel has them, too.
        without: what it is like without the module, such as ``JSON is decoded without its kernel, at half the speed``.
    """
    try:
        found = importlib.import_module(module)
        same = getattr(found.lib, "SOURCES", None) == digest(folder, name)
    except (ImportError, OSError) as error:
        if not (isinstance(error, ModuleNotFoundError) and error.name == module):
            _log.warning("%s: it cannot be loaded: %s", without, error)
        return None
    if not same:
        _log.warning(
            "%s: it was built of other sources than those in %s; in a clone, make install builds it again",
            without,
            folder,
        )
        return None
    return Extension(found.ffi, found.lib)
