"""Points drawn uniformly in the regions of a partition: a region by its weight, a simplex by its volume, a point of it.

A region is cut into simplices from a point inside over the facets of its hull. Spacings of sorted uniform numbers are
barycentric coordinates of a uniform point of a simplex (Devroye, Non-Uniform Random Variate Generation, 1986, V.2.1).
"""

from math import factorial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull, QhullError

from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.partitions.region_quantities import region_quantity
from reluscope.partitions.table.region_table import kept_corners

if TYPE_CHECKING:
    from reluscope.partitions.partition_in_memory import Partition


def sample_regions(
    part: "Partition", number: int, seed: int, weights: str | Float[np.ndarray, " r"] | None
) -> tuple[Float[np.ndarray, "n d"], Int[np.ndarray, " n"]]:
    """Return points and the regions that they were drawn in; see `Partition.sample`."""
    kept_corners(part, "points uniform in regions", ", or draw points of a box and locate them")
    shares = _shares(part, weights)
    generator = np.random.default_rng(seed)
    regions = generator.choice(len(part), size=number, p=shares)
    draws = generator.random((number, part.dim + 1))
    points = np.empty((number, part.dim))
    order = np.argsort(regions, kind="stable")
    chosen, starts = np.unique(regions[order], return_index=True)
    offsets, ids = part.region_vertices
    for region, rows in zip(chosen.tolist(), np.split(order, starts[1:]), strict=True):
        corners = part.vertices[ids[offsets[region] : offsets[region + 1]]]
        simplices, volumes = _simplices(corners, part.witnesses[region])
        if not volumes.sum() > 0:
            raise DegenerateGeometryError(
                f"expected regions that float64 can tell from flat ones, got region {region} of volume 0: give it the "
                "weight 0, or leave weights out"
            )
        ends = np.cumsum(volumes)
        which = np.minimum(np.searchsorted(ends, draws[rows, 0] * ends[-1], side="right"), len(ends) - 1)
        spacings = np.diff(np.sort(draws[rows, 1:], axis=1), axis=1, prepend=0.0, append=1.0)
        points[rows] = np.einsum("nk,nkd->nd", spacings, simplices[which])
    return points, regions


def _shares(part: "Partition", weights: str | Float[np.ndarray, " r"] | None) -> Float[np.ndarray, " r"]:
    """Return the probability of every region."""
    if weights is None or isinstance(weights, str):
        given = region_quantity("volume" if weights is None else weights).of(part).astype(np.float64)
    else:
        given = weights
    if len(given) != len(part):
        raise ShapeError(f"weights must have one entry for each of {len(part):,} regions, got {len(given):,}")
    unbounded = np.flatnonzero((given != 0) & ~part.is_bounded())
    if len(unbounded):
        raise InputError(
            f"expected bounded regions to draw points from, got {len(unbounded):,} unbounded ones of {len(part):,}: "
            "partition a bounded domain, or give weights that are 0 there (part.is_bounded())"
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise InputError(
            "expected weights that are finite, not negative and not all 0, got from "
            f"{given.min(initial=np.inf):g} to {given.max(initial=-np.inf):g}: give others, or leave them out"
        )
    scaled = given / given.max()  # whose sum is no infinity
    return scaled / scaled.sum()


def _simplices(
    corners: Float[np.ndarray, "v d"], inside: Float[np.ndarray, " d"]
) -> tuple[Float[np.ndarray, "s d1 d"], Float[np.ndarray, " s"]]:
    """Return simplices that make up the hull of points, and their volumes: over its facets from a point inside."""
    dim = corners.shape[1]
    if dim == 1:
        return np.array([[corners.min(axis=0), corners.max(axis=0)]]), np.array([float(np.ptp(corners))])
    facets = _facets(corners)
    simplices = np.concatenate([np.broadcast_to(inside, (len(facets), 1, dim)), corners[facets]], axis=1)
    return simplices, np.abs(np.linalg.det(simplices[:, 1:] - inside)) / factorial(dim)


def _facets(corners: Float[np.ndarray, "v d"]) -> Int[np.ndarray, "s d"]:
    """Return the corners of the facets of a hull, cut into simplices; none of one that floats cannot tell from flat."""
    stretched, widths, _ = np.linalg.svd(corners - corners.mean(axis=0), full_matrices=False)
    if len(corners) <= corners.shape[1] or not widths[-1] > 0:
        return np.zeros((0, corners.shape[1]), dtype=np.int64)
    for options in (None, "QJ"):  # some shapes confuse Qhull; moved by about the rounding they do not
        try:
            return ConvexHull(stretched, qhull_options=options).simplices.astype(np.int64)
        except QhullError:
            continue
    return np.zeros((0, corners.shape[1]), dtype=np.int64)
