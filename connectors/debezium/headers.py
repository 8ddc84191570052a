"""Record headers by name, for a whole batch at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.events import Int64s

RUN_ID = "__debezium.context.runId"
LOGICAL_NAME = "__debezium.context.connectorLogicalName"
"""The connector's ``topic.prefix``."""

LONGEST_RUN_ID = 128
"""Characters of a run id that is kept as it is; Debezium's own, a UUID, has 36."""

SeenRuns = dict[str, dict[str, int]]
"""Connector runs by their connector's logical name, each with the time of its newest record: Kafka's, milliseconds."""


class RecordHeaders:
    """The headers of a batch's records.

    Args:
        headers: list<struct<key: string, value: binary>>, one list per record, or ``None`` when they were not read.
        count: number of records.
    """

    def __init__(self, headers: pa.ListArray | None, count: int) -> None:
        self._count = count
        self._codes: dict[str, int] = {}
        if headers is None or headers.null_count == count:
            return
        entries = headers.flatten()
        if not len(entries):
            return
        names = entries.field("key").dictionary_encode()
        self._codes = {name: code for code, name in enumerate(names.dictionary.to_pylist())}
        self._names: Int64s = np.asarray(pc.fill_null(names.indices, -1)).astype(np.int64)
        self._values = entries.field("value")
        lengths = np.asarray(pc.fill_null(pc.list_value_length(headers), 0))
        self._owners = np.repeat(np.arange(count), lengths)

    def values(self, name: str) -> pa.BinaryArray | None:
        """The value of header ``name`` per record, the last one where it repeats; ``None`` when no record has it."""
        code = self._codes.get(name)
        if code is None:
            return None
        hits = np.flatnonzero(self._names == code)
        chosen: Int64s = np.full(self._count, -1, dtype=np.int64)
        chosen[self._owners[hits]] = hits
        return self._values.take(pa.array(chosen, mask=chosen < 0)).cast(pa.binary())

    def run_ids(self) -> pa.StringArray:
        """The connector run that sent each record (``__debezium.context.runId``); null where the header is absent.

        The header's bytes follow the worker's ``header.converter``: bare text, or JSON text in quotes. Table states and
        landing files remember run ids, so a text of more than :data:`LONGEST_RUN_ID` characters is replaced by its
        digest: no two runs become one by it, and no record loses its run.
        """
        values = self.values(RUN_ID)
        if values is None:
            return pa.nulls(self._count, pa.string())
        encoded = values.dictionary_encode()
        texts = [None if value is None else _run_id(value) for value in encoded.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(encoded.indices)


def seen_runs(
    headers: pa.ListArray | None, run_ids: pa.StringArray, timestamps: Int64s, topic: str, prefix: str | None
) -> SeenRuns:
    """The connector runs that records name, whatever else they are: rows, signals, schema changes, tombstones.

    Heartbeats, transaction records and notifications name none (seen with Debezium 3.6.1), and a run whose records do
    not name their connector is left out; so is one of a connector of which :func:`is_named` does not let a record of
    the topic be: the ledger remembers what is found, and a header can hold any name.

    Args:
        headers: one list per record, as for :class:`RecordHeaders`.
        run_ids: :meth:`RecordHeaders.run_ids` of the same records; timestamps: Kafka's, milliseconds since 1970.
        topic: the one that they are in; prefix: see :func:`is_named`.
    """
    if headers is None or run_ids.null_count == len(run_ids):
        return {}
    encoded = run_ids.dictionary_encode()
    runs = encoded.dictionary.to_pylist()
    codes = np.asarray(encoded.indices.fill_null(len(runs)))
    newest = np.zeros(len(runs) + 1, dtype=np.int64)
    np.maximum.at(newest, codes, timestamps)
    found, firsts = np.unique(codes, return_index=True)
    names = RecordHeaders(headers.take(pa.array(firsts)), len(firsts)).values(LOGICAL_NAME)
    seen: SeenRuns = {}
    if names is not None:
        for code, name in zip(found.tolist(), names.to_pylist(), strict=True):
            if code < len(runs) and name is not None and is_named(_text(name), topic, prefix):
                seen.setdefault(_text(name), {})[runs[code]] = int(newest[code])
    return seen


def is_named(connector: str, topic: str, prefix: str | None) -> bool:
    """Whether records in a topic can be of the connector of this logical name.

    Debezium calls its topics by that name alone, or begins them with it and a dot. Where they are renamed on their way,
    only the settings tell which connector it is.

    Args:
        prefix: the connector that the settings name, the only one there is; None where they name none.
    """
    return f"{topic}.".startswith(f"{connector}.") if prefix is None else connector == prefix


def merge_runs(runs: SeenRuns, more: Mapping[str, Mapping[str, int]]) -> None:
    """Add further runs, and take the newer time of those that are known."""
    for connector, each in more.items():
        known = runs.setdefault(connector, {})
        for run, newest in each.items():
            known[run] = max(newest, known.get(run, 0))


def _run_id(value: bytes) -> str:
    text = _text(value)
    return text if len(text) <= LONGEST_RUN_ID else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").strip('"')
