"""Deletes of tables with very many key columns: a key is read once, whatever number of columns it has."""

from __future__ import annotations

import cProfile
import pstats
from dataclasses import replace
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import Message, event, only, records

A, B = Field("a", ConnectType.INT32, optional=False), Field("b", ConnectType.INT32, optional=False)
TWO = {"a": 1, "b": 2}


def wide(columns: int) -> dict[str, Any]:
    return {f"k{place}": place for place in range(columns)}


def decoded_texts(message: Message, options: DecodeOptions) -> int:
    """How often JSON was decoded on the way to the delete's key columns."""
    profile = cProfile.Profile()
    decoder = Decoder(options, None)
    profile.runcall(decoder.decode, records(message))
    functions = pstats.Stats(profile).get_stats_profile().func_profiles
    return sum(int(found.ncalls) for name, found in functions.items() if "msgspec.json.Decoder" in name)


def decode(*messages: Message) -> Decoded:
    return Decoder(DecodeOptions(), None).decode(records(*messages))


@pytest.mark.parametrize("learn", [False, True], ids=["with schema", "learned"])
def test_a_key_of_a_thousand_columns_is_decoded_as_often_as_one_of_two(learn: bool) -> None:
    def texts(columns: int) -> int:
        row = wide(columns)
        sent = event("d", before=row, key=row)
        fields = tuple(Field(name, ConnectType.INT32, optional=False) for name in row)
        message = sent.json() if learn else sent.json_with_schema(fields)
        tables = (("*", TableDecoding(learn=True)),) if learn else ()
        return decoded_texts(message, DecodeOptions(rules=TableRules(tables=tables)))

    assert texts(1_000) == texts(2)


def test_all_of_its_columns_are_there() -> None:
    fields = tuple(Field(name, ConnectType.INT32, optional=False) for name in wide(300))
    messages = [event("d", before=wide(300), key=wide(300)).json_with_schema(fields) for _ in range(2)]
    assert only(decode(*messages)).rows.to_pylist() == [wide(300)] * 2


@pytest.mark.parametrize(
    ("payload", "detail"),
    [
        ('{"a":1,"b":"x"}', "column b: the key: Expected `int | null`, got `str` - at `$.b`"),
        ('{"a":"y","b":2}', "column a: the key: Expected `int | null`, got `str` - at `$.a`"),
        # The last of two members of one name is the one that counts, and yet the first is no number.
        ('{"a":1,"b":"x","b":2}', "column a: the key: Expected `int | null`, got `str` - at `$.b`"),
        ("[1,2]", "column a: the key: Expected `object`, got `array`"),
    ],
)
def test_what_is_bad_names_its_column_and_the_other_deletes_land(payload: str, detail: str) -> None:
    good = event("d", before=TWO, key=TWO).json_with_schema((A, B))
    bad = replace(good, key=(good.key or b"").replace(b'{"a":1,"b":2}', payload.encode()))
    decoded = decode(good, bad, good)
    assert [(record.offset, record.reason, record.detail) for record in decoded.bad] == [(1, "type mismatch", detail)]
    [chunk] = decoded.chunks
    assert chunk.rows.to_pylist() == [TWO, TWO]
