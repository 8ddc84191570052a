"""PostgreSQL's partitioned tables: sent under the name of the whole, or each part as a table of its own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from streaming import cli
from tests.integration.conftest import Json
from tests.rig import Converter, PostgresDatabase, Rig
from tests.rig.equivalence import running
from tests.rig.judge import Verdict, compare, select
from tests.rig.live import Live, wait
from tests.rig.reconciling import source_section
from tests.rig.signalled import SignalledSource
from tests.rig.tables import BIGINT, INT, WIDE, Column, Dialect, Table
from tests.rig.versioned import writing
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

ROWS = 200
BETWEEN = 60
PARTS = ("sales_1", "sales_2", "sales_3")
WHOLES = ("sales", "sales_rest")
"""``sales_rest`` is a part of ``sales``, and ``sales_2`` and ``sales_3`` are its own."""


def sales(name: str = "sales") -> Table:
    return Table(name, (Column("id", INT), Column("version", BIGINT), Column("note", WIDE)))


def create(db: PostgresDatabase) -> None:
    """Rows lie in parts by their key, so that a changed key moves a row from one to another."""
    for statement in (
        "CREATE TABLE sales (id int PRIMARY KEY, version bigint, note text) PARTITION BY RANGE (id)",
        "CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM (1) TO (100)",
        "CREATE TABLE sales_rest PARTITION OF sales FOR VALUES FROM (100) TO (100000) PARTITION BY RANGE (id)",
        "CREATE TABLE sales_2 PARTITION OF sales_rest FOR VALUES FROM (100) TO (180)",
        "CREATE TABLE sales_3 PARTITION OF sales_rest FOR VALUES FROM (180) TO (100000)",
    ):
        db.execute(statement)
    source = random.Random(5)
    rows = [(key, WIDE.draw(source) if key % 5 == 0 else "at first") for key in range(1, ROWS + 1)]
    db.execute_many("INSERT INTO sales VALUES (%s, 0, %s)", rows)
    for part in PARTS:
        db.execute(f"ALTER TABLE {part} REPLICA IDENTITY FULL")


def add_part(db: PostgresDatabase) -> None:
    """A part that is made, filled and changed while the connector runs."""
    db.execute("CREATE TABLE sales_0 PARTITION OF sales FOR VALUES FROM (-100) TO (1)")
    db.execute("ALTER TABLE sales_0 REPLICA IDENTITY FULL")
    db.execute("INSERT INTO sales SELECT -number, 1, repeat('new', 9) FROM generate_series(1, 50) AS number")
    db.execute("UPDATE sales SET version = 2 WHERE id < -25")
    db.execute("DELETE FROM sales WHERE id BETWEEN -5 AND -1")


def verdict(made: Bridge, db: PostgresDatabase, name: str) -> Verdict:
    return compare(sales(name), select(db, Dialect.POSTGRESQL, sales(name)), made.replayed(f"public.{name}"))


def test_a_partitioned_table_that_is_sent_under_its_own_name_equals_the_database(
    rig: Rig, cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    db = rig.postgres()
    create(db)
    signalled = SignalledSource(
        rig,
        cluster,
        db,
        Converter.JSON_SCHEMA,
        partitions=3,
        publish_via_partition_root="true",
        publication_autocreate_mode="filtered",
        table_include_list="public.sales",
        skipped_operations="none",
    )
    connector = signalled.connect()
    made = bridge(
        **signalled.settings,
        source__signals={"topic": signalled.signals},
        trigger__interval="0s",
        requests__interval="500ms",
    )
    path, live = made.write_settings(), Live(db, made)

    with running(made):
        wait(lambda: live.landed("sales", 1), "the snapshot lands")
        with writing(db, [sales()], ROWS) as written:
            written.wait_more(BETWEEN)
            add_part(db)
            written.wait_more(BETWEEN)
        large = "version > 0 AND length(note) > 4000"
        kept = {part: db.execute(f"SELECT count(*) FROM {part} WHERE {large}") for part in PARTS}
        connector.wait_caught_up()
        db.execute("INSERT INTO sales VALUES (90000, 0, 'last')")
        wait(lambda: live.reached("sales", 90000), "everything lands")

        assert made.tables() == ["public.sales"]
        assert min(kept.values()) > [(0,)], "rows with large values were changed in every part, or moved there"
        assert verdict(made, db, "sales").equal

        # Nothing tells of rows that vanish with their part.
        [(gone,)] = db.execute("SELECT count(*) FROM sales WHERE id < 180 AND id > 0")
        db.execute("DROP TABLE sales_1")
        db.execute("TRUNCATE sales_2")
        db.execute("INSERT INTO sales VALUES (90001, 0, 'behind')")
        wait(lambda: live.reached("sales", 90001), "the row behind the drop lands")
        left = verdict(made, db, "sales")
        assert (left.missing, left.extra, left.different) == (0, gone, 0)
        code, answer = as_json("resync", path, "public.sales")
        assert (code, answer["status"]) == (0, "streaming")
    assert verdict(made, db, "sales").equal


def test_the_parts_of_a_partitioned_table_land_each_by_itself_or_merged_and_equal_it(
    rig: Rig, bridge: MakeBridge
) -> None:
    db = rig.postgres()
    create(db)
    connector = rig.connect(db, partitions=3, tables=("public.sales_[0-9]",))
    connector.wait_streaming()
    with writing(db, [sales()], ROWS) as written:
        written.wait_more(BETWEEN)
        add_part(db)
        written.wait_more(2 * BETWEEN)
    connector.wait_caught_up()

    apart = bridge("apart")
    apart.run()
    merged = bridge(
        "merged",
        tables__overrides=[
            {
                "match": "*.sales_*",
                "naming": {"table": "sales"},
                "merge_sources": True,
                "metadata_columns": ["source_table"],
                "policies": {"on_resnapshot": "upsert"},
            }
        ],
    )
    merged.run()

    assert apart.tables() == [f"public.{part}" for part in ("sales_0", *PARTS)]
    assert [each for part in ("sales_0", *PARTS) if not (each := verdict(apart, db, part)).equal] == []
    assert merged.tables() == ["public.sales"]
    rows: list[dict[str, Any]] = merged.rows("public.sales")
    found = {row["_cdc_source_table"]: 0 for row in rows}
    for row in rows:
        found[row.pop("_cdc_source_table")] += 1
    whole = select(db, Dialect.POSTGRESQL, sales())
    assert rows == sorted(whole, key=lambda row: int(row["id"]))
    assert found == dict(db.execute("SELECT CAST(CAST(tableoid AS regclass) AS text), count(*) FROM sales GROUP BY 1"))


@pytest.mark.parametrize("via_root", [True, False])
def test_check_names_the_tables_that_only_the_first_snapshot_fills(
    rig: Rig, bridge: MakeBridge, capsys: pytest.CaptureFixture[str], via_root: bool
) -> None:
    """Without a list of tables, the connector reads whole and parts, and sends changes under the names of one kind."""
    db = rig.postgres()
    create(db)
    connector = rig.connect(db, publish_via_partition_root=str(via_root).lower())
    connector.wait_streaming()
    db.execute("UPDATE sales SET version = 7 WHERE id % 10 = 0")
    db.execute("INSERT INTO sales VALUES (300, 0, 'new')")
    connector.wait_caught_up()
    made = bridge(source=source_section(rig, db, connector))

    def named() -> set[str]:
        capsys.readouterr()
        cli.main(["check", str(made.write_settings()), "--json"])
        said = json.loads(capsys.readouterr().out)
        return {check["subject"].removeprefix("table public.") for check in said if "never changes" in check["detail"]}

    before = named()
    made.run()
    stale = {name for name in (*WHOLES, *PARTS) if not verdict(made, db, name).equal}

    assert stale == ({"sales_rest", *PARTS} if via_root else set(WHOLES))
    assert (before, named()) == (stale, stale)
