from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.footer import WRITER, Footer, PartitionEnd, read_footer, read_footer_and_rows
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.parquet import ParquetFileWriter
from tests.unit.landing_zone.landed_rows import ORDERS, orders

FOOTER = Footer(
    table="public.orders",
    generation=2,
    sequence=SequenceNumber(17),
    commit=41,
    schema=ORDERS,
    state='{"status":"streaming"}',
    topics={"shop.public.orders": "q0Zs"},
    vector={"shop.public.orders": {0: PartitionEnd(120, "00ff"), 10: PartitionEnd(7), 2: PartitionEnd(9)}},
    ranges={"shop.public.orders": {0: (100, 119), 10: (5, 6)}},
)
METADATA = FOOTER.to_metadata()


def written(path: Path, footer: dict[str, str]) -> Path:
    writer = ParquetFileWriter(path, ORDERS, marked=False)
    writer.write(orders((1, "a")), None)
    return writer.close(footer).path


def test_a_files_footer_tells_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "f.parquet", METADATA)
    assert read_footer(path) == FOOTER
    assert read_footer(path.read_bytes()) == FOOTER


def test_the_footers_text_is_the_same_for_equal_footers() -> None:
    assert METADATA == {
        "cdc_bridge.table": "public.orders",
        "cdc_bridge.generation": "2",
        "cdc_bridge.sequence": "17",
        "cdc_bridge.commit": "41",
        "cdc_bridge.schema": (
            '{"columns":[{"key":true,"name":"id","source":"id","type":"int64"},'
            '{"key":false,"name":"name","source":"name","type":"string"}]}'
        ),
        "cdc_bridge.state": '{"status":"streaming"}',
        "cdc_bridge.topics": '{"shop.public.orders":"q0Zs"}',
        "cdc_bridge.vector": (
            '{"shop.public.orders":{"0":{"offset":120,"position":"00ff"},'
            '"10":{"offset":7,"position":""},"2":{"offset":9,"position":""}}}'
        ),
        "cdc_bridge.ranges": '{"shop.public.orders":{"0":[100,119],"10":[5,6]}}',
        "cdc_bridge.writer": WRITER,
    }
    assert WRITER.startswith("cdc-bridge format 1, pyarrow ")


def test_keys_of_others_are_passed_over() -> None:
    assert Footer.from_metadata({**METADATA, "parquet.avro.schema": "{}"}) == FOOTER


def test_a_footer_has_defaults_for_what_a_table_may_lack() -> None:
    footer = Footer("orders", 1, SequenceNumber(1), 1, ORDERS)
    assert Footer.from_metadata(footer.to_metadata()) == footer


@pytest.mark.parametrize("missing", sorted(METADATA))
def test_a_footer_with_a_key_missing_is_reported(missing: str) -> None:
    with pytest.raises(InvalidZoneError, match=f"its footer has no {missing}"):
        Footer.from_metadata({key: text for key, text in METADATA.items() if key != missing})


@pytest.mark.parametrize("key", ["sequence", "schema", "vector", "ranges", "topics"])
def test_a_footer_with_an_unreadable_value_is_reported(key: str) -> None:
    with pytest.raises(InvalidZoneError, match="its footer cannot be read: "):
        Footer.from_metadata({**METADATA, f"cdc_bridge.{key}": "[1"})


def test_a_file_of_another_program_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InvalidZoneError) as caught:
        read_footer(written(tmp_path / "f.parquet", {}))
    assert str(caught.value) == (
        "a landing file says nothing about its place: its footer has no cdc_bridge.table [file=f.parquet]. "
        "Remedy: move the file out of the table's folder if another program wrote it; else restore it from a copy or, "
        "without one, `cdc-bridge resync CONFIG TABLE`"
    )


def test_the_rows_of_a_file_are_counted_per_marker(tmp_path: Path) -> None:
    writer = ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True)
    writer.write(orders((1, "a"), (2, "b"), (3, "c")), np.array([4, 2, 4], np.int8))
    assert read_footer_and_rows(writer.close(METADATA).path) == (FOOTER, {"2": 1, "4": 2})
    assert read_footer_and_rows(written(tmp_path / "g.parquet", METADATA)) == (FOOTER, {"": 1})


def test_a_file_that_is_damaged_before_its_footer_is_reported(tmp_path: Path) -> None:
    writer = ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True)
    writer.write(orders((1, "a"), (2, "b")), np.array([4, 2], np.int8))
    path = writer.close(METADATA).path
    body = path.read_bytes()
    columns = pq.read_metadata(path).row_group(0)
    end = max(
        columns.column(place).data_page_offset + columns.column(place).total_compressed_size
        for place in range(columns.num_columns)
    )
    path.write_bytes(body[:4] + b"\xff" * (end - 4) + body[end:])
    assert read_footer(path) == FOOTER
    with pytest.raises(InvalidZoneError, match="its rows cannot be read: "):
        read_footer_and_rows(path)


def test_half_a_file_is_reported(tmp_path: Path) -> None:
    body = written(tmp_path / "f.parquet", METADATA).read_bytes()
    with pytest.raises(InvalidZoneError, match="it is not a whole Parquet file: "):
        read_footer(body[:-10])
    with pytest.raises(InvalidZoneError, match="it is not a whole Parquet file: "):
        read_footer(tmp_path / "missing.parquet")


@pytest.mark.parametrize("byte", [0x00, 0x31, 0x7F, 0xFF])
def test_a_footer_with_one_wrong_byte_is_read_or_told_in_the_bridges_words(tmp_path: Path, byte: int) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"id": pa.array([1], pa.int8())}), path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")

    unread = 0
    for place in range(len(content) - 8 - length, len(content)):
        path.write_bytes(content[:place] + bytes([byte]) + content[place + 1 :])
        for read in (lambda: read_footer(path.read_bytes()), lambda: read_footer_and_rows(path)):
            with pytest.raises(InvalidZoneError) as told:
                read()
            unread += "it is not a whole Parquet file" in str(told.value)

    assert unread > 50
