"""Paths within a storage: relative, ``/`` between segments, nothing that could lead out of the root."""

from __future__ import annotations

import re

from connectors.errors import Terminal

_FORBIDDEN = re.compile(r"[\\\x00-\x1f\x7f]")


class InvalidPathError(Terminal):
    """A path that does not name one place below the storage's root."""


def checked(path: str) -> str:
    """``path`` itself, when it names one file or folder below the root.

    Raises:
        InvalidPathError: empty, absolute, with an empty, ``.`` or ``..`` segment, a backslash (Azure reads it as ``/``)
            or a control character.
    """
    if _FORBIDDEN.search(path):
        raise _invalid(path, "it holds a backslash or a control character")
    if path.startswith("/"):
        raise _invalid(path, "it is absolute")
    segments = path.split("/")
    if "" in segments:
        raise _invalid(path, "it holds an empty segment")
    if "." in segments or ".." in segments:
        raise _invalid(path, "it holds a '.' or '..' segment")
    return path


def checked_folder(folder: str) -> str:
    """As :func:`checked`, where the empty path stands for the root."""
    return checked(folder) if folder else folder


def parent(path: str) -> str:
    """The folder that holds ``path``; empty for the root."""
    return path.rpartition("/")[0]


def child(folder: str, name: str) -> str:
    """The path of ``name`` in ``folder``; ``folder`` may be the root."""
    return f"{folder}/{name}" if folder else name


def _invalid(path: str, reason: str) -> InvalidPathError:
    return InvalidPathError(
        f"This is not a path within a storage: {reason}",
        remedy="name it relative to the storage's root, with one '/' between segments, as in orders/_metadata.json",
        file=path,
    )
