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
    """Look for a point of a cell where a linear form is clearly positive, or for a proof that there is none.

    Parameters
    ----------
    form : LinearForm
    sides : Sides
        The cell's rows.
    scratch : Scratch
        Of the cell's frame.
    at_y, at_z : (n,) and (k,) float64
        A strictly interior point of the cell.

    Returns
    -------
    answer : int
        SOME: ``scratch.out_y`` is a point of the box, and of the cell up to rounding, where the form is above the
        threshold and twice its noise, ``scratch.out_z`` its image. NONE: with ``scratch.multipliers``, none of them
        negative, the form is at most zero on the cell, up to rounding, and on a cone up to its resolution; on a line
        without either. UNDECIDED: neither.
    steps : int
        Pivots.
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
    """Find a strictly interior point of a cell where a form is positive, between a witness and a point of the cell.

    Parameters
    ----------
    form, sides, scratch, at_y, at_z
        See `find_positive`.
    to_y : (n,) float64
        A point where the form is positive.
    least : float
        The form is positive from this share of the way on.

    Returns
    -------
    (n,) and (k,) float64, or None
        A point y where all rows and the form exceed their rounding, and its image z; None if rounding leaves none.
    """
    return scratch.room.inner_point(*form, *sides, at_y, at_z, to_y, least)
