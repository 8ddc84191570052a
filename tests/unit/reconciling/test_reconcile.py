"""Which tables are compared, what is said of those that cannot be, and how a person sees it all."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from connectors.landing_zone.replay import Progress, Stage
from connectors.source_database.captured import CapturedTable
from connectors.source_database.catalog import DatabaseTable, SourceColumn
from connectors.source_database.column_types import postgresql_type
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind, location_of_url
from streaming import cli
from streaming.demo.workload import Record
from streaming.plan import JobOptions, TableOptions
from streaming.policies import TableMode
from streaming.reconciling.columns import LeftOutColumn
from streaming.reconciling.never_landed import NEVER_LANDED
from streaming.reconciling.outcome import Cell, Difference, DifferenceKind, TableOutcome, Verdict
from streaming.reconciling.reconcile import Reconciliation, UnknownTableError, prepare, reconcile
from streaming.reconciling.table import Limits, Sides, Steps
from streaming.reconciling.view import ComparisonProgress, show_outcomes
from streaming.settings import BridgeSettings, SettingsError
from tests.remedies.inventory import told_to_do
from tests.unit.reconciling.moving import COLUMNS, Moving, moving
from tests.unit.streaming.landed_shop import ORDERS, job, parked, row
from tests.unit.streaming.rebuild_world import USERS
from tests.unit.streaming.settings_builder import settings, settings_text

STEPS = Steps(lambda step: None, lambda table, rows, total: None, lambda table, what: None)
LISTED = "; all are in `cdc-bridge status CONFIG`"
AWAY = "postgresql://u@127.0.0.1:1/shop"
NO_CONNECT = {"url": "http://127.0.0.1:1", "connector": "shop"}


def work(world: Moving, options: JobOptions | None = None) -> Reconciliation:
    """All of a world's tables, and a database that is away."""
    return Reconciliation(
        options or job(world.folder),
        world.head,
        SourceDatabase(location_of_url(AWAY)),
        Sides(world.snapshot, world.job.zone, world.watch()),
        tuple(world.head.tables),
        Limits(wait=0.0),
    )


def shop_settings(world: Moving, **more: Any) -> BridgeSettings:
    """Settings of a world's zone and ledger."""
    changes: dict[str, Any] = {
        "landing_zone__url": f"file://{world.folder}/zone",
        "state": {"url": f"file://{world.folder}/state"},
        "source__database": {"url": AWAY},
    }
    return settings(**changes | more)


def of_source(record: Record, database: str, schema: str, name: str) -> Record:
    """The record as if it came from this table."""
    value = json.loads(record.value or b"")
    value["payload"]["source"] |= {"db": database, "schema": schema, "table": name}
    return replace(record, value=json.dumps(value).encode())


def reasons(outcomes: list[TableOutcome]) -> list[tuple[Verdict, str]]:
    return [(one.verdict, one.reason) for one in outcomes]


@pytest.fixture
def world(tmp_path: Path) -> Moving:
    return moving(tmp_path, [ORDERS.create(row(1), lsn=1)], rows={1: "new"})


class TestWhatCannotBeCompared:
    def test_a_database_that_is_away_leaves_the_table_undecided(self, world: Moving) -> None:
        [(verdict, reason)] = reasons(list(reconcile(work(world), STEPS)))
        assert verdict is Verdict.UNDECIDED
        assert reason.startswith("the source database cannot be asked now (a connection)")

    def test_a_parked_table_stands_still_on_purpose(self, tmp_path: Path) -> None:
        world = Moving(tmp_path, parked(tmp_path))
        assert reasons(list(reconcile(work(world), STEPS))) == [
            (Verdict.UNDECIDED, "the table is parked (truncate): its mirror stands still on purpose")
        ]

    def test_a_table_without_any_row_yet(self, world: Moving) -> None:
        made = work(world)
        table = msgspec.structs.replace(world.head.tables["public.orders"], schema="")
        state = msgspec.structs.replace(world.head, tables={"public.orders": table})
        object.__setattr__(made.sides.watch, "head", lambda: state)
        assert reasons(list(reconcile(made, STEPS))) == [(Verdict.UNDECIDED, "no row of it has landed yet")]


def test_a_source_without_schemas_has_its_database_in_that_place(world: Moving) -> None:
    source = world.head.tables["public.orders"].source
    assert DatabaseTable.of_events(DatabaseKind.POSTGRESQL, *source) == DatabaseTable("public", "orders")
    assert DatabaseTable.of_events(DatabaseKind.MYSQL, "shop", None, "orders") == DatabaseTable("shop", "orders")


class TestPreparing:
    def chosen(self, world: Moving, *tables: str) -> tuple[str, ...]:
        return prepare(shop_settings(world), tables, Limits(), settle=1.0).tables

    def test_all_tables_or_some_by_either_name(self, world: Moving) -> None:
        assert self.chosen(world) == ("public.orders",)
        assert self.chosen(world, "public.orders", "public.orders") == ("public.orders",)

    def test_a_table_that_the_ledger_does_not_know(self, world: Moving) -> None:
        with pytest.raises(UnknownTableError, match=r"the ledger knows no table public\.order") as caught:
            self.chosen(world, "public.order")
        assert caught.value.remedy == f"name one of public.orders{LISTED}"
        assert "write it as there" in told_to_do("UnknownTableError")
        [named] = self.chosen(world, caught.value.remedy.removeprefix("name one of ").removesuffix(LISTED))
        assert (named, world.compare(table=named).verdict) == ("public.orders", Verdict.EQUAL)

    def test_a_table_that_nothing_has_landed_of_is_known_once_its_first_event_was_read(self, world: Moving) -> None:
        """As the runbook says of it."""
        with pytest.raises(UnknownTableError) as caught:
            self.chosen(world, "public.users")
        assert caught.value.remedy == f"name one of public.orders{LISTED}"
        assert "a table is known once its first event was read" in told_to_do("UnknownTableError")
        world.land(USERS.create(row(1), lsn=2))
        [named] = self.chosen(world, "public.users")
        assert (named, world.compare(table=named).verdict) == ("public.users", Verdict.EQUAL)

    def test_a_name_that_several_sources_have_means_all_of_them(self, tmp_path: Path) -> None:
        options = TableOptions(schema_template="{database}", table_template="{schema} {table}")
        sources = [("shop", "a.b", "c"), ("shop", "a", "b.c"), ("mall", "a", "b.c"), ("mall", "a", "c")]
        world = moving(
            tmp_path,
            [of_source(ORDERS.create(row(1), lsn=1), *source) for source in sources],
            rows={1: "new"},
            defaults=options,
        )
        assert self.chosen(world, "a.b.c") == ("mall.a b_c", "shop.a b_c", "shop.a_b c")
        assert self.chosen(world, "shop.a b_c", "a.c") == ("shop.a b_c", "mall.a c")

    def test_without_a_database_there_is_nothing_to_compare_with(self) -> None:
        with pytest.raises(SettingsError, match="the settings do not say where the source database is") as caught:
            prepare(settings(), (), Limits(), settle=1.0)
        assert caught.value.remedy.startswith("set source.database.url, and password_file for its user")


class TestTablesThatHaveNeverLanded:
    """Without them a bridge that carries nothing would be called equal."""

    @pytest.fixture(autouse=True)
    def with_rows(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "streaming.reconciling.never_landed.has_rows", lambda database, schema, name: name != "empty"
        )

    def found(self, world: Moving, *captured: CapturedTable, **rules: Any) -> list[tuple[str, Verdict, str]]:
        options = job(world.folder, decode=DecodeOptions(rules=TableRules(**rules)))
        made = replace(work(world, options), tables=(), captured=lambda: captured)
        return [(one.name, one.verdict, one.reason) for one in reconcile(made, STEPS)]

    def test_a_captured_table_with_rows_that_the_ledger_does_not_know_is_undecided(self, world: Moving) -> None:
        orders, lines = (CapturedTable(DatabaseTable("public", name)) for name in ("orders", "lines"))
        assert self.found(world, orders, lines) == [("public.lines", Verdict.UNDECIDED, NEVER_LANDED)]

    def test_a_table_without_rows_lacks_nothing(self, world: Moving) -> None:
        assert self.found(world, CapturedTable(DatabaseTable("public", "empty"))) == []

    def test_excluded_tables_and_debeziums_signals_are_not_awaited(self, world: Moving) -> None:
        tables = [CapturedTable(DatabaseTable("public", name)) for name in ("tmp_a", "debezium_signal")]
        assert self.found(world, *tables, exclude=("public.tmp_*",)) == []

    def test_a_part_of_a_partitioned_table_that_has_landed_is_known(self, world: Moving) -> None:
        part, whole = DatabaseTable("public", "orders_2024"), DatabaseTable("public", "orders")
        assert self.found(world, CapturedTable(part, (whole,))) == []
        assert [name for name, *_ in self.found(world, CapturedTable(part))] == ["public.orders_2024"]

    def test_a_connector_that_does_not_tell_leaves_it_open(self, world: Moving) -> None:
        made = prepare(shop_settings(world, source__connect=NO_CONNECT), (), Limits(), settle=1.0)
        *_, last = reconcile(replace(made, tables=()), STEPS)
        assert (last.name, last.verdict) == ("*", Verdict.UNDECIDED)
        assert last.reason.startswith("which tables the connector captures besides is not known: Kafka Connect cannot")

    def test_tables_that_were_asked_for_by_name_are_all_that_is_looked_at(self, world: Moving) -> None:
        assert prepare(shop_settings(world), ("public.orders",), Limits(), settle=1.0).captured is None


OUTCOMES = [
    TableOutcome(
        "public.orders",
        "public.orders",
        Verdict.DIFFERENT,
        source_rows=1_200,
        mirrored_rows=1_201,
        ranges=2,
        ranges_differing=1,
        counts={DifferenceKind.CHANGED: 1, DifferenceKind.EXTRA: 2},
        shown=(
            Difference(
                DifferenceKind.CHANGED,
                (("id", "7"),),
                (Cell("name", "x" * 70, None), Cell("price", "1.5", "2")),
                1,
                1,
            ),
            Difference(DifferenceKind.EXTRA, (("id", "9"),), (), 0, 1),
        ),
        compared=("id", "name", "price"),
        left_out=(LeftOutColumn("email", "the settings have its values changed on the way"),),
        notes=("2 of its records were set aside as dead letters",),
        position="0/64",
        evidence="events",
        seconds=1.5,
    ),
    TableOutcome("public.lines", "public.lines", Verdict.UNDECIDED, reason="it is parked"),
    TableOutcome("public.a", "public.a", Verdict.UNDECIDED, reason="still moving", undecided=3, compared=("id",)),
]


def test_a_person_sees_the_differences_and_a_sum() -> None:
    console = Console(file=io.StringIO(), width=120)
    assert show_outcomes(OUTCOMES, console) == OUTCOMES
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    lines = [line.rstrip() for line in said.splitlines()]
    assert lines[0] == (
        "different public.orders  1,200 rows in public.orders, 1,201 mirrored; 2 key ranges, 1 looked into; 1.5 s"
    )
    assert lines[1:4] == [
        "          keys that differ: 1 changed, 2 extra in the mirror (at 0/64, proven by events)",
        "          2 of its records were set aside as dead letters",
        "          not compared: email: the settings have its values changed on the way",
    ]
    assert "x" * 57 + "..." in said
    assert "1 more key" in said
    assert lines[-5:] == [
        "undecided public.lines",
        "          it is parked",
        "undecided public.a  0 rows in public.a, 0 mirrored; 0 key ranges, 0 looked into; 0.0 s",
        "          3 keys undecided: still moving",
        "0 equal, 1 different, 2 undecided",
    ]


def test_without_tables_it_says_so() -> None:
    console = Console(file=io.StringIO(), width=80)
    show_outcomes([], console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "There is no table yet: nothing was compared.\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_tells_what_is_done_and_is_away_while_a_result_is_shown(terminal: bool) -> None:
    file = io.StringIO()
    progress = ComparisonProgress(Console(file=file, force_terminal=terminal, width=120), 1)
    with progress.bar:
        progress.steps.on_wait("public.orders", "waits")
        progress.steps.on_replay(Progress("public.orders", Stage.APPLY, "f", 1, 2))
        progress.steps.on_rows("public.orders", 5, 10)
        for _ in progress.aside_for(OUTCOMES[:1]):
            assert not progress.bar.live.is_started
    assert ("public.orders: rows of the database" in file.getvalue()) is terminal


def test_values_for_a_program_are_json() -> None:
    values = json.loads(json.dumps([one.values() for one in OUTCOMES]))
    assert values[0]["differences"] == {"changed": 1, "extra in the mirror": 2}
    assert values[0]["shown"][1] == {
        "kind": "extra in the mirror",
        "key": {"id": "9"},
        "cells": [],
        "source_rows": 0,
        "mirrored_rows": 1,
    }
    assert (values[2]["verdict"], values[2]["undecided_keys"]) == ("undecided", 3)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.EQUAL], 0),
        ([], 2),
        ([Verdict.EQUAL, Verdict.UNDECIDED], 2),
        ([Verdict.UNDECIDED, Verdict.DIFFERENT], 1),
    ],
)
def test_the_exit_code_says_what_is_known(
    verdicts: list[Verdict],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcomes = [TableOutcome("t", "t", verdict) for verdict in verdicts]
    monkeypatch.setattr("streaming.reconciling.reconcile.reconcile", lambda work, steps: iter(outcomes))
    config = tmp_path / "bridge.yaml"
    config.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", source__database={"url": AWAY}))
    assert cli.main(["reconcile", str(config)]) == code
    assert cli.main(["reconcile", str(config), "--json"]) == code
    assert capsys.readouterr().err == ""


def test_an_error_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reconcile", str(tmp_path / "none.yaml"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "SettingsError"


def test_history_is_not_the_tables_rows(world: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.reconciling.reconcile.columns_of", lambda database, table: ())
    options = job(world.folder, defaults=TableOptions(mode=TableMode.HISTORY))
    [(verdict, reason)] = reasons(list(reconcile(work(world, options), STEPS)))
    assert (verdict, reason) == (
        Verdict.UNDECIDED,
        "it lands every change as a row (mode: history), not its rows",
    )


def test_a_table_of_several_sources_is_no_single_tables_mirror(world: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.reconciling.reconcile.columns_of", lambda database, table: ())
    made = work(world)
    sources = (("a", "public", "orders"), ("b", "public", "orders"))
    table = msgspec.structs.replace(world.head.tables["public.orders"], sources=sources)
    state = msgspec.structs.replace(world.head, tables={"public.orders": table})
    object.__setattr__(made.sides.watch, "head", lambda: state)
    assert reasons(list(reconcile(made, STEPS))) == [
        (Verdict.UNDECIDED, "several source tables land in it (merge_sources)")
    ]


class TestWithADatabaseThatAnswers:
    """The catalog as a test says, the rows as the world has them."""

    @pytest.fixture(autouse=True)
    def answers(self, world: Moving, monkeypatch: pytest.MonkeyPatch) -> None:
        note = SourceColumn("note", postgresql_type("text"))
        monkeypatch.setattr("streaming.reconciling.reconcile.columns_of", lambda database, table: (*COLUMNS, note))
        monkeypatch.setattr("streaming.reconciling.reconcile.database_name", lambda database: "shop")
        world.holding = {"note"}

    def of_database(self, world: Moving, name: str, **more: Any) -> tuple[Verdict, str]:
        table = msgspec.structs.replace(world.head.tables["public.orders"], source=(name, "public", "orders"))
        state = msgspec.structs.replace(world.head, tables={"public.orders": table})
        made = replace(work(world, more.pop("options", None)), state=state, **more)
        object.__setattr__(made.sides.watch, "head", lambda: state)
        [said] = reasons(list(reconcile(made, STEPS)))
        return said

    def test_another_database_is_not_what_the_table_is_compared_with(self, world: Moving) -> None:
        assert self.of_database(world, "staging") == (
            Verdict.UNDECIDED,
            "it comes from the database staging, and source.database.url is shop",
        )

    def test_a_column_that_has_not_landed_though_it_holds_values_leaves_it_open(self, world: Moving) -> None:
        assert self.of_database(world, "shop") == (
            Verdict.UNDECIDED,
            "what was compared is equal, but these columns hold values that could not be compared: note",
        )

    @pytest.mark.parametrize(
        "options",
        [
            {"defaults": TableOptions(exclude=("no*",))},
            {"defaults": TableOptions(include=("id", "name"))},
            {
                "decode": DecodeOptions(
                    rules=TableRules(tables=(("*", TableDecoding(declared=(Field("id", ConnectType.INT64),))),))
                )
            },
        ],
    )
    def test_a_column_that_the_settings_exclude_lacks_nothing(self, world: Moving, options: dict[str, Any]) -> None:
        assert self.of_database(world, "shop", options=job(world.folder, **options)) == (Verdict.EQUAL, "")

    def test_a_column_that_the_connector_excludes_lacks_nothing(self, world: Moving) -> None:
        connector = {"column.exclude.list": "public.orders.note"}
        assert self.of_database(world, "shop", connector=connector) == (Verdict.EQUAL, "")

    def test_events_that_do_not_name_their_database_are_taken_for_this_ones(self, world: Moving) -> None:
        world.holding = set()
        assert self.of_database(world, "") == (Verdict.EQUAL, "")
