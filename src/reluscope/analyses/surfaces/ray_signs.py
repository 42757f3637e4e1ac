"""On which side of lines other lines pass, exactly: a ray that goes through an edge goes through one of its triangles.

The line ``o + t d`` passes the line through a and b on the side of the sign of ``d . ((a - o) x (b - o))``. Where that
is zero the ray is moved, in mind, by (e, e^2, e^3) with an e that is smaller than anything: the sign is then that of
the first component of ``d x (b - a)`` that is not zero. Moved so, a ray goes through no edge and no vertex.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF

# Of some sums of products of three differences, as a share of the sum of their sizes.
ROUNDED = 32 * UNIT_ROUNDOFF
# Products below may have lost digits where numbers are smallest.
TINY = 1e-280


def signs_beside(
    origins: Float[np.ndarray, "c 3"],
    directions: Float[np.ndarray, "c 3"],
    tails: Float[np.ndarray, "c 3"],
    heads: Float[np.ndarray, "c 3"],
) -> Int[np.ndarray, " c"]:
    """Return the side, 1 or -1, on which lines pass edges, or 0 of edges that are parallel to their line."""
    one, two = tails - origins, heads - origins
    values = (directions * np.cross(one, two)).sum(axis=1)
    sizes = np.abs(one[:, [1, 2, 0]] * two[:, [2, 0, 1]]) + np.abs(one[:, [2, 0, 1]] * two[:, [1, 2, 0]])
    errors = ROUNDED * (np.abs(directions) * sizes).sum(axis=1) + TINY
    found = np.sign(values).astype(np.int64)
    for row in np.flatnonzero(~(np.abs(values) > errors)):
        found[row] = _exact_side(*(_fractions(part[row]) for part in (origins, directions, tails, heads)))
    return found


def parameters_at(
    origins: Float[np.ndarray, "c 3"], directions: Float[np.ndarray, "c 3"], corners: Float[np.ndarray, "c 3 3"]
) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
    """Return where lines meet the planes of triangles, as t, and how far it may be off.

    No plane may be parallel to its line. In fractions where rounding could hide the sign, or more than four digits.
    """
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    away = corners[:, 0] - origins
    normals = np.cross(one, two)
    sizes = np.abs(one[:, [1, 2, 0]] * two[:, [2, 0, 1]]) + np.abs(one[:, [2, 0, 1]] * two[:, [1, 2, 0]])
    tops, bottoms = (normals * away).sum(axis=1), (normals * directions).sum(axis=1)
    off = [ROUNDED * (sizes * np.abs(part)).sum(axis=1) + TINY for part in (away, directions)]
    is_sure = (np.abs(tops) > 1e4 * off[0]) & (np.abs(bottoms) > 1e4 * off[1])
    found = np.where(is_sure, tops / np.where(is_sure, bottoms, 1.0), 0.0)
    shares = [part / np.where(is_sure, np.abs(value), 1.0) for part, value in zip(off, (tops, bottoms), strict=True)]
    errors = np.abs(found) * 1.001 * (shares[0] + shares[1])
    for row in np.flatnonzero(~is_sure):
        top, bottom = _exact_plane(_fractions(origins[row]), _fractions(directions[row]), corners[row])
        found[row] = float(top / bottom)
        errors[row] = np.spacing(abs(found[row])) if top else 0.0
    return found, errors


def _fractions(point: np.ndarray) -> list[Fraction]:
    return [Fraction(entry) for entry in point.tolist()]


def _less(one: Sequence[Fraction], two: Sequence[Fraction]) -> list[Fraction]:
    return [a - b for a, b in zip(one, two, strict=True)]


def _cross(one: Sequence[Fraction], two: Sequence[Fraction]) -> list[Fraction]:
    return [one[i] * two[j] - one[j] * two[i] for i, j in ((1, 2), (2, 0), (0, 1))]


def _dot(one: Sequence[Fraction], two: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0))


def _exact_side(origin: list[Fraction], direction: list[Fraction], tail: list[Fraction], head: list[Fraction]) -> int:
    value = _dot(direction, _cross(_less(tail, origin), _less(head, origin)))
    moved = [value, *_cross(direction, _less(head, tail))]
    first = next((entry for entry in moved if entry), Fraction(0))
    return (first > 0) - (first < 0)


def _exact_plane(origin: list[Fraction], direction: list[Fraction], corners: np.ndarray) -> tuple[Fraction, Fraction]:
    first, one, two = (_fractions(corner) for corner in corners)
    normal = _cross(_less(one, first), _less(two, first))
    return _dot(normal, _less(first, origin)), _dot(normal, direction)
