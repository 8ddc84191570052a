"""What keeps a start or a command from its work, from the error through its remedy to the one that works."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.debezium.connect_schema import row_schema_of
from connectors.debezium.declared import parse_column
from connectors.debezium.decoder import Decoder
from connectors.debezium.errors import ColumnDeclarationError, SchemaError
from connectors.debezium.options import DecodeOptions
from connectors.errors import Terminal
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.delimited import DelimitedFileWriter
from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.errors import NullKeyError, StorageDeniedError, TextSchemaChangeError
from connectors.landing_zone.ledger.state import NOTHING_LANDED, LedgerState, TableState
from connectors.landing_zone.parquet import ParquetFileWriter
from connectors.landing_zone.replay import ExportError, ExportFormat, export
from connectors.landing_zone.replay.content import UnreadableFileError, open_content
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import InvalidLocationError, StorageLocation
from connectors.landing_zone.storage.open import open_storage
from connectors.landing_zone.storage.paths import InvalidPathError, checked
from connectors.source_database.errors import DatabaseUrlError
from connectors.source_database.location import location_of_url
from streaming.dead_letters.coordinates import Coordinates, InvalidCoordinatesError
from streaming.dead_letters.showing import NoSuchLetterError, show_letter
from streaming.demo.folder import DemoFolderError, demo_folder
from streaming.driver.beginning import StartingOffsetError, asked_topic
from streaming.driver.checkpoint import Checkpoint, CheckpointError
from streaming.explaining.explain import Asked, NoSuchRecordError, spans
from streaming.lifecycle.asking import UnknownTableError, require_table
from streaming.settings import SettingsError, settings_of
from tests.unit.landing_zone.test_replay_export import ORDERS as EXPORTED
from tests.unit.landing_zone.test_replay_export import replayed
from tests.unit.streaming.settings_builder import settings_text
from tests.unit.streaming.test_dead_letter_views import letter

KEYED = PinnedSchema((PinnedColumn("id", "id", "int64", key=True), PinnedColumn("name", "name", "string")))


PRESENT = {"shop.orders": TopicDescription("id", {0: (5, 20)})}


def remedy_of(error: pytest.ExceptionInfo[Terminal]) -> str:
    return error.value.remedy


def test_settings() -> None:
    with pytest.raises(SettingsError) as raised:
        settings_of(settings_text(kafka__topcs=["a"]), "bridge.yaml")
    assert "kafka.topcs" in str(raised.value)
    assert settings_of(settings_text(kafka__topics=["a"]), "bridge.yaml").kafka.topics == ["a"]


def test_column_declaration() -> None:
    with pytest.raises(ColumnDeclarationError) as raised:
        parse_column("price", "decimel(10,2)")
    named = remedy_of(raised).removeprefix("did you mean '").partition("'")[0]
    assert parse_column("price", f"{named}(10,2)" if "(" not in named else "decimal(10,2)").name == "price"


def test_schema() -> None:
    def embedded(kind: str) -> bytes:
        return json.dumps({"type": "struct", "fields": [{"type": kind, "field": "id"}]}).encode()

    with pytest.raises(SchemaError) as raised:
        row_schema_of(embedded("decimel"))
    assert "`cdc-bridge explain CONFIG --topic TOPIC --offset OFFSET`" in remedy_of(raised)
    assert row_schema_of(embedded("int64"))


class TestStartingOffset:
    @pytest.mark.parametrize(
        ("topic", "offsets", "right"),
        [("shop.order", {0: 7}, "shop.orders"), ("shop.orders", {3: 7}, ""), ("shop.orders", {0: 4}, "")],
    )
    def test_that_is_not_there(self, topic: str, offsets: dict[int, int], right: str) -> None:
        with pytest.raises(StartingOffsetError):
            asked_topic(topic, offsets, PRESENT)
        assert asked_topic(right or topic, {0: 5}, PRESENT).partitions == {0: (5, 5)}


class TestRecord:
    @pytest.mark.parametrize(
        ("partition", "offset", "remedy"),
        [(7, None, "name one from 0 to 0"), (0, 4, "ask for an offset among them, or use --last")],
    )
    def test_that_is_not_there(self, partition: int, offset: int | None, remedy: str) -> None:
        with pytest.raises(NoSuchRecordError) as raised:
            spans(Asked("shop.orders", partition, offset, 5), PRESENT["shop.orders"])
        assert remedy_of(raised) == remedy
        assert spans(Asked("shop.orders", 0, None, 5), PRESENT["shop.orders"]) == {0: (15, 20)}


def test_checkpoint(tmp_path: Path) -> None:
    offsets = tmp_path / "offsets"
    offsets.mkdir()
    (offsets / "4").write_text("garbage")
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(CheckpointError) as raised:
        checkpoint.planned(4)
    assert remedy_of(raised).startswith("restart the job: it sets the checkpoint aside")
    assert checkpoint.next_start() is None, "so a start does not go on from it"
    assert checkpoint.set_aside() is not None
    assert not offsets.exists()


@pytest.mark.parametrize("url", ["file://zone", "s3://bucket/zone"])
def test_location(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidLocationError) as raised:
        open_storage(StorageLocation(url))
    assert "file:///" in remedy_of(raised)
    assert open_storage(StorageLocation(tmp_path.as_uri())).list("") == []


def test_path() -> None:
    with pytest.raises(InvalidPathError) as raised:
        checked("../etc/passwd")
    assert "as in orders/_metadata.json" in remedy_of(raised)
    assert checked("orders/_metadata.json") == "orders/_metadata.json"


def test_storage_denied(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    (tmp_path / "orders").write_bytes(b"in the way")
    with pytest.raises(StorageDeniedError):
        storage.put_if_absent("orders/_metadata.json", b"{}")
    (tmp_path / "orders").unlink()
    assert storage.put_if_absent("orders/_metadata.json", b"{}")


def test_null_key(tmp_path: Path) -> None:
    rows = pa.RecordBatch.from_pylist([{"id": None, "name": "n"}], schema=KEYED.arrow())
    writer = ParquetFileWriter(tmp_path / "a.parquet", KEYED, marked=False)
    with pytest.raises(NullKeyError) as raised:
        writer.write(rows, None)
    writer.abandon()
    assert remedy_of(raised).startswith("declare key columns that are never null")
    declared = PinnedSchema((PinnedColumn("id", "id", "int64"), PinnedColumn("name", "name", "string", key=True)))
    other = ParquetFileWriter(tmp_path / "b.parquet", declared, marked=False)
    other.write(pa.RecordBatch.from_arrays(rows.columns, schema=declared.arrow()), None)
    assert other.close({}).row_count == 1


def test_text_schema_change(tmp_path: Path) -> None:
    wider = PinnedSchema((*KEYED.columns, PinnedColumn("more", "more", "string")))
    text = DelimitedFileWriter(tmp_path / "a.csv", KEYED, marked=False, text=DelimitedFormat())
    with pytest.raises(TextSchemaChangeError) as raised:
        text.widen(wider)
    text.abandon()
    assert "set file_format to parquet" in remedy_of(raised)
    parquet = ParquetFileWriter(tmp_path / "b.parquet", KEYED, marked=False)
    parquet.widen(wider)
    assert parquet.close({}).row_count == 0


def test_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError) as raised:
        open_content(b"PAR", TableMetadata(), "orders/1.parquet")
    assert remedy_of(raised).startswith("put the right content back under the same name from a copy; without one, ")
    writer = ParquetFileWriter(tmp_path / "a.parquet", KEYED, marked=False)
    assert open_content(writer.close({}).path.read_bytes(), TableMetadata(), "orders/1.parquet").schema.names


def test_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(ExportError) as raised:
        export(replayed(EXPORTED), ExportFormat.DELTA, tmp_path)
    assert remedy_of(raised).endswith("or export to parquet or csv")
    assert export(replayed(EXPORTED), ExportFormat.PARQUET, tmp_path).exists()


def test_database_url() -> None:
    with pytest.raises(DatabaseUrlError) as raised:
        location_of_url("oracle:thin:@db")
    assert remedy_of(raised).startswith("write postgresql://, mysql:// or mariadb://user@host:port/database")
    assert location_of_url("postgresql://user@host:5432/shop")


def test_coordinates() -> None:
    with pytest.raises(InvalidCoordinatesError) as raised:
        Coordinates.parse("shop.orders:0")
    assert remedy_of(raised).startswith("write topic:partition:offset")
    assert Coordinates.parse("shop.orders:0:4") == Coordinates("shop.orders", 0, 4)


def test_letter() -> None:
    there = letter(1)
    decoder = Decoder(DecodeOptions())
    with pytest.raises(NoSuchLetterError) as raised:
        show_letter(Coordinates(there.record.topic, 0, 2), [there], NOTHING_LANDED, decoder)
    assert remedy_of(raised) == "`cdc-bridge dead-letters list CONFIG` shows those that there are"
    assert show_letter(Coordinates.of(there.record), [there], NOTHING_LANDED, decoder)


def test_demo_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.odt").touch()
    with pytest.raises(DemoFolderError) as raised, demo_folder(tmp_path):
        pass
    assert remedy_of(raised).startswith("name a new or an empty folder")
    with demo_folder(tmp_path / "new") as folder:
        assert folder.is_dir()


def test_table_that_nobody_knows() -> None:
    state = LedgerState("id", 1, 1, "w", tables={"public.orders": TableState(("shop", "public", "orders"), "o")})
    with pytest.raises(UnknownTableError) as raised:
        require_table("public.order", state)
    assert "as `cdc-bridge status` does" in remedy_of(raised)
    require_table("public.orders", state)
