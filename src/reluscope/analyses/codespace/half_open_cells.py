"""The class of a code as a half-open polyhedron: which parts of a region's boundary have the region's code.

A row towards a lower piece is strict (a piece counts the breakpoints strictly below, and of equal candidates the first
is taken), one towards a higher piece is not. So a face of the closed region is in the class, but for its own faces, if
and only if no strict row is tight on it: the class is the disjoint union of the relative interiors of these faces
(Shepeleva et al. 2020, Theorem 1.3).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from reluscope.arguments import Natural, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.cutting.face_lattices import from_polytope
from reluscope.geometry.numbers.resolutions import TINY
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.regions.region import Region
from reluscope.shown import Shown, one_line

MAX_DIMENSIONS = 6
# A row is tight at a vertex that is this near, relative to the radius of the largest ball inside.
TIGHT = 1e-8


class ClassFacets(NamedTuple):
    """The facets of a closed region, and which of them are in the class.

    Parameters
    ----------
    rows : tuple of (c,) int64 arrays
        For each facet the rows of the polyhedron on its hyperplane.
    belongs : (f,) bool
        Whether the relative interior of the facet is in the class; else it is in none of its points.
    """

    rows: tuple[np.ndarray, ...]
    belongs: Bool[np.ndarray, " f"]

    def __repr__(self) -> str:
        return one_line(self)


@dataclass(frozen=True, eq=False, repr=False)
class ClassFaces(Shown):
    """All faces of a closed bounded region, and which of them are in the class.

    Parameters
    ----------
    vertices : (v, n) float64
    faces : tuple of tuples of (c,) int64 arrays
        For each dimension from 0 to n the vertices of every face; the last is the region itself.
    belongs : tuple of (f,) bool arrays
        Whether the relative interior of a face is in the class; else none of its points is.
    """

    vertices: Float[np.ndarray, "v n"]
    faces: tuple[tuple[np.ndarray, ...], ...]
    belongs: tuple[np.ndarray, ...]

    @read_arguments
    def centers(self, dim: Natural) -> Float[np.ndarray, "f n"]:
        """Return a point in the relative interior of every face of a dimension: the mean of its vertices."""
        means = [self.vertices[face].mean(axis=0) for face in self.faces[dim]]
        return np.array(means).reshape(len(means), self.vertices.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class HalfOpenCell(Shown):
    """All points of one code, within the domain of the region that they make up.

    Parameters
    ----------
    polyhedron : Polyhedron
        The closure ``{z : A z <= b}``, redundant rows included.
    is_strict : (h,) bool
        Rows that are ``A_i z < b_i`` for the points of the code.
    """

    polyhedron: Polyhedron
    is_strict: Bool[np.ndarray, " h"]

    @read_arguments
    def contains(self, x: ArrayLike) -> Bool[np.ndarray, "..."]:
        """Return which points are in the class.

        Parameters
        ----------
        x : (..., n) array

        Returns
        -------
        (...) bool array
            Exact for the numbers in the rows: cases that rounding could change are decided in rational arithmetic.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
        >>> cell = rs.codespace.half_open(rs.region(net, [1.0, -1.0]))  # x > 0 and y <= 0
        >>> cell.contains([[1.0, 0.0], [0.0, -1.0], [1e-300, -1.0]])
        array([ True, False,  True])
        """
        points = read_array(x, "x")
        A, b = self.polyhedron.A, self.polyhedron.b
        if points.ndim == 0 or points.shape[-1] != A.shape[1]:
            raise ShapeError(f"points must have {A.shape[1]} coordinates, got shape {points.shape}")
        flat = points.reshape(-1, A.shape[1])
        room = b - flat @ A.T
        noise = 4 * A.shape[1] * np.finfo(float).eps * (np.abs(flat) @ np.abs(A).T + np.abs(b)) + TINY
        is_inside = (room > -noise).all(axis=1)
        for point, row in zip(*np.nonzero((np.abs(room) <= noise) & is_inside[:, None]), strict=True):
            terms = zip(A[row].tolist(), flat[point].tolist(), strict=True)
            exact = Fraction(float(b[row])) - sum(Fraction(a) * Fraction(entry) for a, entry in terms)
            is_inside[point] &= exact > 0 if self.is_strict[row] else exact >= 0
        return is_inside.reshape(points.shape[:-1])

    def facets(self) -> ClassFacets:
        """Return the facets of the closure, and which of them are in the class.

        Raises
        ------
        DegenerateGeometryError
            If the closure has no interior.

        Notes
        -----
        See `Polyhedron.facets`. Valid in any dimension, bounded or not.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
        >>> rs.codespace.half_open(rs.region(net, [1.0, -1.0])).facets()
        ClassFacets(rows=2 items, belongs=[False, True])
        """
        groups = self.polyhedron.facets()
        return ClassFacets(groups, np.array([not self.is_strict[rows].any() for rows in groups], dtype=bool))

    def faces(self) -> ClassFaces:
        """Return all faces of the closure by dimension, and which of them are in the class.

        Returns
        -------
        ClassFaces
            The class is the disjoint union of the relative interiors of the faces that belong to it. A strict row
            excludes every face on which it is tight, even a redundant row that only touches the closure.

        Raises
        ------
        InputError
            If the closure is unbounded, has equations or more than 6 dimensions.
        DegenerateGeometryError
            If the closure has no interior.

        Notes
        -----
        Computed from vertices; the number of steps is faces times facets.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
        >>> faces = rs.codespace.half_open(rs.region(net, [0.5, -0.5], domain=rs.Box(-1, 1, 2))).faces()
        >>> [int(belongs.sum()) for belongs in faces.belongs]  # two corners, three sides, the square
        [2, 3, 1]
        """
        body = self.polyhedron
        if body.dim > MAX_DIMENSIONS or len(body.C) or not body.is_bounded():
            raise InputError(
                f"faces need a bounded region without equations in up to {MAX_DIMENSIONS} dimensions, got a "
                f"{body.describe()}: ask for the region on a box, or for its facets"
            )
        vertices, lengths = body.vertices(), np.linalg.norm(body.A, axis=1)
        is_tight = body.b - vertices @ body.A.T <= TIGHT * body.insphere().radius * lengths
        on_facets = np.stack([is_tight[:, rows[0]] for rows in body.facets()], axis=1)
        try:
            lattice = from_polytope(on_facets)
        except ValueError as error:
            raise InputError(
                "faces need a region whose vertices can be told apart, got one whose vertices and facets do not fit: "
                "it is too thin, ask for its facets"
            ) from error
        faces: list[list[np.ndarray]] = [[np.array([vertex]) for vertex in range(len(vertices))]]
        for dim in range(1, body.dim + 1):
            offsets, ids = lattice.boundary(dim)
            boundaries = np.split(ids, offsets[1:-1])
            faces.append([np.unique(np.concatenate([faces[-1][face] for face in boundary])) for boundary in boundaries])
        excludes = is_tight & self.is_strict
        belongs = tuple(np.array([not excludes[face].all(axis=0).any() for face in level]) for level in faces)
        return ClassFaces(vertices, tuple(tuple(level) for level in faces), belongs)


@read_arguments
def half_open(region: Region) -> HalfOpenCell:
    """Return the class of the code of a region as a half-open polyhedron.

    Parameters
    ----------
    region : Region
        Whole, or intersected with a domain, whose boundary belongs to the class.

    Returns
    -------
    HalfOpenCell

    Notes
    -----
    Units that are constant on the region have no row and exclude no point: their pieces are those of the code. This
    is certain where arithmetic is exact; elsewhere a row carries the rounding of float64.

    References
    ----------
    Shepeleva, Zellinger, Lewandowski and Moser, "ReLU code space: a basis for rating network quality besides
    accuracy", 2020, Theorem 1.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.codespace.half_open(rs.region(net, [1.0, -1.0])).is_strict
    array([ True, False])
    """
    gates, units, beyond = region.sources.T
    is_unit = gates >= 0
    layout = region.code.layout
    starts = np.array([layout.units(gate).start for gate in range(len(layout))], dtype=np.int64)
    own = region.code.to_array()[0].astype(np.int64)
    is_strict = np.zeros(len(beyond), dtype=bool)
    is_strict[is_unit] = beyond[is_unit] < own[starts[gates[is_unit]] + units[is_unit]]
    is_strict.setflags(write=False)
    return HalfOpenCell(region.polyhedron, is_strict)
