"""Whether a linear form takes positive values inside a cell: column generation, for boxes of many dimensions.

The image Z of a box under G has few dimensions and very many corners. A cell is searched among the convex combinations
of its witness and of corners that earlier searches met: a linear program of as many columns, whatever the box. Its
multipliers are a proof if the form plus the multiplied rows is at most zero on Z; the corner where that sum is largest
costs one product with G and joins the columns. Only a sign is asked for, so few corners do (Dantzig and Wolfe's
decomposition, stopped early).
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.geometry.crossing import GOOD_SHARE, NONE, SOME, UNDECIDED
from reluscope.geometry.dual_simplex import Workspace, make_workspace
from reluscope.geometry.forms_on_boxes import add_multiple, dot, image, largest_on_box, pull_back
from reluscope.geometry.framed_cells import Frame

# Number of corners that are kept.
NUM_CORNERS = 48
# After this many new corners for one question an exact method is called.
MAX_CORNERS = 40


class Corners(NamedTuple):
    """Corners of the box that searches have met, and the program that is made of them.

    Parameters
    ----------
    tally : (2,) int64
        Corners known, and corners met.
    y, z : (c, n) and (c, k) float64
    table : (rows + 2, columns) float64
        The dictionary; its last row is the objective.
    level : (rows + 2,) float64
        Values of the basic variables, and of the objective.
    row_variables, column_variables : int64 arrays
        Slacks, the witness's weight, and the corners' weights, in this order.
    """

    tally: np.ndarray
    y: np.ndarray
    z: np.ndarray
    table: np.ndarray
    level: np.ndarray
    row_variables: np.ndarray
    column_variables: np.ndarray


class Scratch:
    """Workspace and corners that all searches of one frame share, one after the other.

    Parameters
    ----------
    frame : Frame
    """

    def __init__(self, frame: Frame) -> None:
        self.num_columns = len(frame.lower)
        self.size = len(frame.generators) or self.num_columns
        self.num_rows = -1
        self.work: Workspace
        self.corners: Corners
        self._count = np.zeros(2, dtype=np.int64)
        kept = NUM_CORNERS if len(frame.generators) else 0
        self._y, self._z = np.zeros((kept, self.num_columns)), np.zeros((kept, self.size))

    def reserve(self, num_rows: int) -> None:
        """Make room for cells of this many rows."""
        if num_rows <= self.num_rows:
            return
        self.num_rows = max(num_rows, 2 * self.num_rows)
        self.work = make_workspace(self.num_columns, self.size, self.num_rows)
        self.corners = Corners(
            self._count,
            self._y,
            self._z,
            np.zeros((self.num_rows + 2, len(self._y))),
            np.zeros(self.num_rows + 2),
            np.zeros(self.num_rows + 2, dtype=np.int64),
            np.zeros(len(self._y), dtype=np.int64),
        )


@njit(cache=True, error_model="numpy")
def find_among_corners(form, sides, frame, work, corners, at_y, at_z) -> tuple[int, int]:
    """Answer as `find_positive` does, and UNDECIDED as soon as corners do not lead further.

    Parameters
    ----------
    form, sides, frame, work, at_y, at_z
        See `find_positive`.
    corners : Corners

    Returns
    -------
    answer, steps : int
        As of `find_positive`; a step is a new corner.
    """
    coefficients, threshold = form.coefficients, form.threshold
    rows, noise, num_rows = sides.rows, sides.noise, sides.number
    start = dot(coefficients, at_z)
    least = max(threshold, 2.0 * form.noise)
    _set_up(coefficients, rows, num_rows, corners, at_z, start)
    for step in range(MAX_CORNERS):
        value = _improve(num_rows, corners)
        if value > least and value >= GOOD_SHARE * (value - start):
            _combine(num_rows, frame, work, corners, at_y)
            # What the dictionary says is checked: the point itself must be inside.
            if dot(coefficients, work.out_z) > least and _is_inside(rows, noise, num_rows, work.out_z):
                return SOME, step
            return UNDECIDED, step
        bound, error = _bound(form, sides, frame, work, corners)
        if bound + error <= 0.0:
            return NONE, step
        if bound - value <= 1e-9 * (abs(bound) + abs(start)) or bound <= max(threshold, 1e-9 * abs(start)):
            return UNDECIDED, step
        if not _add_corner(coefficients, rows, num_rows, frame, work, corners, at_z, start):
            return UNDECIDED, step
    return UNDECIDED, MAX_CORNERS


@njit(cache=True)
def _is_inside(rows, noise, num_rows, z) -> bool:
    worst = 0.0
    for i in range(num_rows):
        worst = min(worst, dot(rows[i], z) + 2.0 * noise[i])
    return worst >= 0.0


@njit(cache=True)
def _set_up(form, rows, num_rows, corners, at_z, start):
    """Write the dictionary in which the witness has all the weight."""
    table, level = corners.table, corners.level
    for i in range(num_rows):
        level[i] = dot(rows[i], at_z)
        corners.row_variables[i] = i
    level[num_rows] = 1.0
    corners.row_variables[num_rows] = num_rows
    level[num_rows + 1] = start
    for c in range(corners.tally[0]):
        corners.column_variables[c] = num_rows + 1 + c
        for i in range(num_rows):
            table[i, c] = dot(rows[i], corners.z[c]) - level[i]
        table[num_rows, c] = -1.0
        table[num_rows + 1, c] = dot(form, corners.z[c]) - start


@njit(cache=True, error_model="numpy")
def _improve(num_rows, corners) -> float:
    """Run the primal simplex method on the columns at hand and return the objective."""
    table, level = corners.table, corners.level
    last, num_columns = num_rows + 1, corners.tally[0]
    for _ in range(20 + 4 * num_rows):
        entering, best = -1, 1e-11
        for c in range(num_columns):
            if table[last, c] > best:
                best, entering = table[last, c], c
        if entering < 0:
            break
        leaving, ratio, size = -1, np.inf, 0.0
        for r in range(last):
            entry = -table[r, entering]
            if entry > 1e-11:
                step = max(level[r], 0.0) / entry
                if step < ratio or (step == ratio and entry > size):
                    ratio, leaving, size = step, r, entry
        if leaving < 0:
            break
        inverse = 1.0 / table[leaving, entering]
        for c in range(num_columns):
            table[leaving, c] *= -inverse
        table[leaving, entering] = inverse
        level[leaving] = ratio
        for r in range(last + 1):
            if r == leaving:
                continue
            factor = table[r, entering]
            if factor != 0.0:
                level[r] += factor * ratio
                table[r, entering] = 0.0
                for c in range(num_columns):
                    table[r, c] += factor * table[leaving, c]
        corners.row_variables[leaving], corners.column_variables[entering] = (
            corners.column_variables[entering],
            corners.row_variables[leaving],
        )
    return level[last]


@njit(cache=True)
def _bound(form, sides, frame, work, corners) -> tuple[float, float]:
    """Return the largest value on the box of the form plus the multiplied rows, and the error of that sum."""
    rows, noise, num_rows = sides.rows, sides.noise, sides.number
    total, error = work.form, form.noise
    total[:] = form.coefficients
    work.multipliers[:num_rows] = 0.0
    for c in range(corners.tally[0]):
        i = corners.column_variables[c]
        if i < num_rows and corners.table[num_rows + 1, c] < 0.0:
            factor = -corners.table[num_rows + 1, c]
            work.multipliers[i] = factor
            add_multiple(total, factor, rows[i])
            error += factor * noise[i]
    pull_back(total, frame.generators, work.full)
    return largest_on_box(work.full, frame.lower, frame.upper), error


@njit(cache=True)
def _add_corner(form, rows, num_rows, frame, work, corners, at_z, start) -> bool:
    """Let the corner where ``work.full`` is largest join in place of the oldest one without weight, if there is one."""
    slot = _free_slot(num_rows, corners)
    if slot < 0:
        return False
    y, z = corners.y[slot], corners.z[slot]
    for j in range(y.shape[0]):
        y[j] = frame.upper[j] if work.full[j] > 0.0 else frame.lower[j]
    image(frame.generators, y, z)
    last, table = num_rows + 1, corners.table
    column = -1
    for c in range(corners.tally[0]):
        if corners.column_variables[c] == num_rows + 1 + slot:
            column = c
    if column < 0:
        column = corners.tally[0]
        corners.tally[0] += 1
        corners.column_variables[column] = num_rows + 1 + slot
    for r in range(last + 1):
        table[r, column] = 0.0
    table[last, column] = dot(form, z) - start
    # A new weight acts like a change of the constants of the rows, and of the sum of weights.
    for r in range(last):
        variable = corners.row_variables[r]
        if variable < num_rows:
            table[r, column] += dot(rows[variable], z) - dot(rows[variable], at_z)
        elif variable == num_rows:
            table[r, column] -= 1.0
    for c in range(corners.tally[0]):
        variable = corners.column_variables[c]
        if c == column or variable > num_rows:
            continue
        change = -1.0 if variable == num_rows else dot(rows[variable], z) - dot(rows[variable], at_z)
        for r in range(last + 1):
            table[r, column] -= change * table[r, c]
    return True


@njit(cache=True)
def _free_slot(num_rows, corners) -> int:
    capacity = corners.y.shape[0]
    if corners.tally[0] < capacity and corners.tally[1] < capacity:
        slot = corners.tally[1]
        corners.tally[1] += 1
        return slot
    for _ in range(capacity):
        slot = corners.tally[1] % capacity
        corners.tally[1] += 1
        is_used = False
        for r in range(num_rows + 1):
            is_used = is_used or corners.row_variables[r] == num_rows + 1 + slot
        if not is_used:
            return slot
    return -1


@njit(cache=True)
def _combine(num_rows, frame, work, corners, at_y):
    """Write the point that the weights describe."""
    work.out_y[:] = 0.0
    total = 0.0
    for r in range(num_rows + 1):
        variable, weight = corners.row_variables[r], corners.level[r]
        if variable > num_rows and weight > 0.0:
            add_multiple(work.out_y, weight, corners.y[variable - num_rows - 1])
            total += weight
    add_multiple(work.out_y, 1.0 - total, at_y)
    for j in range(work.out_y.shape[0]):
        work.out_y[j] = min(max(work.out_y[j], frame.lower[j]), frame.upper[j])
    image(frame.generators, work.out_y, work.out_z)
