"""A slice of events with its columns cast, hashed and encrypted: everything after this sees the values that land."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from connectors.debezium.converted import Column
from connectors.debezium.events import Bools
from streaming.landing.columns import keeps_deleted_rows, matches
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.casts import exact_cast, soft_cast
from streaming.landing.shaping.landing_types import landing_type
from streaming.landing.shaping.secrecy import Secrecy, encrypted, hashed
from streaming.plan import TableOptions


@dataclass(frozen=True)
class Reshaped:
    """Events whose rows hold the values that land.

    Attributes:
        misfits: per cast column, the events with a value that did not fit and is NULL now, in their row or in the one
            before a key change; only columns that have any.
    """

    events: OrderedRows
    misfits: dict[str, Bools] = field(default_factory=dict)

    def slice(self, start: int, stop: int) -> Reshaped:
        """Events ``start`` to ``stop`` (exclusive)."""
        cut = {name: mask[start:stop] for name, mask in self.misfits.items()}
        return Reshaped(self.events.slice(start, stop), {name: mask for name, mask in cut.items() if mask.any()})


def reshape(
    events: OrderedRows, options: TableOptions, secrecy: Secrecy, landing: Collection[str], keys: Collection[str]
) -> Reshaped:
    """Cast first, then hash or encrypt the columns among ``landing``; old keys and images too, so that they still fit.

    A value that is hashed or encrypted is text from then on. Casts keep the values of ``keys`` apart.
    """
    if not (options.casts or options.hashed or options.encrypted):
        return Reshaped(events)
    misfits: dict[str, Bools] = {}
    rows = _reshaped(events.rows, options, secrecy, landing, keys, misfits)
    if events.old_keys is None:
        return Reshaped(replace(events, rows=rows), misfits)
    before: dict[str, Bools] = {}
    old_keys = _reshaped(events.old_keys, options, secrecy, landing, keys, before)
    for name, failed in before.items():
        # Of a row that is removed nothing but its key lands.
        if name in keys or keeps_deleted_rows(options):
            mask = misfits.setdefault(name, np.zeros(len(events), np.bool_))
            mask[events.key_changed[failed]] = True
    return Reshaped(replace(events, rows=rows, old_keys=old_keys), misfits)


def key_forms(keys: tuple[str, ...], options: TableOptions, secrecy: Secrecy) -> tuple[str, ...]:
    """How each key column lands: empty as it is, else ``hash:`` or ``encrypt:`` and the secret's digest.

    Empty altogether where all land as they are. Rows that landed under other forms would never be found again.
    """
    forms = tuple(_form(name, options, secrecy) for name in keys)
    return forms if any(forms) else ()


def _form(name: str, options: TableOptions, secrecy: Secrecy) -> str:
    if matches(name, options.hashed):
        return f"hash:{secrecy.salt_digest}"
    return f"encrypt:{secrecy.key_digest}" if matches(name, options.encrypted) else ""


def _reshaped(
    rows: pa.RecordBatch,
    options: TableOptions,
    secrecy: Secrecy,
    landing: Collection[str],
    keys: Collection[str],
    misfits: dict[str, Bools],
) -> pa.RecordBatch:
    casts = dict(options.casts)
    columns: list[Column] = []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name not in landing:
            columns.append(column)
            continue
        values = column
        if name in casts:
            cast = (exact_cast if name in keys else soft_cast)(column, landing_type(casts[name]))
            values = cast.values
            if cast.failed is not None:
                misfits[name] = cast.failed
        columns.append(_disguised(name, values, options, secrecy))
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names)


def _disguised(name: str, values: Column, options: TableOptions, secrecy: Secrecy) -> Column:
    if matches(name, options.hashed):
        return hashed(values, _given(secrecy.salt))
    if matches(name, options.encrypted):
        return encrypted(values, _given(secrecy.key))
    return values


def _given(secret: str | None) -> str:
    if secret is None:
        raise ValueError("a column is to be hashed or encrypted, and the job's options hold no secret for it")
    return secret
