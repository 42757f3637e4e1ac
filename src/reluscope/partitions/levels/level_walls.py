"""How much of the boundary of a domain is on each side of a level: what closes bodies that the domain cuts.

A domain is convex, so that every part of its boundary makes a cone with a point inside. These cones and the pieces of a
level set close what is on one side of it, and the divergence theorem gives its volume.
"""

from dataclasses import dataclass

import numpy as np

from reluscope.geometry.cutting.complexes import Complex

# In the order of the sides -1, 0 and 1.
NAMES = ("walls_below", "walls_on", "walls_above")


@dataclass(frozen=True, eq=False)
class Walls:
    """The boundary of a domain, by sides of a level.

    Parameters
    ----------
    apex : (d,) float64
        A point inside the domain.
    cones : (3,) float64
        Volumes of the cones from there over what is beside cells below the level, on it, and above it.
    """

    apex: np.ndarray
    cones: np.ndarray

    def __post_init__(self) -> None:
        self.apex.setflags(write=False)
        self.cones.setflags(write=False)

    @property
    def total(self) -> float:
        """Volume of the domain."""
        return float(self.cones.sum())


def cones_by_side(
    cells: Complex, points: np.ndarray, is_wall: np.ndarray, sides: np.ndarray, apex: np.ndarray
) -> np.ndarray:
    """Return the volumes (3,) of the cones from a point over the facets of some cells, by the sides of these.

    Parameters
    ----------
    cells : Complex
    points : (v, d) float64
    is_wall : (facets,) bool
        Which facets count; each has one cell.
    sides : (cells,) int8
        -1, 0 or 1; cells with any other are left out.
    apex : (d,) float64

    Examples
    --------
    >>> from reluscope.geometry.cutting.complexes import from_polygon
    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    >>> cones_by_side(from_polygon(4), square, np.ones(4, bool), np.ones(1, np.int8), np.ones(2)).tolist()
    [0.0, 0.0, 4.0]
    """
    side = sides[cells.cofaces()[0]]
    facets = np.flatnonzero(is_wall & (np.abs(side) <= 1))
    ends = points[cells.boundary(1)[1].reshape(-1, 2)] - apex
    if cells.dim == 2:
        one, other = ends[facets].swapaxes(0, 1)
        volumes = np.abs(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]) / 2
    else:
        offsets, edges = cells.boundary(2)
        counts = np.diff(offsets)[facets]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        edges = edges[np.repeat(offsets[facets] - first[:-1], counts) + np.arange(first[-1])]
        row = np.repeat(np.arange(len(facets)), counts)
        one, other = ends[edges].swapaxes(0, 1)
        middle = np.stack([np.bincount(row, axis, len(facets)) for axis in (one + other).T], axis=1)
        middle = middle / np.maximum(2 * counts, 1)[:, None]
        parts = np.abs((np.cross(one - middle[row], other - middle[row]) * middle[row]).sum(axis=1)) / 6
        volumes = np.bincount(row, parts, len(facets))
    return np.bincount(side[facets] + 1, volumes, 3).astype(np.float64)
