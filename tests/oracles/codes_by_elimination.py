"""All codes of a tiny ReLU network on an open polyhedron, by eliminating variables in fractions (Fourier and Motzkin).

Slow, simple, any dimension, bounded or not: a set of strict inequalities has a point iff it has one without a variable,
with every lower bound of that variable below every upper one.
"""

from fractions import Fraction
from typing import Any

Row = tuple[Fraction, ...]  # ``(a, c)`` for a . x + c > 0


def codes_by_elimination(parameters: Any, sides: Any) -> set[tuple]:
    """Return the codes of full-dimensional regions in a polyhedron ``a . x + c >= 0`` of rows ``(a, c)``."""
    size = len(parameters[0][0][0])
    start = [tuple(Fraction(int(axis == other)) for other in range(size + 1)) for axis in range(size)]
    return set(_codes(parameters, 0, start, (), [_exact(side) for side in sides]))


def has_point(rows: list[Row]) -> bool:
    """Whether all rows can be above 0 at once."""
    rows = list({tuple(entry / max(map(abs, row)) for entry in row) if any(row) else row for row in rows})
    if not rows or len(rows[0]) == 1:
        return all(row[0] > 0 for row in rows)
    above, below = ([row for row in rows if sign * row[0] > 0] for sign in (1, -1))
    rest = [row[1:] for row in rows if row[0] == 0]
    return has_point(rest + [_sum(-low[0], high[1:], high[0], low[1:]) for high in above for low in below])


def _codes(parameters: Any, layer: int, values: list[Row], code: tuple, rows: list[Row]) -> Any:
    if not has_point(rows):
        return
    if layer == len(parameters) - 1:
        yield code
        return
    weight, bias = parameters[layer]
    seen = [_affine(row, shift, values) for row, shift in zip(weight, bias, strict=True)]
    yield from _units(parameters, layer, seen, [], code, rows)


def _units(parameters: Any, layer: int, seen: list[Row], after: list[Row], code: tuple, rows: list[Row]) -> Any:
    if len(after) == len(seen):
        yield from _codes(parameters, layer + 1, after, code, rows)
        return
    value = seen[len(after)]
    for active in (0, 1):
        signed = value if active else tuple(-entry for entry in value)
        is_constant = not any(value[:-1])
        if is_constant and active != (value[-1] > 0):
            continue
        more = rows if is_constant else [*rows, signed]
        if has_point(more):
            kept = value if active else tuple(0 * entry for entry in value)
            yield from _units(parameters, layer, seen, [*after, kept], (*code, active), more)


def _affine(row: Any, shift: Any, values: list[Row]) -> Row:
    total = [Fraction(0)] * (len(values[0]) - 1) + [Fraction(float(shift))]
    for weight, value in zip(row, values, strict=True):
        total = [one + Fraction(float(weight)) * other for one, other in zip(total, value, strict=True)]
    return tuple(total)


def _sum(a: Fraction, one: Row, b: Fraction, other: Row) -> Row:
    return tuple(a * x + b * y for x, y in zip(one, other, strict=True))


def _exact(side: Any) -> Row:
    return tuple(Fraction(float(entry)) for entry in side)
