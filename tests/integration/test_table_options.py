"""Every option of a table in one run on real databases: what the mirror holds is what a query says that it must.

Each option has a table of its own; all get the same seeded transactions. The query asks PostgreSQL, of the table as it
is and of the changes that a trigger has written down (:mod:`tests.rig.audited`); hashes and computed columns are made
by PostgreSQL, and what is encrypted is decrypted by the script that the page gives its readers.
"""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from streaming.driver.session import spark_session
from tests.docs.page import blocks
from tests.rig import Rig, RigServers
from tests.rig.audited import COLUMNS, ROW
from tests.rig.table_options import ADDED, SALT, SECRET, Landed, land_options, reached
from tests.support.bridge import QUICK_START
from tests.support.cluster import Cluster
from tests.unit.streaming.settings_builder import settings

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

PAGE = Path(__file__).parents[2] / "docs" / "table-options.md"
NEWEST = "(SELECT DISTINCT ON (id) * FROM audit.{} ORDER BY id, ordinal DESC) AS newest"
"""The last change of each key, in an audit."""


def kinds(rows: Sequence[tuple[Any, ...]]) -> list[tuple[type, ...]]:
    return [tuple(type(value) for value in row) for row in rows]


def assert_same(mirror: Sequence[tuple[Any, ...]], expected: Sequence[tuple[Any, ...]]) -> None:
    """The same values of the same types in the same order, and not none."""
    assert expected
    assert list(mirror) == list(expected)
    assert kinds(mirror) == kinds(expected)


@pytest.fixture(scope="module")
def landed(
    rig_servers: RigServers, bootstrap_servers: str, spark_jars: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Landed]:
    spark = spark_session(
        settings(spark__master="local[2]", spark__driver_memory="2GiB", spark__conf=QUICK_START), spark_jars
    )
    cluster = Cluster(bootstrap_servers)
    rig = Rig(rig_servers, cluster.prefix)
    try:
        yield land_options(rig, cluster, tmp_path_factory.mktemp("options"), spark)
    finally:
        rig.close()


def test_several_batches_have_landed_and_no_table_is_parked(landed: Landed) -> None:
    assert sum(1 for report in landed.reports if "public.compacted" in report.files) >= 4
    assert {name: table.parked for name, table in landed.bridge.ledger.tables.items() if table.parked} == {}
    [(operations,)] = landed.east.execute("SELECT string_agg(DISTINCT op, '' ORDER BY op) FROM audit.history")
    assert operations == "cdrtu"


class TestCompaction:
    def test_the_mirror_is_the_table(self, landed: Landed) -> None:
        assert_same(landed.rows("compacted", COLUMNS), landed.east.execute(f"SELECT {ROW} FROM compacted ORDER BY id"))

    def test_a_file_has_each_key_once_and_the_other_changes_are_counted(self, landed: Landed) -> None:
        left_out = 0
        for table in ("compacted", "combined"):
            files = landed.files(table)
            assert all(len(set(file["id"].to_pylist())) == file.num_rows for file in files)
            [(changes,)] = landed.east.execute(f"SELECT count(*) FROM audit.{table}")
            rows = sum(file.num_rows for file in files)
            assert rows < changes
            left_out += changes - rows
        assert landed.counter("compacted") == left_out


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ("marked", "name, price, quantity, measure, national_id, iban, notes, born, seen"),
        ("marked_by_key", "NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL"),
    ],
)
def test_deleted_rows_stay_marked_with_what_the_log_has_of_them(landed: Landed, table: str, left: str) -> None:
    expected = f"""
        SELECT {ROW}, false FROM {table}
        UNION ALL SELECT id, {left}, true FROM {NEWEST.format(table)} WHERE gone ORDER BY id"""
    mirror = landed.rows(table, (*COLUMNS, "_deleted"))
    assert_same(mirror, landed.east.execute(expected))
    assert {row[-1] for row in mirror} == {False, True}


class TestHistory:
    COORDINATES = ("_cdc_source_ts", "_cdc_position", "_cdc_kafka_topic", "_cdc_kafka_partition", "_cdc_kafka_offset")

    def test_every_change_is_a_row_in_the_order_of_commits(self, landed: Landed) -> None:
        names = ("_cdc_op", "_cdc_deleted", *COLUMNS, *self.COORDINATES)
        mirror = landed.rows("history", names)
        # What shares a position: the rows of the snapshot, and the two records of a key change, the old key's first.
        place = names.index("_cdc_position")
        mirror.sort(key=lambda row: (row[place], not row[1], row[2]))
        expected = landed.east.execute(f"SELECT op, gone, {ROW} FROM audit.history ORDER BY ordinal")
        assert_same([row[: -len(self.COORDINATES)] for row in mirror], expected)

    def test_the_newest_row_per_key_behind_the_last_truncate_is_the_table(self, landed: Landed) -> None:
        """As the page says it, asked by PostgreSQL of the mirror's own rows."""
        names = ("_cdc_op", "_cdc_deleted", "_cdc_position", "_cdc_kafka_offset", *COLUMNS)
        east = landed.east
        east.execute(
            "CREATE TABLE audit.landed AS SELECT ''::text AS op, false AS gone, ''::text AS place, 0::bigint AS number"
            f", {ROW} FROM history LIMIT 0"
        )
        rows = landed.rows("history", (*names, "_cdc_source_ts", "_cdc_kafka_topic", "_cdc_kafka_partition"))
        east.execute_many(
            f"INSERT INTO audit.landed VALUES ({', '.join(['%s'] * len(names))})", [row[: len(names)] for row in rows]
        )
        newest = f"""
            SELECT {ROW} FROM (
                SELECT DISTINCT ON (id) * FROM audit.landed
                WHERE place > (SELECT max(place) FROM audit.landed WHERE op = 't')
                ORDER BY id, place DESC, number DESC) AS newest
            WHERE NOT gone ORDER BY id"""
        assert_same(east.execute(newest), east.execute(f"SELECT {ROW} FROM history ORDER BY id"))


class TestDisguises:
    def test_hashes_are_those_that_postgresql_makes(self, landed: Landed) -> None:
        hashed = [hash_of(text) for text in ("national_id", "trim_scale(price)", "quantity", timestamp_text())]
        expected = f"""
            SELECT id, name, {", ".join(hashed)}, CASE WHEN notes IS NOT NULL THEN '****' END, NULL
            FROM disguised ORDER BY id"""
        names = ("id", "name", "national_id", "price", "quantity", "seen", "notes", "born", "iban", "measure")
        assert_same([row[:8] for row in landed.rows("disguised", names)], landed.east.execute(expected))

    def test_hashed_keys_find_their_rows(self, landed: Landed) -> None:
        expected = f"""
            SELECT {hash_of("id")} AS key, name, {hash_of("born")}, quantity, measure, national_id, iban, notes,
                {hash_of(timestamp_text().replace(".US", '.US"Z"'))}
            FROM disguised_key ORDER BY key"""
        names = ("id", "name", "born", "quantity", "measure", "national_id", "iban", "notes", "seen", "price")
        assert_same([row[:9] for row in landed.rows("disguised_key", names)], landed.east.execute(expected))

    @pytest.mark.parametrize(
        ("table", "column", "text"),
        [
            ("disguised", "iban", "iban"),
            ("disguised", "measure", "measure"),
            ("disguised_key", "price", "trim_scale(price)::text"),
        ],
    )
    def test_what_is_encrypted_is_decrypted_by_the_page_s_script(
        self, landed: Landed, tmp_path: Path, table: str, column: str, text: str
    ) -> None:
        [script] = [block.text for block in blocks(PAGE) if "AESSIV" in block.text]
        path = tmp_path / "decrypt.py"
        path.write_text(script)
        mirror = landed.bridge.rows(f"public.{table}")
        seen = [row[column] for row in mirror]
        values = [each and runpy.run_path(str(path), {"secret": SECRET, "text": each})["value"] for each in seen]
        key = hash_of("id") if table == "disguised_key" else "id"
        expected = [value for (value,) in landed.east.execute(f"SELECT {text} FROM {table} ORDER BY {key}")]
        assert values == expected
        assert not {value for value in expected if value} & set(seen)


def timestamp_text() -> str:
    """The page's SQL for the text of a timestamp without time zone."""
    [found] = re.findall(r"`(to_char\(seen, .*?\))`", PAGE.read_text())
    return str(found)


def hash_of(text: str) -> str:
    """The page's SQL for PostgreSQL, of another value."""
    [found] = re.findall(r"`(encode\(sha256.*?'hex'\))` in PostgreSQL", PAGE.read_text())
    return str(found).replace(":salt", f"'{SALT}'").replace("national_id", text)


def test_computed_columns_are_what_postgresql_computes(landed: Landed) -> None:
    expected = landed.east.execute(f"SELECT {ROW}, {', '.join(ADDED.values())} FROM computed ORDER BY id")
    assert_same(landed.rows("computed", (*COLUMNS, *ADDED)), expected)


FITTING = """
CREATE FUNCTION audit.whole(value text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN value::bigint;
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$
"""
FITS = "(measure IS NULL OR audit.whole(measure) IS NOT NULL)"


class TestCasts:
    @pytest.fixture(scope="class", autouse=True)
    @staticmethod
    def fitting(landed: Landed) -> None:
        landed.east.execute(FITTING)

    def test_what_postgresql_does_not_cast_is_null_and_counted(self, landed: Landed) -> None:
        names = ("id", "measure", "quantity", "name", "price", "national_id", "iban", "notes", "born", "seen")
        expected = """
            SELECT id, audit.whole(measure), quantity::text, name, price, national_id, iban, notes, born, seen
            FROM cast_softly ORDER BY id"""
        assert_same(landed.rows("cast_softly", names), landed.east.execute(expected))
        [(count,)] = landed.east.execute(f"SELECT count(*) FROM audit.cast_softly WHERE NOT gone AND NOT {FITS}")
        assert landed.counter("cast_failures") == count > 0

    def test_events_that_do_not_fit_are_dead_letters_and_the_others_land(self, landed: Landed) -> None:
        expected = f"""
            SELECT {ROW.replace("measure", "audit.whole(measure)")} FROM (
                SELECT DISTINCT ON (id) * FROM audit.cast_or_letter WHERE gone OR {FITS} ORDER BY id, ordinal DESC
            ) AS newest WHERE NOT gone ORDER BY id"""
        assert_same(landed.rows("cast_or_letter", COLUMNS), landed.east.execute(expected))
        unfit = f"SELECT id FROM audit.cast_or_letter WHERE NOT gone AND NOT {FITS} ORDER BY ordinal"
        # A batch that runs again sends its letters again: the first one does, since a second source turns up in it.
        letters = {
            (letter.record.partition, letter.record.offset): letter.record
            for letter in landed.cluster.letters(f"{landed.cluster.prefix}-dead-letters")
        }
        keys = [(json.loads(record.key or b"")["payload"]["id"],) for record in letters.values()]
        assert keys == landed.east.execute(unfit) != []
        assert landed.counter("dead_letters.cast_failure") == len(keys)


@pytest.mark.parametrize(("table", "landing"), [("undeleted", "cur"), ("created", "cr")])
def test_only_events_of_the_operations_that_are_left_in_land(landed: Landed, table: str, landing: str) -> None:
    expected = f"""
        SELECT DISTINCT ON (id) {ROW} FROM audit.{table} WHERE strpos('{landing}', op) > 0 ORDER BY id, ordinal DESC"""
    assert_same(landed.rows(table, COLUMNS), landed.east.execute(expected))


def test_events_of_operations_that_are_left_out_are_counted(landed: Landed) -> None:
    [(count,)] = landed.east.execute(
        "SELECT (SELECT count(*) FROM audit.undeleted WHERE op = 'd') + "
        "(SELECT count(*) FROM audit.created WHERE op IN ('u', 'd'))"
    )
    assert landed.counter("skipped.excluded_operation") == count


class TestDescribed:
    NAMES = ("_cdc_op", "_cdc_kafka_topic", "_cdc_source_database", "_cdc_source_table", "_cdc_deleted")

    def test_columns_about_the_event_tell_the_last_one_of_the_row(self, landed: Landed) -> None:
        names = (*COLUMNS, *self.NAMES, "_cdc_source_ts", "_cdc_position")
        mirror = landed.rows("described", names)
        expected = landed.east.execute(f"""
            SELECT {ROW}, op, '{landed.cluster.prefix}.east.public.described', current_database()::text, 'described',
                false, at
            FROM {NEWEST.format("described")} WHERE NOT gone ORDER BY id""")
        assert_same([row[:-2] for row in mirror], [row[:-1] for row in expected])
        for row, (*_, at) in zip(mirror, expected, strict=True):
            # The trigger fires just before its transaction commits; Debezium tells the commit's time, in milliseconds.
            assert at - timedelta(milliseconds=1) < row[-2] < datetime.now(UTC)

    def test_positions_ascend_as_the_changes_do(self, landed: Landed) -> None:
        rows = landed.bridge.rows("public.described", by="_cdc_position")
        newest = f"SELECT id FROM {NEWEST.format('described')} WHERE op IN ('c', 'u') ORDER BY ordinal"
        assert [(row["id"],) for row in rows if row["_cdc_op"] != "r"] == landed.east.execute(newest)


def test_options_go_together_in_one_table(landed: Landed) -> None:
    """Compacted, hashed by key, masked, computed, described, and what is deleted stays."""
    names = ("id", "name", "iban", *(name for name in COLUMNS[2:] if name != "iban"), "total", "_cdc_op", "_deleted")
    others = ", ".join(name for name in COLUMNS[2:] if name != "iban")
    expected = landed.east.execute(f"""
        SELECT {hash_of("id")} AS key, name, CASE WHEN iban IS NOT NULL THEN '****' END, {others}, {ADDED["total"]}, op,
            gone
        FROM {NEWEST.format("combined")} ORDER BY key""")
    assert_same(landed.rows("combined", names), expected)


def test_rows_of_two_shards_stay_apart_in_one_table(landed: Landed) -> None:
    names = ("_cdc_source_database", *COLUMNS, "region")
    expected = [
        *landed.east.execute(f"SELECT current_database()::text, {ROW}, NULL FROM orders ORDER BY id"),
        *landed.west.execute(f"SELECT current_database()::text, {ROW}, region FROM orders ORDER BY id"),
    ]
    assert_same(
        landed.rows("orders", names, by=("_cdc_source_database", "id")), sorted(expected, key=lambda row: row[:2])
    )
    assert landed.bridge.ledger.tables["public.orders"].keys == ("_cdc_source_database", "id")


def test_lag_tools_see_a_group_whose_offsets_are_the_ledger_s(landed: Landed) -> None:
    found = landed.cluster.group_offsets(f"lag-{landed.cluster.prefix}")
    assert found == reached(landed.bridge) != {}
