"""How a file's columns are encoded: dictionaries, codecs, and no compression for the smallest files."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.encoding import Compression, dictionary_columns
from connectors.landing_zone.parquet import ParquetFileWriter
from tests.unit.landing_zone.landed_rows import ORDERS, orders, rows_of


def test_dictionaries_are_kept_for_columns_that_repeat() -> None:
    rows = pa.RecordBatch.from_pydict(
        {
            "unique": list(range(100)),
            "few": [f"v{number % 25}" for number in range(100)],
            "too many": [number % 26 for number in range(100)],
            "bits": [True] * 100,
            "nothing": pa.nulls(100, pa.string()),
            "sparse": pa.array([1] * 4 + [None] * 96, pa.int64()),
            "sparser": pa.array([1] * 3 + [None] * 97, pa.int64()),
        }
    )
    assert dictionary_columns(rows) == ["few", "sparse"]
    assert dictionary_columns(rows.slice(0, 0)) == []


@pytest.mark.parametrize("count", [4_096, 5_000, 8_192])
@pytest.mark.parametrize("repeats", [3, 4.2, 5, 8])
def test_values_that_come_often_enough_get_a_dictionary_in_whatever_order_they_come(count: int, repeats: float) -> None:
    different = int(count / repeats)
    order = random.Random(count)
    shuffled = [number for _ in range(9) for number in order.sample(range(different), different)]
    rows = pa.RecordBatch.from_pydict(
        {
            "in turn": [f"{number % different}" for number in range(count)],
            "each round shuffled": shuffled[:count],
            "at random": order.choices(range(different), k=count),
            "new ones first": [min(number, different - 1) for number in range(count)],
            "new ones last": [max(0, number - count + different) for number in range(count)],
        }
    )
    assert dictionary_columns(rows) == (rows.schema.names if repeats > 4 else [])


@pytest.mark.parametrize("nulls", [0.0, 0.1, 0.3, 0.9])
def test_nulls_do_not_count_among_values_that_repeat(nulls: float) -> None:
    order = random.Random(7)

    def column(repeats: float) -> list[int | None]:
        values = int(8_192 * (1 - nulls))
        found = [number % int(values / repeats) for number in range(values)] + [None] * (8_192 - values)
        order.shuffle(found)
        return found

    rows = pa.RecordBatch.from_pydict({"often": column(4.5), "unique": column(1), "seldom": column(3.5)})
    assert dictionary_columns(rows) == ["often"]


def test_the_files_first_rows_decide_over_its_encodings(tmp_path: Path) -> None:
    def encodings(repeating: range) -> set[str]:
        rows = orders(*((n, "same" if n in repeating else f"{n}") for n in range(20_000)))
        with ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=False) as writer:
            writer.write(rows, None)
            return set(pq.read_metadata(writer.close({}).path).row_group(0).column(1).encodings)

    assert "RLE_DICTIONARY" in encodings(range(8_192))
    assert "RLE_DICTIONARY" not in encodings(range(8_192, 20_000))


def codecs(path: Path, rows: pa.RecordBatch) -> set[str]:
    writer = ParquetFileWriter(path, ORDERS, marked=False)
    writer.write(rows, None)
    group = pq.read_metadata(writer.close({}).path).row_group(0)
    return {group.column(place).compression for place in range(group.num_columns)}


@pytest.mark.parametrize(("count", "codec"), [(1, "UNCOMPRESSED"), (2, "UNCOMPRESSED"), (3, "ZSTD")])
def test_one_or_two_short_rows_are_not_compressed(tmp_path: Path, count: int, codec: str) -> None:
    assert codecs(tmp_path / "f.parquet", rows_of(ORDERS, count)) == {codec}


def test_a_tiny_file_is_smaller_than_a_compressed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def size(name: str) -> int:
        with ParquetFileWriter(tmp_path / name, ORDERS, marked=False) as writer:
            writer.write(rows_of(ORDERS, 1), None)
            return writer.close({}).bytes

    plain = size("plain.parquet")
    monkeypatch.setattr("connectors.landing_zone.encoding.is_tiny", lambda rows: False)
    assert plain < size("compressed.parquet")


def test_one_large_row_is_compressed(tmp_path: Path) -> None:
    long = pa.array(["x" * 10_000], pa.string())
    rows = rows_of(ORDERS, 1)
    place = next(place for place, field in enumerate(rows.schema) if field.type == pa.string())
    assert codecs(tmp_path / "f.parquet", rows.set_column(place, rows.schema.field(place), long)) == {"ZSTD"}


@pytest.mark.parametrize("compression", Compression)
def test_every_codec_of_the_contract_can_be_chosen(tmp_path: Path, compression: Compression) -> None:
    writer = ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=False, compression=compression.value)
    writer.write(rows_of(ORDERS, 3), None)
    codec = pq.read_metadata(writer.close({}).path).row_group(0).column(0).compression
    assert codec == {"none": "UNCOMPRESSED"}.get(compression.value, compression.name)
