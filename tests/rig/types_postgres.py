"""Every type of PostgreSQL 15, with the values at its edges, and what must land of them.

PostGIS, which not every server has, is in :mod:`tests.rig.types_postgres_postgis`.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from tests.rig import types_differences as differences
from tests.rig.converter import Converter
from tests.rig.differences import Source
from tests.rig.types_kinds import (
    BINARY,
    DECIMALS,
    HSTORE,
    INTERVALS,
    TIMES,
    UNKNOWN,
    decimals,
    moments,
    plain,
)
from tests.rig.types_model import Column, Deviation, Modes, Phase, TypedSource
from tests.rig.types_postgres_arrays import ARRAYS, MORE_ARRAYS
from tests.rig.types_postgres_scalars import BINARIES, NUMBERS, TEXTS
from tests.rig.types_postgres_times import DAYS
from tests.rig.types_postgres_unknown import FURTHER, SCALARS

_AT = dt.datetime
_INT32, _TEXT = plain("int32"), plain("string")

SETUP = (
    *(f"CREATE EXTENSION {name}" for name in ("hstore", "ltree", "citext", "cube", "isn", "seg", "lo")),
    "CREATE TYPE enum_mood AS ENUM ('sad', '😀', '')",
    "CREATE TYPE composite AS (a int, b text)",
    "CREATE DOMAIN domain_numeric AS numeric(10,2)",
    "CREATE DOMAIN domain_text AS text CHECK (value <> '')",
    "CREATE DOMAIN domain_timestamp AS timestamp(3)",
    "CREATE DOMAIN domain_of_domain AS domain_timestamp",
    "CREATE DOMAIN domain_int AS int",
)
"""What the columns' types need."""

MODES = (
    Modes("default"),
    Modes(
        "doubles",
        {
            DECIMALS: "double",
            TIMES: "adaptive_time_microseconds",
            BINARY: "base64",
            INTERVALS: "string",
            HSTORE: "map",
            UNKNOWN: "true",
        },
    ),
    Modes("connect", {DECIMALS: "string", TIMES: "connect", BINARY: "base64-url-safe", UNKNOWN: "true"}),
    Modes("iso", {DECIMALS: "string", TIMES: "isostring", BINARY: "hex", HSTORE: "map"}),
    Modes("micros", {TIMES: "microseconds", UNKNOWN: "true"}),
    Modes("nanos", {TIMES: "nanoseconds", INTERVALS: "string"}),
)
"""Each setting of each option at least once."""


_DOMAINS = (
    Column("c_domain_numeric", "domain_numeric", decimals(10, 2), (("1.10", Decimal("1.10")),)),
    Column("c_domain_text", "domain_text", _TEXT, (("'x'", "x"),)),
    Column(
        "c_domain_timestamp",
        "domain_timestamp",
        moments(),
        (("'2024-02-29 12:34:56.789'", _AT(2024, 2, 29, 12, 34, 56, 789000)),),
    ),
    Column(
        "c_domain_domain",
        "domain_of_domain",
        moments(),
        (("'2024-02-29 12:34:56.789'", _AT(2024, 2, 29, 12, 34, 56, 789000)),),
    ),
    Column(
        "c_generated",
        "int GENERATED ALWAYS AS (1 + 1) STORED",
        _INT32,
        (("generated", 2),),
        (Deviation(differences.GENERATED, "generated", None, Phase.STREAM),),
        generated=True,
    ),
    Column("c_domain_integer", "domain_int", _INT32, (("7", 7),)),
    Column("c_lo", "lo", plain("int64"), (("4294967295", 4294967295),)),
)
COLUMNS: tuple[Column, ...] = (*NUMBERS, *TEXTS, *BINARIES, *DAYS, *ARRAYS, *MORE_ARRAYS, *_DOMAINS, *SCALARS, *FURTHER)
"""Columns of the wide table."""

POSTGRESQL = TypedSource(
    Source.POSTGRESQL,
    SETUP,
    COLUMNS,
    MODES,
    quick=(
        ("default", Converter.JSON_SCHEMA),
        ("default", Converter.AVRO),
        ("doubles", Converter.AVRO),
        ("iso", Converter.JSON_SCHEMA),
    ),
)
"""PostgreSQL 15."""
