"""A curve's base, rate and exponent are found again, and one that grows worse than linearly is named."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.bench.growth_curve import Shape, curve, fitted

SIZES = (1.0, 10.0, 100.0, 300.0, 1_000.0)


def values(of: Callable[[float], float]) -> list[float]:
    return [of(size) for size in SIZES]


def test_a_line_is_found_again() -> None:
    fit = fitted(SIZES, values(lambda n: 3 + 0.5 * n))

    assert (fit.base, fit.rate, fit.exponent) == pytest.approx((3, 0.5, 1))
    assert fit.error == pytest.approx(0, abs=1e-9)
    assert fit.at(4) == pytest.approx(5)


def test_two_points_make_a_line_through_both() -> None:
    fit = fitted((10, 30), (2.0, 6.0 + 1e-9))

    assert (fit.base, fit.rate) == pytest.approx((0, 0.2), abs=1e-6)


@pytest.mark.parametrize(
    ("of", "shape", "text"),
    [
        (lambda n: 3 + 0.5 * n, Shape.LINEAR, "grows linearly"),
        (lambda n: 0.2 + 0.01 * n**1.3, Shape.WORSE, "grows as n^1.3"),
        (lambda n: 1 + 0.0001 * n**2, Shape.WORSE, "grows as n^2"),
        (lambda n: 0.2 + 0.01 * n**0.5, Shape.BELOW, "grows as n^0.5"),
        (lambda n: 2 + 0.0004 * n, Shape.FLAT, "does not grow"),
        (lambda n: 2.0, Shape.FLAT, "does not grow"),
    ],
)
def test_every_shape_is_told(of: Callable[[float], float], shape: Shape, text: str) -> None:
    found = curve("tables", "seconds a batch", SIZES, values(of))

    assert (found.shape, found.text()) == (shape, text)
    assert (found.first, found.last) == (of(1), of(1_000))


def test_quadratic_growth_is_seen_beside_a_linear_share() -> None:
    found = curve("partitions", "seconds a batch", SIZES, values(lambda n: 0.3 + 0.002 * n + 0.00008 * n**2))

    assert found.shape is Shape.WORSE
    assert found.best.exponent > 1.5


def test_disturbed_lines_stay_lines() -> None:
    chance = random.Random(3)
    shapes = {
        curve("tables", "s", SIZES, values(lambda n: (0.3 + 0.004 * n) * (1 + chance.uniform(-0.08, 0.08)))).shape
        for _ in range(50)
    }

    assert shapes == {Shape.LINEAR}


def test_what_falls_is_fitted_by_its_mean() -> None:
    fit = fitted((1, 2, 3), (3.0, 2.0, 1.5))

    assert fit.rate == 0
    assert 1.5 < fit.base < 3


def test_a_base_below_nothing_is_none() -> None:
    fit = fitted((1, 2), (1.0, 3.0))

    assert fit.base == 0
    # Errors are shares: (1 - rate)^2 + (1 - 2/3 rate)^2 is least there.
    assert fit.rate == pytest.approx((1 + 2 / 3) / (1 + 4 / 9))


def test_few_sizes_say_nothing_of_a_shape() -> None:
    found = curve("tables", "s", (1, 10, 100), (1.0, 2.0, 30.0))

    assert found.shape is Shape.UNKNOWN
    assert found.power is None
    assert found.best == found.line


@pytest.mark.parametrize(("sizes", "wrong"), [((1,), (1.0,)), ((1, 2), (1.0, 0.0)), ((1, 2), (1.0, 2.0, 3.0))])
def test_there_is_no_curve_through_nothing(sizes: tuple[float, ...], wrong: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="no curve goes through"):
        fitted(sizes, wrong)
