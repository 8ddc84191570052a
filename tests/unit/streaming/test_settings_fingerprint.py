"""The fingerprint covers what influences the content of landing files, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from streaming.settings import fingerprint, settings_of
from tests.unit.streaming.settings_builder import settings, settings_text

SALT, KEY = "a salt of sixteen or more", "a key of sixteen or more"
_RICH: dict[str, Any] = {
    "format": {"envelope": "flattened", "topics": {"a*": {"value": "avro"}}},
    "tables": {
        "defaults": {"columns": {"mask": ["email"], "exclude": ["x"]}, "metadata_columns": ["op"]},
        "overrides": [{"match": "public.orders", "keys": ["id"], "policies": {"on_truncate": "ignore"}}],
    },
    "parquet": {"compression": "gzip", "row_group_rows": 2048},
}


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(each) for each in value] if isinstance(value, list) else value


def test_it_is_32_hexadecimal_digits() -> None:
    assert re.fullmatch("[0-9a-f]{32}", fingerprint(settings()))


def test_the_order_of_keys_does_not_matter() -> None:
    values = yaml.safe_load(settings_text(**_RICH))
    text = yaml.safe_dump(_reversed(values), sort_keys=False)
    assert fingerprint(settings_of(text, "x")) == fingerprint(settings(**_RICH))


@pytest.mark.parametrize(
    "changes",
    [
        {"markers": "safe", "parquet": {"compression": "zstd"}, "parquet__level": 1},
        {"tables": {"defaults": {"policies": {"on_truncate": "park"}}}},
        {"format": {"value": "auto"}, "ordering": {"lasting_fall": 1000}},
    ],
)
def test_a_default_that_is_written_does_not_matter(changes: dict[str, Any]) -> None:
    assert fingerprint(settings(**changes)) == fingerprint(settings())


@pytest.mark.parametrize(
    "changes",
    [
        {"kafka__bootstrap_servers": "elsewhere:9092"},
        {"kafka__security": {"protocol": "SASL_SSL", "mechanism": "PLAIN", "username": "u", "password": "p"}},
        {"landing_zone__url": "file:///elsewhere"},
        {"state__checkpoint": "/elsewhere"},
        {"trigger": {"interval": "1s", "max_offsets": 5}},
        {"tables__on_bad_record": "fail"},
        {"spark__conf": {"spark.executor.memory": "2g"}},
        {"name": "other", "publish": {"threads": 2}, "retry": {"attempts": 1}, "log": {"format": "json"}},
    ],
)
def test_what_leaves_the_files_as_they_are_does_not_matter(changes: dict[str, Any]) -> None:
    assert fingerprint(settings(**changes)) == fingerprint(settings())


@pytest.mark.parametrize(
    "changes",
    [
        {"connector": "mysql"},
        {"markers": "natural"},
        {"parquet__level": 3},
        {"parquet__row_group_rows": 2048},
        {"ordering__lasting_fall": 5},
        {"format__out_of_range": "null"},
        {"format__inexact_keys": "nearest"},
        {"tables__include": ["public.*"]},
        {"tables__naming": {"table": "t_{table}"}},
        {"tables__defaults": {"columns": {"mask": ["email"]}}},
        {"tables__defaults": {"declared": {"id": "int64"}}},
        {"tables__overrides": [{"match": "a", "keys": ["id"]}]},
        {"tables__secrecy": {"salt": SALT}},
        {"tables__secrecy": {"key": KEY}},
        {"tables__defaults": {"mode": "history"}},
        {"tables__defaults": {"casts": {"a": "int64"}}},
        {"tables__defaults": {"soft_delete": {"column": "_deleted"}}},
        {"tables__defaults": {"compaction": "last_state"}},
        {"tables__defaults": {"included_operations": ["c"]}},
    ],
)
def test_what_changes_the_files_changes_it(changes: dict[str, Any]) -> None:
    assert fingerprint(settings(**changes)) != fingerprint(settings())


def test_another_secret_and_another_order_of_added_columns_change_it() -> None:
    assert fingerprint(settings(tables__secrecy={"salt": SALT})) != fingerprint(
        settings(tables__secrecy={"salt": SALT + "x"})
    )
    one, other = (
        {"tables__defaults": {"add": dict(order)}} for order in ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")])
    )
    assert fingerprint(settings(**one)) != fingerprint(settings(**other))


def test_the_order_of_declared_columns_is_the_order_in_the_file_and_matters() -> None:
    one = {"tables__defaults": {"declared": {"a": "int64", "b": "int64"}}}
    other = {"tables__defaults": {"declared": {"b": "int64", "a": "int64"}}}
    assert fingerprint(settings(**one)) != fingerprint(settings(**other))


def test_an_override_that_repeats_a_built_in_default_wins_over_the_file_s_defaults() -> None:
    def tables(override: dict[str, Any]) -> dict[str, Any]:
        return {"defaults": {"policies": {"on_truncate": "ignore"}}, "overrides": [{"match": "a", **override}]}

    written = settings(tables=tables({"policies": {"on_truncate": "park"}}))
    assert fingerprint(written) != fingerprint(settings(tables=tables({})))
