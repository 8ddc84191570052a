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

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.converted import present_cells
from connectors.debezium.merge_keys import LASTING_FALL, Merged, PositionCarry, merge_keys
from connectors.debezium.schema import ConnectType

__all__ = ["LASTING_FALL", "Merged", "PositionCarry", "merge_keys", "positions", "source_fields"]

UInt64s = npt.NDArray[np.uint64]
Source = Mapping[str, Sequence[Any]]

_HIGHEST = 2**64 - 1
_SURE_DIGITS = 19
"""A number of so many decimal digits fits into 64 bits."""
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
        source: a list of n values, ``None`` where absent, per name of :func:`source_fields`; a missing name counts as
            all ``None``.
        count: n, for a source without any list.

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
    commit, has_commit = _numbers(source.get("commit_lsn"), count)
    previous, has_previous, second, has_second = _sequence_pairs(source.get("sequence"), count)
    lsn, has_lsn = _numbers(source.get("lsn"), count)
    own = np.where(has_lsn, lsn, second)
    high = np.where(has_commit, commit, np.where(has_previous, previous, own))
    return _Words(high, own, has_lsn | has_second)


def _binlog(source: Source, count: int) -> _Words:
    files = source.get("file") or [None] * count
    numbers = {name: _file_number(name) for name in set(files)}
    file, has_file = _numbers([numbers[name] for name in files], count)
    position, has_position = _numbers(source.get("pos"), count)
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
    commit, has_commit = _numbers(source.get("commit_scn"), count)
    own, has_own = _numbers(source.get("scn"), count)
    return _Words(np.where(has_commit, commit, own), np.zeros(count, dtype=np.uint64), has_commit | has_own)


def _informix(source: Source, count: int) -> _Words:
    commit, known = _numbers(source.get("commit_lsn"), count)
    return _Words(commit, np.zeros(count, dtype=np.uint64), known)


def _mongodb(source: Source, count: int) -> _Words:
    millis, known = _numbers(source.get("ts_ms"), count)
    order, _ = _numbers(source.get("ord"), count)
    return _Words(millis // np.uint64(1000), order, known)


def _spanner(source: Source, count: int) -> _Words:
    micros, has_micros = _numbers(source.get("ts_us"), count)
    millis, has_millis = _numbers(source.get("ts_ms"), count)
    record, _ = _numbers(source.get("sequence"), count)
    mod, _ = _numbers(source.get("mod_number"), count)
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


def _numbers(values: Sequence[Any] | None, count: int) -> tuple[UInt64s, npt.NDArray[np.bool_]]:
    """Unsigned numbers of integers or decimal texts, 0 and unknown for ``None``, other text and negative numbers."""
    if values is None:
        return np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.bool_)
    # Arrow looks at all values to find their type, where it is not told.
    kind = pa.uint64() if values and type(values[0]) is int else None
    array: Any
    try:
        array = pa.array(values, kind).cast(pa.uint64())
    except (pa.ArrowException, OverflowError):
        array = pa.array([_number(value) for value in values], pa.uint64())
    known = present_cells(array)
    return (array.fill_null(0) if array.null_count else array).to_numpy(zero_copy_only=False), known


def _number(value: object) -> int | None:
    """As Arrow reads it, ``0x10`` too: no text may decide how those beside it are read."""
    try:
        number = int(value, 16 if value[:2] in ("0x", "0X") else 10) if isinstance(value, str) else value
    except ValueError:
        return None
    return int(number) if isinstance(number, int) and 0 <= number <= _HIGHEST else None


def _hexadecimal(values: Sequence[Any] | None, count: int, digits: int) -> _Words:
    """``00000025:00000448:0003``: the first two parts are one word, the third, of so many digits, is the other."""
    length = len("00000025:00000448:") + digits
    texts = [text if isinstance(text, str) and len(text) == length else "" for text in values or [None] * count]
    known = np.array([_HEXADECIMAL_LSN.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    words = np.zeros((count, 2), dtype=np.uint64)
    # One parse for the batch: all texts have one length.
    joined = "".join(texts if known.all() else [text for text, good in zip(texts, known, strict=True) if good])
    cells = np.frombuffer(bytes.fromhex(joined.replace(":", "")), dtype=np.uint8).reshape(-1, 8 + digits // 2)
    padded = np.zeros((len(cells), 16), dtype=np.uint8)
    padded[:, :8], padded[:, 16 - digits // 2 :] = cells[:, :8], cells[:, 8:]
    words[known] = padded.view(">u8")
    return _Words(words[:, 0], words[:, 1], known)


def _sequence_pairs(
    values: Sequence[Any] | None, count: int
) -> tuple[UInt64s, npt.NDArray[np.bool_], UInt64s, npt.NDArray[np.bool_]]:
    """Both elements of PostgreSQL's ``["<last commit>", "<lsn>"]``, either of which may be null."""
    if values is None:
        return *_numbers(None, count), *_numbers(None, count)
    texts = ["[null,null]" if text is None else text for text in values]
    if (even := _even_pairs(texts)) is not None:
        known = np.ones(count, dtype=np.bool_)
        return even[0], known, even[1], known
    joined = ",".join(texts)
    flat: list[int | None] = []
    if _all_pairs(joined, count):
        # One parse for the batch: without their brackets all texts are one JSON array. Not strict: numbers in quotes.
        with contextlib.suppress(msgspec.DecodeError):
            inner = joined.replace("[", "").replace("]", "")
            flat = msgspec.json.decode(f"[{inner}]", type=list[int | None], strict=False)
    if len(flat) != 2 * count:
        flat = [element for text in texts for element in _pair(text)]
    return *_numbers(flat[::2], count), *_numbers(flat[1::2], count)


def _even_pairs(texts: Sequence[str]) -> tuple[UInt64s, UInt64s] | None:
    """Both numbers of texts that all are ``["<digits>","<digits>"]`` with the same number of digits; else None.

    That is what a batch's texts are but for the moments when the log's position gets a digit more. As a matrix of
    characters, they are read a column at a time.
    """
    if not texts or len(set(map(len, texts))) > 1:
        return None
    length, comma = len(texts[0]), texts[0].find(",")
    joined = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    if not 4 <= comma <= length - 5 or len(joined) != len(texts) * length:
        return None
    characters = joined.reshape(len(texts), length)
    around = characters[:, [0, 1, comma - 1, comma, comma + 1, length - 2, length - 1]]
    if (around != np.frombuffer(b'["",""]', dtype=np.uint8)).any():
        return None
    first, second = _decimals(characters[:, 2 : comma - 1]), _decimals(characters[:, comma + 2 : length - 2])
    return None if first is None or second is None else (first, second)


def _decimals(characters: npt.NDArray[np.uint8]) -> UInt64s | None:
    """The numbers that rows of decimal digits are; None where some are none, or might not fit into 64 bits."""
    digits = characters - np.uint8(ord("0"))
    width = digits.shape[1]
    if width > _SURE_DIGITS or (digits > 9).any() or (width > 1 and not digits[:, 0].all()):
        return None
    numbers = np.zeros(len(digits), dtype=np.uint64)
    for place in range(width):
        numbers = numbers * np.uint64(10) + digits[:, place]
    return numbers


def _all_pairs(joined: str, count: int) -> bool:
    """True when the texts are flat arrays of two elements: every second comma stands between ``]`` and ``[``."""
    if not (joined.startswith("[") and joined.endswith("]") and joined.count("[") == joined.count("]") == count):
        return False
    characters = np.frombuffer(joined.encode(), dtype=np.uint8)
    commas = np.flatnonzero(characters == ord(","))
    between = commas[1::2]
    return (
        len(commas) == 2 * count - 1
        and bool((characters[between - 1] == ord("]")).all())
        and bool((characters[between + 1] == ord("[")).all())
    )


def _pair(text: str) -> tuple[int | None, int | None]:
    try:
        return msgspec.json.decode(text, type=tuple[int | None, int | None], strict=False)
    except msgspec.DecodeError:
        return None, None


def _file_number(name: object) -> int | None:
    """3 of ``mysql-bin.000003``; ``None`` of other names, such as MariaDB's ``binlog-000000.ibb``."""
    match = _FILE_NUMBER.fullmatch(name) if isinstance(name, str) else None
    return None if match is None else int(match[1])
