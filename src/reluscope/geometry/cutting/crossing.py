"""Whether a linear form takes positive values inside a cell: a bounded dual simplex method that stops at the sign.

A cell is the set of ``z = G y`` with y in a box and ``R z >= 0`` (`framed_cells`). Few rows and many bounded columns
are the usual case: a dictionary is kept for the columns that rows have bound so far; rows join it when they are
violated. Steps pass over bounds of columns as long as the dual objective falls (the bound flipping ratio test).

Neither answer rests on the arithmetic of the method: SOME is shown by a point of the cell, NONE by multipliers. Both
are checked against the rows, with bounds on all rounding.
"""

import numpy as np

from reluscope.geometry.cutting.framed_cells import LinearForm, Sides
from reluscope.geometry.cutting.generation import Scratch

NONE, SOME, UNDECIDED = 0, 1, 2


def find_positive(
    form: LinearForm, sides: Sides, scratch: Scratch, at_y: np.ndarray, at_z: np.ndarray
) -> tuple[int, int]:
    """Return SOME, NONE or UNDECIDED, whether a linear form is clearly positive in a cell, and the pivots.

    SOME: `scratch` has the point as ``out_y``, image ``out_z``; it is in the cell up to rounding. NONE: at most zero,
    up to rounding, on cones up to the resolution; ``scratch.multipliers`` prove it except on a line.
    """
    return scratch.room.find_positive(*form, *sides, at_y, at_z)


def inner_point(
    form: LinearForm,
    sides: Sides,
    scratch: Scratch,
    at_y: np.ndarray,
    at_z: np.ndarray,
    to_y: np.ndarray,
    least: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a strictly interior point y of a cell where a form is positive, and its image z.

    It is sought from `at_y` to `to_y`; the form is positive from the share `least` of the way on. All rows and the form
    exceed their rounding at it; None if rounding leaves no such point.
    """
    return scratch.room.inner_point(*form, *sides, at_y, at_z, to_y, least)
