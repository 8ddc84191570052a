"""Which connector runs a batch's records name."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.headers import LONGEST_RUN_ID, RUN_ID, RecordHeaders, SeenRuns, merge_runs, seen_runs
from connectors.debezium.options import DecodeOptions
from connectors.kafka.headers import HEADERS_TYPE
from tests.unit.debezium.builders import Message, records, tombstone

Header = tuple[str, bytes | None]


def of(run: str | None, connector: str | None = "shop") -> tuple[Header, ...]:
    """The headers of a record of this run, as Debezium orders them, behind one of somebody else's."""
    said = {"connectorLogicalName": connector, "taskId": "0", "connectorName": "postgresql", "runId": run}
    named = ((f"__debezium.context.{name}", text.encode()) for name, text in said.items() if text is not None)
    return ("other", b"x"), *named


def seen(
    *sent: tuple[tuple[Header, ...], int], topic: str = "shop.public.orders", prefix: str | None = None
) -> SeenRuns:
    """The runs of records in a topic with these headers and Kafka's timestamps."""
    rows = [[{"key": name, "value": value} for name, value in headers] for headers, _ in sent]
    array = pa.array(rows, HEADERS_TYPE)
    times = np.array([at for _, at in sent], dtype=np.int64)
    return seen_runs(array, RecordHeaders(array, len(sent)).run_ids(), times, topic, prefix)


def test_each_run_has_the_time_of_its_newest_record() -> None:
    assert seen((of("a"), 10), (of("b"), 12), (of("a"), 30), (of("a"), 20)) == {"shop": {"a": 30, "b": 12}}


def test_runs_stand_under_their_own_connector() -> None:
    assert seen((of("a"), 10), (of("b", "shop.public"), 12)) == {"shop": {"a": 10}, "shop.public": {"b": 12}}


@pytest.mark.parametrize("topic", ["shop", "shop.orders", "shop.public.orders", "shop.db.public.orders"])
def test_a_connector_is_that_by_which_the_topic_is_called(topic: str) -> None:
    strangers = ("mall", "sho", "shop.", "shop.public.ord", "hop", "", "shop.public.orders.x" * 100)
    sent = [(of("a"), 10), *((of(f"run of {name}", name), 20) for name in strangers)]
    assert seen(*sent, topic=topic) == {"shop": {"a": 10}}


def test_where_the_settings_name_the_connector_it_is_that_one_however_topics_are_called() -> None:
    sent = ((of("a"), 10), (of("b", "renamed"), 20))
    assert seen(*sent, topic="renamed.orders", prefix="shop") == {"shop": {"a": 10}}
    assert seen(*sent, topic="renamed.orders") == {"renamed": {"b": 20}}


def test_a_header_converter_may_have_quoted_them() -> None:
    assert seen((of('"a"', '"shop"'), 10)) == {"shop": {"a": 10}}


def test_records_that_name_no_run_or_no_connector_tell_nothing() -> None:
    assert seen(((), 10), (of(None), 20)) == {}
    assert seen((of("a", None), 20)) == {}
    assert seen((of(None), 20), ((), 10), (of("a"), 7), (of("b", None), 8)) == {"shop": {"a": 7}}


def run_ids(*texts: bytes) -> list[str]:
    array = pa.array([[{"key": RUN_ID, "value": text}] for text in texts], HEADERS_TYPE)
    named: list[str] = RecordHeaders(array, len(texts)).run_ids().to_pylist()
    return named


def test_a_run_id_that_is_too_long_becomes_its_digest_and_stays_the_run_that_it_is() -> None:
    longest = b"r" * LONGEST_RUN_ID
    assert run_ids(longest) == [longest.decode()]
    one, other = (f"sha256:{hashlib.sha256(longest + end).hexdigest()}" for end in (b"1", b"2"))
    sent = (longest + b"1", longest + b"2", b'"' + longest + b'1"', longest + b"1")
    assert run_ids(*sent) == [one, other, one, one]


def test_of_headers_that_were_not_read_nothing_is_known() -> None:
    assert seen_runs(None, pa.nulls(2, pa.string()), np.zeros(2, dtype=np.int64), "shop", None) == {}


def test_a_decoder_tells_the_runs_of_all_records_whatever_they_are() -> None:
    gone = Message(tombstone({"id": 1}).key, None, of("a"))
    rubbish = Message(b'{"id":1}', b"rubbish", of("b"))
    heartbeat = Message(b'{"serverName":"shop"}', b'{"ts_ms":1}')
    decoded = Decoder(DecodeOptions()).decode(records(gone, rubbish, heartbeat, topic="shop.public.orders"))
    assert (decoded.chunks, decoded.runs) == ([], {"shop": {"a": 0, "b": 0}})


def test_merging_keeps_the_newer_time() -> None:
    runs: SeenRuns = {"shop": {"a": 10, "b": 20}}
    merge_runs(runs, {"shop": {"a": 5, "b": 25, "c": 1}, "mall": {"d": 2}})
    assert runs == {"shop": {"a": 10, "b": 25, "c": 1}, "mall": {"d": 2}}
