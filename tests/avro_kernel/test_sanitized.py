"""The kernel's C compiles without a warning, and neither reads nor writes where it must not."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.avro_kernel.sanitizing import broken_records, build, run
from tests.avro_kernel.schemas import ENUM, FIXED, datum, record

KINDS: list[tuple[Any, Any]] = [
    ("boolean", True),
    ("int", -(2**31)),
    ("long", 2**63 - 1),
    ("float", 1.5),
    ("double", 1.5),
    ("bytes", b"\0\xff"),
    ("string", "żółw 😀, a text of more than sixteen bytes"),
    (FIXED, b"abc"),
    (ENUM, "gone"),
    (["null", "string"], "a"),
    (["null", "string"], None),
    (["int", "string", "null"], "a"),
    ({"type": "array", "items": ["null", "string"]}, ["a", None, "żółw"]),
    ({"type": "map", "values": "bytes"}, {"ż": b"\0", "": b""}),
    (record(["string", ["null", "long"]]), {"c0": "", "c1": 7}),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("kernel"))


def test_every_type_cut_anywhere(program: Path) -> None:
    schema = record([kind for kind, _ in KINDS if kind not in (FIXED, ENUM)])
    whole = datum(
        schema, {f"c{place}": value for place, (_, value) in enumerate(k for k in KINDS if k[0] not in (FIXED, ENUM))}
    )
    cut = [whole[:size] for size in range(len(whole))]
    assert run(program, [(schema, [*cut, whole, whole + b"\0"])]) == f"{len(whole) + 2} datums, 1 read\n"
    for kind, value in KINDS:
        one = record([kind])
        whole = datum(one, {"c0": value})
        spoiled = [
            whole[:place] + bytes([byte]) + whole[place + 1 :]
            for place in range(len(whole))
            for byte in (0, 1, 0x7F, 0x80, 0xC2, 0xE0, 0xF0, 0xFF)
        ]
        assert run(program, [(one, [whole] * 20)]) == "20 datums, 20 read\n"
        run(program, [(one, [*spoiled, *(whole[:size] for size in range(len(whole)))])])


def test_records_of_the_fuzzer(program: Path) -> None:
    told = run(program, islice(broken_records(7), 150))
    read = int(told.split(", ")[1].split(" ")[0])
    assert read > 100
