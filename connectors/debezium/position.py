"""Log positions: where in its source's log an event stands.

A position is two big-endian words that compare within one connector. It holds the fields that a source commits in,
and never more: a field that is only almost ordered (SQL Server's ``change_lsn``, MySQL's ``row`` in a compressed
transaction) is left to the Kafka offset. Positions tie and repeat legitimately. Per connector:

=============  ============================================  =========================================================
connector      words                                         why
=============  ============================================  =========================================================
postgresql     last commit LSN, LSN                          transactions arrive in commit order, ``lsn`` alone does not
mysql,         number of the binlog file, ``pos``            ``row`` restarts inside compressed transactions
mariadb
sqlserver      ``commit_lsn`` (10 bytes)                     ``change_lsn`` is not monotonic inside a transaction
db2            ``commit_lsn`` (16 or 10 bytes)               fixed-width hexadecimal
oracle         ``commit_scn``, else ``scn`` (snapshots)      ``scn`` alone goes backwards between transactions
informix       ``commit_lsn``                                ``change_lsn`` is wrong for concurrent transactions
mongodb        seconds, ``ord``                              the cluster time
spanner        commit microseconds, sequence and mod number  the record's place in its transaction
vitess,        none                                          a vgtid orders events of one shard only; Cassandra has no
cassandra                                                    order across nodes
=============  ============================================  =========================================================

PostgreSQL's first word is ``commit_lsn`` where the connector sends it, else ``sequence[0]``, the end of the last commit
before this event, else the event's own LSN. The last case is that of snapshot rows and of the first transaction after
a snapshot. Its LSNs lie before the end of its own commit, which is ``sequence[0]`` of whatever comes next, so the order
is right; 0 would be right too for the very first snapshot, but after a second one it would sort new events below
everything before and look like a log that has started again. An incremental snapshot's rows have no ``lsn``; their
second element of ``sequence`` takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from connectors.debezium.merge_keys import LASTING_FALL, Merged, PositionCarry, merge_keys
from connectors.debezium.postgresql_sequence import sequence_pairs
from connectors.debezium.schema import ConnectType
from connectors.debezium.unsigned import UInt64s, Values, listed, unsigned_numbers

__all__ = ["LASTING_FALL", "Merged", "PositionCarry", "merge_keys", "positions", "source_fields"]

Source = Mapping[str, Values]

_FILE_NUMBER = re.compile(r".*\.(\d{1,10})", re.ASCII)
_HEXADECIMAL_LSN = re.compile(r"[0-9a-fA-F]{8}:[0-9a-fA-F]{8}:[0-9a-fA-F]+")


@dataclass(frozen=True)
class _Words:
    """Both words of n events, and which events have a position."""

    high: UInt64s
    low: UInt64s
    known: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Rule:
    fields: Mapping[str, ConnectType]
    words: Callable[[Source, int], _Words]


def source_fields(connector: str) -> Mapping[str, ConnectType]:
    """Name and type of the ``source`` fields that :func:`positions` reads, all optional; none for other connectors."""
    rule = _RULES.get(connector)
    return {} if rule is None else rule.fields


def positions(connector: str, source: Source, count: int | None = None) -> tuple[UInt64s, bool]:
    """The positions of n events of one connector.

    Args:
        connector: ``source.connector``, such as ``postgresql``.
        source: n values, null where absent, per name of :func:`source_fields`; a missing name counts as all null.
        count: n, for a source without any values.

    Returns:
        (n, 2) uint64, zeros where an event has no readable position; and False when no event can have one: then only
        the offset orders.
    """
    rows = count if count is not None else max((len(values) for values in source.values()), default=0)
    rule = _RULES.get(connector)
    if rule is None:
        return np.zeros((rows, 2), dtype=np.uint64), False
    words = rule.words(source, rows)
    both = np.stack([words.high, words.low], axis=1)
    if words.known.all():
        return both, True
    both[~words.known] = 0
    return both, bool(words.known.any())


def _postgresql(source: Source, count: int) -> _Words:
    commit, has_commit = unsigned_numbers(source.get("commit_lsn"), count)
    previous, has_previous, second, has_second = sequence_pairs(source.get("sequence"), count)
    lsn, has_lsn = unsigned_numbers(source.get("lsn"), count)
    own = np.where(has_lsn, lsn, second)
    high = np.where(has_commit, commit, np.where(has_previous, previous, own))
    return _Words(high, own, has_lsn | has_second)


def _binlog(source: Source, count: int) -> _Words:
    files = listed(source.get("file"), count)
    numbers = {name: _file_number(name) for name in set(files)}
    file, has_file = unsigned_numbers([numbers[name] for name in files], count)
    position, has_position = unsigned_numbers(source.get("pos"), count)
    return _Words(file, position, has_file & has_position)


def _sqlserver(source: Source, count: int) -> _Words:
    return _hexadecimal(source.get("commit_lsn"), count, 4)


def _db2(source: Source, count: int) -> _Words:
    """A server's LSNs have 16 bytes, or 10 as those of the connector's documentation. Each event tells its own."""
    long = _hexadecimal(source.get("commit_lsn"), count, 16)
    if long.known.all():
        return long
    short = _hexadecimal(source.get("commit_lsn"), count, 4)
    # Words are 0 where they are not known.
    return _Words(long.high | short.high, long.low | short.low, long.known | short.known)


def _oracle(source: Source, count: int) -> _Words:
    commit, has_commit = unsigned_numbers(source.get("commit_scn"), count)
    own, has_own = unsigned_numbers(source.get("scn"), count)
    return _Words(np.where(has_commit, commit, own), np.zeros(count, dtype=np.uint64), has_commit | has_own)


def _informix(source: Source, count: int) -> _Words:
    commit, known = unsigned_numbers(source.get("commit_lsn"), count)
    return _Words(commit, np.zeros(count, dtype=np.uint64), known)


def _mongodb(source: Source, count: int) -> _Words:
    millis, known = unsigned_numbers(source.get("ts_ms"), count)
    order, _ = unsigned_numbers(source.get("ord"), count)
    return _Words(millis // np.uint64(1000), order, known)


def _spanner(source: Source, count: int) -> _Words:
    micros, has_micros = unsigned_numbers(source.get("ts_us"), count)
    millis, has_millis = unsigned_numbers(source.get("ts_ms"), count)
    record, _ = unsigned_numbers(source.get("sequence"), count)
    mod, _ = unsigned_numbers(source.get("mod_number"), count)
    commit = np.where(has_micros, micros, millis * np.uint64(1000))
    return _Words(commit, record << np.uint64(32) | mod & np.uint64(2**32 - 1), has_micros | has_millis)


_BINLOG = _Rule({"file": ConnectType.STRING, "pos": ConnectType.INT64}, _binlog)
_RULES: dict[str, _Rule] = {
    "postgresql": _Rule(
        {"sequence": ConnectType.STRING, "lsn": ConnectType.INT64, "commit_lsn": ConnectType.INT64}, _postgresql
    ),
    "mysql": _BINLOG,
    "mariadb": _BINLOG,
    "sqlserver": _Rule({"commit_lsn": ConnectType.STRING}, _sqlserver),
    "db2": _Rule({"commit_lsn": ConnectType.STRING}, _db2),
    "oracle": _Rule({"commit_scn": ConnectType.STRING, "scn": ConnectType.STRING}, _oracle),
    "informix": _Rule({"commit_lsn": ConnectType.STRING}, _informix),
    "mongodb": _Rule({"ts_ms": ConnectType.INT64, "ord": ConnectType.INT32}, _mongodb),
    "spanner": _Rule(
        {
            "ts_us": ConnectType.INT64,
            "ts_ms": ConnectType.INT64,
            "sequence": ConnectType.STRING,
            "mod_number": ConnectType.INT32,
        },
        _spanner,
    ),
}


def _hexadecimal(values: Values | None, count: int, digits: int) -> _Words:
    """``00000025:00000448:0003``: the first two parts are one word, the third, of so many digits, is the other."""
    length = len("00000025:00000448:") + digits
    texts = [text if isinstance(text, str) and len(text) == length else "" for text in listed(values, count)]
    known = np.array([_HEXADECIMAL_LSN.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    words = np.zeros((count, 2), dtype=np.uint64)
    # One parse for the batch: all texts have one length.
    joined = "".join(texts if known.all() else [text for text, good in zip(texts, known, strict=True) if good])
    cells = np.frombuffer(bytes.fromhex(joined.replace(":", "")), dtype=np.uint8).reshape(-1, 8 + digits // 2)
    padded = np.zeros((len(cells), 16), dtype=np.uint8)
    padded[:, :8], padded[:, 16 - digits // 2 :] = cells[:, :8], cells[:, 8:]
    words[known] = padded.view(">u8")
    return _Words(words[:, 0], words[:, 1], known)


def _file_number(name: object) -> int | None:
    """3 of ``mysql-bin.000003``; ``None`` of other names, such as MariaDB's ``binlog-000000.ibb``."""
    match = _FILE_NUMBER.fullmatch(name) if isinstance(name, str) else None
    return None if match is None else int(match[1])
