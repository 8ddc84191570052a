"""Each rule between the zone and its ledger, on a pair that breaks just that one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState
from connectors.landing_zone.verify import Finding, Rule, Severity, verify_zone
from connectors.landing_zone.verify.ledger_rules import RESTORE
from tests.unit.landing_zone.zone_on_disk import TableOnDisk, employees

NAME, FOLDER = "dbo.Employees", "dbo.schema/Employees"
FILE_1, FILE_2 = (f"{FOLDER}/{number:020d}.parquet" for number in (1, 2))


def two_files(root: Path) -> TableOnDisk:
    return employees(root).rows(1, ("E1", "a", 4), ("E2", "b", 4)).rows(2, ("E1", None, 2))


def landed(table: TableOnDisk, number: int, rows: dict[str, int], **changes: Any) -> LandedFile:
    body = (table.path / table.name(number)).read_bytes()
    file = LandedFile(
        table=NAME,
        generation=1,
        sequence=number,
        staged=f"_scratchPad/1/{number}",
        target=f"{FOLDER}/{table.name(number)}",
        sha256=hashlib.sha256(body).hexdigest(),
        logical="",
        bytes=len(body),
        rows=rows,
        schema="",
    )
    return msgspec.structs.replace(file, **changes)


def files_of(table: TableOnDisk) -> list[LandedFile]:
    return [landed(table, 1, {"4": 2}), landed(table, 2, {"2": 1, "4": 0})]


def state_of(table: TableOnDisk, **changes: Any) -> LedgerState:
    last = files_of(table)[-1]
    entry = TableState(
        source=("db", "dbo", "Employees"),
        folder=FOLDER,
        sequence=2,
        keys=("EmployeeID",),
        rows={"4": 2, "2": 1},
        sha256=last.sha256,
    )
    entry = msgspec.structs.replace(entry, **changes)
    return LedgerState(ledger_id="l", version=9, epoch=1, writer="w", tables={NAME: entry})


def test_zone_that_is_what_its_ledger_says_has_no_findings(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    assert verify_zone(table.zone(), ledger=state_of(table), landed=files_of(table)) == []


def test_consumed_and_removed_files_are_no_finding_against_the_ledger(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    state, files = state_of(table), files_of(table)
    (table.path / table.name(1)).unlink()
    assert [found.rule for found in verify_zone(table.zone(), ledger=state, landed=files)] == [Rule.HISTORY_REMOVED]


def test_file_that_is_bound_but_not_yet_published_is_no_finding(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    state, files = state_of(table), files_of(table)
    (table.path / table.name(2)).rename(table.path / "_2")
    (tmp_path / "_scratchPad" / "1").mkdir(parents=True)
    (table.path / "_2").rename(tmp_path / "_scratchPad" / "1" / "2")
    state = msgspec.structs.replace(state, pending={NAME: files[1]})
    assert verify_zone(table.zone(), ledger=state, landed=files[:1]) == []


def test_file_of_an_earlier_generation_is_not_compared(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    old = msgspec.structs.replace(files_of(table)[0], sha256="other", bytes=1)
    state = state_of(table, generation=2)
    assert verify_zone(table.zone(), ledger=state, landed=[old]) == []


@pytest.mark.parametrize(
    ("changes", "rule", "file", "message"),
    [
        (
            {"sequence": 1, "sha256": ""},
            Rule.LEDGER_NUMBER,
            FILE_2,
            "the folder's highest number is 2, the ledger has bound 1",
        ),
        ({"sequence": 3}, Rule.LEDGER_NUMBER, None, "the folder's highest number is 2, the ledger has bound 3"),
        (
            {"keys": ("id",)},
            Rule.LEDGER_KEYS,
            f"{FOLDER}/_metadata.json",
            "keyColumns is EmployeeID, the ledger's key is id",
        ),
        (
            {"keys": ()},
            Rule.LEDGER_KEYS,
            f"{FOLDER}/_metadata.json",
            "keyColumns is EmployeeID, the ledger's key is empty",
        ),
        (
            {"rows": {"4": 3, "2": 1}},
            Rule.LEDGER_ROWS,
            None,
            "the files have 1 rows with marker 2 and 2 rows with marker 4, "
            "the ledger says 1 rows with marker 2 and 3 rows with marker 4",
        ),
    ],
)
def test_state_that_differs_from_the_zone_is_a_problem(
    tmp_path: Path, changes: dict[str, Any], rule: Rule, file: str | None, message: str
) -> None:
    table = two_files(tmp_path)
    found = verify_zone(table.zone(), ledger=state_of(table, **changes), landed=files_of(table)[:1])
    assert [(f.severity, f.rule, f.table, f.file, f.message) for f in found] == [
        (Severity.PROBLEM, rule, NAME, file, message)
    ]


@pytest.mark.parametrize(
    ("changes", "rule", "message"),
    [
        ({"sha256": "x"}, Rule.LEDGER_CONTENT, "the file's SHA-256 is {sha256}, the ledger says x"),
        ({"bytes": 7}, Rule.LEDGER_CONTENT, "the file has {bytes} bytes, the ledger says 7"),
        (
            {"rows": {"": 2}},
            Rule.LEDGER_ROWS,
            "the file has 2 rows with marker 4, the ledger says 2 rows with marker none",
        ),
        ({"rows": {}}, Rule.LEDGER_ROWS, "the file has 2 rows with marker 4, the ledger says no rows"),
    ],
)
def test_file_that_differs_from_what_was_bound_is_a_problem(
    tmp_path: Path, changes: dict[str, Any], rule: Rule, message: str
) -> None:
    table = two_files(tmp_path)
    right = landed(table, 1, {"4": 2})
    wrong = msgspec.structs.replace(right, **changes)
    found = verify_zone(table.zone(), ledger=state_of(table), landed=[wrong])
    assert found == [
        Finding(
            Severity.PROBLEM,
            rule,
            NAME,
            FILE_1,
            message.format(sha256=right.sha256, bytes=right.bytes),
            RESTORE
            if rule is Rule.LEDGER_CONTENT
            else "`cdc-bridge pause CONFIG TABLE` and compare both; the number's content must never change",
        )
    ]


@pytest.mark.parametrize("body", [b"", b"no parquet"])
def test_damaged_file_has_one_remedy_whatever_finds_it(tmp_path: Path, body: bytes) -> None:
    table = two_files(tmp_path)
    bound = landed(table, 1, {"4": 2})
    (table.path / table.name(1)).write_bytes(body)
    found = verify_zone(table.zone(), ledger=state_of(table), landed=[bound])
    damage = [finding for finding in found if finding.file == FILE_1]
    assert {finding.rule for finding in damage} == {
        Rule.LEDGER_CONTENT,
        Rule.UNREADABLE_FILE if body else Rule.EMPTY_FILE,
    }
    assert {finding.remedy for finding in damage} == {
        "`cdc-bridge pause CONFIG TABLE`, and put the very bytes that the ledger has bound back under this name, from "
        "a backup; without one, `cdc-bridge resync CONFIG TABLE`: a number's content must never change"
    }


def test_last_files_digest_is_compared_without_its_version(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    [found] = verify_zone(table.zone(), ledger=state_of(table, sha256="x"))
    assert (found.rule, found.file, found.message) == (
        Rule.LEDGER_CONTENT,
        FILE_2,
        f"the file's SHA-256 is {landed(table, 2, {}).sha256}, the ledger says x",
    )


def test_table_that_the_ledger_does_not_know_is_a_warning(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    [found] = verify_zone(table.zone(), ledger=LedgerState(ledger_id="l", version=1, epoch=1, writer="w"))
    assert (found.severity, found.rule, found.table, found.message) == (
        Severity.WARNING,
        Rule.LEDGER_TABLE,
        NAME,
        "the ledger does not know this table",
    )


def test_table_whose_folder_is_gone_is_a_problem(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    state = state_of(table)
    for path in table.path.iterdir():
        path.unlink()
    table.path.rmdir()
    [found] = verify_zone(table.zone(), ledger=state)
    assert (found.severity, found.rule, found.table, found.message) == (
        Severity.PROBLEM,
        Rule.LEDGER_TABLE,
        NAME,
        f"the folder {FOLDER} is gone; the ledger has bound 2 files to it",
    )


def test_table_that_has_no_file_yet_needs_no_folder(tmp_path: Path) -> None:
    table = two_files(tmp_path)
    other = TableState(source=("db", "dbo", "New"), folder="dbo.schema/New")
    state = state_of(table)
    state = msgspec.structs.replace(state, tables={**state.tables, "dbo.New": other})
    assert verify_zone(table.zone(), ledger=state) == []
