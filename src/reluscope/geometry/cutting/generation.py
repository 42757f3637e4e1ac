"""Whether a linear form takes positive values inside a cell: column generation, for boxes of many dimensions.

The image Z of a box under G has few dimensions and very many corners. A cell is searched among the convex combinations
of its witness and of corners that earlier searches met: a linear program of as many columns, whatever the box. Its
multipliers are a proof if the form plus the multiplied rows is at most zero on Z; the corner where that sum is largest
costs one product with G and joins the columns. Only a sign is asked for, so few corners do (Dantzig and Wolfe's
decomposition, stopped early).
"""

import numpy as np

from reluscope import _kernels
from reluscope.geometry.cutting.framed_cells import CellFrame, LinearForm, Sides

# Number of corners that are kept.
NUM_CORNERS = 48


class Scratch:
    """Workspace and corners that all searches of one frame share, one after the other."""

    def __init__(self, frame: CellFrame) -> None:
        self.room = _kernels.Room(*frame, NUM_CORNERS if len(frame.generators) else 0)

    @property
    def out_y(self) -> np.ndarray:
        """The point (n,) that the last answer rests on, if it was SOME."""
        return self.room.out_y

    @property
    def out_z(self) -> np.ndarray:
        """Its image (k,)."""
        return self.room.out_z

    @property
    def multipliers(self) -> np.ndarray:
        """The multipliers (h,) of rows that the last answer rests on, if it was NONE."""
        return self.room.multipliers

    def image(self, y: np.ndarray) -> np.ndarray:
        """Return ``z = G y``."""
        return self.room.image(y)

    def largest(self, form: np.ndarray) -> float:
        """Return the largest value of a form (k,) of z over the box."""
        return self.room.largest(form)


def find_among_corners(
    form: LinearForm, sides: Sides, scratch: Scratch, at_y: np.ndarray, at_z: np.ndarray
) -> tuple[int, int]:
    """Answer as `find_positive` does, and UNDECIDED as soon as corners do not lead further; not for cones.

    The steps are new corners.
    """
    return scratch.room.find_among_corners(*form, *sides, at_y, at_z)
