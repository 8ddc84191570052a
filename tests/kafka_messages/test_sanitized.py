"""The C that copies Kafka's messages compiles without a warning, and neither reads nor writes where it must not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.kafka_messages.sanitizing import (
    BROKEN_HEADERS,
    PARTITION_END,
    Copied,
    Given,
    Range,
    Row,
    build,
    expected,
    run,
)

TEXTS = (None, b"", b"\x00", b"a", b"1234567", b"x" * 300)
TRANSPORT = -195
"""``RD_KAFKA_RESP_ERR__TRANSPORT``"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("messages"))


def one(program: Path, *takes: tuple[Given, ...], end: int = 1 << 40, start: int = 0) -> Copied:
    [found] = run(program, [Range(takes, end=end, start=start)])
    return found


def test_null_and_empty_differ(program: Path) -> None:
    found = one(program, tuple(Given(place, key, value) for place, (key, value) in enumerate(_pairs())))
    assert [(key, value) for _, _, key, value, _ in found.rows] == _pairs()
    assert found.next == len(_pairs())


def _pairs() -> list[tuple[bytes | None, bytes | None]]:
    return [(key, value) for key in TEXTS for value in TEXTS]


def test_all_null_takes_no_room(program: Path) -> None:
    found = one(program, tuple(Given(place, None, None) for place in range(9)))
    assert found.rows == [(place, 1_000, None, None, []) for place in range(9)]


def test_headers_repeat_and_are_null_or_empty_or_none(program: Path) -> None:
    several = (("a", b"1"), ("a", None), ("", b""), ("größe", b"\xff"), ("a", b"1"))
    headers = (several, None, (), (("b", None),), BROKEN_HEADERS, several)
    found = one(program, tuple(Given(place, headers=each) for place, each in enumerate(headers)))
    assert [row[4] for row in found.rows] == [list(several), [], [], [("b", None)], [], list(several)]


def test_timestamps_come_as_they_are(program: Path) -> None:
    timestamps = (-1, 0, 1_767_323_044_123, 2**63 - 1)
    found = one(program, tuple(Given(place, timestamp=each) for place, each in enumerate(timestamps)))
    assert [row[1] for row in found.rows] == list(timestamps)


def test_records_from_the_end_on_are_destroyed_and_so_they_end_it(program: Path) -> None:
    take = (Given(3), Given(4), Given(7, value=b"beyond", headers=(("a", b"b"),)), Given(9))
    rows: list[Row] = [(3, 1_000, b"k", b"v", []), (4, 1_000, b"k", b"v", [])]
    assert one(program, take, end=7, start=3) == Copied([rows], next=10, bytes=4, error=0, destroyed=(2, 4))


def test_the_partition_s_end_is_an_offset_and_no_error(program: Path) -> None:
    found = one(program, (Given(3), Given(12, None, None, error=PARTITION_END)), end=12, start=3)
    assert found == Copied([[(3, 1_000, b"k", b"v", [])]], next=12, bytes=2, error=0, destroyed=(1, 2))


def test_the_first_error_counts_and_its_offset_does_not(program: Path) -> None:
    """librdkafka puts its words into the value of an error."""
    first = Given(-1001, None, b"broker down", error=TRANSPORT)
    found = one(program, (Given(3), first, Given(0, None, b"other", error=1)), start=3)
    assert found == Copied([[(3, 1_000, b"k", b"v", [])]], next=4, bytes=2, error=TRANSPORT, destroyed=(2, 3))


def test_nothing_leaves_everything_as_it_was(program: Path) -> None:
    assert one(program, start=5) == Copied([], next=5, bytes=0, error=0, destroyed=(0, 0))
    assert one(program, (), (), start=5) == Copied([], next=5, bytes=0, error=0, destroyed=(0, 0))
    only_errors = (Given(0, error=TRANSPORT), Given(8, error=PARTITION_END))
    assert one(program, only_errors, start=5) == Copied([], next=8, bytes=0, error=TRANSPORT, destroyed=(2, 2))


def test_what_is_taken_one_by_one_makes_one_batch(program: Path) -> None:
    takes = ((Given(0), Given(9, error=TRANSPORT)), (Given(1), Given(2)), (Given(3), Given(90), Given(91)))
    found = one(program, *takes, end=50)
    assert ([len(part) for part in found.parts], found.next, found.destroyed) == ([4], 92, (3, 7))


@pytest.mark.parametrize(
    ("together", "parts"), [(0, [1, 1, 1, 1]), (11, [1, 2, 1]), (12, [2, 1, 1]), (14, [3, 1]), (1_014, [4])]
)
def test_large_records_make_parts_each_in_its_own_columns(program: Path, together: int, parts: list[int]) -> None:
    """Each has 10 bytes, 2, 2 and 1,000: of keys, values and headers alike."""
    headers = (("name", b"1234"), ("a", None))
    take = (Given(0, None, b"1", headers), Given(1), Given(2, b"", b"12"), Given(3, b"k" * 1_000, None))
    [found] = run(program, [Range((take,), together=together)])
    assert [len(part) for part in found.parts] == parts
    assert found == expected(Range((take,), together=together))


def test_many_and_large(program: Path) -> None:
    many = tuple(Given(place, str(place).encode(), headers=((str(place), b"1"),)) for place in range(10_000))
    headers = tuple((f"header {number}", bytes(number)) for number in range(3_000))
    large = (Given(0, b"k" * 100_000, b"v" * 5_000_000, headers), Given(1, None, b"v" * 5_000_000))
    ranges = [Range((many,)), Range((large,)), Range((many,), end=0), Range((many[:5_000], large, many[5_000:]))]
    assert run(program, ranges) == [expected(each) for each in ranges]


def test_whatever_comes(program: Path) -> None:
    draw = random.Random(7)
    ranges = [_drawn(draw) for _ in range(1_000)]
    assert run(program, ranges) == [expected(each) for each in ranges]


def _drawn(draw: random.Random) -> Range:
    offset = draw.randrange(1 << 40)
    end = offset + draw.randrange(20)
    start, takes = offset, []
    for _ in range(draw.randrange(4)):
        take = []
        for _ in range(draw.choice((0, 1, 3, 7, 8, 9, 17))):
            headers = tuple((draw.choice(("", "a", "größe")), draw.choice(TEXTS)) for _ in range(draw.randrange(4)))
            take.append(
                Given(
                    offset,
                    draw.choice(TEXTS),
                    draw.choice(TEXTS),
                    draw.choice((None, headers, headers, BROKEN_HEADERS)),
                    draw.randrange(-1, 1 << 42),
                    draw.choice((0,) * 12 + (PARTITION_END, TRANSPORT, 1)),
                )
            )
            offset += draw.choice((1, 1, 1, 5))
        takes.append(tuple(take))
    return Range(tuple(takes), end=end, start=start, together=draw.choice((0, 10, 300, 1 << 40)))
