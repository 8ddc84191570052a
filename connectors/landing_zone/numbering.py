"""Sequence numbers of a table's landing files, and the file names that carry them.

A table's files are numbered from 1 upwards in steps of one, written with 20 digits; the replicator waits for ever at a
number that is missing (landing-zone format, "File name"; best practices, "File detection"). Nothing here looks at a
folder: the next number is the successor of the last one that the ledger has bound to content.
"""

from __future__ import annotations

import re
from typing import NewType

from connectors.landing_zone.errors import InvalidFileNameError

SequenceNumber = NewType("SequenceNumber", int)

FIRST = SequenceNumber(1)
LAST = SequenceNumber(10**20 - 1)
PARQUET = "parquet"

_FILE_NAME = re.compile(r"(?P<number>[0-9]{20})\.(?P<extension>.+)")
_EXTENSION = re.compile(r"[A-Za-z0-9]+(\.[A-Za-z0-9]+)*")


def file_name(number: SequenceNumber, extension: str = PARQUET) -> str:
    """``00000000000000000017.parquet`` for 17; a delimited table's files end in its own extension, as ``csv.gz``.

    Raises:
        ValueError: a number outside 1 to 10^20 - 1, or an extension that is not letters and digits between dots.
    """
    if not FIRST <= number <= LAST:
        raise ValueError(f"file numbers go from 1 to {LAST}, not {number}")
    if _EXTENSION.fullmatch(extension) is None:
        raise ValueError(f"not a file extension: {extension!r}; write letters and digits, as in csv or csv.gz")
    return f"{number:020d}.{extension}"


def parse(name: str, extension: str = PARQUET) -> SequenceNumber:
    """The number in a landing file's name.

    Raises:
        InvalidFileNameError: not 20 digits (from 1 on) and the table's extension: a foreign file, which the caller has
            to report rather than skip.
    """
    match = _FILE_NAME.fullmatch(name)
    if match is None or match["extension"] != extension or int(match["number"]) < FIRST:
        raise InvalidFileNameError(
            f"{name!r} is not the name of a landing file (20 digits from 1 on, then .{extension})",
            remedy="move the file out of the table's folder; only the bridge may write there",
            file=name,
        )
    return SequenceNumber(int(match["number"]))
