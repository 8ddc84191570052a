"""How a figure grows with what it is measured against: base and rate by least squares, and the exponent of the growth.

``t = base + rate * n ** exponent``. Sizes lie far apart, and what disturbs a measurement is a share of it: so errors
are shares of each value, and base and rate, neither below 0, are those of the least squares of these. The straight
line has exponent 1; the power curve has that of a grid which leaves the least error.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass

EXPONENTS = tuple(number / 20 for number in range(2, 61))
FLAT = 1.25
"""The largest value over the smallest up to which nothing is said to grow."""
NOISE = 0.08
"""Error of a curve, as a share, that disturbances explain."""
BETTER = 1.5
"""How often the line's error has to be that of the power curve before it counts as another shape."""
LEAST_POINTS = 4
_FLOOR = 0.02
"""Share of the largest value below which errors are not shares of a value any more: such values are rounded."""


class Shape(enum.StrEnum):
    """What is said of a curve."""

    FLAT = "does not grow"
    BELOW = "grows less than linearly"
    LINEAR = "grows linearly"
    WORSE = "grows worse than linearly"
    UNKNOWN = "too few sizes"


@dataclass(frozen=True)
class Fit:
    """A curve through the points.

    Attributes:
        error: root of the mean square of its errors, each as a share of the value.
    """

    base: float
    rate: float
    exponent: float
    error: float

    def at(self, size: float) -> float:
        return float(self.base + self.rate * size**self.exponent)


@dataclass(frozen=True)
class Curve:
    """A figure's growth along a dimension.

    Attributes:
        measure: what grows.
        line: the straight one; power: the best of all exponents, None for too few points.
        first, last: the values at the smallest and at the largest size.
    """

    dimension: str
    measure: str
    line: Fit
    power: Fit | None
    first: float
    last: float
    shape: Shape

    @property
    def best(self) -> Fit:
        """The curve that is drawn: the line unless the shape is another one."""
        return self.power if self.power is not None and self.shape in (Shape.WORSE, Shape.BELOW) else self.line

    def text(self) -> str:
        """For people: ``grows as n^1.3``."""
        if self.shape in (Shape.WORSE, Shape.BELOW) and self.power is not None:
            return f"grows as n^{self.power.exponent:g}"
        return self.shape.value


def fitted(sizes: Sequence[float], values: Sequence[float], exponent: float = 1.0) -> Fit:
    """The curve of this exponent with the least squares of its errors as shares of the values.

    Raises:
        ValueError: fewer than two points, or a value that is not above 0.
    """
    if len(sizes) != len(values) or len(sizes) < 2 or min(values) <= 0:
        raise ValueError(f"no curve goes through {list(zip(sizes, values, strict=False))}")
    scales = [max(value, _FLOOR * max(values)) for value in values]
    # Of an error base / scale + rate * n ** exponent / scale - value / scale.
    one = [1 / scale for scale in scales]
    slope = [size**exponent / scale for size, scale in zip(sizes, scales, strict=True)]
    wanted = [value / scale for value, scale in zip(values, scales, strict=True)]
    among = _times(one, one) * _times(slope, slope) - _times(one, slope) ** 2
    base = (_times(one, wanted) * _times(slope, slope) - _times(slope, wanted) * _times(one, slope)) / among
    rate = (_times(slope, wanted) * _times(one, one) - _times(one, wanted) * _times(one, slope)) / among
    if base < 0:
        base, rate = 0.0, _times(slope, wanted) / _times(slope, slope)
    elif rate < 0:
        base, rate = _times(one, wanted) / _times(one, one), 0.0
    errors = [base * at_all + rate * grown - value for at_all, grown, value in zip(one, slope, wanted, strict=True)]
    error = math.sqrt(_times(errors, errors) / len(errors))
    return Fit(base, rate, exponent, error)


def _times(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(map(operator.mul, left, right))


def curve(dimension: str, measure: str, sizes: Sequence[float], values: Sequence[float]) -> Curve:
    """The growth of the values with the sizes, and what is to be said of it.

    Raises:
        ValueError: as :func:`fitted`.
    """
    line = fitted(sizes, values)
    power = None
    if len(sizes) >= LEAST_POINTS:
        power = min((fitted(sizes, values, exponent) for exponent in EXPONENTS), key=lambda fit: fit.error)
    return Curve(dimension, measure, line, power, values[0], values[-1], _shape(line, power, values))


def _shape(line: Fit, power: Fit | None, values: Sequence[float]) -> Shape:
    if power is None:
        return Shape.UNKNOWN
    if max(values) <= FLAT * min(values):
        return Shape.FLAT
    if line.error <= max(NOISE, BETTER * power.error):
        return Shape.LINEAR
    return Shape.WORSE if power.exponent > 1 else Shape.BELOW
