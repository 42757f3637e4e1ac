"""How large a ball among half-spaces can be at most: what multipliers prove, with all rounding.

For y >= 0 every ball of radius r around ``c + v`` in ``{x : t_i x <= o_i}``, rows of length 1, has

    r sum y_i <= sum y_i (o_i - t_i c) - (sum y_i t_i) v.

Rounding leaves something of the last sum, which counts times the length of v. Rows that span all directions, with
weights that nearly cancel, bound that: ``sum y_i |t_i v|`` is at most twice ``sum y_i (o_i - t_i c)``, but for
rounding, and at least the least weight times the least singular value times ``|v|``.
"""

from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.numbers.resolutions import MULTIPLIERS, OUTWARD
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.programs.checked_bounds import UNDERFLOW
from reluscope.geometry.programs.proved_programs import ProvedSystem, nearest
from reluscope.tolerance import EPSILON


def radius_bound(
    A: Float[np.ndarray, "h n"],
    b: Float[np.ndarray, " h"],
    center: Float[np.ndarray, " n"],
    multipliers: Float[np.ndarray, " h"],
) -> float:
    """Return a number that no radius of a ball among half-spaces exceeds; infinite if nothing is proved.

    Rows must not be zero. Any center and multipliers (of rows in units of their lengths) are valid; those of the
    largest ball and of its program give the best bound.
    """
    normals, offsets, _ = unit_rows(A, b)
    weights = np.nan_to_num(multipliers, nan=0.0, posinf=0.0, neginf=0.0)
    used = weights > MULTIPLIERS * weights.max(initial=0.0)
    if not used.any():
        return np.inf
    dim, size = normals.shape[1], int(used.sum())
    rows, weights = normals[used], weights[used] / weights[used].sum()
    # A row of length 1 is not the one in floats, its slack is rounded, and so are sums.
    turned = (dim + 8) * EPSILON
    doubt = 2 * (dim + 8) * EPSILON * (np.abs(offsets) + np.linalg.norm(center))
    slack = offsets - normals @ center + doubt
    raw = offsets[used] - rows @ center
    room = float(weights @ raw + weights @ doubt[used] + (size + 4) * EPSILON * (weights @ np.abs(raw)))
    rest = float(np.linalg.norm(rows.T @ weights)) + (turned + (size + 4) * EPSILON) * float(weights.sum())
    # In an empty polyhedron "balls" of this negative radius reach as far as rows that are moved by as much.
    outwards = max(0.0, -float(slack.min()))
    far = min(
        _reach_of_bounds(normals, offsets + outwards, center), _reach(rows, weights, slack[used] + outwards, rest)
    )
    if np.isfinite(far):
        bound = (room + rest * far) / float(weights.sum())
        return bound + 8 * (size + 4) * EPSILON * (abs(bound) + rest * far) + UNDERFLOW
    return _in_fractions(A[used], b[used], weights)


def _reach_of_bounds(normals: np.ndarray, offsets: np.ndarray, center: np.ndarray) -> float:
    """Return how far from a point rows along axes let others be."""
    bounds = read_bounds(normals, offsets)
    with np.errstate(over="ignore"):
        far = np.linalg.norm(np.maximum(bounds.upper - center, center - bounds.lower))
    return float(far) * OUTWARD if np.isfinite(far) else np.inf


def _reach(rows: np.ndarray, weights: np.ndarray, slack: np.ndarray, rest: float) -> float:
    """Return how far from a point rows that span all directions let others be, infinite if they do not."""
    if len(rows) <= rows.shape[1]:
        return np.inf
    singular = np.linalg.svd(rows, compute_uv=False)
    least = float(singular[-1]) - 8 * max(rows.shape) * EPSILON * float(singular[0])
    steep = float(weights.min()) * least - rest
    return 2.0 * float(weights @ slack) * OUTWARD / steep if steep > 1e-3 * float(weights.min()) * least else np.inf


def _in_fractions(A: np.ndarray, b: np.ndarray, weights: np.ndarray) -> float:
    """Return the bound of weights that are changed to cancel exactly: it does not depend on how far points are away."""
    dim = A.shape[1]
    found = ProvedSystem(A, b, np.zeros((0, dim)), np.zeros(0)).multipliers([Fraction(0)] * dim, weights)
    if found is None or not any(found[0]):
        return np.inf
    exact, used, _ = found
    total = sum((weight * Fraction(float(b[row])) for weight, row in zip(exact, used, strict=True)), Fraction(0))
    scales = np.abs(A).max(axis=1)
    lengths = [Fraction(float(scales[row])) * Fraction(float(np.linalg.norm(A[row] / scales[row]))) for row in used]
    # Lengths in floats are those in truth but for rounding.
    share = 1 - Fraction((dim + 4) * EPSILON) if total > 0 else 1 + Fraction((dim + 4) * EPSILON)
    bound = total / (share * sum((w * length for w, length in zip(exact, lengths, strict=True)), Fraction(0)))
    return float(np.nextafter(nearest(bound), np.inf))
