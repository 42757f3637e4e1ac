"""Convex hulls of points as polyhedra: half-spaces within their affine hull, and equations of it.

Points are stretched along their main axes before Qhull sees them, so that slivers are as wide as any other body.
"""

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull, QhullError

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

# Rows of one facet, which Qhull gives for every simplex of it, agree to so many digits.
DIGITS = 12
# More dimensions than Qhull can do with.
MAX_DIMENSIONS = 9


def dimension_of(points: Float[np.ndarray, "v n"], thin: float) -> int:
    """Return the dimension of the affine hull of points; extents below ``thin`` count as flat."""
    return int((np.linalg.svd(points - points.mean(axis=0), compute_uv=False) > thin).sum())


def hull_of(points: Float[np.ndarray, "v n"], thin: float) -> Polyhedron:
    """Return the convex hull of points as a polyhedron, with equations where it is flat.

    Extents below ``thin`` count as flat. Raises InputError if the hull has more than 9 dimensions.
    """
    middle = points.mean(axis=0)
    _, widths, axes = np.linalg.svd(points - middle, full_matrices=True)
    dim = int((widths > thin).sum())
    if dim > MAX_DIMENSIONS:
        raise InputError(f"a hull is made in at most {MAX_DIMENSIONS} dimensions, got points in {dim}: choose outputs")
    equations = axes[dim:]
    if not dim:
        return Polyhedron(np.zeros((0, len(middle))), np.zeros(0), equations, equations @ middle)
    stretch = axes[:dim] / widths[:dim, None]
    rows = _facets((points - middle) @ stretch.T) @ stretch
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    # No point is outside, whatever was rounded.
    return Polyhedron(rows, (points @ rows.T).max(axis=0), equations, equations @ middle)


def _facets(points: np.ndarray) -> np.ndarray:
    """Return the outward normals of the facets of points with an interior."""
    dim = points.shape[1]
    if dim == 1:
        return np.array([[1.0], [-1.0]])
    try:
        normals = ConvexHull(points).equations[:, :-1]
    except QhullError:
        normals = ConvexHull(points, qhull_options="QJ").equations[:, :-1]
    _, first = np.unique(normals.round(DIGITS), axis=0, return_index=True)
    return normals[np.sort(first)]


def sides_of_polygon(corners: Float[np.ndarray, "k 2"], short: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows ``A x <= b`` of the sides of a polygon, with unit normals, that hold at all corners.

    Corners are counter-clockwise. A side of length ``short`` or less has no direction that rounding leaves: its normal
    halves the angle of the sides before and after it that are longer. A polygon without two such sides is replaced by
    the least box around it.
    """
    steps = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(steps, axis=1)
    long = np.flatnonzero(lengths > short)
    if len(long) < 2:
        return np.concatenate([np.eye(2), -np.eye(2)]), np.concatenate([corners.max(axis=0), -corners.min(axis=0)])
    along = steps / np.where(lengths > 0, lengths, 1.0)[:, None]
    normals = _right_of(along)
    for place in np.flatnonzero(lengths <= short).tolist():
        later = int(np.searchsorted(long, place))
        before, after = along[long[later - 1]], along[long[later % len(long)]]
        # Both point outwards, and one of them is long whatever the angle.
        outward = _right_of(before + after) + before - after
        normals[place] = outward / np.linalg.norm(outward)
    normals = normals[lengths > 0]
    return normals, (normals @ corners.T).max(axis=1)


def _right_of(along: np.ndarray) -> np.ndarray:
    return np.stack([along[..., 1], -along[..., 0]], axis=-1)
