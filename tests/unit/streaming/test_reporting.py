"""What the ledger and Kafka know: status, lag, and the history of versions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from connectors.errors import Transient
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import VersionNotKeptError
from connectors.landing_zone.ledger.history import read_version
from connectors.landing_zone.ledger.state import LedgerState, TableStatus, VersionKind
from connectors.landing_zone.storage.local import LocalStorage
from streaming.reporting.history import NewColumn, describe, entry_of, history
from streaming.reporting.history_view import show_log, show_version
from streaming.reporting.rows_view import landed_text
from streaming.reporting.status import status_of
from streaming.reporting.status_view import Status, read_status, show_status
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, landed, parked, row, two_batches
from tests.unit.streaming.rebuild_world import World, shop
from tests.unit.streaming.settings_builder import settings

ORDERS_TABLE = "public.orders"
SOURCE_MS = 1_700_000_000_000


def kafka(end: int, earliest: int = 0) -> dict[str, TopicDescription]:
    return {TOPIC: TopicDescription(f"id-{TOPIC}", {0: (earliest, end)})}


def shown(show: Any, *arguments: Any) -> str:
    text = io.StringIO()
    console = Console(file=text, width=200)
    show(*arguments[:1], console, *arguments[1:])
    return text.getvalue()


def storage(folder: Path) -> LocalStorage:
    return LocalStorage(folder / "state")


class TestStatus:
    def test_a_table_that_has_everything_is_behind_by_nothing(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        report = status_of(state, kafka(6), SOURCE_MS + 60_000)
        assert report.values() == {
            "version": 3,
            "epoch": 1,
            "writer": "run",
            "waiting": 0,
            "tables": [
                {
                    "name": ORDERS_TABLE,
                    "status": "streaming",
                    "last_number": 2,
                    "pending": None,
                    "rows": {"": 2, "1": 1, "2": 1, "4": 1},
                    "position": "22:22",
                    "source_ms": SOURCE_MS + 22,
                    "topics": [TOPIC],
                    "lag_offsets": 0,
                    "lag_seconds": 0.0,
                    "late": 0,
                    "dead_letters": 0,
                    "dropped": False,
                    "renamed": None,
                    "renamed_columns": {},
                    "doubt": None,
                    "parked": None,
                }
            ],
            "counters": dict(state.counters),
        }

    def test_the_lag_is_offsets_and_the_age_of_the_newest_landed_change(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        [table] = status_of(state, kafka(106), SOURCE_MS + 22 + 5_000).tables
        assert (table.lag_offsets, table.lag_seconds) == (100, 5.0)

    def test_a_partition_that_was_added_to_a_known_topic_begins_at_0_and_one_of_an_unknown_topic_where_kafka_does(
        self, tmp_path: Path
    ) -> None:
        present = {
            TOPIC: TopicDescription(f"id-{TOPIC}", {0: (0, 6), 1: (10, 30)}),
            "new": TopicDescription("id", {0: (7, 9)}),
        }
        report = status_of(two_batches(tmp_path).ledger.state, present, 0)
        assert (report.tables[0].lag_offsets, report.waiting) == (30, 32)

    def test_without_kafka_the_lag_is_unknown(self, tmp_path: Path) -> None:
        report = status_of(two_batches(tmp_path).ledger.state, None, 0)
        assert report.waiting is None
        assert (report.tables[0].lag_offsets, report.tables[0].lag_seconds) == (None, None)

    def test_a_topic_that_is_gone_counts_for_nothing(self, tmp_path: Path) -> None:
        [table] = status_of(two_batches(tmp_path).ledger.state, {}, 0).tables
        assert table.lag_offsets == 0

    def test_a_parked_table_is_behind_from_where_it_stopped(self, tmp_path: Path) -> None:
        report = status_of(parked(tmp_path).ledger.state, kafka(3), 0)
        [table] = report.tables
        assert table.status is TableStatus.PARKED
        assert (table.lag_offsets, report.waiting) == (2, 0)
        values = table.values()["parked"]
        assert isinstance(values, dict)
        assert (values["reason"], values["offset"], values["skipped"]) == ("truncate", 1, 2)

    def test_an_unpublished_file_is_shown(self, tmp_path: Path) -> None:
        report = status_of(two_batches(tmp_path).ledger.state, None, 0, frozenset({ORDERS_TABLE}))
        assert report.tables[0].pending == 2

    def test_for_a_person_it_says_what_stands_still_and_what_to_do(self, tmp_path: Path) -> None:
        report = status_of(parked(tmp_path).ledger.state, kafka(5), 0, frozenset({ORDERS_TABLE}))
        said = shown(show_status, Status(report, Transient("no answer", remedy="wait")))
        assert f"public.orders is parked (truncate) at {TOPIC}/0/1: the source truncated the table" in said
        assert "What to do: `cdc-bridge resync CONFIG public.orders`" in said
        assert "file 1 (pending): 1 unmarked" in said
        assert "4 offsets" in said
        assert "Kafka: no answer" in said
        assert "What to do: wait" in said

    def test_a_table_that_may_keep_rows_which_the_source_has_not_says_so_and_what_to_do(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        doubtful = msgspec.structs.replace(state.tables[ORDERS_TABLE], doubt_ms=20_101, heard_ms=20_100)
        report = status_of(msgspec.structs.replace(state, tables={ORDERS_TABLE: doubtful}), kafka(6), 0)
        message = (
            "a snapshot found the table empty at the source, and no event shows whether its connector made it at its "
            "start or somebody asked for it; if it was a second initial snapshot, rows that the source has not are "
            "still in the mirror"
        )
        remedy = (
            "`cdc-bridge reconcile CONFIG --table TABLE` tells whether there are any, `cdc-bridge resync CONFIG TABLE` "
            "removes them; or set policies.on_resnapshot to upsert, which accepts that rows stay that no longer exist "
            "at the source"
        )
        assert report.tables[0].values()["doubt"] == {"message": message, "remedy": remedy}
        said = " ".join(shown(show_status, Status(report, None)).split())
        assert f"public.orders: {message} What to do: {remedy}" in said

    def test_a_doubt_is_over_with_what_has_been_taken_account_of(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        settled = msgspec.structs.replace(state.tables[ORDERS_TABLE], doubt_ms=20_101, heard_ms=20_101)
        [table] = status_of(msgspec.structs.replace(state, tables={ORDERS_TABLE: settled}), kafka(6), 0).tables
        assert not table.doubtful

    def test_for_a_person_nothing_behind_or_unknown(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        assert "nothing" in shown(show_status, Status(status_of(state, kafka(6), 0), None))
        assert "waiting: unknown" in shown(show_status, Status(status_of(state, None, 0), None))

    def test_for_a_person_a_table_is_a_block_that_fits_80_columns(self, tmp_path: Path) -> None:
        text = io.StringIO()
        report = status_of(two_batches(tmp_path).ledger.state, kafka(106), SOURCE_MS + 22 + 5_000)
        show_status(Status(report, None), Console(file=text, width=80))
        assert text.getvalue().splitlines()[1:4] == [
            "public.orders  streaming  behind: 100 offsets, 5.0 s",
            "  file 2: 2 unmarked · 1 upd · 1 del · 1 ups",
            "  newest change 2023-11-14 22:13:20Z, position 22:22",
        ]

    def test_of_an_empty_ledger(self) -> None:
        report = status_of(LedgerState("", 0, 0, ""), None, 0)
        assert shown(show_status, Status(report, None)) == "The ledger is empty: the bridge has not run yet.\n"

    def test_it_is_read_without_kafka_and_writes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("streaming.reporting.status_view.KAFKA_SECONDS", 0.2)
        two_batches(tmp_path)
        before = sorted(path for path in tmp_path.rglob("*"))
        status = read_status(
            settings(
                kafka__bootstrap_servers="127.0.0.1:1",
                landing_zone__url=f"file://{tmp_path}/zone",
                state={"url": f"file://{tmp_path}/state"},
            )
        )
        assert sorted(path for path in tmp_path.rglob("*")) == before
        values = status.values()
        assert (values["version"], values["waiting"]) == (3, None)
        assert isinstance(values["kafka_error"], dict)
        assert values["kafka_error"]["kind"] == "BrokerUnavailableError"
        assert status.report.tables[0].pending is None


class TestHistory:
    def test_newest_first_with_offsets_files_and_new_columns(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        newest, loaded, claim = history(storage(tmp_path), 10)
        assert [entry.version for entry in (newest, loaded, claim)] == [3, 2, 1]
        assert (claim.kind, claim.epoch, claim.offsets, claim.files) == (VersionKind.CLAIM, 1, 0, ())
        assert (loaded.kind, dict(loaded.moved), loaded.new_tables) == (
            VersionKind.COMMIT,
            {TOPIC: {0: (0, 2)}},
            (ORDERS_TABLE,),
        )
        assert newest.moved == {TOPIC: {0: (2, 6)}}
        assert newest.new_columns == (NewColumn(ORDERS_TABLE, "note", "string"),)
        [file] = newest.files
        assert (file.sequence, file.rows) == (2, {"1": 1, "2": 1, "4": 1})
        assert newest.complete

    def test_a_limit_does_not_lose_what_changed(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        assert history(storage(tmp_path), 1) == [entry_of(storage(tmp_path), 3)]
        assert history(storage(tmp_path), 1)[0].new_columns == (NewColumn(ORDERS_TABLE, "note", "string"),)

    def test_a_rebuild_is_told_and_the_columns_of_the_new_generation_are_not_new(self, tmp_path: Path) -> None:
        world = shop(World(tmp_path))
        world.ask()
        world.live()
        told = history(MemoryStorage(world.state), 100)
        steps = [step.value for entry in reversed(told) for step in entry.under_way.values()]
        assert steps == ["deleting", "cleared", "filling"]
        assert [entry.new_columns for entry in told if entry.new_columns] == []

    def test_a_table_that_stops_is_told_once(self, tmp_path: Path) -> None:
        shop = parked(tmp_path)
        shop.receive(ORDERS.create(row(9), 30))
        assert [list(entry.parked) for entry in history(storage(tmp_path), 10)] == [[], [ORDERS_TABLE], [], []]

    def test_a_table_that_goes_on_is_told(self, tmp_path: Path) -> None:
        shop = parked(tmp_path)
        before = shop.ledger.state
        table = msgspec.structs.replace(before.tables[ORDERS_TABLE], status=TableStatus.STREAMING, parked=None)
        version = msgspec.structs.replace(read_version(storage(tmp_path), 3), tables={ORDERS_TABLE: table})
        assert describe(before, version).resumed == (ORDERS_TABLE,)

    def test_after_pruning_what_changed_in_the_oldest_version_is_not_made_up(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        (tmp_path / "state/ledger/00000000000000000001.json").unlink()
        entry = entry_of(storage(tmp_path), 2)
        assert (entry.complete, entry.new_tables, entry.new_columns) == (False, (), ())
        assert len(history(storage(tmp_path), 5)) == 2
        assert "cannot be told" in shown(show_version, entry)

    def test_a_version_that_is_not_there_is_an_error_that_names_those_that_are(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        with pytest.raises(VersionNotKeptError) as caught:
            entry_of(storage(tmp_path), 9)
        assert caught.value.remedy == "ask for a version from 1 to 3"

    def test_for_a_person_a_paragraph_per_version(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        said = shown(show_log, history(storage(tmp_path), 10))
        assert "version 3  1970-01-01 00:00:00Z  run on host  commit: 4 offsets, 1 file" in said
        assert f"  {TOPIC}: 0 [2 to 6)" in said
        assert "  public.orders: file 2, 1 upd · 1 del · 1 ups" in said
        assert "  new column public.orders: note (string)" in said
        assert "  new table public.orders" in said
        assert "claim of epoch 1" in said

    def test_for_a_person_one_version_in_full(self, tmp_path: Path) -> None:
        said = shown(show_version, entry_of(storage_of_parked(tmp_path), 3))
        assert f"parked public.orders (truncate) at {TOPIC}/0/1" in said
        assert "What to do: `cdc-bridge resync CONFIG public.orders`" in said
        assert TOPIC in said

    def test_for_a_person_files_and_what_waits(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        version = read_version(storage(tmp_path), 3)
        waiting = msgspec.structs.replace(version, pending={"public.customers": version.files[ORDERS_TABLE]})
        said = shown(show_version, describe(shop.ledger.state, waiting))
        assert version.files[ORDERS_TABLE].sha256[:16] in said
        assert "still to be published from earlier versions: public.customers" in said

    def test_for_a_program_the_same(self, tmp_path: Path) -> None:
        entry = entry_of(storage_of_parked(tmp_path), 3).values()
        assert (entry["kind"], entry["offsets"], entry["files"]) == ("commit", {TOPIC: {"0": [1, 3]}}, [])
        assert isinstance(entry["parked"], dict)
        assert entry["parked"][ORDERS_TABLE]["reason"] == "truncate"

    def test_of_an_empty_ledger(self, tmp_path: Path) -> None:
        assert history(storage(tmp_path), 5) == []
        assert shown(show_log, []) == "The ledger is empty: the bridge has not run yet.\n"


def storage_of_parked(folder: Path) -> LocalStorage:
    parked(folder)
    return storage(folder)


def test_the_first_version_of_a_shop_is_its_claim(tmp_path: Path) -> None:
    landed(tmp_path)
    assert entry_of(storage(tmp_path), 1).values()["host"] == "host"


def test_landed_rows_are_told_in_one_cell() -> None:
    rows = {"": 3, "0": 2, "1": 1_873, "2": 743, "4": 4_210}
    assert landed_text(rows) == "3 unmarked · 2 ins · 1,873 upd · 743 del · 4,210 ups"
    assert landed_text({"4": 0}) == ""
