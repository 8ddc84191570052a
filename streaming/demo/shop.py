"""The demo's shop: its tables, what their rows look like, and how they change."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from streaming.demo.columns import Column, Kind, Value
from streaming.demo.encoding import Encoding

PREFIX = "shop"
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
_LOCAL_START = START.replace(tzinfo=None)

Row = dict[str, Value]


@dataclass(frozen=True)
class TableSpec:
    """A demo table.

    Attributes:
        make: a new row, from its number.
        change: the columns that an update changes.
        move: the columns of a key change, from a fresh number; None where keys never change.
        added: a column that the table gets half-way, with the value it has in rows written from then on.
    """

    name: str
    encoding: Encoding
    partitions: int
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    make: Callable[[random.Random, int], Row]
    change: Callable[[random.Random, Row], Row]
    move: Callable[[int], Row] | None = None
    added: Column | None = None

    @property
    def topic(self) -> str:
        return f"{PREFIX}.public.{self.name}"


_NAMES = ("Ada", "Bjørn", "Chloé", "Dmitri", "Ève", "Fatima", "Günther", "Hà", "Íris", "村上")


def _money(source: random.Random, limit: int) -> Decimal:
    return Decimal(source.randint(-limit, limit)).scaleb(-2)


def _moment(source: random.Random) -> timedelta:
    return timedelta(
        days=source.randint(0, 700), seconds=source.randint(0, 86_399), microseconds=source.randint(0, 999_999)
    )


def _customer(source: random.Random, number: int) -> Row:
    name = source.choice(_NAMES)
    return {
        "id": number,
        "name": name,
        "email": f"{name.lower()}.{number}@example.com" if source.random() < 0.9 else None,
        "vip": source.random() < 0.1,
        "born": date(1940, 1, 1) + timedelta(days=source.randint(0, 25_000)),
        "created_at": _LOCAL_START - _moment(source),
        "seen_at": START - _moment(source),
    }


def _order(source: random.Random, number: int) -> Row:
    return {
        "order_id": number,
        "customer_id": source.randint(1, 2_000),
        "total": _money(source, 2_000_000),
        "status": source.choice(("new", "paid", "shipped", "returned")),
        "placed_at": _LOCAL_START + _moment(source),
        "score": source.random() if source.random() < 0.8 else None,
    }


def _order_line(source: random.Random, number: int) -> Row:
    return {
        "order_id": (number - 1) // 4 + 1,
        "line": (number - 1) % 4 + 1,
        "sku": f"SKU-{source.randint(1, 500):05d}",
        "quantity": source.randint(1, 12),
        "price": _money(source, 90_000),
    }


def _product(source: random.Random, number: int) -> Row:
    return {
        "sku": f"SKU-{number:05d}",
        "title": f'{source.choice(_NAMES)}\'s "favourite" no. {number}',
        "price": _money(source, 90_000),
        "stock": source.randint(0, 900),
        "attributes": json.dumps({"colour": source.choice(("red", "green", "blau")), "g": number % 7}),
        "updated_at": START + _moment(source),
    }


def _page_view(source: random.Random, number: int) -> Row:
    return {
        "at": _LOCAL_START + timedelta(seconds=number),
        "path": f"/p/{source.randint(1, 500)}",
        "ms": source.randint(1, 4_000),
    }


TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        name="customers",
        encoding=Encoding.JSON_WITH_SCHEMA,
        partitions=1,
        columns=(
            Column("id", Kind.INT64, optional=False),
            Column("name", Kind.TEXT, optional=False),
            Column("email", Kind.TEXT),
            Column("vip", Kind.BOOLEAN, optional=False),
            Column("born", Kind.DATE),
            Column("created_at", Kind.TIMESTAMP),
            Column("seen_at", Kind.TIMESTAMPTZ),
        ),
        key=("id",),
        make=_customer,
        change=lambda source, row: {"email": f"new.{row['id']}@example.com", "seen_at": START + _moment(source)},
        added=Column("loyalty_points", Kind.INT32),
    ),
    TableSpec(
        name="orders",
        encoding=Encoding.AVRO,
        partitions=3,
        columns=(
            Column("order_id", Kind.INT64, optional=False),
            Column("customer_id", Kind.INT64),
            Column("total", Kind.NUMERIC),
            Column("status", Kind.TEXT, optional=False),
            Column("placed_at", Kind.TIMESTAMP),
            Column("score", Kind.FLOAT64),
        ),
        key=("order_id",),
        make=_order,
        change=lambda source, _: {
            "status": source.choice(("paid", "shipped", "returned")),
            "total": _money(source, 2_000_000),
        },
    ),
    TableSpec(
        name="order_lines",
        encoding=Encoding.AVRO,
        partitions=1,
        columns=(
            Column("order_id", Kind.INT64, optional=False),
            Column("line", Kind.INT32, optional=False),
            Column("sku", Kind.TEXT),
            Column("quantity", Kind.INT32),
            Column("price", Kind.NUMERIC),
        ),
        key=("order_id", "line"),
        make=_order_line,
        change=lambda source, _: {"quantity": source.randint(1, 12)},
        move=lambda number: {"order_id": 1_000_000 + number},
        added=Column("discount", Kind.INT32),
    ),
    TableSpec(
        name="products",
        encoding=Encoding.JSON,
        partitions=2,
        columns=(
            Column("sku", Kind.TEXT, optional=False),
            Column("title", Kind.TEXT),
            Column("price", Kind.NUMERIC),
            Column("stock", Kind.INT32),
            Column("attributes", Kind.JSONB),
            Column("updated_at", Kind.TIMESTAMPTZ),
        ),
        key=("sku",),
        make=_product,
        change=lambda source, _: {"stock": source.randint(0, 900), "updated_at": START + _moment(source)},
        move=lambda number: {"sku": f"MOVED-{number:06d}"},
    ),
    TableSpec(
        name="page_views",
        encoding=Encoding.JSON_WITH_SCHEMA,
        partitions=1,
        columns=(Column("at", Kind.TIMESTAMP), Column("path", Kind.TEXT), Column("ms", Kind.INT32)),
        key=(),
        make=_page_view,
        change=lambda _, row: dict(row),
    ),
)
