"""What Azure's services answer beside their content is told in short, and their dates are taken with care."""

from __future__ import annotations

import pytest

from connectors.azure_answers import refusal, seconds_until


def test_a_refusal_is_one_short_line_without_a_token() -> None:
    page = "not found: Authorization: Bearer eyJhbGciOi.J9.xyz,\tby the proxy " + "x" * 1_000 + "\nand more"
    said = refusal(page)
    assert said.startswith("not found: Authorization: Bearer **** by the proxy xxx")
    assert len(said) == 200


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Sat, 31 Jan 2026 08:00:20 GMT", 20.0),
        ("Sat, 31 Jan 2026 07:00:00 GMT", 0.0),
        ("Sat, 31 Jan 99999 08:00:20 GMT", None),
        ("soon", None),
    ],
)
def test_a_date_that_no_clock_has_is_none(date: str, seconds: float | None) -> None:
    assert seconds_until(date, 1_769_846_400.0) == seconds
