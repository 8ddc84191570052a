"""What Fabric writes is read as it is meant, and what cannot be read is said so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from connectors.fabric.answers import (
    continuation_of,
    database_of_file,
    database_of_rest,
    parse_object,
    tables_of_file,
    tables_of_rest,
)
from connectors.fabric.errors import FabricAnswerError
from connectors.fabric.status import (
    LONGEST_TEXT,
    MirrorState,
    TableMirroring,
    TableState,
    error_of,
    mirror_state,
    moment_ms,
    table_state,
)


class TestWords:
    def test_documented_states_are_known_in_upper_or_lower_case(self) -> None:
        assert [mirror_state(text) for text in ("Running", "PAUSED", "Hibernating", "")] == [
            MirrorState.RUNNING,
            MirrorState.PAUSED,
            None,
            None,
        ]
        assert [table_state(text) for text in ("Replicating", "failed", "Running")] == [
            TableState.REPLICATING,
            TableState.FAILED,
            None,
        ]

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("2026-11-20T12:00:11.0663362Z", 1_795_176_011_066),
            ("2026-11-20T12:00:11", 1_795_176_011_000),
            ("2026-11-20T13:00:11+01:00", 1_795_176_011_000),
            ("0001-01-01T00:00:00", 0),
            ("0001-01-01T00:00:00Z", 0),
            ("yesterday", None),
            ("", None),
            (None, None),
            (1_763_640_011, None),
        ],
    )
    def test_moments(self, text: object, told: int | None) -> None:
        assert moment_ms(text) == told

    def test_an_error_is_there_once_either_text_is(self) -> None:
        assert error_of("", "") is None
        assert error_of(None, 5) is None
        found = error_of("Code", "x" * (LONGEST_TEXT + 1))
        assert found is not None
        assert found.text == f"Code: {'x' * (LONGEST_TEXT - 3)}..."


class TestReading:
    def test_a_byte_order_mark_is_passed_over(self) -> None:
        assert parse_object(b'\xef\xbb\xbf{"status": "Running"}', of="x") == {"status": "Running"}

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b"", "it is not JSON"),
            (b'{"status": "Run', "it is not JSON"),
            (b"\xff\xfe{", "it is not JSON"),
            (b"[]", "it is not a JSON object"),
        ],
    )
    def test_what_is_no_object(self, body: bytes, reason: str) -> None:
        with pytest.raises(FabricAnswerError) as caught:
            parse_object(body, of="Files/Monitoring/tables.json")
        assert str(caught.value) == (
            f"What Fabric tells of mirroring cannot be read: {reason} [source=Files/Monitoring/tables.json]. Remedy: "
            "look whether a proxy answers in Fabric's place; if the form has changed, set fabric.status to the other "
            "of rest and files"
        )

    @pytest.mark.parametrize(
        ("read", "answer", "reason"),
        [
            (database_of_rest, {}, "status is not a text"),
            (database_of_rest, {"status": ""}, "status is not a text"),
            (database_of_rest, {"status": "Running", "error": "bad"}, "error is not an object"),
            (database_of_file, {"status": 7}, "status is not a text"),
            (tables_of_rest, {}, "data is not a list of objects"),
            (tables_of_rest, {"data": ["orders"]}, "data is not a list of objects"),
            (tables_of_rest, {"data": [{"status": "Failed", "metrics": []}]}, "metrics is not an object"),
            (tables_of_rest, {"data": [{"sourceTableName": 3, "status": "Failed"}]}, "sourceTableName is not a text"),
            (tables_of_file, {"tables": {}}, "tables is not a list of objects"),
            (tables_of_file, {"tables": [{"sourceSchemaName": []}]}, "sourceSchemaName is not a text"),
            (continuation_of, {"continuationToken": 1}, "continuationToken is not a text"),
        ],
    )
    def test_what_is_of_another_type(self, read: Callable[..., Any], answer: Any, reason: str) -> None:
        with pytest.raises(FabricAnswerError, match=f"cannot be read: {reason}"):
            list(read(answer, of="x"))

    def test_fields_that_are_missing_are_not_known_and_others_are_left_alone(self) -> None:
        page = {"data": [{"status": "Failed", "metrics": None, "new": {"field": 1}}], "newer": []}
        assert list(tables_of_rest(page, of="x")) == [TableMirroring("", "", "Failed")]
        assert continuation_of(page, of="x") == ""
        odd = json.loads(
            '{"tables": [{"status": "x", "metrics": {"processedRowCount": true, "processedByte": "many"}}]}'
        )
        assert list(tables_of_file(odd, of="x")) == [TableMirroring("", "", "x")]
