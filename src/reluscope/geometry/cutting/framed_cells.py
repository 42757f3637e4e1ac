"""Cells between linear rows, as images of boxes: the form in which the tree of linear programs keeps them.

All cells of one search share a box of y and a map ``z = G y``; a cell is the set of images z with ``R z >= 0``. Rows
and forms are rounded, and carry bounds on their errors.
"""

from typing import NamedTuple

import numpy as np


class CellFrame(NamedTuple):
    """The box and the map that all cells of one search share.

    For a cone the box is only a scale: points may be multiplied by positive numbers.
    """

    generators: np.ndarray  # (k, n) matrix G; (0, n) for the identity
    lower: np.ndarray  # (n,) of the box of y
    upper: np.ndarray  # (n,) of the box of y
    is_cone: bool  # whether cells are cones
    resolution: float  # of cones: proofs hold up to this share of terms


class Sides(NamedTuple):
    """The rows of a cell."""

    rows: np.ndarray  # (m, k)
    noise: np.ndarray  # (m,) bounds on rows' errors anywhere in the box
    slack: np.ndarray  # (m, n) of cones: errors at y <= ``slack @ |y|``; else (m, 0)


class FramedCell(NamedTuple):
    """The points ``z = G y`` of a frame with ``rows z >= 0``."""

    rows: np.ndarray  # (m, k)
    noise: np.ndarray  # (m,) bounds on rows' errors anywhere in the box
    slack: np.ndarray  # (m, n) of cones: errors at y <= ``slack @ |y|``; else (m, 0)
    witness: np.ndarray  # (n,) a y strictly inside all rows and the box

    def cut(self, rows: np.ndarray, noise: np.ndarray, slack: np.ndarray, witness: np.ndarray) -> "FramedCell":
        """Return the part of a cell inside more rows, around another witness."""
        return FramedCell(
            np.concatenate([self.rows, rows]),
            np.concatenate([self.noise, noise]),
            np.concatenate([self.slack, slack]),
            witness,
        )

    @property
    def sides(self) -> Sides:
        """The rows."""
        return Sides(self.rows, self.noise, self.slack)


class LinearForm(NamedTuple):
    """One linear form of z; see `LinearForms`."""

    coefficients: np.ndarray
    noise: float
    slack: np.ndarray
    threshold: float


class LinearForms(NamedTuple):
    """Linear forms of z.

    A part of a cell where a form stays below its threshold is not separated.
    """

    coefficients: np.ndarray  # (p, k)
    noise: np.ndarray  # (p,) bounds on values' errors anywhere in the box
    slack: np.ndarray  # (p, n) of cones: errors at y <= ``slack @ |y|``; else (p, 0)
    threshold: np.ndarray  # (p,) values that count as zero; 0 for cones
    is_constant: np.ndarray  # (p,) one value everywhere, up to its noise
    is_doubtful: np.ndarray  # (p,) constant, with an uncertain sign

    def select(self, which: "slice | np.ndarray") -> "LinearForms":
        """Return some of the forms."""
        return LinearForms(*(column[which] for column in self))

    def one(self, index: int) -> LinearForm:
        """Return one of the forms."""
        return LinearForm(
            self.coefficients[index], float(self.noise[index]), self.slack[index], float(self.threshold[index])
        )
