"""Values rounded to whole numbers: stairs, of finitely many steps where the value is known to be bounded.

A value is known to be bounded if it comes from a function whose first and last pieces are constant, as a clamp; its
range is carried through what follows in fractions.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.building.core import Value
from reluscope.networks.building.functions import Function
from reluscope.networks.building.largest import ComparedEntries
from reluscope.networks.graph.increasing_functions import float_above, float_below
from reluscope.networks.passes.double_words import two_product

Rounding = Literal["floor", "ceil", "trunc", "round"]

# Breakpoints of a gate, whose pieces are numbered by a byte.
MOST_STEPS = 255
_ONE, _ZERO = torch.ones(1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)


class RoundedValues(ComparedEntries):
    """Methods for what rounds."""

    def rounded(self, x: Value, way: Rounding, step: float = 1.0) -> Value:
        """Return ``x / step`` rounded to whole numbers, for a positive step; halves are rounded to even numbers."""
        return self._of_range(x, step, way, lambda whole: whole)

    def remainder(self, x: Value, way: Rounding, step: float) -> Value:
        """Return ``x - step k`` with k what ``x / step`` is rounded to."""
        factor, same = torch.tensor([-step], dtype=torch.float64), Function.affine(_ONE, _ZERO)
        return self._of_range(x, step, way, lambda whole: whole.then(factor, _ZERO).plus(same))

    def quantized(self, x: Value, step: Tensor, zero: Tensor, low: int, high: int) -> Value:
        """Return ``x / step`` rounded, halves to even numbers, plus a whole number, limited to ``low`` to ``high``.

        Steps and what is added are broadcast.
        """
        step, zero = torch.broadcast_tensors(self._columns(step, x), self._columns(zero, x))
        if high - low > MOST_STEPS:
            raise self._too_many(high - low)
        numbers = torch.arange(low, high, dtype=torch.float64)[:, None] - zero
        found = _stairs(numbers, step, "round")
        return self._function(x, found.then(_ONE, zero))

    def _of_range(self, x: Value, step: float, way: Rounding, made: Callable[[Function], Function]) -> Value:
        """Return what is made of a value that is rounded to multiples of a number."""
        if (ends := self._range(x)) is not None:
            first, last = math.floor(ends[0] / step) - 1, math.ceil(ends[1] / step) + 1
            if last - first > MOST_STEPS + 4:
                raise self._too_many(last - first)
            numbers = torch.arange(first, last + 1, dtype=torch.float64)[:, None]
            stairs = _stairs(numbers, torch.tensor([step], dtype=torch.float64), way)
            function = made(_within(stairs, *ends))
            if len(function.points) > MOST_STEPS:
                raise self._too_many(len(function.points))
            for source, inner in list(self._functions(x))[1:]:  # one gate for what is limited and rounded
                whole = function.of(inner)
                if not inner.is_affine and whole.error == 0 and len(whole.points) <= MOST_STEPS:
                    return self._function(source, whole)
            return self._function(x, function)
        raise NotPiecewiseLinearError(
            f"expected a value that is limited before it is rounded, but {self.place} rounds any number, which has no "
            "end of steps: clamp it to the range that it has, as in torch.floor(x.clamp(-8, 8))"
        )

    def _range(self, x: Value) -> tuple[float, float] | None:
        """Return ends, rounded outwards, of what a value can be; None if it is not known to be bounded."""
        steps = [function for _, function in self._way(x)][1:]
        limits = [place for place, one in enumerate(steps) if not bool((one.slopes[[0, -1]] != 0).any())]
        if not limits:
            return None
        ends: tuple[Fraction, Fraction] | None = None
        for function in steps[limits[0] :: -1]:
            ends = _image(function, ends)
        assert ends is not None
        return float_below(ends[0]), float_above(ends[1])

    def _too_many(self, number: int) -> NotPiecewiseLinearError:
        return NotPiecewiseLinearError(
            f"expected at most {MOST_STEPS} steps, but {self.place} rounds to {number + 1:,} numbers: clamp to a "
            "smaller range, or load the model before it was quantised"
        )


def _image(function: Function, ends: tuple[Fraction, Fraction] | None) -> tuple[Fraction, Fraction]:
    """Return the least and the largest value of all columns of a function on an interval, or everywhere."""
    values: list[Fraction] = []
    for points, slopes, intercepts in zip(*(table.T.tolist() for table in _tables(function)), strict=True):
        bounds = [-math.inf, *points, math.inf]
        for low, high, slope, intercept in zip(bounds[:-1], bounds[1:], slopes, intercepts, strict=True):
            start, stop = (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))
            # Without ends the first and the last piece are constant, and infinite breakpoints have nothing behind.
            at = [Fraction(0)] if slope == 0 else [Fraction(one) for one in (start, stop)]
            if start <= stop and start < math.inf:
                values += [Fraction(slope) * one + Fraction(intercept) for one in at]
    return min(values), max(values)


def _tables(function: Function) -> list[torch.Tensor]:
    width = function.slopes.shape[1]
    return [table.expand(-1, width) for table in (function.points, function.slopes, function.intercepts)]


def _within(stairs: Function, low: float, high: float) -> Function:
    """Return stairs without the steps that no value of a range reaches."""
    reached = ((stairs.points >= low) & (stairs.points <= high)).all(dim=1)
    before = int((stairs.points < low).all(dim=1).sum())
    above = stairs.intercepts[1:][reached]
    return replace(
        stairs,
        points=stairs.points[reached],
        is_closed=stairs.is_closed[reached],
        slopes=stairs.slopes[: len(above) + 1],
        intercepts=torch.cat([stairs.intercepts[before : before + 1], above]),
    )


def _stairs(numbers: Tensor, step: Tensor, way: Rounding) -> Function:
    """Return ``z / step`` rounded, between the first and the last of some whole numbers (p, c)."""
    rises = numbers > 0 if way == "trunc" else torch.full_like(numbers, way == "floor", dtype=torch.bool)
    if way == "trunc":
        keeps = (numbers != 0).all(dim=1)
        numbers, rises = numbers[keeps], rises[keeps]
    places = numbers + 0.5 if way == "round" else numbers
    # Where a step is at a whole number, that number is on its upper side if steps rise at it; halves go to even ones.
    is_closed = numbers % 2 == 1 if way == "round" else rises
    above = torch.where(rises, numbers, numbers + 1.0)
    points, lost = two_product(*torch.broadcast_tensors(places, step))
    if bool(lost.any()):
        raise NotPiecewiseLinearError(
            f"expected steps that float64 holds, but multiples of {float(step.flatten()[0])!r} are rounded: divide by "
            "a number of fewer digits, such as one in float32"
        )
    tables = (points, is_closed.expand_as(points), torch.zeros(len(points) + 1, points.shape[1], dtype=torch.float64))
    return Function(*tables, torch.cat([above[:1] - 1.0, above]).expand(-1, points.shape[1]))
