"""What connectors do not send, and what would happen if it came all the same (``docs/connectors.md``)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.events import ChangeChunk, Decoded, Op, SkipReason, SnapshotKind
from connectors.debezium.schema import SourceTable
from connectors.debezium.types import LogicalType, logical_type
from tests.golden.capture_file import capture_names, read_capture
from tests.golden.claims import absent
from tests.golden.documented.encoding import documented_traffic
from tests.golden.documented.stream import PLACEHOLDER, Column, Sent, Stream, key_only
from tests.golden.documented.streams import STREAMS
from tests.golden.evidence import Capability
from tests.golden.landing import land, parked
from tests.golden.traffic import Traffic, WireFormat

_NO_TRUNCATE = "The connector sends none. If one came, `policies.on_truncate` would apply."
_WHOLE_ROWS = "The connector sends whole rows. A placeholder would be treated by `policies.on_unavailable` as anywhere."

_FULL_IMAGES = "With `binlog_row_image=FULL` the connector sends whole rows. " + _WHOLE_ROWS.partition(". ")[2]


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def decoded_of(traffic: Traffic) -> Decoded:
    """What becomes of the stream's own topic."""
    topic = traffic.records[0].topic
    (decoded,) = replace(traffic, records=[each for each in traffic.records if each.topic == topic]).decode()
    return decoded


def only(stream: Stream, *events: Sent, wire: WireFormat = WireFormat.JSON_WITH_SCHEMA) -> ChangeChunk:
    decoded = decoded_of(documented_traffic(replace(stream, events=events), wire))
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    return chunk


def first(stream: Stream, op: str) -> Sent:
    return next(event for event in stream.events if event.op == op)


@absent(
    Capability.TRUNCATE,
    sqlserver="SQL Server truncates no table with change data capture. " + _NO_TRUNCATE,
    db2=_NO_TRUNCATE,
    informix=_NO_TRUNCATE,
    mongodb="Dropping a collection sends nothing: its rows stay in the mirror until it is rebuilt.",
    vitess=_NO_TRUNCATE,
    spanner=_NO_TRUNCATE,
)
def test_a_truncate_is_one_whoever_sends_it(connector: str, tmp_path: Path) -> None:
    stream = STREAMS[connector]
    truncate = replace(first(stream, "c"), op="t", after=None, key=None)
    assert only(stream, truncate).ops.tolist() == [Op.TRUNCATE]
    landed = replace(stream, events=[first(stream, "c"), truncate])
    job = land(documented_traffic(landed, WireFormat.JSON_WITH_SCHEMA), tmp_path)
    assert parked(job) == {stream.zone_table: "truncate"}


@absent(
    Capability.UNAVAILABLE,
    mysql=_FULL_IMAGES,
    mariadb=_FULL_IMAGES,
    db2=_WHOLE_ROWS,
    informix=_WHOLE_ROWS,
    vitess=_WHOLE_ROWS,
)
def test_a_placeholder_is_no_value_whoever_sends_it(connector: str, tmp_path: Path) -> None:
    stream = STREAMS["mysql" if connector == "mariadb" else connector]
    # A binlog connector's name changes nothing but the name.
    stream = replace(stream, own_source={**stream.own_source, "connector": connector})
    update = first(stream, "u")
    assert isinstance(update.after, dict)
    name = next(column.name for column in stream.columns if logical_type(column.field) is LogicalType.TEXT)
    sent = replace(update, before=None, after={**update.after, name: PLACEHOLDER})
    chunk = only(stream, sent)
    assert chunk.rows.column(name).to_pylist() == [None]
    assert {column: mask.tolist() for column, mask in chunk.unavailable.items()} == {name: [True]}
    job = land(documented_traffic(replace(stream, events=[sent]), WireFormat.JSON_WITH_SCHEMA), tmp_path)
    assert parked(job) == {stream.zone_table: "unavailable_value"}


@absent(
    Capability.UNAVAILABLE,
    mongodb="There is no placeholder. An update that arrives without its document is a bad record: set "
    "`capture.mode=change_streams_update_full` on the connector.",
)
def test_an_update_without_its_document_is_a_bad_record(connector: str) -> None:
    stream = STREAMS[connector]
    update = replace(first(stream, "u"), after=None)
    for wire in WireFormat:
        decoded = decoded_of(documented_traffic(replace(stream, events=[update]), wire))
        assert decoded.chunks == []
        assert [(bad.reason, "change_streams_update_full" in bad.detail) for bad in decoded.bad] == [
            ("missing after", True)
        ]


@absent(
    Capability.UNAVAILABLE,
    spanner="There is no placeholder. Create the change stream with the value capture type `NEW_ROW`, which sends "
    "whole rows: what the other types leave out lands as NULL.",
)
def test_what_an_event_leaves_out_without_a_placeholder_is_null(connector: str) -> None:
    stream = STREAMS[connector]
    update = first(stream, "u")
    sent = {"id": 1, "first_name": "Anne Marie"}
    chunk = only(stream, replace(update, after=sent))
    assert chunk.rows.to_pylist() == [{**key_only(stream.columns), **sent}]
    assert chunk.unavailable == {}


@absent(
    Capability.KEY_CHANGE,
    mongodb="`_id` never changes. A document stored anew under another `_id` is a delete and a create.",
    spanner="Primary keys never change. A row written anew under another key is a delete and a create.",
)
def test_a_row_stored_anew_under_another_key_moves(connector: str, tmp_path: Path) -> None:
    stream = STREAMS[connector]
    created, deleted = first(stream, "c"), first(stream, "d")
    key = "_id" if stream.documents else stream.key[0]
    moved = [replace(created, key=deleted.key, decoded={**created.decoded, **_key(deleted, key)}), deleted, created]
    if not stream.documents:
        assert isinstance(created.after, dict)
        moved[0] = replace(moved[0], after={**created.after, **(deleted.key or {})})
    traffic = documented_traffic(replace(stream, events=moved), WireFormat.AVRO)
    job = land(traffic, tmp_path)
    assert job.rows(stream.zone_table) == [dict(created.decoded)]


def _key(event: Sent, name: str) -> dict[str, object]:
    return {name: event.decoded[name]}


@absent(
    Capability.SCHEMA_CHANGES,
    vitess="The connector writes none. A new column shows in the schema of the next event.",
    spanner="The connector writes none. A new column shows in the schema of the next event.",
)
def test_a_new_column_shows_in_the_next_event(connector: str, tmp_path: Path) -> None:
    stream = STREAMS[connector]
    created = first(stream, "c")
    assert isinstance(created.after, dict)
    added = Column("added", "text", "string")
    wider = replace(
        stream,
        columns=(*stream.columns, added),
        events=[replace(created, after={**created.after, stream.key[0]: 77, "added": "new"}, key={stream.key[0]: 77})],
    )
    before = documented_traffic(replace(stream, events=[created]), WireFormat.JSON_WITH_SCHEMA)
    after = documented_traffic(wider, WireFormat.JSON_WITH_SCHEMA)
    second = replace(after.records[0], offset=1)
    job = land(replace(before, records=[before.records[0], second]), tmp_path)
    assert sorted(job.rows(stream.zone_table), key=lambda row: row[stream.key[0]]) == [
        {**created.decoded, "added": None},
        {**created.decoded, stream.key[0]: 77, "added": "new"},
    ]


@absent(
    Capability.SCHEMA_CHANGES,
    postgresql="The connector writes none. A new column shows in the schema of the next event.",
)
def test_postgresql_shows_a_new_column_in_the_next_event(connector: str) -> None:
    captured = [traffic for traffic in map(read_capture, capture_names()) if traffic.connector == connector]
    assert captured
    for traffic in captured:
        chunks = [chunk for part in traffic.decode() for chunk in part.chunks if chunk.table.name == "customers"]
        assert "note" in chunks[-1].rows.schema.names
        assert sum(part.skipped[SkipReason.SCHEMA_CHANGE] for part in traffic.decode()) == 0


@absent(Capability.SCHEMA_CHANGES, mongodb="Collections have no columns: whatever a document holds, it lands whole.")
def test_a_document_of_any_form_is_text(connector: str) -> None:
    stream = STREAMS[connector]
    created = first(stream, "c")
    document = '{"_id": "1234","anything": [{"$undefined": true}]}'
    chunk = only(stream, replace(created, after=document))
    assert chunk.schema.key == ("_id",)
    assert chunk.rows.to_pylist() == [{"_id": created.decoded["_id"], "document": document}]


@absent(
    Capability.POSITIONS,
    vitess="A vgtid orders nothing across shards, so only Kafka's offsets do. Rows of several partitions of a table "
    "are merged by offset: keep a table in one partition, or see that a key stays in its own.",
)
def test_without_positions_rows_keep_the_order_of_their_offsets(connector: str, tmp_path: Path) -> None:
    traffic = documented_traffic(STREAMS[connector], WireFormat.JSON)
    (chunk,) = decoded_of(traffic).chunks
    assert not chunk.positioned
    assert chunk.offsets.tolist() == sorted(chunk.offsets.tolist())
    job = land(traffic, tmp_path, partitions=3)
    assert job.rows(STREAMS[connector].zone_table) == [dict(row) for row in STREAMS[connector].rows]


@absent(
    Capability.INCREMENTAL_SNAPSHOT,
    vitess="The connector takes none, so a rebuild needs a new initial snapshot.",
    spanner="The connector takes none.",
)
def test_an_incremental_row_is_an_upsert_whoever_sends_it(connector: str, tmp_path: Path) -> None:
    stream = STREAMS[connector]
    created = first(stream, "c")
    again = replace(created, op="r", source={**created.source, "snapshot": "incremental"})
    assert only(stream, again).snapshots.tolist() == [SnapshotKind.INCREMENTAL]
    traffic = documented_traffic(replace(stream, events=[created, again]), WireFormat.AVRO_HEADER_IDS)
    job = land(traffic, tmp_path)
    assert job.rows(stream.zone_table) == [dict(created.decoded)]


@absent(
    Capability.SIGNALS,
    vitess="The connector takes no signals. A table that is called `debezium_signal` would be left out all the same.",
    spanner="The connector takes no signals. A table that is called `debezium_signal` would be left out all the same.",
)
def test_a_signalling_table_is_left_out_whoever_writes_it(connector: str) -> None:
    stream = replace(STREAMS[connector], signals=True, events=())
    traffic = documented_traffic(stream, WireFormat.AVRO)
    assert sum(part.skipped[SkipReason.SIGNAL] for part in traffic.decode()) == 1
    assert [chunk for part in traffic.decode() for chunk in part.chunks] == []


@absent(
    Capability.INITIAL_SNAPSHOT,
    spanner="The connector takes none: the mirror holds what has changed since its start.",
)
def test_a_stream_without_a_snapshot_lands_from_its_first_event_on(connector: str, tmp_path: Path) -> None:
    stream = STREAMS[connector]
    job = land(documented_traffic(stream, WireFormat.JSON_WITH_SCHEMA), tmp_path)
    assert parked(job) == {}
    assert job.rows(stream.zone_table) == [dict(row) for row in stream.rows]


@absent(Capability.TRANSACTIONS, spanner="The connector writes none. If it did, its records would be left out.")
def test_transaction_records_are_left_out_whoever_writes_them(connector: str) -> None:
    traffic = documented_traffic(replace(STREAMS[connector], transactions=True, events=()), WireFormat.JSON)
    assert sum(part.skipped[SkipReason.TRANSACTION] for part in traffic.decode()) == 1


@absent(*Capability, cassandra="Refused: every record is a bad record, with this reason, and nothing lands.")
def test_cassandras_events_are_bad_records_that_say_why(connector: str) -> None:
    stream = STREAMS["vitess"]
    cell = {"id": 1}
    named = replace(stream, own_source={**stream.own_source, "connector": connector}, connector=connector)
    for wire in WireFormat:
        event = replace(first(named, "c"), key=cell)
        (bad,) = decoded_of(documented_traffic(replace(named, events=[event]), wire)).bad
        assert (bad.reason, "single cells" in bad.detail) == ("unsupported connector", True)


def test_db2s_sixteen_byte_positions_are_read_as_well() -> None:
    event = replace(first(STREAMS["db2"], "u"), source={"commit_lsn": "00000027:00000758:0000000000000005"})
    assert only(STREAMS["db2"], event).positions.tolist() == [[0x0000002700000758, 5]]


def test_an_oracle_lob_that_moves_with_its_key_parks_the_table(tmp_path: Path) -> None:
    """The value is known under the old key only, and the create says so."""
    stream = STREAMS["oracle"]
    created = next(event for event in stream.events if event.moved_from is not None)
    assert isinstance(created.after, dict)
    moved = replace(created, after={**created.after, "NOTE": PLACEHOLDER})
    job = land(documented_traffic(replace(stream, events=[moved]), WireFormat.AVRO), tmp_path)
    assert parked(job) == {stream.zone_table: "unavailable_value"}


def test_an_interval_sent_as_a_floating_number_stays_one() -> None:
    """Oracle's page says FLOAT64 of ``MicroDuration``, its connector sends INT64."""
    stream = STREAMS["oracle"]
    columns = tuple(
        Column(column.name, column.source_type, "float64") if column.name == "SPAN" else column
        for column in stream.columns
    )
    sent = first(stream, "c")
    assert isinstance(sent.after, dict)
    event = replace(sent, after={**sent.after, "SPAN": -93_784_500_000.0})
    assert only(replace(stream, columns=columns), event).rows.column("SPAN").to_pylist() == [-93_784_500_000.0]


def test_two_servers_tables_of_one_name_are_told_apart_by_their_database() -> None:
    stream = STREAMS["sqlserver"]
    other = replace(first(stream, "c"), source={**first(stream, "c").source, "db": "otherDB"})
    assert only(stream, other).table == SourceTable("otherDB", "dbo", "customers")
