"""What forms of the outputs on a box say of a polyhedron: that no input of the box leads there, or which one may.

A row ``a y <= b`` is missed by all outputs whose least ``a y`` is above b. Where no row is missed alone, nonnegative
multipliers m make one row ``m A y <= m b`` of several (Farkas): what they cost each other cancels. Those of a linear
program are used; that they rule the polyhedron out is checked without it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.boxes.output_boxes import OutputBox
from reluscope.errors import SolverError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.tolerance import EPSILON


class Reach(NamedTuple):
    """How a polyhedron may be reached from a box."""

    excess: float  # lower bound on the largest miss; above 0: not reached
    point: Float[np.ndarray, " n"]  # input of the box that may reach it first
    multipliers: Float[np.ndarray, " h"]  # of rows ``A y <= b``, ``C y <= d``, ``-C y <= -d``


def reach(box: OutputBox, unsafe: Polyhedron) -> Reach:
    """Return how outputs in a polyhedron may be reached from a box.

    It solves a linear program where there are several rows and none rules the polyhedron out.
    """
    A, b = unsafe.inequalities()
    if not len(A):
        return Reach(-np.inf, box.center, np.zeros(0))
    slopes, middle, rest = box.rows(A)
    least = middle - np.abs(slopes) @ box.half - rest - b
    worst = int(least.argmax())
    found = Reach(float(least[worst]), np.where(slopes[worst] > 0, box.lower, box.upper), np.eye(len(A))[worst])
    if len(A) == 1 or least[worst] > 0:
        return found
    return _together(box, A, b) or found


def _together(box: OutputBox, A: np.ndarray, b: np.ndarray) -> Reach | None:
    """Return what the best multipliers of rows say, None if there are none."""
    forms = box.outputs
    slopes, noise, room = A @ forms.weights, A @ forms.noise, b - A @ forms.centers
    ends = np.concatenate([box.half, np.ones(noise.shape[1])])
    table = np.hstack([slopes, noise, -np.ones((len(A), 1))])
    most = 1.0 + float((np.abs(table[:, :-1]) @ ends + np.abs(room)).max())
    if not np.isfinite(most):
        return None
    program = LinearProgram(table.shape[1])
    try:
        program.set_all_bounds(np.append(-ends, -most), np.append(ends, most))
        program.add_rows(table, room)
        solution = program.maximize(np.append(np.zeros(len(ends)), -1.0))
    except SolverError:  # entries of very different size, or too large
        return None
    if solution.status is not ProgramStatus.OPTIMAL:
        return None
    multipliers = np.maximum(np.nan_to_num(solution.duals), 0.0)
    if not multipliers.any():
        return None
    multipliers = multipliers / multipliers.sum()
    row, value = multipliers @ A, float(multipliers @ b)
    slopes, middle, rest = box.rows(row[None])
    low, high = box.range(np.eye(A.shape[1]))
    # Rows that cancel leave the rounding of their sum.
    rounding = 4 * len(A) * EPSILON * (multipliers @ np.abs(A) @ np.maximum(np.abs(low), np.abs(high)))
    rounding += 4 * len(A) * EPSILON * float(multipliers @ np.abs(b))
    excess = float((middle - np.abs(slopes) @ box.half - rest)[0] - value - rounding)
    point = np.clip(box.center + solution.point[: len(box.half)], box.lower, box.upper)
    return Reach(excess, point, multipliers)
