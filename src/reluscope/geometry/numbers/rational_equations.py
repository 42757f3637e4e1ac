"""Points on the solutions of linear equations, in rational arithmetic."""

from collections.abc import Iterable, Sequence
from fractions import Fraction


def moved_onto(
    equations: Iterable[Sequence[Fraction]], point: Sequence[Fraction], free: Sequence[int]
) -> list[Fraction]:
    """Return a point moved along free axes onto equations, one after another.

    Equations are coefficients and constant of what is to vanish; those that contradict earlier ones are left out.
    """
    solved = reduced(equations, free)
    moved = list(point)
    for pivot, row in solved.items():
        others = (weight * point[axis] for axis, weight in enumerate(row[:-1]) if axis not in solved)
        moved[pivot] = -row[-1] - sum(others, Fraction(0))
    return moved


def reduced(equations: Iterable[Sequence[Fraction]], free: Sequence[int] | None = None) -> dict[int, list[Fraction]]:
    """Return equations solved for some axes, by axis: as many as the rank.

    Each has coefficients and constant, 1 at its axis and 0 at all others that are solved for. Equations that depend on
    others, or contradict, drop out.
    """
    solved: dict[int, list[Fraction]] = {}
    for equation in equations:
        row = list(equation)
        for pivot, other in solved.items():
            if factor := row[pivot]:
                row = [a - factor * b for a, b in zip(row, other, strict=True)]
        axes = range(len(row) - 1) if free is None else free
        axis = max(axes, key=lambda column: abs(row[column]), default=None)
        if axis is None or not row[axis]:
            continue
        row = [entry / row[axis] for entry in row]
        for pivot, other in solved.items():
            if factor := other[axis]:
                solved[pivot] = [a - factor * b for a, b in zip(other, row, strict=True)]
        solved[axis] = row
    return solved
