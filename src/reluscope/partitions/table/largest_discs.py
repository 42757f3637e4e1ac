"""Largest discs in convex polygons, many at once: centres at equal distance from three sides, and the best of them.

A largest disc touches three sides of a polygon, or can be moved until it does. From the centre of every triple the
distance to all sides is measured, so that each disc that is found is inside, and a largest one is among them.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

# Of directions of length 1: three lines whose normals span a smaller area are no triangle.
FLAT = 1e-14
# Memory for the centres of all triples of sides of many polygons: so many at a time.
MOST_CENTERS = 500_000


def largest_discs(
    vertices: Float[np.ndarray, "v 2"], offsets: Int[np.ndarray, " r1"], ids: Int[np.ndarray, " c"]
) -> Float[np.ndarray, " r"]:
    """Return the radius of a largest disc in every polygon.

    Corners ``vertices[ids[offsets[i] : offsets[i + 1]]]`` are counter-clockwise. Radii hold up to rounding, and are 0
    for flat polygons. Cost: ``k^4 / 6`` operations for a polygon of k sides.
    """
    sizes = np.diff(offsets)
    radii = np.zeros(len(sizes))
    for size in np.unique(sizes[sizes >= 3]).tolist():
        rows = np.flatnonzero(sizes == size)
        triples = np.array(list(combinations(range(size), 3)))
        step = max(1, MOST_CENTERS // (len(triples) * size))
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            corners = vertices[ids[offsets[block][:, None] + np.arange(size)]]
            radii[block] = _radii(corners, triples)
    return radii


def _radii(corners: Float[np.ndarray, "r k 2"], triples: Int[np.ndarray, "t 3"]) -> Float[np.ndarray, " r"]:
    """Return radii of polygons with equally many corners."""
    middle = corners.mean(axis=1, keepdims=True)
    scale = np.abs(corners - middle).max(axis=(1, 2), keepdims=True)
    scale = np.where(scale > 0, scale, 1.0)
    corners = (corners - middle) / scale
    sides = np.roll(corners, -1, axis=1) - corners
    lengths = np.linalg.norm(sides, axis=2)
    there = lengths > 0
    # Inward normals: at a place p the distance to a side is ``normal p - offset``.
    normals = np.stack([-sides[..., 1], sides[..., 0]], axis=2) / np.where(there, lengths, 1.0)[..., None]
    # All corners are on the inner side of a line, however badly the direction of a short side is known.
    offsets = np.where(there, (normals @ corners.transpose(0, 2, 1)).min(axis=2), 0.0)
    # Cramer's rule for ``normal c - radius = offset`` of three sides.
    first, second, third = (normals[:, triples[:, place]] for place in range(3))
    one, two, three = (offsets[:, triples[:, place]] for place in range(3))
    u, v = second - first, third - first
    p, q = two - one, three - one
    area = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    is_triangle = np.abs(area) > FLAT
    area = np.where(is_triangle, area, 1.0)
    x, y = (p * v[..., 1] - q * u[..., 1]) / area, (q * u[..., 0] - p * v[..., 0]) / area
    distances = normals[:, None, :, 0] * x[..., None] + normals[:, None, :, 1] * y[..., None] - offsets[:, None]
    nearest = np.where(there[:, None], distances, np.inf).min(axis=2)
    best = np.where(is_triangle & np.isfinite(nearest), nearest, 0.0).max(axis=1)
    return np.maximum(best, 0.0) * scale[:, 0, 0]
