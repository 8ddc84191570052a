"""One dead letter in full: what it says, its bytes, and what it decodes to by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.command_lines import command
from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Op
from connectors.errors import Terminal, Transient
from connectors.kafka.letters import DeadLetter
from connectors.landing_zone.ledger.state import LedgerState
from streaming.dead_letters.coordinates import Coordinates
from streaming.dead_letters.decoding import decode_letter
from streaming.dead_letters.listing import Choice, ListedLetter, list_letters
from streaming.dead_letters.remedies import remedy_of
from streaming.wording import json_row


class NoSuchLetterError(Terminal):
    """There is no dead letter of a record."""


@dataclass(frozen=True)
class DecodedNow:
    """What the record decodes to with the settings and the registry of now.

    Attributes:
        problem: why it does not; empty if it does.
        operation, source, row: of the event.
    """

    problem: str = ""
    operation: str = ""
    source: str = ""
    row: dict[str, Any] | None = None


@dataclass(frozen=True)
class ShownLetter:
    """One letter in full."""

    listed: ListedLetter
    letter: DeadLetter
    now: DecodedNow

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.listed.replayed:
            return "nothing: it has landed since"
        if self.letter.left_out:
            return "the letter does not hold the record: `cdc-bridge resync CONFIG TABLE` if its row is wrong"
        if not self.now.problem:
            return f"{command('dead-letters replay CONFIG {}', self.listed.at)}: it can be decoded by now"
        return remedy_of(self.listed.reason)

    def values(self) -> dict[str, object]:
        """Plain values for a program: bytes as text where they are UTF-8, and as hexadecimal digits."""
        record = self.letter.record
        return {
            **self.listed.values(),
            "remedy": self.remedy,
            "letter": {"partition": self.letter.partition, "offset": self.letter.offset},
            "headers": [{"name": name, **_bytes_values(value)} for name, value in record.headers],
            "key": _bytes_values(record.key),
            "value": _bytes_values(record.value),
            "decodes": not self.now.problem,
            "problem": self.now.problem,
            "operation": self.now.operation,
            "source": self.now.source,
            "row": self.now.row,
        }


def show_letter(at: Coordinates, letters: Iterable[DeadLetter], state: LedgerState, decoder: Decoder) -> ShownLetter:
    """The letter of a record.

    Raises:
        NoSuchLetterError: there is none.
    """
    found = [letter for letter in letters if Coordinates.of(letter.record) == at]
    if not found:
        raise NoSuchLetterError(
            "there is no dead letter of this record",
            remedy="`cdc-bridge dead-letters list CONFIG` shows those that there are",
            topic=at.topic,
            partition=at.partition,
            offset=at.offset,
        )
    [listed] = list_letters(found, state, Choice())
    return ShownLetter(listed, found[-1], _decoded_now(found[-1], decoder))


def write_raw(letter: DeadLetter, folder: Path) -> list[Path]:
    """Write the record's bytes as ``<topic>-<partition>-<offset>.key`` and ``.value``; what is null gets no file."""
    folder.mkdir(parents=True, exist_ok=True)
    record = letter.record
    written = []
    for name, content in (("key", record.key), ("value", record.value)):
        if content is not None:
            path = folder / f"{record.topic}-{record.partition}-{record.offset}.{name}"
            path.write_bytes(content)
            written.append(path)
    return written


def text_of(content: bytes) -> str | None:
    """The bytes as text, if they are UTF-8 without control characters."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char in "\r\n\t" for char in text) else None


def _bytes_values(content: bytes | None) -> dict[str, object]:
    if content is None:
        return {"text": None, "hex": None}
    return {"text": text_of(content), "hex": content.hex()}


def _decoded_now(letter: DeadLetter, decoder: Decoder) -> DecodedNow:
    try:
        decoded = decode_letter(letter, decoder)
    except Transient as error:
        return DecodedNow(problem=error.message)
    if decoded.bad is not None:
        return DecodedNow(problem=f"{decoded.bad.reason}: {decoded.bad.detail}")
    if decoded.chunk is None:
        skipped = "" if decoded.skipped is None else decoded.skipped.value.replace("_", " ")
        return DecodedNow(problem=f"it carries no row that lands ({skipped})")
    chunk = decoded.chunk
    table = chunk.table
    return DecodedNow(
        operation=Op(int(chunk.ops[0])).name.lower(),
        source=".".join(part for part in (table.database, table.schema, table.name) if part),
        row=json_row(chunk.rows.to_pylist()[0]),
    )
