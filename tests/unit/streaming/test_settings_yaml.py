"""Mistakes of YAML are told with their line and column, and without the file's text."""

from __future__ import annotations

import pytest

from streaming.settings.yaml_document import parse_yaml
from tests.unit.streaming.settings_builder import problems


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["the file is empty: it must hold the keys of the settings"]),
        ("# nothing\n", ["the file is empty: it must hold the keys of the settings"]),
        ("- a\n", ["the file must be a mapping of keys [line 1, column 1]"]),
        (
            "name: [a,\n",
            ["the file is not YAML: expected the node content, but found '<stream end>' [line 2, column 1]"],
        ),
        ("a: b: c\n", ["the file is not YAML: mapping values are not allowed here [line 1, column 5]"]),
        ("name: a\n---\nname: b\n", ["the file is not YAML: but found another document [line 2, column 1]"]),
        (
            "name: a\nkafka: {topics: [a], topics: [b]}\nname: b\n",
            [
                "kafka.topics is written twice, first in line 2: keep one [line 2, column 22]",
                "name is written twice, first in line 1: keep one [line 3, column 1]",
            ],
        ),
        ("1: a\n", ["has a key that YAML doesn't read as text: write it in quotes [line 1, column 1]"]),
        ("log: {on: a}\n", ["log has a key that YAML doesn't read as text: write it in quotes [line 1, column 7]"]),
        ("a: \x01\n", ["the file holds the character 0x1, which YAML doesn't allow: remove it"]),
        ("a: !!int b\n", ["the file has a tag (!!int, !!timestamp, ...) that its value doesn't fit: remove the tag"]),
        ("a: " + "[" * 3000, ["the file is nested too deeply"]),
    ],
)
def test_what_is_wrong_with_the_file(text: str, messages: list[str]) -> None:
    assert problems(text) == messages


@pytest.mark.parametrize("text", ["password: *hunter2\n", "password: !hunter2 x\n", "a: {password: @hunter2}\n"])
def test_no_piece_of_the_file_is_quoted(text: str) -> None:
    [problem] = parse_yaml(text).problems
    assert "hunter2" not in str(problem)


def test_a_date_stays_the_text_that_it_is() -> None:
    assert parse_yaml("version: 2023-11-03\n").values == {"version": "2023-11-03"}


def test_anchors_and_merges_work_and_keep_their_lines() -> None:
    document = parse_yaml("a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n")
    assert document.values == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}
    assert (document.line_of(("a", "b")), document.line_of(("c", "d")), document.line_of(("c", "b"))) == (2, 5, 3)


def test_an_anchor_that_holds_itself_is_read_once() -> None:
    assert parse_yaml("a: &x [*x]\n").problems == ()


def test_a_path_that_is_not_written_has_the_line_of_its_nearest_parent() -> None:
    document = parse_yaml("a:\n  - b: 1\n  - c: 2\n")
    assert document.line_of(("a", 1, "x")) == 3
    assert document.line_of(("z",)) is None
