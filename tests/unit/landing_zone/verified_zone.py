"""A zone that keeps every rule of the format, to be broken by a test, and the findings that the test expects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.landing_zone.verify import Finding, Rule, Severity, verify_zone
from tests.unit.landing_zone.zone_on_disk import EMPLOYEE, TableOnDisk, employees

FOLDER = "dbo.schema/Employees"
FILE_1, FILE_2, FILE_3, FILE_4 = (f"{FOLDER}/{number:020d}.parquet" for number in (1, 2, 3, 4))
METADATA = f"{FOLDER}/_metadata.json"
REQUIRED_KEY = pa.schema([pa.field("EmployeeID", pa.string(), nullable=False), *list(EMPLOYEE)[1:]])

Break = Callable[[TableOnDisk], object]
Breaks = Mapping[str, tuple[Break, list[tuple[Any, ...]]]]
"""By name: what breaks one rule, and the findings of the zone then."""


def good_zone(root: Path) -> TableOnDisk:
    """Three right files: snapshot without markers, then changes; the first was consumed."""
    table = employees(root, fileDetectionStrategy="SequentialFileName", isUpsertDefaultRowMarker=True)
    table.rows(1, ("E1", "a"), ("E2", "b"), schema=REQUIRED_KEY.remove(2), where="_ProcessedFiles")
    table.rows(2, ("E3", "c", 4), ("E1", "d", 1), schema=REQUIRED_KEY)
    table.rows(3, ("E1", None, 2), ("E4", None, 0), schema=REQUIRED_KEY)
    partner = {"partnerName": "p", "sourceInfo": {"sourceType": "SQL"}}
    (root / "_partnerEvents.json").write_text(json.dumps(partner))
    return table


def fourth(*rows: tuple[Any, ...], schema: pa.Schema = REQUIRED_KEY, **options: Any) -> Break:
    """Adds a fourth file with these rows."""
    return lambda table: table.rows(4, *rows, schema=schema, **options)


def problem(rule: Rule, file: str | None, message: str, table: str | None = "dbo.Employees") -> tuple[Any, ...]:
    return (Severity.PROBLEM, rule, table, file, message)


def warning(rule: Rule, file: str | None, message: str, table: str | None = "dbo.Employees") -> tuple[Any, ...]:
    return (Severity.WARNING, rule, table, file, message)


def told(findings: list[Finding]) -> list[tuple[Any, ...]]:
    """The findings, each of which has a remedy, as :func:`problem` and :func:`warning` write them."""
    assert all(found.remedy for found in findings)
    return [(found.severity, found.rule, found.table, found.file, found.message) for found in findings]


def broken(root: Path, break_it: Break) -> list[tuple[Any, ...]]:
    """What is found in a good zone that was broken."""
    table = good_zone(root)
    break_it(table)
    return told(verify_zone(table.zone()))
