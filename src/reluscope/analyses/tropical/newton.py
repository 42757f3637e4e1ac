"""Newton polygons of tropical polynomials in two variables, with the subdivision that is dual to the pieces.

Exponents are points of the plane; lifted by their constants, the upper hull of these points falls down to a subdivision
of the polygon. Its vertices are the pieces of the maximum, its edges the segments where two of them meet, its polygons
the points where three or more do.
"""

from dataclasses import dataclass
from math import atan2

import numpy as np
from jaxtyping import Float

from reluscope.analyses.tropical.polynomial import TropicalPolynomial, epigraph, epigraph_row, height
from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.rational_polytopes import Row
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class NewtonPolygon(Shown):
    """The exponents of a maximum, and the subdivision of their convex hull.

    Parameters
    ----------
    exponents : (v, 2) float64
        One per monomial, in the order of the polynomial.
    constants : (v,) float64
    edges : tuple of pairs of int
        Pairs of monomials whose pieces share an edge.
    faces : tuple of tuples of int
        Monomials that are equal and largest at one point, counter-clockwise; empty if the polygon is a segment or a
        point.
    """

    exponents: Float[np.ndarray, "v 2"]
    constants: Float[np.ndarray, " v"]
    edges: tuple[tuple[int, int], ...]
    faces: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class NewtonPolygons(Shown):
    """The polygons of the numerator and of the denominator of one output."""

    numerator: NewtonPolygon
    denominator: NewtonPolygon


@read_arguments
def newton_polygons(function: TropicalRational, *, output: int = 0) -> NewtonPolygons:
    """Return the Newton polygons of numerator and denominator of one output.

    Parameters
    ----------
    function : TropicalRational
        Of two inputs.
    output : int

    Raises
    ------
    InputError
        If there are not two inputs, or the output does not exist.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # a square with one face
    >>> rs.tropical.newton_polygons(rs.tropical.rational_form(net)).numerator.faces
    ((0, 2, 3, 1),)
    """
    if function.num_inputs != 2:
        raise InputError(
            f"a Newton polygon needs two inputs, got {function.num_inputs}: restrict the network to a plane"
        )
    if not 0 <= output < function.num_outputs:
        raise InputError(f"output must be one of 0 to {function.num_outputs - 1}, got {output}")
    return NewtonPolygons(_polygon(function.numerators[output]), _polygon(function.denominators[output]))


def _polygon(polynomial: TropicalPolynomial) -> NewtonPolygon:
    table = np.array([[float(entry) for entry in one] for one in polynomial.monomials])
    faces = _faces(polynomial, table)
    if faces:
        sides = ((one, other) for face in faces for one, other in zip(face, (*face[1:], face[0]), strict=True))
    else:
        # All exponents on one line, along which monomials are sorted.
        sides = ((index, index + 1) for index in range(len(table) - 1))
    edges = sorted({(min(side), max(side)) for side in sides})
    return NewtonPolygon(table[:, :2], table[:, 2], tuple(edges), faces)


def _faces(polynomial: TropicalPolynomial, table: np.ndarray) -> tuple[tuple[int, ...], ...]:
    names: dict[Row, int] = {(*epigraph_row(one), 0): index for index, one in enumerate(polynomial.monomials)}
    found = epigraph([height(3)], polynomial.monomials)
    assert found is not None
    faces: set[tuple[int, ...]] = set()
    for (*_, w, _, _), lies_on in zip(found.vertices, found.tight, strict=True):
        members = sorted(names[row] for row in lies_on if row in names)
        if w > 0 and len(members) > 2 and _spans_the_plane([polynomial.monomials[one] for one in members]):
            center = table[members, :2].mean(axis=0)
            around = {one: table[one, :2] - center for one in members}
            turned = sorted(members, key=lambda one: atan2(around[one][1], around[one][0]))
            first = turned.index(members[0])
            faces.add((*turned[first:], *turned[:first]))
    return tuple(sorted(faces))


def _spans_the_plane(monomials: list) -> bool:
    (a, b, _), *others = monomials
    (c, d, _), *_ = others
    return any((c - a) * (f - b) != (d - b) * (e - a) for e, f, _ in others)
