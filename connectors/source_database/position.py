"""Positions in a source's log, as the database tells them and as change events carry them.

PostgreSQL's is one LSN (``source.sequence`` and ``source.lsn``); MySQL's and MariaDB's are the number of a binary log
file and an offset in it (``source.file`` and ``source.pos``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FILE_NUMBER = re.compile(r".*\.(\d+)")
_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")


@dataclass(frozen=True, order=True)
class LogPosition:
    """A place in the log; positions of one database compare as the log grows.

    Attributes:
        file: number of the binary log file; 0 for PostgreSQL.
        offset: in that file; PostgreSQL's LSN.
    """

    file: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}" if self.file else f"{self.offset >> 32:X}/{self.offset & 0xFFFFFFFF:X}"


def position_of_lsn(text: str) -> LogPosition:
    """The position of ``16/B374D848``.

    Raises:
        ValueError: no LSN.
    """
    match = _LSN.fullmatch(text)
    if match is None:
        raise ValueError(f"not an LSN: {text!r}")
    return LogPosition(0, int(match[1], 16) << 32 | int(match[2], 16))


def position_of_binlog(file: str, offset: int) -> LogPosition | None:
    """The position of ``mysql-bin.000003`` and an offset; None for file names without a number at their end."""
    match = _FILE_NUMBER.fullmatch(file)
    return None if match is None else LogPosition(int(match[1]), offset)
