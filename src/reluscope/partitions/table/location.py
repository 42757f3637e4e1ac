"""Point location: which region of a partition a point lies in."""

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from reluscope.errors import ShapeError

BLOCK = 2**22


def locate(
    points: ArrayLike,
    vertices: Float[np.ndarray, "v d"],
    offsets: Int[np.ndarray, " r1"],
    ids: Int[np.ndarray, " corners"],
) -> Int[np.ndarray, " s"]:
    """Return the lowest region whose closure contains each point, -1 if none does.

    A point is in a closure if it violates no side by more than the rounding of the side's ends. Corners must be
    counter-clockwise in the plane. Raises ShapeError for points of another dimension.
    """
    dim, number = vertices.shape[1], len(offsets) - 1
    where = np.atleast_2d(np.asarray(points, dtype=np.float64))
    if where.shape[1] != dim:
        raise ShapeError(f"points must have {dim} coordinates of the domain, got shape {where.shape}")
    found = np.full(len(where), -1, dtype=np.int64)
    if not number or not len(where):
        return found
    corners = vertices[ids]
    low = np.minimum.reduceat(corners, offsets[:-1], axis=0)
    high = np.maximum.reduceat(corners, offsets[:-1], axis=0)
    # Each point has the slack of its own size: one far away does not blur the others. So has each axis.
    sizes = np.where(np.isfinite(where), np.abs(where), 0.0)
    slack = 16 * np.finfo(float).eps * np.maximum(np.abs(corners).max(axis=0), sizes)
    step = max(1, BLOCK // number)
    for start in range(0, len(where), step):
        rows = slice(start, start + step)
        inside = np.ones((len(where[rows]), number), dtype=bool)
        for axis in range(dim):
            inside &= where[rows, axis, None] >= low[:, axis] - slack[rows, axis, None]
            inside &= where[rows, axis, None] <= high[:, axis] + slack[rows, axis, None]
        point, region = np.nonzero(inside)
        if dim == 2:
            is_within = _in_polygons(where[rows][point], region, corners, offsets, slack[rows][point])
            point, region = point[is_within], region[is_within]
        # Pairs come in order of regions within each point, so the first is the lowest.
        first, index = np.unique(point, return_index=True)
        found[start + first] = region[index]
    return found


def _in_polygons(
    points: np.ndarray, regions: np.ndarray, corners: np.ndarray, offsets: np.ndarray, slack: np.ndarray
) -> np.ndarray:
    """Return for pairs of a point and a convex polygon whether the closure contains the point."""
    sizes = np.diff(offsets)[regions]
    pair = np.repeat(np.arange(len(points)), sizes)
    step = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start = offsets[regions][pair]
    a, b = corners[start + step], corners[start + (step + 1) % sizes[pair]]
    side, towards = b - a, points[pair] - a
    height = side[:, 0] * towards[:, 1] - side[:, 1] * towards[:, 0]
    # Both ends may be off by the slack, which turns a side that is not much longer.
    reach = np.abs(towards) + np.abs(points[pair] - b)
    outside = height < -(slack[pair] * reach[:, ::-1]).sum(axis=1)
    return np.bincount(pair[outside], minlength=len(points)) == 0
