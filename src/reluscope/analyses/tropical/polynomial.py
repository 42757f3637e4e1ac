"""Tropical polynomials: maxima of finitely many affine functions, with rational coefficients.

In the semiring of the reals and minus infinity with maximum as addition and addition as multiplication,
``max_j (a_j . x + c_j)`` is a polynomial with exponents a_j; here exponents may be any rational numbers. See Maclagan
and Sturmfels, "Introduction to tropical geometry", 2015, and Zhang, Naitzat and Lim, "Tropical geometry of deep neural
networks", 2018.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.rational_cones import cone
from reluscope.geometry.polyhedra.rational_polytopes import RationalPolytope, Row, integer_row
from reluscope.networks.fractions.rational_maps import AffineFunction
from reluscope.shown import Shown


@dataclass(frozen=True, repr=False)
class TropicalPolynomial(Shown):
    """The function ``x -> max_j (a_j . x + c_j)``; `of` omits monomials that are nowhere largest.

    Parameters
    ----------
    monomials : tuple of (n + 1) fractions
        The coefficients a_j and the constant c_j of each affine function, sorted.

    Examples
    --------
    >>> import reluscope as rs
    >>> from fractions import Fraction
    >>> one, two = Fraction(1), Fraction(2)
    >>> polynomial = rs.tropical.TropicalPolynomial.of([(one, -one), (0 * one, 0 * one), (one / 2, -one)])
    >>> len(polynomial), polynomial.at([two])
    (2, Fraction(1, 1))
    """

    monomials: tuple[AffineFunction, ...]

    @classmethod
    @read_arguments
    def of(cls, functions: Iterable[AffineFunction]) -> "TropicalPolynomial":
        """Return the maximum of affine functions, without functions that are nowhere the unique largest.

        Raises
        ------
        InputError
            If there is no function.

        Notes
        -----
        In rational arithmetic: a monomial is needed if its row defines a facet of the epigraph. The double description
        of the epigraph in n + 2 dimensions costs about its number of vertices per monomial.
        """
        constants: dict[AffineFunction, Fraction] = {}
        for *slope, constant in functions:
            key = tuple(slope)
            constants[key] = max(constant, constants.get(key, constant))
        if not constants:
            raise InputError("expected at least one affine function to take the maximum of, got none")
        monomials = sorted((*slope, constant) for slope, constant in constants.items())
        return cls(tuple(monomials if len(monomials) < 3 else _needed(monomials)))

    @property
    def num_inputs(self) -> int:
        """Number of variables n."""
        return len(self.monomials[0]) - 1

    def __len__(self) -> int:
        return len(self.monomials)

    @read_arguments
    def plus(self, other: "TropicalPolynomial") -> "TropicalPolynomial":
        """Return the sum of two functions, the tropical product."""
        return TropicalPolynomial.of(
            tuple(a + b for a, b in zip(one, two, strict=True)) for one in self.monomials for two in other.monomials
        )

    @read_arguments
    def times(self, factor: Fraction) -> "TropicalPolynomial":
        """Return the function times a positive number, the tropical power."""
        return TropicalPolynomial(tuple(tuple(factor * entry for entry in one) for one in self.monomials))

    @read_arguments
    def at(self, point: Sequence[Fraction]) -> Fraction:
        """Return the value at a point, exactly."""
        self._check(len(point))
        return max(_value(one, (*point, Fraction(1))) for one in self.monomials)

    @read_arguments
    def __call__(self, x: Float[np.ndarray, "s n"]) -> Float[np.ndarray, " s"]:
        """Return the values at points, in float64."""
        self._check(x.shape[1])
        return (x @ self._table[:, :-1].T + self._table[:, -1]).max(axis=1)

    def _check(self, num_coordinates: int) -> None:
        if num_coordinates != len(self.monomials[0]) - 1:
            raise ShapeError(f"points must have {len(self.monomials[0]) - 1} coordinates, got {num_coordinates}")

    @cached_property
    def _table(self) -> np.ndarray:
        return np.array([[float(entry) for entry in one] for one in self.monomials])


def epigraph(rows: Iterable[Row], monomials: Sequence[AffineFunction]) -> RationalPolytope | None:
    """Return the cone of ``(x, w, s)`` with ``s >= a_j . x + c_j w`` for all monomials, near the origin.

    In n + 2 dimensions, where the rows, linear functions of ``(x, w)``, are at least zero; None if that place has no
    interior.
    """
    size = len(monomials[0])
    return cone(size + 1, [*((*row, 0) for row in rows), *(epigraph_row(one) for one in monomials)])


def epigraph_row(monomial: AffineFunction) -> Row:
    """Return the side of the epigraph that belongs to a monomial, ``s - a . x - c w >= 0``."""
    return integer_row([*(-entry for entry in monomial), Fraction(1)])


def height(size: int) -> Row:
    """Return the linear function w of the size numbers ``(x, w)``."""
    return (*[0] * (size - 1), 1)


def _needed(monomials: list[AffineFunction]) -> list[AffineFunction]:
    # Most of what is cut off later is inside already if the outermost exponents come first.
    table = np.array([[float(entry) for entry in one] for one in monomials])
    order = np.argsort(-((table - table.mean(axis=0)) ** 2).sum(axis=1), kind="stable")
    found = epigraph([height(table.shape[1])], [monomials[index] for index in order])
    assert found is not None
    sides = {row[:-1] for row in found.facets()}
    return [one for one in monomials if epigraph_row(one) in sides]


def _value(function: AffineFunction, point: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(function, point, strict=True)), Fraction(0))
