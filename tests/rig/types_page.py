"""docs/types.md: what the runs of every type have found, as people read it.

It is made (``make docs-types``) of the findings that :mod:`tests.rig.types_golden` and
:mod:`tests.rig.types_keys_golden` keep, without another run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.rig.differences import TOLERATED, Difference
from tests.rig.types_differences import CONTRACT, DEBEZIUM
from tests.rig.types_golden import GOLDEN
from tests.rig.types_keys_golden import KEYS_GOLDEN
from tests.rig.types_keys_page import keys_section

_FABRIC = {
    "bool": "bit",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "real",
    "double": "float",
    "string": "varchar(max)",
    "binary": "varbinary",
    "date32": "date",
    "timestamp[us]": "datetime2(6)",
    "timestamp[us,UTC]": "datetime2(6)",
}
_HEAD = """# Types

What becomes of every type of PostgreSQL and MariaDB: how Debezium sends it, what a landing file holds, what is lost.
This page is made by `make docs-types` from what `make types RECORD=1` has found: a real database, real Debezium and the
bridge, each type with the values at its edges, from snapshot and stream, in every handling mode of the connector, as
JSON with schema and as Avro. Each cell was compared with what was written. `make types` finds all of it again, and
fails where anything is not as it is here.

- **Debezium** is the semantic name and the physical type in the event's schema.
- **Arrow** is the column's type as this project writes it, **Parquet** its type in the file.
- **Fabric** is the type in the SQL analytics endpoint of a mirrored database, after Microsoft's table of Delta types.
  Text and bytes end at 16 MB there. A local timestamp is a Parquet timestamp without UTC; which Delta type the
  replicator makes of it, Microsoft does not say.
- **Differences** are explained [below](#differences), those of Debezium apart from those of the landing zone.

`geometry`, `geography` and `box2d` are PostGIS's.
"""
_REFUSED = """## What stops the connector

Such a column or value ends the connector with an error, in the database named, and does not land.

| source | what |
|---|---|
| MariaDB | a column of type `inet4` or `inet6` in any database of the server, also one that is not captured |
| MariaDB | a change of a table with a `COMPRESSED` column in any database of the server, also one that is not \
captured; the snapshot has its values |
| MariaDB | `0000` in a column of type `year`, in a snapshot. **From the stream it lands as 1900** |
| PostgreSQL | NaN or infinity in a `numeric` that is NOT NULL, as keys are, with `decimal.handling.mode=precise` |
| PostgreSQL | a `timestamp` outside 1677 to 2262 that is NOT NULL, with `time.precision.mode=nanoseconds` |
| MariaDB | a `time` below 00:00 or beyond 24:00 that is NOT NULL, with `time.precision.mode=connect` or `isostring` |
| PostgreSQL | an array that is NOT NULL, as keys are, where [array-null](#array-null) makes it NULL |
| PostgreSQL | a `refcursor` in a snapshot: the connector fetches from the cursor of that name, and there is none |
| PostgreSQL | a `timetz` whose offset has seconds (`12:00:00+15:59:59`), from the stream. A snapshot has NULL in its \
place, and ends where it is NOT NULL |

With MariaDB's `log_bin_compress=ON` it does not even stop: changes that the server has compressed are passed over
without a word. `cdc-bridge check` calls that, and columns of the first two kinds, a problem. All of it is tried in
`tests/integration/test_types_refused.py`.
"""
_ZONES = """## Time zones

What lands of a timestamp with zone is the moment, and of one without what was written, also at both edges of a summer
time and in a session, a database or a server that has one. **For MariaDB let Kafka Connect's Java have the zone UTC**
(`TZ=UTC`): else a snapshot by its connector is wrong without a word, though the stream is right.

| MariaDB, from a snapshot | what lands |
|---|---|
| `timestamp`, another zone in Java than in the server | another moment: the server's time, taken for Java's |
| `timestamp`, the same zone in both, in the hour that its clock shows twice | the second of both moments |
| `datetime`, in the hour that Java's clock leaves out | an hour later |
| `timestamp`, with `database.connectionTimeZone=UTC`, the server in another zone, Java in UTC | another moment; \
without the option the right one |

PostgreSQL's connector does not mind. Tried with Berlin's summer time in `tests/integration/test_types_mariadb.py` and
`test_types_postgres.py`: with Java in UTC in each run of the tests, the rest by `make types`.
"""


def page(known: Mapping[str, Any], keys: Mapping[str, Any]) -> str:
    """The page, from the content of the golden files."""
    parts = [_HEAD]
    for source, types in known.items():
        parts += [f"## {source}\n", *_tables(types)]
    parts += keys_section(keys)
    parts += [_REFUSED, _ZONES]
    parts.append("## Differences\n")
    parts += ["### Debezium's\n", "The connector's events have another value, and do not say so.\n", _list(DEBEZIUM)]
    parts += [
        "### The landing zone's\n",
        "A landing file has no better type. Nothing is lost silently.\n",
        _list(CONTRACT),
    ]
    parts += ["### Beside the types\n", "Tolerated by the comparison of whole databases as well.\n", _list(TOLERATED)]
    return "\n".join(parts)


def _tables(types: Mapping[str, Any]) -> Iterator[str]:
    modes: dict[str, dict[str, str]] = types["modes"]
    default = next(iter(modes))
    yield "With the connector's defaults:\n"
    yield _table(
        ["type", "Debezium", "Arrow", "Parquet", "Fabric", "differences"],
        ([f"`{each['sql']}`", *_cells(each["modes"][default])] for each in types["columns"].values()),
    )
    yield "Where an option of the connector makes another type of it, or other differences:\n"
    rows: list[list[str]] = []
    for each in types["columns"].values():
        seen: set[tuple[str, ...]] = set()
        for name, options in modes.items():
            cells = _cells(each["modes"][name])
            setting = ", ".join(f"`{option}={value}`" for option, value in _relevant(each, options))
            if setting and cells != _cells(each["modes"][default]) and (setting, *cells) not in seen:
                seen.add((setting, *cells))
                rows.append([f"`{each['sql']}`", setting, *cells])
    yield _table(["type", "option", "Debezium", "Arrow", "Parquet", "Fabric", "differences"], rows)


def _relevant(column: Mapping[str, Any], options: Mapping[str, str]) -> list[tuple[str, str]]:
    """The options of a mode that decide about a column; bytes of unknown types depend on two."""
    wanted = {column["option"]}
    if column["option"] == "include.unknown.datatypes":
        wanted.add("binary.handling.mode")
    if column["option"] == "bigint.unsigned.handling.mode":
        wanted.add("column.propagate.source.type")
    return [(option, value) for option, value in options.items() if option in wanted]


def _cells(finding: Mapping[str, Any]) -> list[str]:
    arrow = finding["arrow"]
    fabric = "" if arrow is None else _FABRIC.get(arrow, arrow.replace("128", ""))
    differences = ", ".join(f"[{each}](#{each})" for each in finding["differences"])
    return [
        *(f"`{each}`" if each else "" for each in (finding["debezium"], arrow, finding["parquet"], fabric)),
        differences,
    ]


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def _list(differences: tuple[Difference, ...]) -> str:
    return "\n".join(
        f"#### {each.id}\n\n{each.source}: {each.where}.\n\n- What lands: {each.what}.\n- Why: {each.reason}.\n"
        for each in differences
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(json.loads(GOLDEN.read_text()), json.loads(KEYS_GOLDEN.read_text())))
