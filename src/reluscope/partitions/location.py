"""Point location: which region of a partition a point lies in."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from reluscope.errors import ShapeError

if TYPE_CHECKING:
    from reluscope.partitions.table import Partition

BLOCK = 2**22


def locate(partition: "Partition", points: Float[np.ndarray, "s d"]) -> Int[np.ndarray, " s"]:
    """Return the lowest row whose closure contains each point, -1 if none does.

    Parameters
    ----------
    partition : Partition
    points : (s, d) or (d,) array
        In domain coordinates.

    Returns
    -------
    (s,) int64

    Raises
    ------
    ShapeError
        If points have another number of coordinates than the domain.

    Notes
    -----
    Every side of every region is a linear inequality; a point is in the closure if it violates none by more than the
    rounding of coordinates of this size. Cost: candidates per point are found by sorting bounding boxes along the
    first axis, then O(sides) each.
    """
    points = np.atleast_2d(np.asarray(points, dtype=np.float64))
    if points.shape[1] != partition.dim:
        raise ShapeError(f"points must have {partition.dim} coordinates of the domain, got shape {points.shape}")
    if not len(partition):
        return np.full(len(points), -1, dtype=np.int64)
    offsets, ids = partition.region_vertices
    corners = partition.vertices[ids]
    low = np.minimum.reduceat(corners, offsets[:-1], axis=0)
    high = np.maximum.reduceat(corners, offsets[:-1], axis=0)
    slack = 16 * np.finfo(float).eps * max(float(np.abs(corners).max()), float(np.abs(points).max()))
    found = np.full(len(points), -1, dtype=np.int64)
    step = max(1, BLOCK // len(partition))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        inside = np.ones((len(points[rows]), len(partition)), dtype=bool)
        for axis in range(partition.dim):
            inside &= points[rows, axis, None] >= low[:, axis] - slack
            inside &= points[rows, axis, None] <= high[:, axis] + slack
        point, region = np.nonzero(inside)
        if partition.dim == 2:
            held = _in_polygons(points[rows][point], region, corners, offsets, slack)
            point, region = point[held], region[held]
        # Pairs come in order of regions within each point, so the first is the lowest.
        first, index = np.unique(point, return_index=True)
        found[start + first] = region[index]
    return found


def _in_polygons(
    points: np.ndarray, regions: np.ndarray, corners: np.ndarray, offsets: np.ndarray, slack: float
) -> np.ndarray:
    """Tell for pairs of a point and a convex polygon whether the closure contains the point."""
    sizes = np.diff(offsets)[regions]
    pair = np.repeat(np.arange(len(points)), sizes)
    step = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start = offsets[regions][pair]
    a, b = corners[start + step], corners[start + (step + 1) % sizes[pair]]
    side, towards = b - a, points[pair] - a
    height = side[:, 0] * towards[:, 1] - side[:, 1] * towards[:, 0]
    outside = height < -slack * np.linalg.norm(side, axis=1)
    return np.bincount(pair[outside], minlength=len(points)) == 0
