"""A point in the relative interior of a polyhedron, flat ones included: which inequalities are equations in truth.

While the largest ball within the solutions of the equations has radius 0, the multipliers of its linear program name
inequalities that no point satisfies strictly (Farkas): these join the equations, and the dimension falls. Where floats
prove neither, small polyhedra are decided in fractions.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.errors import SolverError
from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.numbers.resolutions import FACETS, SUMS
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.rational_cell import rows_of
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.proved_programs import MAX_DIMENSIONS, MAX_NUMBERS, nearest
from reluscope.geometry.programs.rational_program import deepest, highest, value_at, whole_form

# Multipliers above this, of a sum of 1, are not zero.
PULLS = 1e-7
# Singular values of rows of length 1 below this share of the largest count as zero.
DEPENDENT = 1e-9
# Points that multipliers speak for, in units of the largest radius looked for.
NEAR = 1e3


class RelativeInterior(NamedTuple):
    """A point in the relative interior of a polyhedron, with the dimension and a ball around the point."""

    point: Float[np.ndarray, " n"]
    dim: int  # dimension of the affine hull
    radius: float  # of the ball in the affine hull, at most cap; 0 at a point
    polyhedron: Polyhedron  # same set, with all implied equations added


def relative_interior(
    polyhedron: Polyhedron, *, tolerance: float = FACETS, cap: float = 1.0
) -> RelativeInterior | None:
    """Return a point in the relative interior of a polyhedron and its dimension, None if it is empty.

    Extents below the tolerance count as flat, smaller contradictions as none. One linear program, and one for each drop
    of the dimension, proved by multipliers for points within a thousand times the cap.
    """
    if (polyhedron.b[~polyhedron.A.any(axis=1)] < -tolerance).any():
        return None
    rows, offsets, kept = unit_rows(polyhedron.A, polyhedron.b)
    equations, values, own = unit_rows(polyhedron.C, polyhedron.d)
    if (np.abs(np.delete(polyhedron.d, own)) > tolerance).any():
        return None
    taken = np.zeros(len(rows), dtype=bool)
    while True:
        space = _solutions(
            np.concatenate([equations, rows[taken]]), np.concatenate([values, offsets[taken]]), tolerance
        )
        if space is None:
            return None
        origin, basis = space
        inner = rows @ basis.T
        lengths, slack = np.linalg.norm(inner, axis=1), offsets - rows @ origin
        still = (lengths <= DEPENDENT) | taken
        if (slack[still & ~taken] < -tolerance).any():
            return None
        moving = np.flatnonzero(~still)
        result = Polyhedron(
            polyhedron.A,
            polyhedron.b,
            np.concatenate([polyhedron.C, polyhedron.A[kept[taken]]]),
            np.concatenate([polyhedron.d, polyhedron.b[kept[taken]]]),
        )
        if not len(basis):
            return RelativeInterior(origin, 0, 0.0, result)
        program = LinearProgram(len(basis) + 1)
        program.set_bounds(len(basis), -np.inf, cap)
        table = np.column_stack([inner[moving], lengths[moving]])
        try:
            program.add_rows(table, slack[moving])
        except SolverError as error:
            return _in_fractions(polyhedron, cap, error)
        gain = np.append(np.zeros(len(basis)), 1.0)
        try:
            found = program.maximize(gain)
        except SolverError as error:
            return _in_fractions(polyhedron, cap, error)
        if found.status is not ProgramStatus.OPTIMAL:
            return _in_fractions(polyhedron, cap, _unproved(polyhedron))
        # The ball is what its point says, and multipliers say that there is no larger one.
        step = found.point[:-1]
        radius = float(min(cap, np.min((slack[moving] - inner[moving] @ step) / lengths[moving], initial=cap)))
        if radius > tolerance:
            return RelativeInterior(origin + step @ basis, len(basis), radius, result)
        far = NEAR * max(cap, float(np.abs(step).max()))
        ends = np.append(np.full(len(basis), far), cap), np.append(np.full(len(basis), -far), -far)
        duals = found.duals if len(found.duals) else np.zeros(len(moving))
        most = upper_bound(gain, table, np.full(len(moving), -np.inf), slack[moving], ends[1], ends[0], duals)
        if radius < -tolerance and most < 0:
            return None
        if radius < -tolerance or most > 4 * tolerance + SUMS * cap:
            return _in_fractions(polyhedron, cap, _unproved(polyhedron))
        pulls = found.duals * lengths[moving]
        tight = pulls > PULLS
        taken[moving[tight if tight.any() else pulls == pulls.max()]] = True


def _in_fractions(polyhedron: Polyhedron, cap: float, otherwise: SolverError) -> RelativeInterior | None:
    """Return what `relative_interior` does, of few rows and without a tolerance; raise an error of larger ones."""
    dim, number = polyhedron.dim, len(polyhedron.b)
    if dim > MAX_DIMENSIONS or (number + 2 * len(polyhedron.d)) * dim > MAX_NUMBERS:
        raise otherwise
    forms = rows_of(polyhedron)
    start, depth = deepest(forms, dim)
    if depth < 0:
        return None
    # The mean of points at which every row is positive that is positive anywhere.
    points, still = [start], [row for row in range(number) if polyhedron.A[row].any()]
    while still := [row for row in still if value_at(forms[row], points[-1]) == 0]:
        sides = zip(*(polyhedron.side(row) for row in still), strict=True)
        total = whole_form([sum(column, Fraction(0)) for column in sides])
        points.append(highest(total, forms, start, is_sign_enough=True).point)
        if not value_at(total, points[-1]) > 0:
            break
    center = [sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True)]
    equations = [[*map(Fraction, row), Fraction(0)] for row in polyhedron.C.tolist()]
    rank = len(reduced([*equations, *([*polyhedron.side(row)[:-1], Fraction(0)] for row in still)]))
    normals = np.concatenate([polyhedron.C, polyhedron.A[still]])
    basis = np.linalg.svd(unit_rows(normals, np.zeros(len(normals)))[0])[2][rank:] if rank else np.eye(dim)
    radius = cap if rank < dim else 0.0
    for row in np.setdiff1d(np.flatnonzero(polyhedron.A.any(axis=1)), still).tolist():
        *normal, constant = polyhedron.side(row)
        slack = sum((a * x for a, x in zip(normal, center, strict=True)), constant)
        if (length := float(np.linalg.norm(basis @ [nearest(entry) for entry in normal]))) > 0:
            radius = min(radius, nearest(slack) / length)
    result = Polyhedron(
        polyhedron.A,
        polyhedron.b,
        normals,
        np.concatenate([polyhedron.d, polyhedron.b[still]]),
    )
    return RelativeInterior(np.array([nearest(entry) for entry in center]), dim - rank, radius, result)


def _unproved(polyhedron: Polyhedron) -> SolverError:
    return SolverError(
        f"expected a polyhedron that float64 can tell from a flat one, got a {polyhedron.describe()} with rows of very "
        "different size: scale inputs and domain to about 1"
    )


def _solutions(
    equations: np.ndarray, values: np.ndarray, tolerance: float
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "k n"]] | None:
    """Return the shortest solution and an orthonormal basis of the directions that are free, None without solutions."""
    if not len(equations):
        return np.zeros(equations.shape[1]), np.eye(equations.shape[1])
    left, singular, right = np.linalg.svd(equations)
    rank = int((singular > DEPENDENT * singular[0]).sum())
    origin = right[:rank].T @ ((left[:, :rank].T @ values) / singular[:rank])
    if np.abs(equations @ origin - values).max() > tolerance:
        return None
    return origin, right[rank:]
