"""The kernel's C under the address and undefined-behaviour sanitizers: ``python -m tests.kernel.sanitizing 600``.

Records of the golden traffic, broken as ``tests/fuzz`` breaks them, go through every function in memory that ends where
the record ends. A read or write beyond it, and whatever C leaves undefined, ends the run.
"""

from __future__ import annotations

import struct
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tests.fuzz.mutation import cases
from tests.support import c_compiler

FOLDER = Path(__file__).parents[2] / "connectors" / "debezium" / "json_kernel"
NAMES = (
    *("op", "before", "after", "source", "payload", "schema", "ts_ms", "id", "name", "db", "table", "connector"),
    *("snapshot", "lsn", "sequence", "file", "pos", "fields", "type", "field", "v", "i", "größe", "__op", "__deleted"),
)
_TOGETHER = 500


def build(folder: Path, *options: str) -> Path:
    """The program, compiled without a warning."""
    sources = [FOLDER / "kernel.c", Path(__file__).parent / "sanitized.c"]
    return c_compiler.sanitized(folder / "sanitized", sources, FOLDER, *options)


def run(program: Path, records: Iterable[bytes]) -> str:
    """What the program says of the records, that is how many there were and how many texts of them it has read.

    Raises:
        AssertionError: a sanitizer has ended it.
    """
    packed = b"".join(struct.pack("<I", len(record)) + record for record in records)
    return c_compiler.run(program, packed, *NAMES).decode()


def broken_records(number: int) -> Iterator[bytes]:
    """Keys and values of a run of the fuzzer."""
    for case in cases(number):
        for record in case.records:
            yield from (part for part in (record.key, record.value) if part is not None)


def main(arguments: list[str]) -> None:
    """Run for so many seconds."""
    if c_compiler.COMPILER is None:
        sys.exit(c_compiler.WITHOUT)
    until = time.monotonic() + float(arguments[0])
    number = int(time.time())
    total = 0
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-kernel-") as folder:
        program = build(Path(folder))
        records = broken_records(number)
        while time.monotonic() < until:
            run(program, islice(records, _TOGETHER))
            total += _TOGETHER
    print(f"run {number}: {total:,} records, nothing found")


if __name__ == "__main__":
    main(sys.argv[1:])
