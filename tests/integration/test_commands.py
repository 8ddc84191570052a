"""The commands against a real broker: one bridge that is checked, run, explained, shown, replayed and verified."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.protocol import Storage
from streaming import cli
from streaming.demo.workload import Record
from streaming.zones.reading import head_state
from tests.integration.conftest import Json
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


def one(key: int, name: str) -> dict[str, Any]:
    return {"id": key, "name": name}


def reading(cluster: Cluster, *topics: str) -> dict[str, object]:
    """The settings' section for topics by name."""
    return {"bootstrap_servers": cluster.bootstrap_servers, "topics": list(topics)}


def started(*arguments: object) -> subprocess.Popen[str]:
    """The command in a process of its own, its lines to be read as they come."""
    return subprocess.Popen(
        [sys.executable, "-m", "streaming", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines_until(process: subprocess.Popen[str], wanted: str) -> list[dict[str, Any]]:
    """The JSON lines that the process logs, up to one whose message holds these words."""
    assert process.stderr is not None
    found: list[dict[str, Any]] = []
    for line in process.stderr:
        if line.startswith("{"):
            found.append(json.loads(line))
            if wanted in str(found[-1].get("message")):
                return found
    raise AssertionError(f"it ended without saying {wanted!r}: {found}")


def verdicts(checks: list[dict[str, str]]) -> dict[str, str]:
    return {check["subject"]: check["verdict"] for check in checks}


def test_a_bridge_is_checked_before_and_after_its_first_run(
    cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    table = Table(cluster.topic())
    compacted = cluster.topic("compacted", cleanup_policy="compact")
    cluster.send(table.create(one(1, "new"), lsn=1), Record(table.topic, 0, None, b"{nonsense}", ()))
    made = bridge()
    config = made.write_settings()
    before = sorted(path for path in made.folder.rglob("*") if path.is_file())
    code, checks = as_json("check", config)
    assert code == 0
    assert sorted(path for path in made.folder.rglob("*") if path.is_file()) == before
    found = verdicts(checks)
    assert found | {"settings": "ok", "kafka": "ok", "dead letters": "ok", "owner": "ok", "ledger": "ok"} == found
    assert found[f"topic {table.topic}"] == "ok"
    assert found[f"topic {compacted}"] == "warning"
    [bad, good] = [check for check in checks if check["subject"] == f"records of {table.topic}"]
    assert (bad["verdict"], good["detail"]) == ("warning", "the newest are events of public.orders (new)")

    made.run()
    cluster.expire(table.topic, 0, 2)
    cluster.send(table.create(one(2, "newer"), lsn=2))
    code, checks = as_json("check", config)
    assert code == 0
    details = {check["subject"]: check["detail"] for check in checks}
    assert details["ledger offsets"] == "Kafka holds everything that is not landed: 1 offset"
    assert details["checkpoint"] == "goes on where the ledger ends"
    assert details["dead letters"].endswith("holds 1 letter")
    cluster.expire(table.topic, 0, 3)
    code, checks = as_json("check", config)
    assert (code, verdicts(checks)[f"ledger offsets of {table.topic}"]) == (1, "problem")


def test_a_check_beside_a_bridge_that_lands_all_the_while_tells_of_no_lost_record(
    cluster: Cluster, bridge: MakeBridge, as_json: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(cluster.topic())
    cluster.send(table.create(one(1, "new"), lsn=1))
    made = bridge()
    made.run()

    def land(key: int) -> None:
        cluster.send(table.create(one(key, "while it is checked"), lsn=key))
        made.run()

    def landed_before_and_behind(state: Storage) -> LedgerState:
        land(2)
        head = head_state(state)
        land(3)
        return head

    monkeypatch.setattr("streaming.checks.every.head_state", landed_before_and_behind)
    code, checks = as_json("check", made.write_settings())
    details = {check["subject"]: check["detail"] for check in checks}
    assert (code, details["ledger offsets"]) == (0, "Kafka holds everything that is not landed: 1 offset")
    assert details["checkpoint"] == "goes on where the ledger ends"


def test_topics_that_are_not_there_are_a_problem(cluster: Cluster, bridge: MakeBridge, as_json: Json) -> None:
    cluster.topic()
    missing = bridge(kafka=reading(cluster, f"{cluster.prefix}.order"))
    code, checks = as_json("check", missing.write_settings())
    [topics] = [check for check in checks if check["subject"] == "topics"]
    assert (code, topics["verdict"]) == (1, "problem")
    assert f"the nearest that exist: {cluster.prefix}.orders" in topics["detail"]
    some = bridge("some", kafka=reading(cluster, f"{cluster.prefix}.order", f"{cluster.prefix}.orders"))
    code, checks = as_json("check", some.write_settings())
    found = verdicts(checks)
    assert (code, found["topics"], found[f"topic {cluster.prefix}.orders"]) == (1, "problem", "ok")
    assert (found["ledger"], found["checkpoint"]) == ("ok", "ok"), "the others are looked at all the same"
    none = bridge("none", kafka__pattern=f"{cluster.prefix}-nothing")
    code, checks = as_json("check", none.write_settings())
    assert (code, verdicts(checks)["topics"]) == (0, "warning")


def test_where_bad_records_would_go_is_looked_at(cluster: Cluster, bridge: MakeBridge, as_json: Json) -> None:
    letters = cluster.topic("letters", cleanup_policy="compact")
    config = bridge(dead_letters__topic=letters, kafka__pattern=f"{cluster.prefix}-none").write_settings()
    code, checks = as_json("check", config)
    [check] = [check for check in checks if check["subject"] == "dead letters"]
    assert (code, check["verdict"]) == (1, "problem")
    assert check["detail"] == f"{letters} has cleanup.policy compact: letters could vanish"
    config = bridge("stops", tables__on_bad_record="fail", kafka__pattern=f"{cluster.prefix}-none").write_settings()
    code, checks = as_json("check", config)
    [check] = [check for check in checks if check["subject"] == "dead letters"]
    assert (code, check["detail"].split(":")[0]) == (0, "not used")


def test_real_records_are_explained_as_they_landed_and_as_they_would(
    cluster: Cluster, bridge: MakeBridge, as_json: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table(cluster.topic())
    cluster.send(table.read(one(1, "loaded"), lsn=1), table.update(one(1, "changed"), lsn=2))
    made = bridge()
    config = made.write_settings()
    made.run()
    cluster.send(table.truncate(lsn=3), table.create(one(2, "behind"), lsn=4), Record(table.topic, 0, None, b"!", ()))
    code, explained = as_json("explain", config, "--topic", table.topic, "--last", 10)
    assert code == 0
    assert [(each["offset"], each["fate"], each["landed_by"]) for each in explained] == [
        (0, "lands", 2),
        (1, "lands", 2),
        (2, "parks the table", None),
        (3, "table is parked", None),
        (4, "dead letter", None),
    ]
    assert explained[1]["rows"] == [{"marker": "1", "values": one(1, "changed")}]
    assert explained[1]["file"] == "public.schema/orders/00000000000000000001.parquet"
    assert explained[2]["reason"].startswith("truncate: ")
    code, [single] = as_json("explain", config, "--topic", table.topic, "--offset", 2)
    assert single == explained[2]
    assert made.ledger.tables["public.orders"].parked is None
    code, error = as_json("explain", config, "--topic", table.topic, "--offset", 5)
    assert (code, error["error"]["message"]) == (1, "the partition holds the offsets 0 to 4")
    assert cli.main(["explain", str(config), "--topic", table.topic]) == 0
    assert "parks the table" in capsys.readouterr().out


def test_an_offset_without_a_record_is_said_to_be_one(cluster: Cluster, bridge: MakeBridge, as_json: Json) -> None:
    table = Table(cluster.topic())
    # The second transaction cannot begin before the first one's marker is written.
    cluster.send_transactions(([table.create(one(1, "a"), lsn=1)], True), ([table.create(one(2, "b"), lsn=2)], True))
    code, error = as_json("explain", bridge().write_settings(), "--topic", table.topic, "--offset", 1)
    assert (code, error["error"]["kind"]) == (1, "NoSuchRecordError")


def test_the_status_follows_kafka(cluster: Cluster, bridge: MakeBridge, as_json: Json) -> None:
    table = Table(cluster.topic(partitions=2))
    cluster.send(table.create(one(1, "a"), lsn=1), table.at(1).create(one(2, "b"), lsn=2))
    made = bridge()
    config = made.write_settings()
    assert as_json("status", config)[1]["tables"] == []
    made.run()
    code, status = as_json("status", config)
    [orders] = status["tables"]
    assert (code, status["waiting"], orders["lag_offsets"], orders["lag_seconds"]) == (0, 0, 0, 0.0)
    assert (orders["last_number"], orders["pending"], orders["rows"]) == (1, None, {"4": 2})
    cluster.send(table.at(1).truncate(lsn=3), table.update(one(1, "c"), lsn=4))
    [orders] = as_json("status", config)[1]["tables"]
    assert orders["lag_offsets"] == 2
    assert orders["lag_seconds"] > 0
    made.run()
    [orders] = as_json("status", config)[1]["tables"]
    assert (orders["status"], orders["parked"]["reason"], orders["lag_offsets"]) == ("parked", "truncate", 2)


def test_the_status_of_the_others_is_shown_where_a_named_topic_is_gone(
    cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    gone, stays = Table(cluster.topic("gone"), "gone"), Table(cluster.topic("stays"), "stays")
    cluster.send(gone.create(one(1, "a"), lsn=1), stays.create(one(1, "a"), lsn=1))
    made = bridge(kafka=reading(cluster, gone.topic, stays.topic))
    made.run()
    cluster.delete(gone.topic)
    cluster.send(stays.create(one(2, "b"), lsn=2))
    code, status = as_json("status", made.write_settings())
    behind = {table["name"]: table["lag_offsets"] for table in status["tables"]}
    assert (code, status["waiting"], behind["public.stays"]) == (0, 1, 1)
    error = status["kafka_error"]
    assert (error["kind"], gone.topic in error["message"]) == ("TopicNotFoundError", True)
    assert error["remedy"].startswith("correct kafka.topics, or create the topic")
    cluster.delete(stays.topic)
    assert as_json("status", made.write_settings())[1]["waiting"] is None


def test_what_was_landed_is_verified_replayed_and_in_the_log(
    cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    table = Table(cluster.topic())
    lines = replace(table, name="lines")
    made = bridge()
    cluster.send(table.create(one(1, "a"), lsn=1), lines.create(one(7, "x"), lsn=2))
    made.run()
    cluster.send(table.update(one(1, "b"), lsn=3))
    made.run()
    code, found = as_json("verify", made.zone)
    assert (code, found["findings"], found["ledger_version"]) == (0, [], made.ledger.version)
    first, second = (
        entry["version"] for entry in as_json("ledger", "log", made.write_settings())[1][::-1] if entry["files"]
    )
    tables = {
        version: {each["table"]: each["first_rows"] for each in as_json("replay", made.zone, "--version", version)[1]}
        for version in (first, second)
    }
    assert tables == {
        first: {"public.orders": [one(1, "a")], "public.lines": [one(7, "x")]},
        second: {"public.orders": [one(1, "b")], "public.lines": [one(7, "x")]},
    }


def test_a_running_job_logs_each_batch_and_ends_well_when_asked(
    cluster: Cluster, bridge: MakeBridge, as_json: Json
) -> None:
    table = Table(cluster.topic())
    cluster.send(table.create(one(1, "a"), lsn=1))
    made = bridge(trigger__interval="0s", log__format="json")
    process = started("run", made.write_settings())
    try:
        lines = lines_until(process, "version 2: 1 offset -> 1 row in 1 file")
        assert (lines[-1]["rows"], lines[-1]["files"], lines[-1]["parked"]) == (1, 1, {})
        cluster.send(table.truncate(lsn=2))
        [parked] = [line for line in lines_until(process, "public.orders is parked") if line["level"] == "warning"]
        assert (parked["table"], parked["reason"]) == ("public.orders", "truncate")
        os.kill(process.pid, signal.SIGTERM)
        assert lines_until(process, "stopped as asked")[-1]["stopped"] is True
        rest = process.communicate(timeout=60)[1]
        assert (process.returncode, "Traceback" in rest, "%3|" in rest) == (0, False, False)
    finally:
        process.kill()
        process.communicate()
    assert made.rows() == [one(1, "a")]


def test_a_job_that_cannot_run_says_what_to_do_and_ends_with_1(
    cluster: Cluster, bridge: MakeBridge, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster.topic()
    made = bridge(kafka=reading(cluster, f"{cluster.prefix}.gone"))
    assert cli.main(["run", str(made.write_settings()), "--once", "--json"]) == 1
    said = capfd.readouterr()
    assert json.loads(said.out)["error"]["kind"] == "TopicNotFoundError"
    assert "What to do: correct kafka.topics" in said.err
    assert "Traceback" not in said.err


def test_a_drained_job_ends_with_its_summary(
    cluster: Cluster, bridge: MakeBridge, capsys: pytest.CaptureFixture[str], as_json: Json
) -> None:
    table = Table(cluster.topic())
    cluster.send(table.create(one(1, "a"), lsn=1), table.create(one(2, "b"), lsn=2))
    config = bridge().write_settings()
    code, summary = as_json("run", config, "--once")
    assert (code, summary["offsets"], summary["rows"], summary["stopped"]) == (0, 2, {"4": 2}, False)
    assert cli.main(["run", str(config), "--once"]) == 0
    assert "nothing new to land" in capsys.readouterr().err
