"""MongoDB, as the connector's page shows it: whole documents as Extended JSON text, keys as Extended JSON text.

A collection lands as two columns: ``_id``, the Kafka key's ``id`` as it is, and ``document``, the after image as it is.
What the page says and the events below show: an update has ``updateDescription`` and, with
``capture.mode=change_streams_update_full*``, the document; ``before`` is there with pre-images only; all operations of
a transaction share the cluster time; the page's own ``d`` says ``snapshot: true``, which changes nothing.
"""

from __future__ import annotations

from typing import Any

from connectors.debezium.schema import ConnectType
from tests.golden.documented.stream import Row, Sent, SourceField, Stream, int64, text

_ANNE = (
    '{"_id": {"$numberLong": "1004"},"first_name": "Anne","email": "annek@noanswer.org",'
    '"balance": {"$numberDecimal": "12.50"},"since": {"$date": 1558965508000},"tags": ["a",null]}'
)
_ANNE_MARIE = _ANNE.replace('"Anne"', '"Anne Marie"')
_OBJECT_ID = '{"$oid": "596e275826f08b2730779e1f"}'
_EMPTY = f'{{"_id": {_OBJECT_ID}}}'
_NESTED_ID = '{"hi": "kafka","nums": [10.0,100.0]}'
_NESTED = f'{{"_id": {_NESTED_ID},"naïve": "水 \\u0000"}}'
_TEXT_ID = '"1234"'
_TEXT = f'{{"_id": {_TEXT_ID},"n": {{"$numberLong": "9007199254740993"}}}}'


def _at(seconds: int, order: int, snapshot: str = "false", transaction: int | None = None) -> dict[str, Any]:
    lsid = None if transaction is None else '{"id": {"$binary": "FA7YEzXgQXSX9OxmzllH2w==","$type": "04"}}'
    return {
        "ts_ms": seconds * 1000,
        "ord": order,
        "snapshot": snapshot,
        "lsid": lsid,
        "txnNumber": transaction,
    }


def _row(key: str, document: str | None) -> Row:
    return {"_id": key, "document": document}


_T = 1_558_965_508
_DESCRIPTION = {"removedFields": None, "updatedFields": '{"first_name": "Anne Marie"}', "truncatedArrays": None}
_REMOVAL = {
    "removedFields": ["n"],
    "updatedFields": "{}",
    "truncatedArrays": [{"field": "tags", "size": 1}],
}

STREAM = Stream(
    connector="mongodb",
    prefix="fulfillment",
    database="inventory",
    topic="fulfillment.inventory.customers",
    table="inventory.customers",
    zone_table="customers",
    columns=(),
    key=("id",),
    own_fields=(
        *text("rs"),
        SourceField("collection", ConnectType.STRING),
        SourceField("ord", ConnectType.INT32),
        *text("lsid"),
        *int64("txnNumber", "wallTime"),
    ),
    own_source={"rs": "rs0", "collection": "customers", "wallTime": None} | _at(_T, 0),
    events=(
        Sent("r", None, _ANNE, _at(_T, 1, "first"), {"id": "1004"}, (_T, 1), _row("1004", _ANNE)),
        Sent("r", None, _EMPTY, _at(_T, 1, "last"), {"id": _OBJECT_ID}, (_T, 1), _row(_OBJECT_ID, _EMPTY)),
        Sent(
            "u",
            _ANNE,
            _ANNE_MARIE,
            _at(_T + 1, 31),
            {"id": "1004"},
            (_T + 1, 31),
            _row("1004", _ANNE_MARIE),
            extra={"updateDescription": _DESCRIPTION},
        ),
        # One transaction: both documents have its cluster time.
        Sent(
            "c",
            None,
            _NESTED,
            _at(_T + 2, 1, transaction=1),
            {"id": _NESTED_ID},
            (_T + 2, 1),
            _row(_NESTED_ID, _NESTED),
        ),
        Sent("c", None, _TEXT, _at(_T + 2, 1, transaction=1), {"id": _TEXT_ID}, (_T + 2, 1), _row(_TEXT_ID, _TEXT)),
        Sent(
            "u",
            None,
            f'{{"_id": {_TEXT_ID}}}',
            _at(_T + 2, 2),
            {"id": _TEXT_ID},
            (_T + 2, 2),
            _row(_TEXT_ID, f'{{"_id": {_TEXT_ID}}}'),
            extra={"updateDescription": _REMOVAL},
        ),
        Sent(
            "r",
            None,
            _EMPTY,
            _at(_T + 2, 3, "incremental"),
            {"id": _OBJECT_ID},
            (_T + 2, 3),
            _row(_OBJECT_ID, _EMPTY),
        ),
        Sent("d", _NESTED, None, _at(_T + 3, 6, "true"), {"id": _NESTED_ID}, (_T + 3, 6), _row(_NESTED_ID, None)),
    ),
    rows=(
        _row("1004", _ANNE_MARIE),
        _row(_OBJECT_ID, _EMPTY),
        _row(_TEXT_ID, f'{{"_id": {_TEXT_ID}}}'),
    ),
    schema_changes=False,
)
