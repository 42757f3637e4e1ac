"""Layers of the oracle, and their forms on a cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Form = tuple[Fraction, ...]


@dataclass(frozen=True)
class Dense:
    """``y = W x + b``."""

    weight: tuple[Form, ...]
    bias: Form


@dataclass(frozen=True)
class TruePointwise:
    """One piecewise-linear function per unit: breakpoints, and (slope, intercept) of each piece."""

    breakpoints: tuple[Form, ...]
    pieces: tuple[tuple[tuple[Fraction, Fraction], ...], ...]


@dataclass(frozen=True)
class TrueLargest:
    """The largest of some entries, per unit; None is padding, which has a number but never wins."""

    groups: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True)
class TrueTop:
    """What is among the k largest of a row of neighbouring entries stays, piece 1; the rest is 0, piece 0."""

    rows: int
    k: int


Layer = Dense | TruePointwise | TrueLargest | TrueTop


def _decisions(layer: Layer, values: tuple[Form, ...]) -> tuple[tuple[Form | None, ...], ...]:
    if isinstance(layer, TruePointwise):
        return tuple(
            tuple((*form[:-1], form[-1] - level) for level in levels)
            for form, levels in zip(values, layer.breakpoints, strict=True)
        )
    if isinstance(layer, TrueTop):
        size = len(values) // layer.rows
        rows = [values[start : start + size] for start in range(0, len(values), size)]
        return tuple(tuple(difference(form, other) for other in row) for row in rows for form in row)
    if isinstance(layer, TrueLargest):
        return tuple(tuple(None if i is None else values[i] for i in group) for group in layer.groups)
    return ()


def combine(weights: Sequence[Fraction], forms: Sequence[Form], constant: Fraction) -> Form:
    """Return ``sum_i weights_i forms_i + constant``."""
    total = [Fraction(0)] * len(forms[0])
    for weight, form in zip(weights, forms, strict=True):
        if weight:
            total = [a + weight * b for a, b in zip(total, form, strict=True)]
    total[-1] += constant
    return tuple(total)


def difference(first: Form, second: Form) -> Form:
    """Return ``first - second``."""
    return tuple(a - b for a, b in zip(first, second, strict=True))
