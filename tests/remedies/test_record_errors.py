"""A record that cannot land, from the error through its remedy to a stream that goes on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.debezium.row_columns import RowReader
from connectors.landing_zone.delimited import DelimitedFileWriter
from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.errors import NullKeyError, TextSchemaChangeError
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.landing import table_writer
from streaming.policies import OnBadRecord
from tests.remedies.broken_zones import carry_out, require_health, stands
from tests.remedies.site import Site
from tests.support.records import COLUMNS
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME


@pytest.mark.kafka
def test_bad_record(site: Site) -> None:
    site.set(tables={"on_bad_record": OnBadRecord.FAIL.value})
    created = ORDERS.create(row(2), 11)
    bad = replace(created, value=(created.value or b"").replace(b'"op":"c"', b'"op":"a secret"'))
    site.send(ORDERS.create(row(1, "uno"), 10), bad, ORDERS.create(row(3, "three"), 12))
    refused = site.shell.type("cdc-bridge run CONFIG --once")
    assert (refused.code, "error: BadRecordError" in refused.err, "(unknown op)" in refused.err) == (1, True, True)
    assert "a secret" not in refused.err
    explained = site.shell.follow(refused.remedy, "explain")
    assert explained.code == 0
    assert re.search(rf"^{re.escape(site.topic)} / 0 / 1 .*stops the job", explained.out)
    assert "set on_bad_record to dead_letter to set such records aside" in refused.remedy
    site.set(tables={"on_bad_record": OnBadRecord.DEAD_LETTER.value})
    assert site.shell.type("cdc-bridge run CONFIG --once").code == 0
    assert f"{site.topic}:0:1" in site.shell.type("cdc-bridge dead-letters list CONFIG").out
    require_health(site)


BY_NAME = replace(ORDERS, key=("name",))
NAMED, NAMELESS = BY_NAME.create(row(1, "uno"), 10), BY_NAME.create({"id": 3, "name": None}, 11)


@pytest.fixture
def lenient(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A bridge whose decoder, by a defect, lets rows pass that have NULL in their key: they are to be dead letters."""
    monkeypatch.setattr(RowReader, "_refuse_null_keys", lambda self, values, column: None)
    site.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return site


def declare_the_id(site: Site) -> None:
    """What the remedy says about the settings."""
    site.set(tables={"overrides": [{"match": NAME, "keys": ["id"]}]})
    site.send(ORDERS.update(row(3, "three"), 12))


@pytest.mark.kafka
@pytest.mark.parametrize(("records", "command"), [((NAMELESS, NAMED), "resume"), ((NAMED, NAMELESS), "resync")])
def test_null_key_that_is_seen_before_it_lands(lenient: Site, records: tuple[Record, ...], command: str) -> None:
    lenient.send(*records)
    assert lenient.shell.type("cdc-bridge run CONFIG --once").code == 0
    remedy = stands(lenient, "null_key")
    declare_the_id(lenient)
    carry_out(lenient, remedy, command)
    require_health(lenient)


@pytest.mark.kafka
def test_null_key(lenient: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second defect lets the row get as far as the file."""
    monkeypatch.setattr(table_writer, "null_key_stop", lambda events, keys: None)
    lenient.send(NAMED)
    assert lenient.shell.type("cdc-bridge run CONFIG --once").code == 0
    lenient.send(NAMELESS)
    refused = lenient.shell.type("cdc-bridge run CONFIG --once")
    assert (refused.code, f"error: {NullKeyError.__name__}" in refused.err) == (1, True)
    declare_the_id(lenient)
    carry_out(lenient, refused.remedy, "resync", TABLE=NAME)
    require_health(lenient)


@pytest.mark.kafka
def test_schema(world: Site) -> None:
    """The schema in a JSON record is broken by a transformation: the letter has it for good, the source has the row."""
    created = ORDERS.create(row(9), 29)
    broken = replace(created, value=(created.value or b"").replace(b'"type":"int64"', b'"type":"int65"'))
    assert broken.value != created.value
    world.send(broken, ORDERS.delete(row(9), 30))
    world.live()
    listed = world.shell.type("cdc-bridge dead-letters list CONFIG")
    assert (listed.code, "unusable schema" in listed.out) == (0, True)
    letter = world.shell.type(f"cdc-bridge dead-letters show CONFIG {world.topic}:0:5")
    [detail] = re.findall("^  detail: .+ Remedy: (.+)", letter.out, re.MULTILINE)
    explained = world.shell.follow(detail, "explain", TOPIC=world.topic, PARTITION=0, OFFSET=5)
    assert (explained.code, "dead letter" in explained.out) == (0, True)
    [remedy] = letter.told
    carry_out(world, remedy, "resync", TABLE=NAME)
    require_health(world)


KEYED = PinnedSchema((PinnedColumn("id", "id", "int64", key=True), PinnedColumn("name", "name", "string")))


@pytest.fixture
def text_orders(site: Site) -> Site:
    """Orders in text files, and an event with a column that no file has."""
    site.set(tables={"defaults": {"file_format": "delimited"}})
    site.send(ORDERS.create(row(1, "uno"), 10))
    assert site.shell.type("cdc-bridge run CONFIG --once").code == 0
    site.send(replace(ORDERS, columns=(*COLUMNS, Column("note", Kind.TEXT))).create(row(3, "three", note="x"), 11))
    assert site.shell.type("cdc-bridge run CONFIG --once").code == 0
    return site


@pytest.fixture
def writers_remedy(tmp_path: Path) -> str:
    """What a writer says of such a column that is asked all the same: the bridge parks the table before."""
    text = DelimitedFileWriter(tmp_path / "a.csv", KEYED, marked=False, text=DelimitedFormat())
    with pytest.raises(TextSchemaChangeError) as raised:
        text.widen(PinnedSchema((*KEYED.columns, PinnedColumn("note", "note", "string"))))
    text.abandon()
    return raised.value.remedy


@pytest.mark.kafka
def test_text_schema_change(text_orders: Site, writers_remedy: str) -> None:
    stands(text_orders, "type_changed")
    assert "set file_format to parquet and `cdc-bridge resync" in writers_remedy
    text_orders.set(tables={"defaults": {"file_format": "parquet"}})
    text_orders.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    carry_out(text_orders, writers_remedy, "resync", TABLE=NAME)
    require_health(text_orders)


@pytest.mark.kafka
def test_text_schema_change_where_the_column_is_left_out(text_orders: Site, writers_remedy: str) -> None:
    remedy = stands(text_orders, "type_changed")
    assert writers_remedy.startswith("leave the column out (columns.exclude)")
    text_orders.set(tables={"defaults": {"file_format": "delimited", "columns": {"exclude": ["note"]}}})
    carry_out(text_orders, remedy, "resume")
    require_health(text_orders)
