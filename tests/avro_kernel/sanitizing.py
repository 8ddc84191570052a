"""The Avro kernel's C under the address and undefined-behaviour sanitizers.

Records of the golden traffic, broken as ``tests/fuzz`` breaks them, are read by every writer schema of theirs, in
memory that ends where the record ends. A read or write beyond it, and whatever C leaves undefined, ends the run, which
takes ten minutes as ``python -m tests.avro_kernel.sanitizing 600``.
"""

from __future__ import annotations

import json
import struct
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from connectors.debezium.avro_expanded import expanded
from connectors.debezium.avro_kernel.nodes import Program
from connectors.debezium.avro_schema import row_schema_of
from connectors.debezium.errors import SchemaError
from tests.fuzz.mutation import cases
from tests.support import c_compiler
from tests.support.avro_kernel import built

FOLDER = Path(__file__).parents[2] / "connectors" / "debezium" / "avro_kernel"
_PREFIX = 5


def build(folder: Path, *options: str) -> Path:
    """The program, compiled without a warning."""
    sources = [FOLDER / "kernel.c", Path(__file__).parent / "sanitized.c"]
    return c_compiler.sanitized(folder / "sanitized", sources, FOLDER, *options)


def run(program: Path, given: Iterable[tuple[Any, Sequence[bytes]]]) -> str:
    """What the program says of datums by their schemas: how many there were, and how many of them it has read.

    Raises:
        AssertionError: a sanitizer has ended it.
    """
    return c_compiler.run(program, b"".join(_packed(schema, datums) for schema, datums in given)).decode()


def _packed(schema: Any, datums: Sequence[bytes]) -> bytes:
    kernel = built()
    program = Program(kernel, expanded(schema))
    nodes, child = program.arrays
    head = struct.pack("<III", len(nodes), len(child), program.cells)
    arrays = b"".join(bytes(kernel.ffi.buffer(array)) for array in program.arrays)
    texts = b"".join(struct.pack("<I", len(datum)) + datum for datum in datums)
    return head + arrays + struct.pack("<I", len(datums)) + texts


def broken_records(number: int) -> Iterator[tuple[Any, list[bytes]]]:
    """Keys and values of a run of the fuzzer, by each writer schema of their case."""
    for case in cases(number):
        parts = [part for record in case.records for part in (record.key, record.value) if part is not None]
        datums = [part[start:] for part in parts for start in (0, _PREFIX)]
        for text in case.schemas.values():
            try:
                row_schema_of(text)
                schema = json.loads(text)
                expanded(schema)
            except (SchemaError, KeyError, ValueError):
                continue
            yield schema, datums


def main(arguments: list[str]) -> None:
    """Run for so many seconds."""
    if c_compiler.COMPILER is None:
        sys.exit(c_compiler.WITHOUT)
    until = time.monotonic() + float(arguments[0])
    number = int(time.time())
    total = 0
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-kernel-") as folder:
        program = build(Path(folder))
        for schema, datums in broken_records(number):
            run(program, [(schema, datums)])
            total += len(datums)
            if time.monotonic() > until:
                break
    print(f"run {number}: {total:,} datums, nothing found")


if __name__ == "__main__":
    main(sys.argv[1:])
