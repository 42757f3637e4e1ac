"""Tropical rational functions: every output the difference of two maxima of affine functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.tropical.polynomial import TropicalPolynomial
from reluscope.analyses.tropical.printed_pieces import affine, affine_latex
from reluscope.arguments import read_arguments, read_array
from reluscope.errors import ShapeError
from reluscope.shown import Shown


@dataclass(frozen=True, repr=False)
class TropicalRational(Shown):
    """The function with outputs ``numerators[i](x) - denominators[i](x)``.

    Parameters
    ----------
    numerators, denominators : tuples of m TropicalPolynomial
        Convex functions; tropical division is the difference.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])])
    >>> print(rs.tropical.rational_form(net))
    max(-1, x1 + x2 + 1) - max(0, 2*x1 + 2*x2)
    """

    numerators: tuple[TropicalPolynomial, ...]
    denominators: tuple[TropicalPolynomial, ...]

    @property
    def num_inputs(self) -> int:
        """Number of variables n."""
        return self.numerators[0].num_inputs

    @property
    def num_outputs(self) -> int:
        """Number of outputs m."""
        return len(self.numerators)

    @property
    def num_monomials(self) -> int:
        """Number of monomials of all numerators and denominators."""
        return sum(map(len, (*self.numerators, *self.denominators)))

    @read_arguments
    def __call__(self, x: ArrayLike) -> Float[np.ndarray, "s m"]:
        """Return the values at points (s, n), or at one point, in float64."""
        points = read_points(x, self.num_inputs)
        pairs = zip(self.numerators, self.denominators, strict=True)
        return np.stack([over(points) - under(points) for over, under in pairs], axis=1)

    @read_arguments
    def at(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the outputs at a point of n fractions, exactly."""
        pairs = zip(self.numerators, self.denominators, strict=True)
        return tuple(over.at(point) - under.at(point) for over, under in pairs)

    def __str__(self) -> str:
        pairs = zip(self.numerators, self.denominators, strict=True)
        return "\n".join(f"{_maximum(over)} - {_maximum(under)}" for over, under in pairs)

    def to_latex(self) -> str:
        r"""Return the outputs in LaTeX, one below the other, as ``\max\{...\} - \max\{...\}``."""
        pairs = zip(self.numerators, self.denominators, strict=True)
        return " \\\\\n".join(f"{_maximum_latex(over)} - {_maximum_latex(under)}" for over, under in pairs)


def read_points(x: ArrayLike, size: int) -> Float[np.ndarray, "s n"]:
    """Return points as a table, one point as a table of one row.

    ShapeError if they have another number of coordinates.
    """
    points = np.atleast_2d(read_array(x, "x"))
    if points.ndim != 2 or points.shape[1] != size:
        raise ShapeError(f"expected points (s, {size}), got shape {points.shape}: give one point per row")
    return points


def _maximum(polynomial: TropicalPolynomial) -> str:
    return f"max({', '.join(map(affine, polynomial.monomials))})"


def _maximum_latex(polynomial: TropicalPolynomial) -> str:
    return rf"\max\{{{', '.join(map(affine_latex, polynomial.monomials))}\}}"
