"""Cells between linear rows, as images of boxes: the form in which the tree of linear programs keeps them.

All cells of one search share a box of y and a map ``z = G y``; a cell is the set of images z with ``R z >= 0``. Rows
and forms are rounded, and carry bounds on their errors.
"""

from typing import NamedTuple

import numpy as np


class CellFrame(NamedTuple):
    """The box and the map that all cells of one search share.

    Parameters
    ----------
    generators : (k, n) float64
        G, or (0, n) for the identity.
    lower, upper : (n,) float64
        The box of y.
    is_cone : bool
        Whether the box is a mere scale: then cells are cones, and points may be multiplied by positive numbers.
    resolution : float
        Of cones: a proof holds up to this share of the magnitudes that add up to it.
    """

    generators: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    is_cone: bool
    resolution: float


class Sides(NamedTuple):
    """The rows of a cell.

    Parameters
    ----------
    rows : (m, k) float64
    noise : (m,) float64
        Bounds on the errors of the rows' values anywhere in the box.
    slack : (m, n) or (m, 0) float64
        Of cones: at y the errors are at most ``slack @ |y|``.
    """

    rows: np.ndarray
    noise: np.ndarray
    slack: np.ndarray


class FramedCell(NamedTuple):
    """The points ``z = G y`` of a frame with ``rows z >= 0``.

    Parameters
    ----------
    rows : (m, k) float64
    noise : (m,) float64
        Bounds on the errors of the rows' values anywhere in the box.
    slack : (m, n) or (m, 0) float64
        Of cones: at y the errors are at most ``slack @ |y|``.
    witness : (n,) float64
        A y strictly inside all rows and the box.
    """

    rows: np.ndarray
    noise: np.ndarray
    slack: np.ndarray
    witness: np.ndarray

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

    Parameters
    ----------
    coefficients : (p, k) float64
    noise : (p,) float64
        Bounds on the errors of their values anywhere in the box.
    slack : (p, n) or (p, 0) float64
        Of cones: at y the errors are at most ``slack @ |y|``.
    threshold : (p,) float64
        Values that count as zero: a part of a cell where a form stays below is not separated. Zero for cones.
    is_constant : (p,) bool
        Whether the form has one value everywhere, up to its noise.
    is_doubtful : (p,) bool
        Whether a constant form may have another sign than it seems to have, or both.
    """

    coefficients: np.ndarray
    noise: np.ndarray
    slack: np.ndarray
    threshold: np.ndarray
    is_constant: np.ndarray
    is_doubtful: np.ndarray

    def select(self, which: "slice | np.ndarray") -> "LinearForms":
        """Return some of the forms."""
        return LinearForms(*(column[which] for column in self))

    def one(self, index: int) -> LinearForm:
        """Return one of the forms."""
        return LinearForm(
            self.coefficients[index], float(self.noise[index]), self.slack[index], float(self.threshold[index])
        )
