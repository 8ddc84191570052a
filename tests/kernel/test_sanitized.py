"""The kernel's C compiles without a warning, and neither reads nor writes where it must not."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.kernel.sanitizing import broken_records, build, run
from tests.kernel.written_records import envelope, every_value


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("kernel"))


def test_every_value_cut_anywhere(program: Path) -> None:
    whole = [envelope(b'{"v":' + value + b"}") for value in every_value()]
    assert run(program, whole).startswith(f"{len(whole)} records")
    values = [b'{"v":' + value + b"}" for value in every_value() if len(value) < 100]
    run(program, [text[:size] for text in values for size in range(len(text) + 1)])
    text = envelope(b'{"id":7,"name":"a"}')
    # Alone and in a batch, each by an open and by a closed program.
    assert run(program, [text]) == "1 records, 4 read\n"
    assert run(program, [text[:-1] + b',"other":1}']) == "1 records, 2 read\n"
    run(program, [text[:size] for size in range(len(text))])


def test_records_of_the_fuzzer(program: Path) -> None:
    run(program, islice(broken_records(7), 400))


def test_without_the_instructions_of_some_processors_the_same_texts_are_read(program: Path, tmp_path: Path) -> None:
    other = build(tmp_path, "-U__SSE2__")
    whole = [envelope(b'{"v":' + value + b"}") for value in every_value()]
    broken = list(islice(broken_records(8), 400))
    for records in (whole, *(broken[start : start + 10] for start in range(0, len(broken), 10))):
        assert run(other, records) == run(program, records)
