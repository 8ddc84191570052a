"""Rows of delimited text: quoting, escaping and separators, exactly as the metadata says.

Two ways with one result: Arrow's reader where its rules and the format's coincide on the text at hand, and a reader
that follows the format letter by letter elsewhere. The letter: a value is quoted when it begins with the quote
character; inside quotes, the escape character before a quote or before itself stands for that character, and is an
ordinary character before anything else and outside of quotes; a row ends at the row separator and at nothing else.
Only an unquoted value can be NULL.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv

from connectors.landing_zone.replay.table_metadata import TextFormat


class MalformedTextError(ValueError):
    """The text breaks the format's rules; the message says where."""


def read_rows(text: str, dialect: TextFormat) -> pa.Table:
    """The text's rows; every column is ``string``, named by the header row, NULL where the value is unquoted NullValue.

    Raises:
        MalformedTextError: no header row, two columns of one name, a row of another length, an open quote.
    """
    _check_row_separator(text, dialect)
    if not text:
        raise MalformedTextError("there is no header row")
    rows = _rows(text, dialect)
    header = [value for value, _ in next(rows)]
    if len(set(header)) != len(header):
        raise MalformedTextError(f"the header row names a column twice: {', '.join(header)}")
    if _arrow_reads_it_alike(text, dialect):
        return _read_with_arrow(text, dialect, header)
    columns: list[list[str | None]] = [[] for _ in header]
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise MalformedTextError(f"row {number} has {len(row)} values, the header row has {len(header)}")
        for column, (value, quoted) in zip(columns, row, strict=True):
            column.append(None if value == dialect.null_value and not quoted else value)
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(header, columns, strict=True)})


def _check_row_separator(text: str, dialect: TextFormat) -> None:
    if dialect.row_separator in text:
        return
    other = next((separator for separator in ("\n", "\r") if separator in text), None)
    if other is not None:
        raise MalformedTextError(f"rows end with {other!r}, the metadata's RowSeparator is {dialect.row_separator!r}")


def _arrow_reads_it_alike(text: str, dialect: TextFormat) -> bool:
    quote, escape = dialect.quote, dialect.escape
    returns, feeds, pairs = text.count("\r"), text.count("\n"), text.count("\r\n")
    match dialect.row_separator:
        case "\r\n":
            one_ending = returns == feeds == pairs
        case "\n":
            one_ending = returns == 0
        case _:
            one_ending = feeds == 0
    if not one_ending:
        return False
    if not quote or quote not in text:
        return True
    return escape == quote or (escape not in text and quote * 2 not in text)


def _read_with_arrow(text: str, dialect: TextFormat, header: list[str]) -> pa.Table:
    # Arrow takes an empty value at the very end for a quoted one unless its row is ended.
    body = (text if text.endswith(dialect.row_separator) else text + dialect.row_separator).encode()
    try:
        return pa.csv.read_csv(
            io.BytesIO(body),
            # One block: a row must not be longer than a block.
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=len(body) + 1),
            parse_options=pa.csv.ParseOptions(
                delimiter=dialect.column_separator,
                quote_char=dialect.quote or False,
                double_quote=dialect.escape == dialect.quote,
                newlines_in_values=bool(dialect.quote),
                ignore_empty_lines=False,
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types={name: pa.string() for name in header},
                null_values=[dialect.null_value],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise MalformedTextError(str(error)) from error


def _rows(text: str, dialect: TextFormat) -> Iterator[list[tuple[str, bool]]]:
    """Each row's values and whether each was quoted."""
    quote, end = dialect.quote, dialect.row_separator
    stops = re.compile(f"{re.escape(dialect.column_separator)}|{re.escape(end)}")
    at, number = 0, 0
    row: list[tuple[str, bool]] = []
    while True:
        quoted = bool(quote) and text.startswith(quote, at)
        if quoted:
            value, at = _quoted(text, at + 1, dialect, number)
        found = stops.match(text, at) if quoted else stops.search(text, at)
        if quoted and found is None and at < len(text):
            raise MalformedTextError(f"row {number}: text follows a closing quote: {text[at : at + 20]!r}")
        if not quoted:
            value = text[at : found.start() if found else len(text)]
        row.append((value, quoted))
        if found is None or found.group() == end:
            yield row
            row, number = [], number + 1
        if found is None or (found.group() == end and found.end() == len(text)):
            return
        at = found.end()


def _quoted(text: str, at: int, dialect: TextFormat, number: int) -> tuple[str, int]:
    """The value whose opening quote ends at ``at``, and where its closing quote ends."""
    quote, escape = dialect.quote, dialect.escape
    special = re.compile(f"[{re.escape(quote + escape)}]")
    parts: list[str] = []
    while found := special.search(text, at):
        parts.append(text[at : found.start()])
        following = text[found.end() : found.end() + 1]
        if found.group() == escape and following and following in (quote, escape):
            parts.append(following)
            at = found.end() + 1
        elif found.group() == quote:
            return "".join(parts), found.end()
        else:
            parts.append(escape)
            at = found.end()
    raise MalformedTextError(f"row {number}: a quoted value has no closing quote")
