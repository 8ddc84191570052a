"""Batches of records that no client would write, over the wire and in a broker's files (Kafka documentation, "Record
Batch", version 2)."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

Headers = Sequence[tuple[bytes, bytes | None]]
_CASTAGNOLI = 0x82F63B78
_CHECKSUM, _COVERED, _RECORDS = 17, 21, 61
"""Where in a batch its checksum is, what that is of, and its records."""


def write(bootstrap_servers: str, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
    """Append one record without a timestamp to partition 0, whatever its headers are called."""
    host, port = bootstrap_servers.rsplit(":", 1)
    batch = _batch(_record(key, value, headers))
    body = struct.pack(">hhii", -1, -1, 10_000, 1) + _text(topic.encode())
    body += struct.pack(">iii", 1, 0, len(batch)) + batch
    request = struct.pack(">hhi", 0, 3, 1) + _text(b"test") + body
    with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile("rwb") as stream:
        stream.write(struct.pack(">i", len(request)) + request)
        stream.flush()
        answer = stream.read(struct.unpack(">i", stream.read(4))[0])
    [error] = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic.encode()) + 4 + 4)
    assert error == 0, f"the broker answers with error {error}"


def damage(log: Path, offset: int, damaged: Callable[[bytes], bytes]) -> None:
    """Change the batch that begins at an offset where a broker keeps it, which need not stop for that.

    Args:
        log: the file of a partition's segment.
    """
    content, at = log.read_bytes(), 0
    while struct.unpack_from(">q", content, at) != (offset,):
        at += _size(content, at)
    with log.open("r+b") as stream:
        stream.seek(at)
        stream.write(damaged(content[at : at + _size(content, at)]))


def with_another_bit(batch: bytes) -> bytes:
    """As a disk damages it."""
    return batch[:-1] + bytes([batch[-1] ^ 1])


def with_garbage_for_records(batch: bytes) -> bytes:
    """The checksum is that of the garbage."""
    return _checked(batch[:_RECORDS] + bytes(each ^ 0x5A for each in batch[_RECORDS:]))


def with_an_unknown_codec(batch: bytes) -> bytes:
    """The checksum is right; Kafka knows the codecs 1 to 4."""
    return _checked(batch[:_COVERED] + b"\x00\x07" + batch[_COVERED + 2 :])


def _checked(batch: bytes) -> bytes:
    return batch[:_CHECKSUM] + struct.pack(">I", _checksum(batch[_COVERED:])) + batch[_COVERED:]


def _size(content: bytes, at: int) -> int:
    [length] = struct.unpack_from(">i", content, at + 8)
    return int(length) + 12


def _record(key: bytes | None, value: bytes | None, headers: Headers) -> bytes:
    named = b"".join(_number(len(name)) + name + _bytes(content) for name, content in headers)
    body = bytes(1) + _number(0) + _number(0) + _bytes(key) + _bytes(value) + _number(len(headers)) + named
    return _number(len(body)) + body


def _batch(record: bytes) -> bytes:
    covered = struct.pack(">hiqqqhii", 0, 0, -1, -1, -1, -1, -1, 1) + record
    return struct.pack(">qiibI", 0, len(covered) + 9, -1, 2, _checksum(covered)) + covered


def _number(value: int) -> bytes:
    """Zigzag, seven bits to a byte."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def _bytes(content: bytes | None) -> bytes:
    return _number(-1) if content is None else _number(len(content)) + content


def _text(content: bytes) -> bytes:
    return struct.pack(">h", len(content)) + content


def _checksum(content: bytes) -> int:
    """CRC-32C."""
    state = 0xFFFFFFFF
    for byte in content:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (_CASTAGNOLI if state & 1 else 0)
    return state ^ 0xFFFFFFFF
