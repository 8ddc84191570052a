"""Computed columns: what an expression may say, what it gives, and where it fails."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streaming.landing.shaping.expressions import FUNCTIONS, ExpressionFailedError, check_expression, compute

ROWS = pa.RecordBatch.from_pydict(
    {
        "name": pa.array(["1", "2", "x", None]),
        "price": pa.array([Decimal("1.50")] * 4, pa.decimal128(10, 2)),
        "quantity": pa.array([1, 2, 3, None], pa.int32()),
        "day": pa.array([dt.date(2020, 1, 31)] * 4),
        "odd name": pa.array([1.5] * 4),
    }
)

BY_COLUMN = (
    "calls regexp_like, rlike, strpos or position with a column in what is looked for: it is a regular expression there"
)
OTHER_LENGTH = "calls lpad or rpad with another length than a whole number, written out, from 0 to 1,000"
TOO_LONG = "replaces texts so that one may become 101 times as long; 100 times is the most"


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("'shop'", pa.string(), ["shop"] * 4),
        ("price * quantity", pa.decimal128(38, 2), [Decimal("1.50"), Decimal("3.00"), Decimal("4.50"), None]),
        ("case when quantity > 1 then 'many' else 'one' end", pa.string(), ["one", "many", "many", "one"]),
        ("try_cast(name as int)", pa.int32(), [1, 2, None, None]),
        ("extract(year from day)", pa.int32(), [2020] * 4),
        ("extract(month from day)", pa.int16(), [1] * 4),
        ("upper(name) || '-' || quantity", pa.string(), ["1-1", "2-2", "X-3", None]),
        ('"odd name" + 1', pa.float64(), [2.5] * 4),
        ("day + interval '1 day'", pa.date32(), [dt.date(2020, 2, 1)] * 4),
        ("coalesce(name, 'none')", pa.string(), ["1", "2", "x", "none"]),
        ("name in ('1', 'x')", pa.bool_(), [True, False, True, None]),
    ],
)
def test_an_expression_gives_a_landing_type_that_does_not_depend_on_the_rows(
    text: str, kind: pa.DataType, values: list[Any]
) -> None:
    check_expression(text)
    computed = compute(ROWS, "new", text)
    assert (computed.type, computed.to_pylist()) == (kind, values)
    assert compute(ROWS.slice(0, 0), "new", text).type == kind
    pieces = [compute(ROWS.slice(row, 1), "new", text) for row in range(4)]
    assert pa.concat_arrays(pieces) == computed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("price *", "is not a SQL expression: unable to parse"),
        ("price, name", "is not a SQL expression: invalid expression"),
        ("*", "is not a SQL expression"),
        ("now()", "uses now: a column is computed from its own row, without clock or query"),
        ("CURRENT_DATE", "uses CURRENT_DATE: a column is computed from its own row, without clock or query"),
        ("current_timestamp", "uses current_timestamp: "),
        ("(select 1)", "uses select: "),
        ("random()", "calls random, which is not among the functions of one row: abs, acos"),
        ("sum(price)", "calls sum, which is not among the functions of one row"),
        ("row_number() over (order by name)", "calls row_number, which is not among"),
        ("timestamp(name)", "calls timestamp, which is not among the functions of one row"),
        ("E'\\'' || now() || ''", "writes a text with a letter before its quote, as in E'...': write plain quotes"),
        ("$$'$$ || now() || $$'$$", "uses the sign $ outside of quotes, which has no meaning here"),
        ("# '\nnow() '", "uses the sign # outside of quotes"),
        ("/* ' */ now() /* ' */", "uses now: "),
        ("replace(name, other, 'x')", "calls replace with a column in what is to be replaced, or in what replaces it:"),
        ("replace(name, '-', other)", "calls replace with a column in what is to be replaced, or in what replaces it:"),
        ("upper(concat('a', Replace(name, 'b' || lower(other), '')))", "calls replace with a column in what is"),
        ("upper(concat('a', Replace(name, 'b', 'c' || other)))", "calls replace with a column in what is"),
        (
            "regexp_like(name, other)",
            BY_COLUMN,
        ),
        ("name rlike lower(other)", BY_COLUMN),
        ("strpos(name, other)", BY_COLUMN),
        (
            "upper(position(other in name))",
            BY_COLUMN,
        ),
        (
            "lpad(name, quantity, 'x')",
            OTHER_LENGTH,
        ),
        (
            "rpad(name, quantity)",
            OTHER_LENGTH,
        ),
        ("upper('a' || rpad(name, 10 + quantity, 'x'))", OTHER_LENGTH),
        ("lpad(name, 500 * 500)", OTHER_LENGTH),
        (
            "lpad(name, 1001)",
            OTHER_LENGTH,
        ),
        ("rpad(name, -1)", OTHER_LENGTH),
        ("rpad(name, 99999999999999999999)", OTHER_LENGTH),
        ("lpad(name, '5')", OTHER_LENGTH),
        ("lpad(name, 1.5)", OTHER_LENGTH),
        (f"replace(name, 'a', '{'x' * 101}')", TOO_LONG),
        (f"replace(name, '', '{'x' * 100}')", TOO_LONG),
        ("replace(name, 'a', lpad('', 500))", "replaces texts so that one may become "),
        (
            "replace(upper(replace(name, 'a', 'bbbbbbbbbbb')), 'B', 'cccccccccc')",
            "replaces texts so that one may become 110 times as long",
        ),
        (f"regexp_replace(name, 'a*', '{'x' * 100}', 'g')", TOO_LONG),
        (
            "regexp_replace(name, '.*', '" + r"\0" * 101 + "')",
            TOO_LONG,
        ),
        ("cast(quantity as decimal(1000, 2))", "casts to a decimal of other than 1 to 38 digits, or with more digits"),
        (
            "upper(cast(price::decimal(5, 9) as varchar))",
            "casts to a decimal of other than 1 to 38 digits, or with more",
        ),
        ("pow(quantity, 2)", "calls pow, which is not among the functions of one row: abs"),
        ("power(2, quantity)", "calls power, which is not among the functions of one row: abs"),
        ("try_cast(name as hugeint)", "gives an integer of 128 bits, which no landing file holds: cast it to another"),
        ("(quantity::uhugeint)", "gives an integer of 128 bits, which no landing file holds: cast it to another"),
    ],
)
def test_what_is_no_pure_expression_of_one_row_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match="^" + "".join(f"[{c}]" if c in "$#*.()" else c for c in problem)):
        check_expression(text)


def test_words_in_quotes_and_comments_are_no_calls() -> None:
    for text in ("'now()'", '"current_date"', "name -- now()", "name /* random() */", "price::bigint", "(name)"):
        check_expression(text)


def test_a_text_of_a_column_may_be_replaced_by_a_fixed_one() -> None:
    rows = pa.RecordBatch.from_pydict({"name": ["a-b", "-", None], "other": ["1", "2", "3"]})
    for text in (
        "replace(name, '-', 'x')",
        "regexp_replace(name, '[-]', 'x')",
        "replace(name, lower('-'), lower('X'))",
    ):
        check_expression(text)
        assert compute(rows, "n", text).to_pylist() == ["axb", "x", None]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("name", 1),
        (f"replace(name, 'a', '{'x' * 100}')", 100),
        ("replace(replace(name, 'a', 'bbbb'), 'b', 'ccccc')", 20),
        ("replace(replace(name, 'a', 'bbbb'), 'bb', 'cccc')", 8),
        ("replace(name, '', 'bb')", 3),
        ("regexp_replace(name, 'a*?', 'bb', 'g')", 3),
        (r"regexp_replace(name, '(a*)', '\1\1\0')", 3),
        (r"regexp_replace(name, '.', '\0\0-', 'g')", 3),
        ("lpad(name, 1000, 'x')", 1),
        ("replace(name || name, 'a', 'bbb')", 6),
    ],
)
def test_what_is_allowed_makes_a_text_longer_by_what_is_written_there(text: str, length: int) -> None:
    check_expression(text)
    [made] = compute(pa.RecordBatch.from_pydict({"name": ["a" * 100_000]}), "n", text).to_pylist()
    assert len(made) <= 100_000 * length + length
    assert len(made) >= 100_000 * length * 0.9 or text.startswith("lpad")


@pytest.mark.parametrize(
    "text",
    [
        *(f"{name}(value)" for name in ("exp", "ln", "log2", "log10", "log1p", "sqrt", "cbrt", "degrees", "radians")),
        *(f"{name}(value)" for name in ("sin", "cos", "tan", "cot", "asin", "acos", "atan", "round", "floor")),
        *(f"{name}(value, other)" for name in ("log", "atan2", "mod", "div")),
        "value * other / 3",
        "3 / value",
        "value % 0.3",
    ],
)
def test_the_last_digit_of_a_float_does_not_depend_on_the_rows_around(text: str) -> None:
    check_expression(text)
    chance = random.Random(1)
    rows = pa.RecordBatch.from_pydict(
        {"value": [chance.random() for _ in range(300)], "other": [chance.randint(1, 30) for _ in range(300)]}
    )
    alone = [compute(rows.slice(row, 1), "n", text) for row in range(300)]
    assert compute(rows, "n", text).equals(pa.concat_arrays(alone))


def test_every_function_of_the_list_is_known_to_the_library() -> None:
    unusual = {
        "cast": "cast(name as int)",
        "try_cast": "try_cast(name as int)",
        "extract": "extract(year from day)",
        "position": "position('x' in name)",
        "date_part": "date_part('year', day)",
        "strftime": "strftime(day, '%Y')",
        "strptime": "strptime(name, '%Y')",
        "regexp_replace": "regexp_replace(name, 'a', 'b')",
        "replace": "replace(name, 'a', 'b')",
        "concat_ws": "concat_ws('-', name, name)",
        "lpad": "lpad(name, 5)",
        "rpad": "rpad(name, 5)",
        "regexp_like": "regexp_like(name, 'a')",
        "strpos": "strpos(name, 'a')",
    }
    for function in sorted(FUNCTIONS):
        calls = [f"{function}({arguments})" for arguments in ("name", "name, name", "name, name, name", "")]
        tried = [unusual[function]] if function in unusual else calls
        assert any(_accepted(call) for call in tried), function


def _accepted(text: str) -> bool:
    try:
        check_expression(text)
    except ValueError:
        return False
    return True


def test_the_first_row_that_fails_is_found_whatever_comes_with_it() -> None:
    names = ["1"] * 40 + ["x"] + ["2"] * 20 + ["y"]
    rows = pa.RecordBatch.from_pydict({"name": pa.array(names)})
    details = set()
    for start in (0, 7, 40):
        with pytest.raises(ExpressionFailedError) as caught:
            compute(rows.slice(start), "number", "cast(name as int)")
        assert (caught.value.column, caught.value.row) == ("number", 40 - start)
        details.add(caught.value.detail)
    assert len(details) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("quantity / 0", float("inf")),
        *((f"{call} / 0", float("inf")) for call in ('"odd name"', '1.5 * "odd name"')),
        ("quantity % 0", None),
        ("quantity // 0", None),
        ("mod(quantity, quantity - 1)", None),
        ("div(quantity, quantity - 1)", None),
        ("price / nullif(quantity - 1, 0)", None),
        ('price / ("odd name" - 1.5)', float("inf")),
    ],
)
def test_a_division_by_zero_has_a_value_of_its_own(text: str, value: float | None) -> None:
    assert compute(ROWS.slice(0, 1), "new", text).to_pylist() == [value]


def test_nothing_divided_by_nothing_is_no_number() -> None:
    for text in ("(quantity - 1) / 0", '("odd name" - 1.5) / 0', '"odd name" % 0', 'mod("odd name", 0)'):
        (value,) = compute(ROWS.slice(0, 1), "new", text).to_pylist()
        assert math.isnan(value), text


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("price / (quantity - 1)", "division by zero Decimal"),
        ("price % (quantity - 1)", "division by zero Decimal"),
        ("div(price, quantity - 1)", "division by zero Decimal"),
        ('"odd name" // (quantity - 1)', "conversion from `f64` to `i64` failed in column 'odd name' for 1 out of 1"),
        ("cast(99999999999999999999 as decimal(38, 10)) * price * price * 9999999999.0", "overflow in decimal mult"),
    ],
)
def test_what_a_decimal_cannot_hold_fails_at_its_row(text: str, detail: str) -> None:
    with pytest.raises(ExpressionFailedError, match="new: " + detail) as caught:
        compute(ROWS, "new", text)
    assert caught.value.row == 0


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("nowhere + 1", 'unable to find column "nowhere"'),
        ("name = 1", "cannot compare string with numeric type"),
        ("null", "its result is of the type null, which no landing file holds: cast it to another one"),
        ("try_cast(quantity as hugeint) + 1", "its result is of the type Int128, which no landing file holds: cast it"),
        ("interval '1 day'", r"its result is of the type duration\[ns\], which no landing file holds"),
    ],
)
def test_what_fails_for_every_row_fails_at_the_first(text: str, detail: str) -> None:
    for rows in (ROWS, ROWS.slice(0, 0)):
        with pytest.raises(ExpressionFailedError, match=detail) as caught:
            compute(rows, "new", text)
        assert caught.value.row == 0
