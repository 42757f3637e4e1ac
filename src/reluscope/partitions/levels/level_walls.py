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
    """The boundary of a domain, by sides of a level."""

    apex: np.ndarray  # (d,) a point inside the domain
    cones: np.ndarray  # (3,) cone volumes beside cells below, on, above the level

    def __post_init__(self) -> None:
        self.apex.setflags(write=False)
        self.cones.setflags(write=False)

    @property
    def total(self) -> float:
        """Volume of the domain."""
        return float(self.cones.sum())

    def scaled(self, sides: np.ndarray) -> "Walls":
        """Return the walls with every coordinate times a number."""
        return Walls(self.apex * sides, self.cones * sides.prod())


def cones_by_side(
    cells: Complex, points: np.ndarray, is_wall: np.ndarray, sides: np.ndarray, apex: np.ndarray
) -> np.ndarray:
    """Return the volumes (3,) of the cones from a point over facets of cells, by the cells' sides.

    Facets that count have one cell each; cells of another side than -1, 0 or 1 are left out.
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
        middle = middle / (2 * counts)[:, None]
        parts = np.abs((np.cross(one - middle[row], other - middle[row]) * middle[row]).sum(axis=1)) / 6
        volumes = np.bincount(row, parts, len(facets))
    return np.bincount(side[facets] + 1, volumes, 3).astype(np.float64)
