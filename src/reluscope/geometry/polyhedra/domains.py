"""Where a question is asked: all of space, a box, a polyhedron, or a low-dimensional slice of input space.

A slice is an affine map from a window in d coordinates into input space, ``x = origin + y @ basis``. Segments and
planes are slices with an orthonormal basis, so that lengths and areas in the window are those of input space.
"""

from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from reluscope.arguments import Count, read_arguments, read_array, read_coordinates, read_point
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.widths import Diameter, diameter_of_hull
from reluscope.needed_memory import need_at_once
from reluscope.shown import Shown

# More than the largest images have; a point of so many coordinates takes a gigabyte.
MAX_DIMENSIONS = 2**27
# Of points that are computed, relative to their coordinates.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@read_arguments
@dataclass(frozen=True)
class Space:
    """All of R^dim.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.Space(3).describe()
    'all of R^3'
    """

    dim: Count

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise InputError(f"a space must have at least one dimension, got {self.dim}")
        _check_dimension(self.dim)

    @property
    def ambient_dim(self) -> int:
        """Number of inputs."""
        return self.dim

    @property
    def polyhedron(self) -> Polyhedron:
        """The same set as a polyhedron without rows."""
        return Polyhedron(np.empty((0, self.dim)), np.empty(0))

    def is_bounded(self) -> bool:
        """Return False."""
        return False

    def volume(self) -> float:
        """Return the volume, which is infinite."""
        return np.inf

    def diameter(self) -> Diameter:
        """Return the diameter, which is infinite."""
        return Diameter(np.inf, np.inf, np.full((2, self.dim), np.nan))

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: float = 0.0) -> Bool[np.ndarray, "..."]:
        """Return which of the points (..., n) have finite coordinates only."""
        del tolerance
        points = read_coordinates(x, self.dim)
        return np.asarray(np.isfinite(points).all(axis=-1))

    def describe(self) -> str:
        """Say in a few words what this is."""
        return f"all of R^{self.dim}"


@read_arguments
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Box(Shown):
    """The points x with ``lo <= x <= hi``, coordinate by coordinate.

    Where some coordinates have equal ends, it is the `Slice` of the others, whose slice coordinates are these inputs.

    Parameters
    ----------
    lo, hi : number or array
        Bounds; arrays of any shape are flattened.
    dim : int, optional
        Number of coordinates; needed only if both bounds are single numbers.

    Raises
    ------
    DegenerateGeometryError
        If all sides have length zero, or one is negative.
    InputError
        If a bound is NaN or infinite, or ``dim`` is missing.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.Box(-1, 1, 2).describe()
    'box [-1, 1]^2'
    >>> rs.Box([0, 0], [1, 3]).volume()
    3.0
    >>> rs.Box([0, 5, 0], [1, 5, 2]).describe()
    'plane of size 1 x 2 in 3 inputs'
    """

    lo: Float[np.ndarray, " n"]
    hi: Float[np.ndarray, " n"]

    def __new__(cls, lo: ArrayLike | None = None, hi: ArrayLike | None = None, dim: int | None = None) -> Self:
        """Return a box, or a slice where some sides have length zero and others have not."""
        flat = None if lo is None or hi is None else _flat_box(lo, hi)
        return object.__new__(cls) if flat is None else cast(Self, flat)

    def __init__(self, lo: ArrayLike, hi: ArrayLike, dim: Count | None = None) -> None:
        low, high = read_array(lo, "lo"), read_array(hi, "hi")
        if dim is None and low.ndim == 0 and high.ndim == 0:
            raise InputError("a box with one number for each bound needs its dimension: Box(lo, hi, dim)")
        size = dim if dim is not None else (low.size if low.ndim else high.size)
        if size < 1:
            raise ShapeError(f"a box must have at least one dimension, got {size}")
        _check_dimension(size)
        for name, bound in (("lo", low), ("hi", high)):
            if bound.ndim and bound.size != size:
                raise ShapeError(f"{name} must be a number or have {size} entries, got shape {bound.shape}")
            full = np.array(np.broadcast_to(bound.reshape(-1), (size,)))
            full.setflags(write=False)
            object.__setattr__(self, name, full)
        if not (self.lo < self.hi).all():
            axis = int(np.argmin(self.hi - self.lo))
            some = "some" if self.lo[axis] == self.hi[axis] else "every"
            raise DegenerateGeometryError(
                f"a box needs lo < hi in {some} coordinate, got [{self.lo[axis]:g}, {self.hi[axis]:g}] "
                f"in coordinate {axis}"
            )

    @property
    def dim(self) -> int:
        """Number of coordinates n."""
        return len(self.lo)

    @property
    def ambient_dim(self) -> int:
        """Same as ``dim``."""
        return self.dim

    @property
    def center(self) -> Float[np.ndarray, " n"]:
        """Midpoint."""
        return self.lo + (self.hi - self.lo) / 2

    def is_bounded(self) -> bool:
        """Return True."""
        return True

    def volume(self) -> float:
        """Return the product of the side lengths."""
        return float(np.prod(self.hi - self.lo))

    def diameter(self) -> Diameter:
        """Return the diameter: the length of the diagonal, and its ends."""
        length = float(np.linalg.norm(self.hi - self.lo))
        return Diameter(length, length, np.stack([self.lo, self.hi]))

    @property
    def polyhedron(self) -> Polyhedron:
        """The same set as half-spaces: upper bounds of all coordinates, then lower bounds."""
        need_at_once(
            2 * 2 * 8 * self.dim**2,
            f"the half-spaces of a box in {self.dim:,} dimensions",
            "ask without a domain, or on a Plane or a Segment",
        )
        identity = np.eye(self.dim)
        return Polyhedron(np.concatenate([identity, -identity]), np.concatenate([self.hi, -self.lo]))

    def corners(self) -> Float[np.ndarray, "v n"]:
        """Return all 2^n corners; in the plane in counter-clockwise order."""
        if self.dim > 16:
            raise InputError(f"a box in {self.dim} dimensions has 2^{self.dim} corners; at most 2^16 are listed")
        bits = (np.arange(2**self.dim)[:, None] >> np.arange(self.dim)) & 1
        if self.dim == 2:
            bits = bits[[0, 1, 3, 2]]
        return np.where(bits == 1, self.hi, self.lo)

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: float = 0.0) -> Bool[np.ndarray, "..."]:
        """Return which of the points (..., n) lie in the box, up to ``tolerance`` in each coordinate."""
        points = read_coordinates(x, self.dim)
        return np.asarray(((points >= self.lo - tolerance) & (points <= self.hi + tolerance)).all(axis=-1))

    def describe(self) -> str:
        """Say in a few words what this is."""
        if (self.lo == self.lo[0]).all() and (self.hi == self.hi[0]).all():
            power = f"^{self.dim}" if self.dim > 1 else ""
            return f"box [{self.lo[0]:g}, {self.hi[0]:g}]{power}"
        if self.dim <= 3:
            sides = " x ".join(f"[{low:g}, {high:g}]" for low, high in zip(self.lo, self.hi, strict=True))
            return f"box {sides}"
        return f"box in {self.dim} dimensions"


@read_arguments
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Slice(Shown):
    """A low-dimensional window in input space: ``x = origin + y @ basis`` for y in the window.

    Parameters
    ----------
    origin : (n,) array
        The point y = 0; arrays of any shape are flattened.
    basis : (d, n) array
        Linearly independent directions, one per row; they need not be orthonormal.
    window : Box, Polyhedron or Space in d dimensions
        The part under study, in slice coordinates; an unbounded one makes rays, lines and whole planes.

    Raises
    ------
    DegenerateGeometryError
        If the directions are linearly dependent.
    ShapeError
        If origin, basis and window are inconsistent.
    InputError
        If an entry is not finite.

    Examples
    --------
    >>> import reluscope as rs
    >>> diagonal = rs.Slice([0, 0, 0], [[1, 1, 1]], rs.Box(0, 2, 1))
    >>> diagonal.lift([[1.5]])
    array([[1.5, 1.5, 1.5]])
    >>> diagonal.project([[0.0, 0.0, 3.0]])
    array([[1.]])
    """

    origin: Float[np.ndarray, " n"]
    basis: Float[np.ndarray, "d n"]
    window: Box | Polyhedron | Space

    def __init__(self, origin: ArrayLike, basis: ArrayLike, window: Box | Polyhedron | Space) -> None:
        start = read_point(origin, "origin")
        directions = read_array(basis, "basis")
        if directions.ndim < 2 or not len(directions) or directions[0].size != start.size:
            raise ShapeError(
                f"basis must have shape (d, {start.size}), one direction per row, got shape {directions.shape}"
            )
        directions = directions.reshape(len(directions), start.size)
        if not isinstance(window, Box | Polyhedron | Space):
            raise InputError(f"window must be a Box, a Polyhedron or a Space, got {type(window).__name__}")
        if window.dim != len(directions):
            raise ShapeError(f"window must have {len(directions)} dimensions, as many as basis rows, got {window.dim}")
        largest = np.abs(directions).max(axis=1, initial=0.0, keepdims=True)
        rank = int(np.linalg.matrix_rank(directions / np.where(largest > 0, largest, 1.0)))
        if rank < len(directions):
            raise DegenerateGeometryError(
                f"the {len(directions)} directions of a slice must be linearly independent, got rank {rank}"
            )
        object.__setattr__(self, "origin", start)
        object.__setattr__(self, "basis", directions)
        object.__setattr__(self, "window", window)

    @property
    def dim(self) -> int:
        """Number of slice coordinates d."""
        return len(self.basis)

    @property
    def ambient_dim(self) -> int:
        """Number of inputs n."""
        return self.basis.shape[1]

    @property
    def is_orthonormal(self) -> bool:
        """Whether lengths and areas in the window are those of input space."""
        return bool(np.allclose(self.basis @ self.basis.T, np.eye(self.dim), rtol=0, atol=SUMS))

    @read_arguments
    def lift(self, y: ArrayLike) -> Float[np.ndarray, "... n"]:
        """Map slice coordinates (..., d) to points (..., n) of input space."""
        coordinates = read_array(y, "y")
        if coordinates.ndim == 0 or coordinates.shape[-1] != self.dim:
            raise ShapeError(f"slice coordinates must have {self.dim} entries, got shape {coordinates.shape}")
        return self.origin + coordinates @ self.basis

    @read_arguments
    def project(self, x: ArrayLike) -> Float[np.ndarray, "... d"]:
        """Map points to the slice coordinates of the closest point of the slice's affine hull.

        Parameters
        ----------
        x : (..., n) array, or (s, *input_shape)
            Points.

        Returns
        -------
        (..., d) array
            ``argmin_y |origin + y @ basis - x|``.
        """
        points = read_array(x, "x")
        if points.ndim and points.shape[-1] != self.ambient_dim:
            if points.size == self.ambient_dim:
                points = points.reshape(-1)
            elif points.shape[0] and points[0].size == self.ambient_dim:
                points = points.reshape(len(points), -1)
        if points.ndim == 0 or points.shape[-1] != self.ambient_dim:
            raise ShapeError(f"points must have {self.ambient_dim} coordinates, got shape {points.shape}")
        return (points - self.origin) @ np.linalg.pinv(self.basis)

    def is_bounded(self) -> bool:
        """Return whether the window is bounded."""
        return self.window.is_bounded()

    def volume(self) -> float:
        """Return the length, area or volume in input space, in the dimension of the slice.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.Slice([0, 0, 0], [[3, 4, 0]], rs.Box(0, 2, 1)).volume()
        10.0
        """
        return float(self.window.volume() * np.prod(np.linalg.svd(self.basis, compute_uv=False)))

    def diameter(self) -> Diameter:
        """Return the diameter in input space.

        Returns
        -------
        Diameter
            Exact up to rounding: of the vertices of the window, which have to be few. Infinite where the slice is
            unbounded.
        """
        window = self.window
        if isinstance(window, Space) or not window.is_bounded():
            return Diameter(np.inf, np.inf, np.full((2, self.ambient_dim), np.nan))
        return diameter_of_hull(self.lift(window.corners() if isinstance(window, Box) else window.vertices()))

    @read_arguments
    def contains(self, x: ArrayLike, tolerance: float = 0.0) -> Bool[np.ndarray, "..."]:
        """Return which of the points (..., n) of input space lie in the slice, up to rounding.

        Parameters
        ----------
        x : (..., n) array
        tolerance : float
            Largest distance from the slice's affine hull, and from the window in slice coordinates.
        """
        points = read_coordinates(x, self.ambient_dim)
        is_finite = np.asarray(np.isfinite(points).all(axis=-1))
        known = np.where(is_finite[..., None], points, self.origin)
        y = self.project(known)
        sizes = np.abs(known).max(axis=-1) + np.abs(self.origin).max()
        slack = tolerance + _ROUNDING * sizes
        beside = np.linalg.norm(self.lift(y) - known, axis=-1) <= slack
        # Distances in the window are those in input space, divided by the length of a direction at least.
        widest = float(slack.max(initial=tolerance)) / float(np.linalg.svd(self.basis, compute_uv=False)[-1])
        return np.asarray(is_finite & beside & self.window.contains(y, max(tolerance, widest)))

    @read_arguments
    def clip(self, domain: Box | Polyhedron) -> "Slice":
        """Return the slice with its window restricted to the points in a domain of input space.

        Parameters
        ----------
        domain : Box or Polyhedron in n dimensions
            For instance ``Box(0, 1, 784)`` for images.

        Returns
        -------
        Slice
            Same origin and basis; the window is a polyhedron if anything was cut off, otherwise unchanged.

        Raises
        ------
        DegenerateGeometryError
            If the domain does not meet the interior of the window.
        """
        outer = domain.polyhedron if isinstance(domain, Box) else domain
        if outer.dim != self.ambient_dim:
            raise ShapeError(f"the domain must have {self.ambient_dim} dimensions, got {outer.dim}")
        if len(outer.C):
            raise InputError("a slice can be clipped by half-spaces only, got a polyhedron with equations")
        window = self.window if isinstance(self.window, Polyhedron) else self.window.polyhedron
        normals, offsets = outer.A @ self.basis.T, outer.b - outer.A @ self.origin
        if isinstance(self.window, Box):  # a row that holds at its worst corner cuts nothing
            center, half = self.window.center, (self.window.hi - self.window.lo) / 2
            cuts = normals @ center + np.abs(normals) @ half > offsets
            normals, offsets = normals[cuts], offsets[cuts]
        if not len(normals):
            return self
        clipped = window.intersect(Polyhedron(normals, offsets))
        if not clipped.insphere().radius > 0:
            raise DegenerateGeometryError("the domain does not meet the interior of the slice's window")
        return replace(self, window=clipped)

    def describe(self) -> str:
        """Say in a few words what this is."""
        kind = {1: "segment", 2: "plane"}.get(self.dim, f"{self.dim}-dimensional slice")
        if not self.is_bounded():
            is_whole = isinstance(self.window, Space)
            if self.dim == 1:
                return f"{'line' if is_whole else 'ray'} in {self.ambient_dim} inputs"
            return f"{'whole' if is_whole else 'unbounded'} {kind} in {self.ambient_dim} inputs"
        if isinstance(self.window, Box):
            sides = " x ".join(f"{side:.6g}" for side in self.window.hi - self.window.lo)
            return f"{kind} of size {sides} in {self.ambient_dim} inputs"
        return f"{kind} in {self.ambient_dim} inputs, window a {self.window.describe()}"


Domain = Space | Box | Polyhedron | Slice


def _flat_box(lo: ArrayLike, hi: ArrayLike) -> Slice | None:
    """Return the slice of the coordinates that vary, None where all of them do, or none, or something is wrong."""
    try:
        low, high = np.broadcast_arrays(*(np.asarray(end, dtype=np.float64).reshape(-1) for end in (lo, hi)))
    except (TypeError, ValueError):
        return None
    free = low < high
    if free.all() or not free.any() or not (free | (low == high)).all():
        return None
    return Slice(np.where(free, 0.0, low), np.eye(len(low))[free], Box(low[free], high[free]))


def _check_dimension(number: int) -> None:
    if number > MAX_DIMENSIONS:
        raise InputError(f"a domain may have {MAX_DIMENSIONS:,} dimensions at most, got {number:,}: give fewer")
