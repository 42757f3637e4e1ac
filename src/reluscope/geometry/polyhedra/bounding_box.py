"""A box around a polyhedron, proved: by multipliers of linear programs, or in rational arithmetic."""

from fractions import Fraction
from math import inf, nextafter

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_cell import rows_of
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.rational_program import deepest, highest, value_at


def bounding_box(polyhedron: Polyhedron) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]] | None:
    """Return the lower and upper ends of a box around a polyhedron, None if it is unbounded.

    The least box, but for rounding. The lower end is above the upper one if the polyhedron is empty. Two linear
    programs per coordinate.
    """
    rough = read_bounds(polyhedron.A, polyhedron.b)
    if np.isfinite(rough.lower).all() and np.isfinite(rough.upper).all():
        # Ends are quotients: rounded, but for those by powers of two.
        along = np.abs(polyhedron.A[np.count_nonzero(polyhedron.A, axis=1) == 1])
        is_exact = ((along == 0) | (np.frexp(along)[0] == 0.5)).all(axis=0)
        lower = np.where(is_exact, rough.lower, np.nextafter(rough.lower, -inf))
        upper = np.where(is_exact, rough.upper, np.nextafter(rough.upper, inf))
        return _by_multipliers(polyhedron, rough.rows, lower, upper)
    return _by_proofs(polyhedron)


def _by_multipliers(
    polyhedron: Polyhedron, kept: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.abs(polyhedron.A[kept]).max(axis=1, initial=0.0)
    rows, offsets = polyhedron.A[kept], polyhedron.b[kept]
    rows, values = np.concatenate([rows, polyhedron.C]), np.concatenate([offsets, polyhedron.d])
    low = np.concatenate([np.full(len(kept), -inf), polyhedron.d])
    if not len(rows) or (lower > upper).any():
        return lower, upper
    scale = np.concatenate([lengths, np.abs(polyhedron.C).max(axis=1, initial=0.0)])
    scale[scale == 0] = 1.0
    # Multiples by powers of two are the same rows.
    scale = 2.0 ** -np.clip(np.frexp(scale)[1], -1000, 1000).astype(float)
    rows, values, low = rows * scale[:, None], values * scale, low * scale
    program = LinearProgram(polyhedron.dim)
    program.set_all_bounds(lower, upper)
    program.add_rows(rows, values, low)
    found = [lower.copy(), upper.copy()]
    for axis in range(polyhedron.dim):
        for end, sign in zip(found, (-1.0, 1.0), strict=True):
            gain = sign * np.eye(1, polyhedron.dim, axis)[0]
            duals = program.maximize(gain).duals
            most = upper_bound(gain, rows, low, values, lower, upper, duals)
            end[axis] = min(most, upper[axis]) if sign > 0 else max(-most, lower[axis])
    return found[0], found[1]


def _by_proofs(polyhedron: Polyhedron) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the ends that programs of their own prove; where one is not, all are found in fractions."""
    system = polyhedron.system
    found = np.empty((2, polyhedron.dim))
    for end, sign in zip(found, (-1, 1), strict=True):
        for axis in range(polyhedron.dim):
            gain = [Fraction(0)] * polyhedron.dim
            gain[axis] = Fraction(sign)
            proved = system.maximum(gain)
            if proved is None:
                return _in_fractions(polyhedron)
            if proved.status is ProgramStatus.INFEASIBLE:
                return _nothing(polyhedron.dim)
            if proved.value is None:
                return None
            end[axis] = _outwards(sign * proved.value, sign * inf)
    return found[0], found[1]


def _in_fractions(polyhedron: Polyhedron) -> tuple[np.ndarray, np.ndarray] | None:
    rows = rows_of(polyhedron)
    start, depth = deepest(rows, polyhedron.dim)
    if depth < 0:
        return _nothing(polyhedron.dim)
    ends = []
    for sign in (-1, 1):
        for axis in range(polyhedron.dim):
            found = highest({axis: sign}, rows, start)
            if not found.is_bounded:
                return None
            ends.append(_outwards(value_at({axis: 1}, found.point), sign * inf))
    lower, upper = np.split(np.array(ends), 2)
    return lower, upper


def _nothing(dim: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(dim, inf), np.full(dim, -inf)


def _outwards(value: Fraction, way: float) -> float:
    """Return the nearest float on one side of a number."""
    near = float(value)
    return near if Fraction(near) == value else nextafter(near, way)
