"""One run of every type: each set of modes has a table and a connector of its own, and one bridge lands all of them.

Each table gets its rows twice: before its connector starts, so that the snapshot has them, and afterwards for the
stream. Row n holds the n-th value of every column, row 0 is NULL throughout.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from connectors.landing_zone.schema import type_to_text
from tests.rig import Converter, Database, Rig
from tests.rig.differences import Difference
from tests.rig.types_differences import OUT_OF_RANGE
from tests.rig.types_kinds import same
from tests.rig.types_model import Column, ColumnResult, Landed, Modes, Phase, TypedSource, TypesResult
from tests.support.bridge import Bridge

FIRST_ID = {Phase.SNAPSHOT: 1, Phase.STREAM: 1001}
_SECONDS = 120.0


@dataclass(frozen=True)
class _Run:
    modes: Modes
    converter: Converter

    @property
    def table(self) -> str:
        return f"types_{self.modes.name}_{self.converter.replace('-', '_')}"


def run_types(
    rig: Rig,
    bridge: Callable[..., Bridge],
    database: Database,
    types: TypedSource,
    runs: Sequence[tuple[str, Converter]],
) -> TypesResult:
    """Write, carry and land every value of every column in these (mode, converter) pairs, and judge each cell."""
    modes = {each.name: each for each in types.modes}
    planned = [_Run(modes[name], converter) for name, converter in runs]
    for statement in types.setup:
        database.execute(statement)
    for run in planned:
        database.execute(_ddl(run.table, types))
        database.transaction(*types.session, *_rows(run.table, types.columns, Phase.SNAPSHOT))
    connectors = [
        rig.connect(
            database,
            converter=run.converter,
            prefix=f"{rig.prefix}.{run.table}",
            tables=(run.table,),
            name=None,
            partitions=1,
            **{option.replace(".", "_"): value for option, value in run.modes.options.items()},
        )
        for run in planned
    ]
    for connector in connectors:
        connector.wait_streaming(seconds=_SECONDS)
    for run in planned:
        database.transaction(*types.session, *_rows(run.table, types.columns, Phase.STREAM))
    for connector in connectors:
        connector.wait_caught_up(seconds=_SECONDS)

    made = bridge(**rig.bridge(Converter.AVRO))
    made.run()
    result = TypesResult()
    landed = {name.rpartition(".")[2]: name for name in made.tables()}
    for run in planned:
        table = landed[run.table]
        schemas: dict[str, str] = {}
        if run.converter is Converter.JSON_SCHEMA:
            topic = f"{rig.prefix}.{run.table}.{database.schema}.{run.table}"
            schemas = _connect_types(rig.worker.bootstrap_servers, topic)
        _judge(result, run, types.columns, made.replayed(table).table, _parquet_types(made.zone, table), schemas)
    counters = made.ledger.counters
    if counters.get("clamped", 0) != result.clamped:
        result.wrong.append(f"{counters.get('clamped', 0)} cells are counted as clamped, not {result.clamped}")
    result.wrong += [f"{count} x {name}" for name, count in counters.items() if name.startswith("dead_letters")]
    return result


def _ddl(table: str, types: TypedSource) -> str:
    columns = ", ".join(f"{column.name} {column.sql}" for column in types.columns)
    return f"CREATE TABLE {table} (id int PRIMARY KEY, {columns}){types.suffix}"


def _rows(table: str, columns: Sequence[Column], phase: Phase) -> Iterator[str]:
    written = [column for column in columns if not column.generated]
    for number in range(_row_count(columns)):
        names, values = ["id"], [str(FIRST_ID[phase] + number)]
        for column in written:
            if 0 < number <= len(column.values):
                names.append(column.name)
                values.append(column.values[number - 1][0])
        yield f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})"


def _row_count(columns: Sequence[Column]) -> int:
    return 1 + max(len(column.values) for column in columns)


def _judge(
    result: TypesResult,
    run: _Run,
    columns: Sequence[Column],
    landed: pa.Table,
    parquet: Mapping[str, str],
    debezium: Mapping[str, str],
) -> None:
    ids = landed.column("id").to_pylist()
    expected_ids = sorted(FIRST_ID[phase] + number for phase in Phase for number in range(_row_count(columns)))
    if sorted(ids) != expected_ids:
        result.wrong.append(f"{run.table}: rows {sorted(ids)}")
        return
    for column in columns:
        kind = column.kind.type(run.modes)
        there = column.name in landed.schema.names
        arrow = type_to_text(landed.schema.field(column.name).type) if there else None
        if arrow != kind:
            result.wrong.append(f"{run.table}.{column.name} ({column.sql}): type {arrow}, not {kind}")
        found: list[Difference | None] = [column.kind.difference(run.modes)]
        if there:
            cells = dict(zip(ids, landed.column(column.name).to_pylist(), strict=True))
            found += _judge_cells(result, run, column, cells, _row_count(columns))
        names = dict.fromkeys(each.id for each in found if each is not None)
        result.columns.setdefault(column.name, {})[run.modes.name, run.converter] = ColumnResult(
            debezium.get(column.name), arrow, parquet.get(column.name), tuple(sorted(names))
        )


def _judge_cells(
    result: TypesResult, run: _Run, column: Column, cells: Mapping[int, Any], row_count: int
) -> list[Difference | None]:
    differences: list[Difference | None] = []
    for phase in Phase:
        for number in range(row_count):
            expected, sql = _expected(column, number, phase, run.modes)
            cell = cells[FIRST_ID[phase] + number]
            if column.kind.json and isinstance(cell, str):
                cell = json.loads(cell)
            if not same(cell, expected.value):
                where = f"{run.table}.{column.name} ({column.sql}, {phase}) {sql[:60]}"
                result.wrong.append(f"{where}: {_shown(cell)}, not {_shown(expected.value)}")
            differences.append(expected.difference)
            result.clamped += expected.difference is OUT_OF_RANGE
    return differences


def _expected(column: Column, number: int, phase: Phase, modes: Modes) -> tuple[Landed, str]:
    if column.generated:
        [(sql, truth)] = column.values
    elif 0 < number <= len(column.values):
        sql, truth = column.values[number - 1]
    else:
        sql, truth = "NULL", None
    return column.expected(sql, truth, phase, modes), sql


def _parquet_types(zone: Path, table: str) -> dict[str, str]:
    """Physical and logical type of every column of the table's files."""
    schema, _, name = table.rpartition(".")
    folder = zone / f"{schema}.schema" / name if schema else zone / name
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.parquet")):
        columns = pq.ParquetFile(path).schema
        for index in range(len(columns.names)):
            column = columns.column(index)
            logical = str(column.logical_type)
            found[column.name] = column.physical_type if logical == "None" else f"{column.physical_type} {logical}"
    return found


def _connect_types(bootstrap_servers: str, topic: str) -> dict[str, str]:
    """Semantic name and physical type of each column, from the schema in the topic's first record."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": topic, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    message = consumer.poll(30)
    consumer.close()
    value = None if message is None else message.value()
    assert value is not None, f"no record in {topic}"
    envelope = json.loads(value)["schema"]
    [row] = [each for each in envelope["fields"] if each["field"] == "after"]
    return {column["field"]: _connect_type(column) for column in row["fields"]}


def _connect_type(schema: Mapping[str, Any]) -> str:
    if schema["type"] == "array":
        return f"array of {_connect_type(schema['items'])}"
    kind = str(schema["type"])
    return f"{schema['name']} ({kind})" if schema.get("name") else kind


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}... ({len(text)} characters)"
