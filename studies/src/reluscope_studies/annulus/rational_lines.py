"""Signs on the lines where n - 1 units' hyperplanes meet, in fractions: weights in float64 are rational numbers.

A line, the corners where other units cross it, and f there are solutions of linear systems with rational entries, so
that whether a number is zero can be decided. Fractions are slow: this is for the few signs that float64 leaves open.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.extending.analyses import reduced
from reluscope_studies.annulus.shallow import ShallowNetwork

Vector = list[Fraction]


class RationalLines:
    """A network's lines and corners in fractions."""

    def __init__(self, network: ShallowNetwork) -> None:
        self.weight = [[Fraction(entry) for entry in row] for row in network.weight.tolist()]
        self.bias = [Fraction(entry) for entry in network.bias.tolist()]
        self.low = [Fraction(entry) for entry in network.low.tolist()]
        self.high = [Fraction(entry) for entry in network.high.tolist()]
        self.constant = Fraction(network.constant)
        self._lines: dict[tuple[int, ...], tuple[Vector, Vector] | None] = {}

    def line(self, chosen: tuple[int, ...]) -> tuple[Vector, Vector] | None:
        """Return the direction of the line of some units and a place on it; None if their normals are dependent."""
        if chosen not in self._lines:
            self._lines[chosen] = self._solve(chosen)
        return self._lines[chosen]

    def rate(self, unit: int, direction: Vector) -> Fraction:
        """Return how fast a unit's pre-activation grows."""
        return sum((a * b for a, b in zip(self.weight[unit], direction, strict=True)), Fraction(0))

    def pre(self, unit: int, point: Vector) -> Fraction:
        """Return a unit's pre-activation."""
        return self.rate(unit, point) + self.bias[unit]

    def corner(self, chosen: tuple[int, ...], unit: int) -> Vector | None:
        """Return where a unit's hyperplane crosses a line, if it does."""
        line = self.line(chosen)
        rate = self.rate(unit, line[0]) if line else 0
        if line is None or rate == 0:
            return None
        time = -self.pre(unit, line[1]) / rate
        return [place + time * step for place, step in zip(line[1], line[0], strict=True)]

    def value(self, point: Vector) -> Fraction:
        """Return f."""
        return self.constant + sum(
            ((self.high[unit] if pre > 0 else self.low[unit]) * pre)
            for unit, pre in enumerate(self.pre(unit, point) for unit in range(len(self.bias)))
        )

    def end_slope(self, direction: Vector) -> Fraction:
        """Return the slope of f far out in a direction."""
        rates = (self.rate(unit, direction) for unit in range(len(self.bias)))
        return sum(
            ((self.high[unit] if rate > 0 else self.low[unit]) * rate for unit, rate in enumerate(rates)), Fraction(0)
        )

    def end_value(self, direction: Vector, point: Vector) -> Fraction:
        """Return the value at which f ends from a point in a direction, where its slope there is zero."""
        found = self.constant
        for unit in range(len(self.bias)):
            rate, pre = self.rate(unit, direction), self.pre(unit, point)
            found += (self.high[unit] if (rate or pre) > 0 else self.low[unit]) * pre
        return found

    def affine(self, slopes: Float[np.ndarray, " u"]) -> Vector:
        """Return gradient and constant of f where the units have some slopes."""
        rational = [Fraction(slope) for slope in slopes.tolist()]
        rows = [[*row, bias] for row, bias in zip(self.weight, self.bias, strict=True)]
        found = [
            sum((a * row[i] for a, row in zip(rational, rows, strict=True)), Fraction(0)) for i in range(len(rows[0]))
        ]
        found[-1] += self.constant
        return found

    def _solve(self, chosen: tuple[int, ...]) -> tuple[Vector, Vector] | None:
        size = len(self.weight[0])
        solved = reduced([*self.weight[unit], self.bias[unit]] for unit in chosen)
        if len(solved) < len(chosen):
            return None
        free = next(axis for axis in range(size) if axis not in solved)
        direction, origin = [Fraction(0)] * size, [Fraction(0)] * size
        direction[free] = Fraction(1)
        for axis, row in solved.items():
            direction[axis], origin[axis] = -row[free], -row[-1]
        return direction, origin


def rational_rank(rows: Sequence[Sequence[float | Fraction]]) -> int:
    """Return the rank of a matrix of rational numbers."""
    return len(pivot_axes(rows))


def pivot_axes(rows: Sequence[Sequence[float | Fraction]]) -> list[int]:
    """Return axes, as many as the rank of a matrix, whose columns span all columns."""
    return sorted(reduced([*(Fraction(entry) for entry in row), Fraction(0)] for row in rows))
