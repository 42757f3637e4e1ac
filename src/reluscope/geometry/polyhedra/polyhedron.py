"""Closed convex polyhedra {x : A x <= b, C x = d}: rows are outward normals; nothing here knows of networks.

Equations are solved once: everything is computed in coordinates of their solution space, so that a polyhedron with
equations has a ball, facets and a volume within its affine hull.
"""

import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from reluscope.arguments import Count, NonNegative, Seed, read_arguments, read_array, read_coordinates
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.geometry.numbers.row_scales import scaled_rows
from reluscope.geometry.polyhedra.affine_hull import AffineHull
from reluscope.geometry.polyhedra.corners import Corners, corners, corners_of_sides, exact_corners, hull_volume
from reluscope.geometry.polyhedra.facet_rows import FoundFacets, find_facets
from reluscope.geometry.polyhedra.interior import Ball, inscribed_ball
from reluscope.geometry.polyhedra.polyhedron_rows import PolyhedronRows
from reluscope.geometry.polyhedra.sampling import sample_chains
from reluscope.geometry.polyhedra.true_rows import BothRows, GivenRows, Side, TrueRows
from reluscope.geometry.polyhedra.widths import (
    MAX_DIFFERENCES,
    Diameter,
    Width,
    are_few,
    diameter_bounds,
    diameter_of_hull,
    width_bounds,
    width_of_hull,
)
from reluscope.geometry.programs.half_space_stack import HalfSpaceStack
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.geometry.programs.linear_program import ProgramStatus
from reluscope.geometry.programs.proved_programs import ProvedSystem, nearest
from reluscope.geometry.text.polyhedron_text import Form, read, written
from reluscope.shown import Shown

# Relative to the lengths of rows: which corners count as one where volumes are computed.
CORNERS_OF_VOLUMES = 1e-12
# A ball is taken from float64 rows if its gap is this share of its radius.
SURE = 1e-9
# Vertices of this many half-spaces in five dimensions are found within a second or two.
MAX_ROWS_OF_VERTICES = 300


class Maximum(NamedTuple):
    """Largest value of a linear function and a point where it is taken.

    The value is inf if unbounded and -inf on an empty polyhedron; the point is then NaN.
    """

    value: float
    point: np.ndarray


@read_arguments
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Polyhedron(Shown):
    """The closed set of points x with ``A x <= b`` and ``C x = d``.

    The rows are the given float64 numbers. For a region of a network (`Region.polyhedron`) they are rounded from
    rows of fractions. Results then hold for the region itself: fractions decide wherever rounding matters (rows
    that are parallel in the network are not parallel after rounding), if this takes no more than about a second.
    Otherwise, in networks with hundreds of inputs, results are those of the rounded rows.

    Parameters
    ----------
    A : (h, n) array
        Outward normals, one row per half-space. Rows need not be normalised, may repeat and may be zero.
    b : (h,) array
        Offsets.
    C, d : (k, n) and (k,) arrays, optional
        Equations.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    InputError
        If an entry is NaN or infinite.

    Examples
    --------
    >>> import reluscope as rs
    >>> square = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
    >>> square.dim, bool(square.contains([0.5, -0.5])), square.insphere().radius
    (2, True, 1.0)
    """

    A: Float[np.ndarray, "h n"]
    b: Float[np.ndarray, " h"]
    C: Float[np.ndarray, "k n"]
    d: Float[np.ndarray, " k"]

    def __init__(self, A: ArrayLike, b: ArrayLike, C: ArrayLike | None = None, d: ArrayLike | None = None) -> None:
        normals = read_array(A, "A", ndim=2)
        offsets = read_array(b, "b", ndim=1)
        if (C is None) != (d is None):
            raise ShapeError("C and d belong together: give both or neither")
        equations = read_array(np.empty((0, normals.shape[1])) if C is None else C, "C", ndim=2)
        values = read_array(np.empty(0) if d is None else d, "d", ndim=1)
        if normals.shape[1] == 0:
            raise ShapeError(f"A must have at least one column, got shape {normals.shape}")
        if len(offsets) != len(normals) or len(values) != len(equations) or equations.shape[1] != normals.shape[1]:
            raise ShapeError(
                "A (h, n), b (h,), C (k, n) and d (k,) must agree, got shapes "
                f"{normals.shape}, {offsets.shape}, {equations.shape} and {values.shape}"
            )
        for name, array in (("A", normals), ("b", offsets), ("C", equations), ("d", values)):
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_true_rows", None)

    @classmethod
    def _rounded(
        cls, A: ArrayLike, b: ArrayLike, true_rows: TrueRows, C: ArrayLike | None = None, d: ArrayLike | None = None
    ) -> "Polyhedron":
        """Return the polyhedron of rows of fractions, whose rounded rows are ``A x <= b``; equations are as given."""
        found = cls(A, b, C, d)
        object.__setattr__(found, "_true_rows", true_rows)
        return found

    @property
    def polyhedron(self) -> "Polyhedron":
        """Itself, as other domains have theirs."""
        return self

    @property
    def dim(self) -> int:
        """Number of coordinates n."""
        return self.A.shape[1]

    @property
    def ambient_dim(self) -> int:
        """Same as ``dim``: a polyhedron lives in its own coordinates."""
        return self.dim

    @property
    def is_exact(self) -> bool:
        """Whether `side` returns the rows themselves, and not rows of a region that float64 has rounded."""
        return self._rows.true_rows is None or self._rows.sides is not None

    def side(self, row: int) -> Side:
        """Return a row as ``(a, c)`` of ``a . x + c >= 0`` in fractions, times a positive number."""
        return self._rows.side(row)

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: float = 0.0) -> Bool[np.ndarray, "..."]:
        """Return which points satisfy every row up to ``tolerance`` times the row's length.

        Parameters
        ----------
        x : (..., n) array
            Points.
        tolerance : float
            Largest Euclidean distance by which a point may violate a half-space or an equation. Computed points rarely
            satisfy an equation to the last bit.

        Returns
        -------
        (...) bool array
            Exact for half-spaces and ``tolerance=0``: fractions decide where rounding leaves a doubt.
        """
        points = read_coordinates(x, self.dim)
        (normals, offsets), (equations, values) = scaled_rows(*self._rows.near), scaled_rows(self.C, self.d)
        excess = points @ normals.T - offsets
        if not tolerance:
            excess = self._rows.exact_signs(points, excess, normals, offsets)
        inside = (excess <= tolerance * np.linalg.norm(normals, axis=1)).all(axis=-1)
        level = (np.abs(points @ equations.T - values) <= tolerance * np.linalg.norm(equations, axis=1)).all(axis=-1)
        return np.asarray(inside & level)

    def is_empty(self) -> bool:
        """Return whether no point satisfies all rows.

        Notes
        -----
        Proved by a point, or by multipliers in fractions, in up to 16 dimensions (see `maximize`), and by a point
        beyond rounding inside all half-spaces in any. Elsewhere up to a linear program's tolerance of 1e-9 per row of
        length 1.
        """
        proved = self.system.is_empty()
        return self.maximize(np.zeros(self.dim)).value == -np.inf if proved is None else proved

    def is_bounded(self) -> bool:
        """Return whether the polyhedron is bounded, by its recession cone {r : A r <= 0, C r = 0}.

        Returns
        -------
        bool
            True also for an empty polyhedron. A strip is unbounded, but has a finite inscribed ball.

        Notes
        -----
        One linear program and one singular value decomposition of the rows. Proved in up to 16 dimensions, and in more
        wherever rounding leaves no doubt (`is_cone_trivial`).

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron([[1, 0], [-1, 0]], [1, 1]).is_bounded()
        False
        """
        return self._rows.has_no_rays or self.is_empty()

    def insphere(self) -> Ball:
        """Return a largest ball inside, within the affine hull of the equations.

        Returns
        -------
        Ball
            ``radius`` is the least distance from ``center`` to a half-space, ``radius + gap`` an upper bound. Zero for
            a flat polyhedron, negative for an empty one, inf if there are balls of every size.

        Notes
        -----
        One linear program in n + 1 variables (a few for slivers), computed once.

        Examples
        --------
        >>> import reluscope as rs
        >>> triangle = rs.Polyhedron([[-1, 0], [0, -1], [4, 3]], [0, 0, 12])  # sides 3, 4, 5
        >>> round(triangle.insphere().radius, 12)
        1.0
        """
        return self._ball

    @read_arguments
    def facets(self, tolerance: NonNegative = FACETS) -> tuple[np.ndarray, ...]:
        """Return the rows of A that define facets, with rows of one hyperplane grouped.

        Parameters
        ----------
        tolerance : float
            Resolution, in coordinates in which the inscribed ball is the unit ball. Rows closer than this are merged;
            rows that cut off less than this are redundant.

        Returns
        -------
        tuple of index arrays
            One per facet, in order of first rows. Positive multiples of a row belong to its group; zero rows to none.

        Raises
        ------
        DegenerateGeometryError
            If the polyhedron has no interior (within the affine hull of its equations).

        Notes
        -----
        Rays settle rows first; each remaining row costs one linear program against the facets found so far.

        Examples
        --------
        >>> import reluscope as rs
        >>> strip = rs.Polyhedron([[1, 0], [0, 1], [2, 0], [-1, 0]], [1, 9, 2, 0], [[0, 1]], [0])
        >>> strip.facets()
        (array([0, 2]), array([3]))
        """
        return self._found_facets(tolerance).groups

    @read_arguments
    def facet_points(self, tolerance: NonNegative = FACETS) -> Float[np.ndarray, "f n"]:
        """Return a point inside each facet, in the order of `facets`.

        Each point is on the hyperplane of its facet and strictly inside all other half-spaces.

        Parameters
        ----------
        tolerance : float
            As in `facets`, which also computes these points.

        Examples
        --------
        >>> import reluscope as rs
        >>> square = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
        >>> square.facet_points()
        array([[ 1.,  0.],
               [-1.,  0.],
               [ 0.,  1.],
               [ 0., -1.]])
        """
        return self._hull.lift(self._found_facets(tolerance).points)

    @read_arguments
    def vertices(self, tolerance: NonNegative = FACETS) -> Float[np.ndarray, "v n"]:
        """Return the vertices, in the plane in counter-clockwise order.

        Parameters
        ----------
        tolerance : float
            Vertices closer than this, in coordinates in which the inscribed ball is the unit ball, are merged.

        Returns
        -------
        (v, n) array
            For an unbounded polyhedron, its proper vertices; none if it contains a line.

        Raises
        ------
        DegenerateGeometryError
            If the polyhedron has no interior (within the affine hull of its equations).
        InputError
            If it has more than 9 dimensions.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]).vertices().round(12) + 0
        array([[0., 0.],
               [1., 0.],
               [0., 1.]])
        """
        if self._hull.dim == 0 and not self.is_empty():
            return self._hull.origin[None]
        hull = self._full_dimensional("vertices need")
        return hull.lift(self._corners(tolerance)[0])

    def volume(self) -> float:
        """Return the volume, in the dimension of the affine hull of the equations.

        Returns
        -------
        float
            Length, area or volume; inf if unbounded, 0 if there is no interior.

        Examples
        --------
        >>> import reluscope as rs
        >>> round(rs.Polyhedron([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]).volume(), 12)
        0.5
        """
        if self._hull.dim == 0:
            return float(not self.is_empty())
        if not self.insphere().radius > 0:
            return 0.0
        if not self._rows.has_no_rays:
            return np.inf
        points, volume = self._corners(CORNERS_OF_VOLUMES)
        return hull_volume(points) if volume is None else volume

    def width(self) -> Width:
        """Return the minimal width: the least distance of parallel hyperplanes that enclose the polyhedron.

        Returns
        -------
        Width
            Exact up to rounding in up to five dimensions if there are few vertices; else bounds. Infinite if there are
            balls of every size.

        Raises
        ------
        DegenerateGeometryError
            If the polyhedron has no interior (within the affine hull of its equations).

        Notes
        -----
        Computed from vertices in up to 5 dimensions, elsewhere by four linear programs (see `width_bounds`).

        Examples
        --------
        >>> import reluscope as rs
        >>> triangle = rs.Polyhedron([[-1, 0], [0, -1], [4, 3]], [0, 0, 12])  # sides 3, 4, 5
        >>> round(triangle.width().upper, 12)
        2.4
        """
        hull = self._full_dimensional("the width needs")
        if self._across is not None:
            across, basis = self._across
            found = across.width()
            return found._replace(direction=found.direction @ basis)
        ball = self._inner_ball
        if np.isinf(ball.radius):
            return Width(np.inf, np.inf, np.full(self.dim, np.nan))
        vertices = self._few_vertices
        try:
            found = width_bounds(_body(hull), ball) if vertices is None else width_of_hull(vertices)
        except DegenerateGeometryError:  # nearly flat, for vertices
            found = width_bounds(_body(hull), ball)
        return found._replace(direction=hull.lift_direction(found.direction))

    def diameter(self) -> Diameter:
        """Return the diameter, the largest distance of two points.

        Returns
        -------
        Diameter
            Exact up to rounding in up to five dimensions. Else bounds: the distance of two points, and the diagonal of
            the box of axis-parallel rows. Infinite if the polyhedron is unbounded.

        Raises
        ------
        DegenerateGeometryError
            If the polyhedron has no interior (within the affine hull of its equations).

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [3, 0, 4, 0]).diameter().upper
        5.0
        """
        hull = self._full_dimensional("the diameter needs")
        vertices = self._few_vertices
        if vertices is not None:
            exact = diameter_of_hull(vertices)
            return exact._replace(ends=hull.lift(exact.ends))
        bounded = read_bounds(hull.A, hull.b)
        if not np.isfinite(bounded.upper - bounded.lower).all() and not self._rows.has_no_rays:
            return Diameter(np.inf, np.inf, np.full((2, self.dim), np.nan))
        found = diameter_bounds(_body(hull), self._inner_ball)
        return found._replace(ends=hull.lift(found.ends))

    @read_arguments
    def sample(
        self, count: Count, *, seed: Seed = 0, chains: Count | None = None, thinning: Count | None = None
    ) -> Float[np.ndarray, "s n"]:
        """Draw points from the uniform distribution, by coordinate hit-and-run in rounded coordinates.

        Parameters
        ----------
        count : int
            Number of points.
        seed : int
        chains : int, optional
            Number of independent chains, used in turn; by default 16, or ``count`` if that is less. With one chain per
            point the points are independent.
        thinning : int, optional
            Steps between two points of a chain, by default 8 n^2; four times as many precede its first point.

        Returns
        -------
        (s, n) array
            Point i belongs to chain ``i % chains``.

        Raises
        ------
        InputError
            If the polyhedron is unbounded, or a number is not positive.
        DegenerateGeometryError
            If it has no interior (within the affine hull of its equations).

        Notes
        -----
        The cost of a step is proportional to the number of rows. With 784 coordinates and 4,640 rows a point takes
        about a minute by default, and less than 0.1 s with ``thinning=8 * 784``; compare chains to check whether this
        suffices.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> square = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 0, 1, 0])
        >>> points = square.sample(500, seed=1)
        >>> points.shape, bool((np.abs(points.mean(axis=0) - 0.5) < 0.1).all())
        ((500, 2), True)
        """
        between = 8 * self._hull.dim**2 if thinning is None else thinning
        number = min(count, 16 if chains is None else chains)
        if min(number, between) < 1:
            raise InputError(
                f"count, chains and thinning must be positive, got {count}, {chains}, {thinning}: ask for 1 at least"
            )
        hull = self._full_dimensional("sampling needs")
        bounded = read_bounds(hull.A, hull.b)
        if not np.isfinite(bounded.upper - bounded.lower).all() and not self._rows.has_no_rays:
            raise InputError(
                f"sampling needs a bounded polyhedron, got an unbounded {self.describe()}: intersect it with a box"
            )
        found = sample_chains(
            _body(hull),
            self._inner_ball.center,
            chains=number,
            draws=-(-count // number),
            thinning=between,
            burn_in=4 * between,
            seed=seed,
        )
        return hull.lift(found.transpose(1, 0, 2).reshape(-1, hull.dim)[:count])

    @read_arguments
    def maximize(self, c: ArrayLike) -> Maximum:
        """Return the maximum of ``c x`` over the polyhedron.

        Parameters
        ----------
        c : (n,) array
            Coefficients.

        Returns
        -------
        Maximum
            Value and point; value inf if unbounded, -inf if empty.

        Notes
        -----
        In up to 16 dimensions the results are the closest floats to proved ones (`proved_programs`), if multipliers and
        point could be checked in fractions; with up to 2,000 entries this is always possible. Else a linear program
        computes them with a tolerance of 1e-9 per row of length 1, by which the point may be outside.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1]).maximize([1, 2]).value
        3.0
        """
        objective = read_array(c, "c", ndim=1)
        if len(objective) != self.dim:
            raise ShapeError(f"c must have {self.dim} entries, got shape {objective.shape}")
        nothing = np.full(self.dim, np.nan)
        proved = self.system.maximum([Fraction(entry) for entry in objective.tolist()])
        if proved is not None:
            if proved.value is None or proved.point is None:
                return Maximum(-np.inf if proved.status is ProgramStatus.INFEASIBLE else np.inf, nothing)
            return Maximum(nearest(proved.value), np.array([nearest(entry) for entry in proved.point]))
        if self.system.is_contradicted:
            return Maximum(-np.inf, nothing)
        program = self.system.program()
        solution = program.maximize(objective)
        if (
            solution.status is ProgramStatus.UNBOUNDED
            and program.maximize(0 * objective).status is ProgramStatus.INFEASIBLE
        ):
            return Maximum(-np.inf, nothing)
        return Maximum(solution.value, solution.point)

    @read_arguments
    def intersect(self, other: "Polyhedron") -> "Polyhedron":
        """Return the points of both: the rows of this polyhedron, then those of the other.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron([[1, 0]], [1]).intersect(rs.Polyhedron([[0, 1]], [2])).b
        array([1., 2.])
        """
        if other.dim != self.dim:
            raise ShapeError(f"polyhedra must have equally many coordinates, got {self.dim} and {other.dim}")
        rows, ends = np.concatenate([self.A, other.A]), np.concatenate([self.b, other.b])
        equations, values = np.concatenate([self.C, other.C]), np.concatenate([self.d, other.d])
        parts = [part._rows.true_rows for part in (self, other)]
        if parts == [None, None]:
            return Polyhedron(rows, ends, equations, values)
        one, two = (part._rows.true_rows or GivenRows(len(part.b), part.side) for part in (self, other))
        both = BothRows(one, two)
        return Polyhedron._rounded(rows, ends, both, equations, values)

    def inequalities(self) -> tuple[Float[np.ndarray, "m n"], Float[np.ndarray, " m"]]:
        """Return the same set as ``A x <= b`` alone: each equation as two inequalities, behind the others.

        Examples
        --------
        >>> import reluscope as rs
        >>> rows, ends = rs.Polyhedron([[1.0, 0.0]], [2.0], C=[[4.0, 5.0]], d=[3.0]).inequalities()
        >>> rows.tolist(), ends.tolist()
        ([[1.0, 0.0], [4.0, 5.0], [-4.0, -5.0]], [2.0, 3.0, -3.0])
        """
        return np.concatenate([self.A, self.C, -self.C]), np.concatenate([self.b, self.d, -self.d])

    @read_arguments
    def to_text(self, form: Form = "cdd") -> str:
        """Return the rows as cdd, polymake or Sage read them, in fractions, or solvers as MPS, in float64.

        Nothing is rounded but rows of fractions (see above) in MPS.

        Examples
        --------
        >>> import reluscope as rs
        >>> print(rs.Polyhedron([[0.5, 0.0]], [1.0]).to_text("sage"))
        Polyhedron(ieqs=[[1, -1/2, 0]], eqns=[], base_ring=QQ)
        """
        if self._rows.sides is None or form == "mps":
            return written(self.A, self.b, self.C, self.d, form)
        table = np.array(self._rows.sides, dtype=object).reshape(-1, self.dim + 1)
        return written(-table[:, :-1], table[:, -1], self.C, self.d, form)

    @staticmethod
    @read_arguments
    def from_text(text: str) -> "Polyhedron":
        """Return the polyhedron whose half-spaces and equations cdd, polymake, Sage or a solver (MPS) wrote.

        The text determines the format. Fractions are rounded to the closest float64. A linear program in MPS gives its
        feasible set.

        Raises
        ------
        InputError
            If the text is no polyhedron; the message has the line.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Polyhedron.from_text("Polyhedron(ieqs=[[1, -1/2, 0]], eqns=[[0, 1, -1]])").C
        array([[-1.,  1.]])
        """
        return Polyhedron(*read(text))

    def describe(self) -> str:
        """Say in a few words what this is."""
        equations = f" and {len(self.C)} equations" if len(self.C) else ""
        return f"polyhedron of {len(self.A)} half-spaces{equations} in {self.dim} dimensions"

    @cached_property
    def system(self) -> ProvedSystem:
        """The rows, for questions that are answered with proof."""
        return ProvedSystem(*self._rows.near, self.C, self.d, self._rows.sides)

    @cached_property
    def _rows(self) -> PolyhedronRows:
        return PolyhedronRows(self.A, self.b, self.C, self.d, getattr(self, "_true_rows", None))

    @cached_property
    def _across(self) -> "tuple[Polyhedron, np.ndarray] | None":
        """What is left of an endless polyhedron across its directions, which is bounded, and an orthonormal basis."""
        found = self._rows.across
        return None if found is None else (Polyhedron(*found[:2]), found[2])

    @cached_property
    def _few_vertices(self) -> np.ndarray | None:
        """The vertices in coordinates of the affine hull, or None if there may be many or it is endless."""
        hull = self._hull
        if hull.dim not in MAX_DIFFERENCES or len(hull.b) > MAX_ROWS_OF_VERTICES or not self._rows.has_no_rays:
            return None
        vertices, _ = self._corners(CORNERS_OF_VOLUMES)
        return vertices if are_few(vertices) else None

    def _corners(self, tolerance: float) -> tuple[Float[np.ndarray, "v n"], float | None]:
        """Return the vertices in coordinates of the affine hull, and the volume if fractions found them."""
        hull = self._hull
        wrong: DegenerateGeometryError | None = None
        try:
            found = corners(hull.A, hull.b, self._inner_ball, tolerance)
        except DegenerateGeometryError as error:  # fractions may still know
            found, wrong = Corners(np.empty((0, hull.dim)), are_all=False), error
        if found.are_all:
            return found.points, None
        ends = self._rows.recession
        if ends is not None and ends.has_lines:
            return found.points[:0], None
        if self._rows.sides is not None and not len(self.C):
            exact = corners_of_sides(self._rows.sides)
        else:
            exact = exact_corners(hull.A, hull.b) if wrong is None and self._rows.has_no_rays else None
        if exact is None and wrong is not None:
            raise wrong
        return (found.points, None) if exact is None else exact

    def _found_facets(self, tolerance: float) -> FoundFacets:
        if tolerance not in self._facets:
            hull = self._full_dimensional("facets need")
            self._facets[tolerance] = find_facets(hull.A, hull.b, self._inner_ball, tolerance)
        return self._facets[tolerance]

    @cached_property
    def _facets(self) -> dict[float, FoundFacets]:
        """Facets found so far, by the tolerance: among thousands of rows they take a while."""
        return {}

    @cached_property
    def _hull(self) -> AffineHull:
        return AffineHull(*scaled_rows(self.A, self.b), *scaled_rows(self.C, self.d))

    @cached_property
    def _ball(self) -> Ball:
        hull = self._hull
        if hull.dim == 0:
            empty = not hull.is_consistent or (hull.b < 0).any()
            return Ball(hull.origin, -np.inf if empty else 0.0, 0.0)
        if not hull.is_consistent:
            return Ball(hull.origin, -np.inf, 0.0)
        ball = inscribed_ball(hull.A, hull.b)
        if 0 < ball.radius < np.inf and not ball.gap <= SURE * ball.radius and self._across is not None:
            return self._ball_far_out()
        return Ball(hull.lift(ball.center[None])[0], ball.radius, ball.gap)

    def _ball_far_out(self) -> Ball:
        """Return a largest ball of an endless polyhedron: across its directions, and so far out that it fits."""
        assert self._across is not None
        assert self._rows.recession is not None
        (across, basis), found = self._across, self._rows.recession
        ball, direction = across.insphere(), np.array([nearest(entry) for entry in found.direction])
        center = ball.center @ basis
        lengths = np.linalg.norm(self._rows.near[0], axis=1)
        others = np.setdiff1d(np.flatnonzero(lengths), found.still)
        normals, offsets = (part[others] for part in self._rows.near)
        missing = ball.radius * lengths[others] - (offsets - normals @ center)
        # How fast slacks grow along the direction: by how little is lost to rounding where a row is nearly constant.
        slopes = (sum(map(operator.mul, self.side(row), found.direction)) for row in others.tolist())
        steps = (nearest(Fraction(short) / slope) for short, slope in zip(missing.tolist(), slopes, strict=True))
        return Ball(center + max([0.0, *steps]) * direction, ball.radius, ball.gap)

    @property
    def _inner_ball(self) -> Ball:
        """The inscribed ball in coordinates of the affine hull."""
        ball = self.insphere()
        return Ball(self._hull.project(ball.center), ball.radius, ball.gap)

    def _full_dimensional(self, purpose: str) -> AffineHull:
        radius = self.insphere().radius
        if not radius > 0:
            what = "an empty polyhedron" if radius < 0 else "a flat one"
            raise DegenerateGeometryError(
                f"{purpose} a polyhedron with an interior, got {what} (inradius {radius:.3g})"
            )
        return self._hull


def _body(hull: AffineHull) -> HalfSpaceStack:
    """Return the half-spaces as a body, those along axes as bounds."""
    return HalfSpaceStack.of([HalfSpaces.of(hull.A, hull.b)])
