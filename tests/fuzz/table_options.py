"""Settings of tables that nobody has thought of together, as far as the bridge takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from random import Random
from typing import Any, cast

import yaml

from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from streaming.job_options import job_options
from streaming.plan import JobOptions
from streaming.policies import MetadataColumn
from streaming.settings import SettingsError, settings_of
from streaming.settings.policies import Policies
from tests.fuzz import hostile

_ATTEMPTS = 20
_TYPES = (
    *("bool", "int16", "int32", "int64", "float32", "float64", "decimal(38,0)", "decimal(3,2)", "decimal(38,38)"),
    *("string", "string", "binary", "date", "timestamp", "timestamptz"),
)
_EXPRESSIONS = (
    *("'x'", "NULL", "1 / 0", "1.5", '"nothing"', "{0}", "{0} || {1}", "upper(cast({0} as varchar))", "length({0})"),
    *("coalesce(cast({0} as varchar), cast({1} as varchar), 'none')", "cast({0} as int)", "try_cast({0} as int)"),
    *("try_cast({0} as double) / try_cast({1} as double)", "case when {0} is null then 0 else 1 end", "{0} = {1}"),
    *(
        "replace(cast({0} as varchar), 'a', '')",
        "round(try_cast({0} as double), 2)",
        "{0} + 1",
        "date_part('year', {0})",
    ),
    *("try_cast({0} as decimal(38,10))", "left(cast({0} as varchar), 2)", "abs({0})", "strftime({0}, '%Y')"),
)
_SECRET = "sixteen characters or more"
_MORE_SOURCES = ("source_database", "source_schema", "source_table")


def with_table_options(random: Random, job: JobOptions, columns: Sequence[str]) -> JobOptions:
    """The job under other settings of its tables, those that the settings' own rules let through.

    Args:
        columns: names that the settings may mean: the tables', and others.
    """
    for _ in range(_ATTEMPTS):
        try:
            drawn = job_options(settings_of(yaml.safe_dump(_settings(random, columns)), "fuzz.yaml"))
        except SettingsError:
            continue
        rules = dict(drawn.decode.rules.tables)
        return replace(
            job,
            decode=_with_rules(job.decode, next(iter(rules.values()))),
            defaults=drawn.defaults,
            tables=drawn.tables,
            markers=drawn.markers,
            row_group_rows=drawn.row_group_rows,
            lasting_fall=drawn.lasting_fall,
            most_tables=drawn.most_tables,
            secrecy=drawn.secrecy,
        )
    return job


def _with_rules(decode: DecodeOptions, drawn: TableDecoding) -> DecodeOptions:
    """The tables are read as the settings need it: a history wants whole rows, and no key."""
    known = (*decode.rules.tables, ("*", TableDecoding()))
    tables = tuple(
        (
            pattern,
            replace(
                drawn,
                declared=decoding.declared,
                learn=drawn.learn or decoding.learn,
                keys=drawn.keys or decoding.keys,
                excluded_operations=tuple({*drawn.excluded_operations, *decoding.excluded_operations}),
            ),
        )
        for pattern, decoding in known
    )
    return replace(decode, rules=TableRules(decode.rules.include, decode.rules.exclude, tables))


def _settings(random: Random, columns: Sequence[str]) -> dict[str, Any]:
    defaults = _table(random, columns)
    tables: dict[str, Any] = {"defaults": defaults}
    if {"hash", "encrypt"} & defaults["columns"].keys():
        # Their digests take time.
        tables["secrecy"] = {"salt": _SECRET, "key": _SECRET[::-1]}
    if random.random() < 0.15:
        tables["most"] = random.choice((1, 2))
    if random.random() < 0.4:
        tables["naming"] = _naming(random)
    if random.random() < 0.2:
        defaults["metadata_columns"] = list(_MORE_SOURCES[: random.randint(1, 3)])
        override = {"match": "*", "merge_sources": True, "naming": {"table": "one"}}
        tables["overrides"] = [override | {"policies": {"on_resnapshot": "upsert"}}]
    return {
        "name": "fuzz",
        "kafka": {"bootstrap_servers": "127.0.0.1:1", "topics": ["fuzz"]},
        "landing_zone": {"url": "file:///nowhere"},
        "markers": random.choice(("safe", "natural")),
        "ordering": {"lasting_fall": random.choice((1, 2, 1_000))},
        "tables": tables,
    }


def _naming(random: Random) -> dict[str, str]:
    return {
        "schema": random.choice(("", "all", "{schema}", "{database}_{schema}", "{schema}.{table}")),
        "table": random.choice(("{table}", "{table}", "{schema}_{table}", "{database}.{table}", "t{table}{table}")),
    }


def _table(random: Random, columns: Sequence[str]) -> dict[str, Any]:
    def some() -> list[str]:
        return random.sample(columns, min(len(columns), random.randint(1, 3)))

    def globs() -> list[str]:
        return random.choice((some(), ["*"], [f"*{random.choice(columns)[-2:]}"]))

    def expression() -> str:
        quoted = ['"{}"'.format(random.choice(columns).replace('"', '""')) for _ in range(2)]
        text = random.choice(_EXPRESSIONS)
        return text.replace("{0}", quoted[0]).replace("{1}", quoted[1])

    drawn: dict[str, Any] = {
        "casts": lambda: {name: random.choice(_TYPES) for name in some()},
        "add": lambda: {random.choice(("added", "_cdc_op", "İ", *columns)): expression() for _ in range(2)},
        "mode": lambda: "history",
        "soft_delete": lambda: {"column": random.choice(("_deleted", "_deleted", *columns))},
        "compaction": lambda: "last_state",
        "schema": lambda: "learn",
        "metadata_columns": lambda: random.sample([each.value for each in MetadataColumn], 3),
        "metadata_prefix": lambda: random.choice(("", "__", "x" * 200)),
        "excluded_operations": lambda: random.sample("cudrt", 1),
        "file_format": lambda: "delimited",
        "delimited": lambda: {"column_separator": random.choice(",;|\t"), "gzip": random.random() < 0.5},
    }
    disguises = dict.fromkeys(("include", "exclude", "mask", "hash", "encrypt"), globs)
    return {
        **{name: draw() for name, draw in drawn.items() if random.random() < 0.2},
        **({"keys": some()[:2]} if random.random() < 0.07 else {}),
        "columns": {name: draw() for name, draw in disguises.items() if random.random() < 0.15},
        "policies": {
            name: random.choice(tuple(cast("type[Enum]", field.annotation))).value
            for name, field in Policies.model_fields.items()
            if random.random() < 0.5
        },
    }


def columns_of_nobody(random: Random) -> list[str]:
    """Names that no table has, or only one of a hostile kind."""
    return [random.choice(hostile.TEXTS)[:80] or "empty", "nothing"]
