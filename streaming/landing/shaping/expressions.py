"""Columns computed from the row by a SQL expression.

Polars evaluates the expression; this module only says what may be written. A landing file is a pure function of its
events, row by row, without clock, random number or a look beyond the row. So functions are taken from a list, and
any other is refused, as are the words for the present time and queries.
"""

from __future__ import annotations

import json
import re

import polars as pl
import pyarrow as pa
from polars.exceptions import PanicException, PolarsError

from streaming.landing.shaping.expression_limits import limit_problem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    "abs ceil ceiling floor round sign sqrt cbrt exp ln log log2 log10 log1p mod div pi degrees radians "
    "sin cos tan cot asin acos atan atan2 coalesce nullif ifnull if greatest least concat concat_ws lower upper "
    "initcap length char_length character_length octet_length bit_length left right substr substring position "
    "strpos replace reverse ltrim rtrim trim lpad rpad starts_with ends_with split_part regexp_like regexp_replace "
    "date_part extract strftime strptime bit_and bit_or bit_xor bit_count cast try_cast"
)
"""What an expression may call: deterministic, and computed from its own row alone.

Not ``pow``: the library raises to one exponent for all rows otherwise than to a column of them, to the last digit.
"""

_WORDS_BEFORE_A_BRACKET = _words(
    "and or not in between like ilike when then else case is decimal numeric varchar char varbinary binary float "
    "distinct from"
)
_REFUSED = _words("select over current_date current_time current_timestamp localtime localtimestamp now today exists")
_QUOTED = re.compile(r"(?P<glued>\w)?'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)
_CALL = re.compile(r"([^\W\d]\w*)\s*\(")
_WORD = re.compile(r"[^\W\d]\w*")
_UNKNOWN_QUOTES = re.compile(r"[$#\\\[\]{}]")
_NOT_HELD = "which no landing file holds: cast it to another one"
_TOO_WIDE = (pl.Int128, pl.UInt128)
_LONGEST = 300
_HEIGHT, _RESULT = "\x01height", "\x01result"
_WIDER: dict[pa.DataType, pa.DataType] = {
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
_LANDED = frozenset(
    [
        pa.bool_(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.string(),
        pa.binary(),
        pa.date32(),
    ]
)


def check_expression(text: str) -> None:
    """Return if an expression can be used.

    Raises:
        ValueError: what is wrong, as the end of a sentence that begins with the expression's place.
    """
    bare = _QUOTED.sub(_without_content, text)
    if strange := _UNKNOWN_QUOTES.search(bare):
        raise ValueError(f"uses the sign {strange[0]} outside of quotes, which has no meaning here")
    for name in _CALL.findall(bare):
        if name.lower() not in FUNCTIONS | _WORDS_BEFORE_A_BRACKET | _REFUSED:
            raise ValueError(
                f"calls {name}, which is not among the functions of one row: {', '.join(sorted(FUNCTIONS))}"
            )
    for word in _WORD.findall(bare):
        if word.lower() in _REFUSED:
            raise ValueError(f"uses {word}: a column is computed from its own row, without clock or query")
    try:
        parsed = pl.sql_expr(text)
    except (PolarsError, PanicException, TypeError) as error:
        raise ValueError(f"is not a SQL expression: {_first_line(error)}") from None
    if not isinstance(parsed, pl.Expr):
        raise TypeError("one text gave several expressions")
    made = json.loads(parsed.meta.serialize(format="json"))
    if problem := limit_problem(made):
        raise ValueError(problem)
    if _is_too_wide(made):
        raise ValueError(f"gives an integer of 128 bits, {_NOT_HELD}")


def _is_too_wide(node: object) -> bool:
    """Whether the serialized expression is a cast to an integer that is wider than any of a file."""
    match node:
        case {"Cast": {"dtype": {"Literal": "Int128" | "UInt128"}}}:
            return True
        case _:
            return False


def _without_content(match: re.Match[str]) -> str:
    if match["glued"]:
        raise ValueError("writes a text with a letter before its quote, as in E'...': write plain quotes")
    return " "


class ExpressionFailedError(Exception):
    """An expression that a row, or the table's columns, do not allow; the lander parks the table for it.

    Attributes:
        column: the computed one.
        row: the first row that fails; 0 where no row can succeed.
        detail: what the library says.
    """

    def __init__(self, column: str, row: int, detail: str) -> None:
        super().__init__(f"{column}: {detail}")
        self.column = column
        self.row = row
        self.detail = detail


def columns_named(text: str) -> list[str]:
    """The columns that an expression is computed from."""
    return list(dict.fromkeys(pl.sql_expr(text).meta.root_names()))


def compute(rows: pa.RecordBatch, column: str, text: str) -> pa.Array:
    """The values of a computed column, one per row, of a type that a landing file holds.

    Raises:
        ExpressionFailedError: with the first row that fails.
    """
    expression = pl.sql_expr(text)
    wanted = [name for name in rows.schema.names if name in set(expression.meta.root_names())]
    values = _evaluated(rows, wanted, expression)
    if not isinstance(values, str):
        return _landed(values, column)
    if isinstance(_evaluated(rows.slice(0, 0), wanted, expression), str):
        raise ExpressionFailedError(column, 0, values)
    # Rows [0, good) succeed, rows [0, bad) fail.
    good, bad = 0, rows.num_rows
    while bad - good > 1:
        middle = (good + bad) // 2
        if isinstance(_evaluated(rows.slice(good, middle - good), wanted, expression), str):
            bad = middle
        else:
            good = middle
    # Told of the row alone, so that it does not depend on the rows around it.
    alone = _evaluated(rows.slice(good, 1), wanted, expression, once=True)
    raise ExpressionFailedError(column, good, alone if isinstance(alone, str) else values)


def _evaluated(rows: pa.RecordBatch, wanted: list[str], expression: pl.Expr, *, once: bool = False) -> pa.Array | str:
    # The library takes a single value for a constant, and computes with constants otherwise (x / 3 is x * (1 / 3)
    # where x is a column), so a row alone goes there twice.
    places = [0, 0] if rows.num_rows == 1 and not once else range(rows.num_rows)
    columns = (rows.column(name) for name in wanted)
    if len(places) > rows.num_rows:
        columns = (column.take(pa.array(places)) for column in columns)
    # A column of its own gives the frame its height where the expression names none.
    height = pl.Series(_HEIGHT, places, pl.Int64)
    values = (pl.Series(name, pl.from_arrow(column)) for name, column in zip(wanted, columns, strict=True))
    frame = pl.DataFrame([height, *values])
    try:
        computed = frame.select(pl.col(_HEIGHT), expression.alias(_RESULT))
    except (PolarsError, PanicException) as error:
        return _without_values(_first_line(error))
    result = computed.to_series(1).head(rows.num_rows)
    # Arrow has no integers of that width.
    return f"its result is of the type {result.dtype}, {_NOT_HELD}" if result.dtype in _TOO_WIDE else result.to_arrow()


def _landed(values: pa.Array, column: str) -> pa.Array:
    kind = _WIDER.get(values.type, values.type)
    if pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", tz=None if kind.tz is None else "UTC")
    elif kind not in _LANDED and not pa.types.is_decimal128(kind):
        raise ExpressionFailedError(column, 0, f"its result is of the type {values.type}, {_NOT_HELD}")
    return values if values.type == kind else values.cast(kind, safe=False)


def _without_values(said: str) -> str:
    """What the library says without the row's values, which it lists in brackets at the end: it goes into the log."""
    return said.partition(": [")[0][:_LONGEST]


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
