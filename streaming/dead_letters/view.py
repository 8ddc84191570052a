"""Dead letters as a person sees them."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from streaming.dead_letters.asking import ReplayOutcome
from streaming.dead_letters.listing import ListedLetter
from streaming.dead_letters.showing import ShownLetter, text_of
from streaming.wording import count_text, moment_text, size_text

MOST_TEXT = 2_000
MOST_HEX = 256
"""Bytes shown of what is no text."""


def show_list(letters: Sequence[ListedLetter], total: int, console: Console) -> None:
    """A table, oldest first; ``total`` counts those that were left out by the limit too."""
    if not letters:
        console.print("There are no such dead letters.")
        return
    table = Table(box=box.SIMPLE, pad_edge=False)
    for name in ("record", "reason", "table", "sent"):
        table.add_column(name, overflow="fold")
    table.add_column("size", justify="right")
    table.add_column("replayed")
    for letter in letters:
        table.add_row(
            escape(str(letter.at)),
            escape(letter.reason),
            escape(letter.table),
            moment_text(letter.sent_ms),
            size_text(letter.bytes),
            "yes" if letter.replayed else "",
        )
    console.print(table)
    if total > len(letters):
        console.print(f"The newest {len(letters):,} of {count_text(total, 'dead letter')}; --limit shows more.")


def show_one(shown: ShownLetter, console: Console) -> None:
    """One letter in full."""
    console.print(letter_text(shown))


def letter_text(shown: ShownLetter) -> Text:
    """A paragraph with everything about one letter."""
    listed, record = shown.listed, shown.letter.record
    text = Text.assemble((str(listed.at), "bold"), f"  {moment_text(listed.sent_ms)}  ", (listed.reason, "yellow"))
    lines = [
        ("detail", listed.detail),
        ("what to do", shown.remedy),
        ("table", listed.table),
        ("decodes now", shown.now.problem or f"yes: {shown.now.operation} of {shown.now.source}"),
        ("row", _row_text(shown.now.row)),
        *((f"header {name}", _bytes_text(value)) for name, value in record.headers),
        ("key", _bytes_text(record.key)),
        ("value", _bytes_text(record.value)),
        ("letter", f"partition {shown.letter.partition}, offset {shown.letter.offset}"),
    ]
    for label, value in lines:
        if value:
            text.append(f"\n  {label}: ", "dim").append(value)
    return text


def show_replayed(outcome: ReplayOutcome, console: Console) -> None:
    """What became of each letter."""
    for at, part in outcome.parts.items():
        if part.accepted:
            console.print(Text.assemble((at, "bold"), f": {part.message}"))
        else:
            console.print(
                Text.assemble((at, "bold"), ": ", ("refused: ", "red"), part.message, ("\n  What to do: ", "bold"))
                + Text(part.remedy)
            )
    if outcome.waiting:
        console.print(f"Asked for {count_text(outcome.waiting, 'dead letter')}; not waiting for it.")
    if len(outcome.parts) > 1:
        refused = sum(not part.accepted for part in outcome.parts.values())
        console.print(f"{len(outcome.parts) - refused:,} landed, {refused:,} refused.")


def _row_text(row: dict[str, object] | None) -> str:
    return "" if row is None else ", ".join(f"{name}={value!r}" for name, value in row.items())


def _bytes_text(content: bytes | None) -> str:
    if content is None:
        return "null"
    text = text_of(content)
    if text is not None:
        return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}... ({count_text(len(content), 'byte')})"
    more = f"... ({count_text(len(content), 'byte')})" if len(content) > MOST_HEX else ""
    return f"0x{content[:MOST_HEX].hex()}{more}"
