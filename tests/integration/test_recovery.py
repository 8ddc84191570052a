"""What Kafka and Spark may do to a bridge between two runs: it goes on correctly, or says what is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.errors import Terminal
from connectors.landing_zone.errors import LedgerBehindError, OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.storage.protocol import Storage
from streaming import cli
from streaming.driver import startup
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Row, Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


def rows(*keys: int) -> list[Row]:
    return [{"id": key, "name": f"n{key}"} for key in keys]


def send(cluster: Cluster, table: Table, *keys: int) -> None:
    cluster.send(*(table.create(row, lsn=key + 1) for key, row in zip(keys, rows(*keys), strict=True)))


def test_aborted_records_never_land_and_their_offsets_are_no_gap(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    records = [table.create(row, lsn=number + 1) for number, row in enumerate(rows(*range(9)))]
    cluster.send_transactions((records[:3], True), (records[3:6], False), (records[6:], True))
    made = bridge(trigger__max_offsets=4)

    made.run()

    assert made.rows() == rows(0, 1, 2, 6, 7, 8)
    assert made.replayed().rows_per_marker == {"4": 6}
    send(cluster, table, 9)
    made.run()
    assert made.rows() == rows(0, 1, 2, 6, 7, 8, 9)


def test_what_has_landed_is_told_although_old_versions_cannot_be_pruned(
    cluster: Cluster, bridge: MakeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(state: Storage, *, now_ms: int) -> None:
        if Ledger.open(state, now_ms=lambda: now_ms).state.tables:
            raise Terminal("the storage refuses to delete", remedy="grant it")

    monkeypatch.setattr(startup, "PRUNE_EVERY", 1)
    monkeypatch.setattr(startup, "prune", fails)
    cluster.send(Table(cluster.topic()).create({"id": 1}, 1))
    told: list[BatchReport] = []
    with pytest.raises(Terminal, match="refuses to delete"):
        bridge().run_until(StopSignal(), once=True, on_batch=told.append)
    assert [list(report.files) for report in told] == [[TABLE]]


def test_a_lost_checkpoint_is_made_anew_from_the_ledger(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 1, 2)
    made.run()
    shutil.rmtree(made.settings.checkpoint)
    send(cluster, table, 3)

    [report] = made.run()

    assert report.offsets == 1
    assert made.rows() == rows(1, 2, 3)
    assert made.replayed().rows_per_marker == {"4": 3}


def test_folders_may_be_called_anything(cluster: Cluster, bridge: MakeBridge, tmp_path: Path) -> None:
    """Spaces, percent signs and whatever else a URI has to escape."""
    folder = tmp_path / "daten +1 %41%20{x} ü#?"
    made = bridge(landing_zone__url=(folder / "zone").as_uri(), state__checkpoint=str(folder / "spark"))
    made.zone = folder / "zone"
    table = Table(cluster.topic())
    send(cluster, table, 0)
    made.run()
    send(cluster, table, 1)
    made.run()
    assert made.rows() == rows(0, 1)
    assert sorted(each.name for each in folder.iterdir()) == ["spark", "zone", "zone-state"]
    assert sorted(each.name for each in (folder / "spark" / "commits").glob("[0-9]")) == ["0", "1"]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("daten")] == [folder.name]


def test_a_restored_older_checkpoint_makes_nothing_land_twice(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 1)
    made.run()
    shutil.copytree(made.settings.checkpoint, made.folder / "older")
    send(cluster, table, 2)
    made.run()
    before = made.files()
    shutil.rmtree(made.settings.checkpoint)
    shutil.move(made.folder / "older", made.settings.checkpoint)

    assert [report.version for report in made.run()] == [None], "Spark plans the range again; all of it has landed"
    assert made.files() == before
    send(cluster, table, 3)
    made.run()
    assert made.rows() == rows(1, 2, 3)
    assert made.replayed().rows_per_marker == {"4": 3}


def test_a_checkpoint_that_is_ahead_of_the_ledger_is_set_aside(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made, other = bridge("made"), bridge("other")
    send(cluster, table, 1)
    made.run()
    send(cluster, table, 2, 3)
    other.run()
    shutil.rmtree(made.settings.checkpoint)
    shutil.copytree(other.settings.checkpoint, made.settings.checkpoint)

    made.run()

    assert made.rows() == rows(1, 2, 3)
    assert made.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()


def test_a_drain_after_a_crash_goes_on_although_a_topic_is_new(cluster: Cluster, bridge: MakeBridge) -> None:
    made = bridge()
    table = Table(cluster.topic())
    send(cluster, table, 1)
    made.run()
    send(cluster, table, 2)
    made.run()
    [*_, last] = sorted((made.settings.checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
    last.unlink()  # the crash: Spark has planned the batch and not finished it
    send(cluster, Table(cluster.topic("lines"), "lines"), 7)

    made.run()

    assert made.tables() == ["public.lines", "public.orders"]
    assert (made.rows(), made.rows("public.lines")) == (rows(1, 2), rows(7))
    assert made.replayed().rows_per_marker == {"4": 2}


def test_offsets_that_retention_removed_before_they_landed_park_their_table_alone(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table, lines = Table(cluster.topic("public.orders")), Table(cluster.topic("public.lines"), "lines")
    made = bridge()
    send(cluster, table, 0, 1)
    send(cluster, lines, 0)
    made.run()
    send(cluster, table, 2, 3, 4)
    send(cluster, lines, 1)
    cluster.expire(table.topic, 0, before=4)

    made.run()

    parked = made.ledger.tables["public.orders"].parked
    assert parked is not None
    assert (parked.reason, parked.resume) == ("retention_passed", {table.topic: {0: 2}})
    assert f"offsets that were not landed: 2 to 3 of {table.topic}/0" in parked.message
    assert (made.rows(), made.rows("public.lines")) == (rows(0, 1), rows(0, 1))
    assert made.ledger.topics[table.topic].partitions == {0: 5}


def test_offsets_that_retention_removed_of_a_topic_with_another_name_than_its_table_stop_the_job(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 0, 1)
    made.run()
    send(cluster, table, 2, 3, 4)
    before = made.files()
    cluster.expire(table.topic, 0, before=4)

    with pytest.raises(OffsetGapError, match="Kafka's retention has removed 2 offsets that are not landed") as raised:
        made.run()

    assert raised.value.facts == {"topic": table.topic, "partition": 0, "offset": 2, "earliest": 4}
    assert "carry its tables with a second bridge" in raised.value.remedy
    assert made.files() == before


def test_offsets_that_retention_removed_after_they_landed_do_not_matter(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 0, 1)
    made.run()
    send(cluster, table, 2)
    cluster.expire(table.topic, 0, before=2)

    made.run()

    assert made.rows() == rows(0, 1, 2)


def test_a_topic_whose_first_records_are_gone_is_read_from_the_earliest_one(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic())
    send(cluster, table, 0, 1, 2)
    cluster.expire(table.topic, 0, before=2)
    made = bridge()

    made.run()

    assert made.rows() == rows(2)
    assert made.ledger.topics[table.topic].partitions == {0: 3}


def test_a_topic_that_was_deleted_and_created_again_stops_the_job(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 0, 1)
    made.run()
    cluster.delete(table.topic)
    cluster.topic()
    send(cluster, table, 5, 6, 7)

    with pytest.raises(TopicRecreatedError, match="the topic was deleted and created again") as raised:
        made.run()

    assert raised.value.facts["topic"] == table.topic
    assert raised.value.facts["recorded_id"] != raised.value.facts["found_id"]
    assert "carry its tables with a second bridge" in raised.value.remedy
    assert made.rows() == rows(0, 1)


def test_a_deleted_topic_does_not_stop_the_others(cluster: Cluster, bridge: MakeBridge) -> None:
    orders, customers = Table(cluster.topic("orders")), Table(cluster.topic("customers"), "customers")
    made = bridge()
    send(cluster, orders, 1)
    send(cluster, customers, 1)
    made.run()
    cluster.delete(orders.topic)
    send(cluster, customers, 2)

    made.run()

    assert made.rows("public.customers") == rows(1, 2)
    assert made.rows() == rows(1)
    assert made.ledger.topics[orders.topic].partitions == {0: 1}


def test_a_lost_ledger_is_made_again_by_a_command_and_the_bridge_goes_on(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    made = bridge()
    send(cluster, table, 1, 2)
    made.run()
    send(cluster, table, 3)
    made.run()
    before = made.ledger
    shutil.rmtree(made.folder / "zone-state")
    send(cluster, table, 4)
    with pytest.raises(LedgerBehindError, match="`cdc-bridge ledger rebuild CONFIG`"):
        made.run()

    assert cli.main(["ledger", "rebuild", str(made.write_settings())]) == 0
    made.run()

    assert made.rows() == rows(1, 2, 3, 4)
    assert made.replayed().rows_per_marker == {"4": 4}
    assert made.ledger.ledger_id == before.ledger_id
    assert made.ledger.tables["public.orders"].sequence == 3
