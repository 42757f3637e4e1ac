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
