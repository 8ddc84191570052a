"""What the decoder promises of each record: its fate is its own, whatever stands beside it or came before.

The same records are decoded in one call, in pieces by a decoder that keeps what it has learned, and each alone by a
decoder that knows nothing. What may differ, and is left out:

- Columns that are learned from the records, where the row has no value in them: others have shown them.
- Where in its bytes a bad record is bad: a payload is read with its embedded schema or without.
- What is said of a schema id that the registry does not know: of too many, it is not asked. It is bad either way.
- Whether a connector gives positions at all (``positioned``): a row of its own without one has zeros either way.
- The runs that connectors have made, where records of one run name several connectors, or one and none: which name
  counts is that of the first one read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any
from unittest.mock import patch

from connectors.debezium import json_reading
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Decoded, Op
from connectors.debezium.headers import LOGICAL_NAME, RUN_ID, SeenRuns, merge_runs
from connectors.debezium.kernels import Kernels
from connectors.debezium.verdicts import BadReason
from tests.fuzz.contract import KERNELS, BrokenPromiseError
from tests.fuzz.mutation import Case
from tests.golden.traffic import GoldenRecord, KnownSchemas, raw_records

Fate = Mapping[str, Any]
_PLACES = re.compile(r"\bbyte \d+|\b\d+ bytes")


def check_cuts(case: Case) -> None:
    """Decode the case whole, in pieces that come in any order, and record by record.

    Raises:
        BrokenPromiseError: a record's fate depends on others.
        Exception: whatever else comes out of the decoder is a finding too.
    """
    random = Random(f"cuts of {case.name}")
    whole = _Told(case)
    whole.take(Decoder(case.options, KnownSchemas(case.schemas), KERNELS).decode(raw_records(case.records)))
    pieces = _Told(case)
    one = Decoder(case.options, KnownSchemas(case.schemas), random.choice((KERNELS, Kernels())))
    for piece in _pieces(random, case.records):
        with patch.object(json_reading, "TOGETHER", random.choice((1, 2, 3, 500))):
            pieces.take(one.decode(raw_records(piece), continued=random.random() < 0.5))
    alone = _Told(case)
    for record in case.records:
        fresh = Decoder(case.options, KnownSchemas(case.schemas), random.choice((KERNELS, Kernels())))
        alone.take(fresh.decode(raw_records([record])))
    for told, how in ((pieces, "in pieces"), (alone, "alone")):
        for record in case.records:
            _compare(whole.fate(record.offset), told.fate(record.offset), f"record {record.offset} {how}")
        _compare(whole.beside(), told.beside(), f"beside the rows {how}")


def _compare(together: Fate, apart: Fate, where: str) -> None:
    names = dict.fromkeys(name for name in (*together, *apart) if together.get(name) != apart.get(name))
    if not names:
        return
    kind = ", ".join(sorted({str(fate["reason"]) for fate in (together, apart) if "reason" in fate} or names))
    said = "; ".join(f"{name}: {together.get(name)} in one call, {apart.get(name)} so" for name in names)
    raise BrokenPromiseError(kind, f"{where}: {said}")


def _pieces(random: Random, records: Sequence[GoldenRecord]) -> list[Sequence[GoldenRecord]]:
    inner = random.sample(range(1, len(records)), min(random.randrange(4), len(records) - 1))
    pieces = [records[start:stop] for start, stop in pairwise(sorted({0, len(records), *inner}))]
    random.shuffle(pieces)
    return pieces


def _one_name_each(records: Sequence[GoldenRecord]) -> bool:
    """Whether all records of a connector run name one connector, as Kafka Connect has them do."""
    names: dict[bytes | None, set[bytes | None]] = {}
    for record in records:
        said = dict(record.headers)
        names.setdefault(said.get(RUN_ID), set()).add(said.get(LOGICAL_NAME))
    return all(len(each) == 1 for run, each in names.items() if run is not None)


class _Told:
    """What one or several calls have said, by record."""

    def __init__(self, case: Case) -> None:
        self._rules = case.options.rules
        self._one_name_each = _one_name_each(case.records)
        self._fates: dict[int, Fate] = {}
        self._skipped: Counter[str] = Counter()
        self._changes: list[str] = []
        self._excluded: set[str] = set()
        self._runs: SeenRuns = {}
        self._clamped = self._from_before = 0

    def fate(self, offset: int) -> Fate:
        return self._fates.get(offset, {"fate": "skipped"})

    def beside(self) -> Fate:
        """What is told of no single record."""
        return {
            "skipped": self._skipped,
            "changes of tables": sorted(self._changes),
            "excluded": self._excluded,
            "runs": self._runs if self._one_name_each else None,
            "clamped": self._clamped,
            "from before": self._from_before,
        }

    def take(self, decoded: Decoded) -> None:
        self._skipped.update(decoded.skipped)
        self._changes += map(repr, decoded.table_changes)
        self._excluded.update(map(str, decoded.excluded))
        merge_runs(self._runs, decoded.runs)
        for bad in decoded.bad:
            detail = "" if bad.reason == BadReason.UNKNOWN_SCHEMA_ID else _PLACES.sub("", bad.detail)
            self._fates[bad.offset] = {"fate": "bad", "reason": bad.reason, "detail": detail}
        for chunk in decoded.chunks:
            self._clamped += chunk.clamped
            self._from_before += chunk.from_before
            decoding = self._rules.decoding_for(chunk.table)
            learned = decoding is not None and decoding.learn
            for offset, fate in zip(chunk.offsets.tolist(), _rows(chunk, learned=learned), strict=True):
                self._fates[offset] = fate


def _rows(chunk: ChangeChunk, *, learned: bool) -> Iterable[Fate]:
    old = [] if chunk.old_keys is None else chunk.old_keys.to_pylist()
    changed = dict(zip(chunk.key_changed.tolist(), old, strict=True))
    for place, row in enumerate(chunk.rows.to_pylist()):
        truncates = chunk.ops[place] == Op.TRUNCATE
        columns = {field.name: (repr(field), repr(row[field.name])) for field in chunk.schema.fields}
        if learned:
            columns = {name: columns[name] for name in sorted(row) if row[name] is not None}
        yield {
            "fate": "row",
            "table": chunk.table,
            "connector": chunk.connector,
            "op": Op(chunk.ops[place]).name,
            # A truncate is of the whole table, and has the columns of what stands beside it.
            "key": None if truncates else chunk.schema.key,
            "columns": None if truncates else columns,
            "key before": repr(changed.get(place)),
            "position": chunk.positions[place].tolist(),
            "snapshot": int(chunk.snapshots[place]),
            "run": chunk.run_ids[place].as_py(),
            "time": int(chunk.source_ms[place]),
            "unavailable": sorted(name for name, mask in chunk.unavailable.items() if mask[place]),
        }
