"""Slices through points: segments, rays, lines, polylines and planes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from reluscope.arguments import describe, read_arguments, read_array, read_point
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Box, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


@read_arguments
def Segment(  # noqa: N802
    a: ArrayLike, b: ArrayLike, *, beyond: Literal["a", "b", "both"] | None = None
) -> Slice:
    """Return the segment from a to b as a slice with coordinate t in [0, |b - a|], or the ray or line through them.

    Parameters
    ----------
    a, b : arrays of n entries
        End points; arrays of any shape are flattened.
    beyond : {"a", "b", "both"}, optional
        The end beyond which the slice goes on without end: "b" makes the ray from a through b, with t from 0 to
        infinity, "both" the whole line.

    Returns
    -------
    Slice
        One-dimensional, origin a, unit direction (b - a) / |b - a|.

    Raises
    ------
    DegenerateGeometryError
        If a and b coincide.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.Segment([0, 0], [3, 4]).window.hi
    array([5.])
    >>> rs.Segment([0, 0], [3, 4], beyond="b").describe()
    'ray in 2 inputs'
    """
    start, end = read_point(a, "a"), read_point(b, "b")
    if start.size != end.size:
        raise ShapeError(f"a and b must have equally many coordinates, got {start.size} and {end.size}")
    length = float(np.linalg.norm(end - start))
    if not length > 0:
        raise DegenerateGeometryError("a segment needs two different end points, got the same point twice")
    windows = {
        None: Box([0.0], [length]),
        "a": Polyhedron([[1.0]], [length]),
        "b": Polyhedron([[-1.0]], [0.0]),
        "both": Space(1),
    }
    return Slice(start, ((end - start) / length)[None], windows[beyond])


@read_arguments
def polyline(points: ArrayLike) -> list[Slice]:
    """Build the segments of a polyline through points (k, n) or (k, *input_shape), in order.

    Examples
    --------
    >>> import reluscope as rs
    >>> [segment.window.hi[0] for segment in rs.polyline([[0, 0], [1, 0], [1, 2]])]
    [np.float64(1.0), np.float64(2.0)]
    """
    stops = read_array(points, "points")
    if stops.ndim < 2 or len(stops) < 2:
        raise ShapeError(f"a polyline needs at least two points, one per row, got an array of shape {stops.shape}")
    stops = stops.reshape(len(stops), -1)
    for index in range(len(stops) - 1):
        if np.array_equal(stops[index], stops[index + 1]):
            raise DegenerateGeometryError(f"points {index} and {index + 1} of the polyline coincide; drop one of them")
    return [Segment(start, end) for start, end in pairwise(stops)]


@read_arguments
def Plane(  # noqa: N802
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike,
    margin: float = 0.0,
    window: Box | Polyhedron | Sequence[Sequence[float]] | None = None,
) -> Slice:
    """Return the slice through three points: origin a, first axis along b - a, second axis towards c.

    Parameters
    ----------
    a, b, c : arrays of n entries
        Three points that are not on a line; arrays of any shape are flattened.
    margin : float
        Enlargement of the points' bounding rectangle on every side, relative to its longer side.
    window : Box or Polyhedron, or a pair (lo, hi), optional
        Window in plane coordinates, used instead of the bounding rectangle.

    Returns
    -------
    Slice
        Two-dimensional, with orthonormal axes (Gram-Schmidt).

    Raises
    ------
    DegenerateGeometryError
        If the points are collinear up to the rounding of their coordinates.

    Examples
    --------
    >>> import reluscope as rs
    >>> plane = rs.Plane([0, 0, 0], [2, 0, 0], [1, 1, 0])
    >>> plane.basis
    array([[1., 0., 0.],
           [0., 1., 0.]])
    >>> plane.window.describe()
    'box [0, 2] x [0, 1]'
    """
    first, second, third = read_point(a, "a"), read_point(b, "b"), read_point(c, "c")
    if not first.size == second.size == third.size:
        raise ShapeError(
            f"a, b and c must have equally many coordinates, got {first.size}, {second.size} and {third.size}"
        )
    if not (np.isfinite(margin) and margin > -0.5):
        raise InputError(f"margin must be a number above -0.5, got {margin}")
    length = float(np.linalg.norm(second - first))
    towards = third - first
    size = max(float(np.linalg.norm(point)) for point in (first, second, third))
    # The points' own coordinates are rounded, so a residual below this is noise, not a direction.
    noise = 16 * np.finfo(float).eps * size * (1 + float(np.linalg.norm(towards)) / length) if length else np.inf
    if not length > 0:
        raise DegenerateGeometryError("a plane needs three points that are not on a line, got a equal to b")
    axis = (second - first) / length
    residual = towards - (towards @ axis) * axis
    height = float(np.linalg.norm(residual))
    if height <= noise:
        raise DegenerateGeometryError("a plane needs three points that are not on a line, got collinear points")
    other = residual / height
    other = other - (other @ axis) * axis  # once more: the first pass loses digits when c is far along the axis
    other = other / np.linalg.norm(other)
    basis = np.stack([axis, other])
    if window is None:
        corners = np.stack([np.zeros(2), [length, 0.0], basis @ towards])
        low, high = corners.min(axis=0), corners.max(axis=0)
        low[1] = 0.0  # a and b have second coordinate 0 by construction
        border = margin * float((high - low).max())
        window = Box(low - border, high + border)
    elif not isinstance(window, Box | Polyhedron):
        if len(window) != 2:
            raise InputError(f"window must be a Box, a Polyhedron or a pair (lo, hi), got {describe(window)}")
        window = Box(window[0], window[1])
    return Slice(first, basis, window)
