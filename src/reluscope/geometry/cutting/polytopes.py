"""Many polytopes side by side, each with its own vertices and facets.

Vertices are homogeneous, (x, w): points have any positive w, directions of unbounded polyhedra w = 0.

Facets carry keys. A key is the exclusive or of one random 128-bit word for every unit that is not at a breakpoint on
the facet (for its piece) and one for every unit that is (for its breakpoint). Both sides of a facet see the same key,
so neighbours are found by sorting keys.
"""

from dataclasses import dataclass

import numpy as np

# A facet lies on a unit's hyperplane, on the border of the domain, or on a wall between its parts, which parts nothing.
INNER, BORDER, WALL = 0, 1, 2


@dataclass(frozen=True)
class Polytopes:
    """Polytopes, each with its own vertices and facets.

    Kinds of facets: INNER is the hyperplane of a unit, BORDER a side of the domain, WALL a wall between its parts.
    """

    vertex_offsets: np.ndarray  # (c + 1,)
    vertices: np.ndarray  # (v, d + 1) homogeneous coordinates
    errors: np.ndarray  # (v, d + 1) bounds on the coordinates' errors
    tight: np.ndarray  # (v, k) facets a vertex lies on, as bits of slots
    facet_offsets: np.ndarray  # (c + 1,)
    slots: np.ndarray  # (f,) bit of the facet, different within a cell
    kinds: np.ndarray  # (f,) INNER, BORDER or WALL
    keys: np.ndarray  # (f, 2) difference of a facet's key from its cell's
    flat: np.ndarray  # (c, 2) same, of units at a breakpoint on the whole cell

    def __len__(self) -> int:
        return len(self.vertex_offsets) - 1

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """All arrays, in this order."""
        return (
            self.vertex_offsets,
            self.vertices,
            self.errors,
            self.tight,
            self.facet_offsets,
            self.slots,
            self.kinds,
            self.keys,
            self.flat,
        )

    def take(self, first: int, last: int) -> "Polytopes":
        """Return the cells of a range."""
        v0, v1 = self.vertex_offsets[first], self.vertex_offsets[last]
        f0, f1 = self.facet_offsets[first], self.facet_offsets[last]
        return Polytopes(
            self.vertex_offsets[first : last + 1] - v0,
            self.vertices[v0:v1],
            self.errors[v0:v1],
            self.tight[v0:v1],
            self.facet_offsets[first : last + 1] - f0,
            self.slots[f0:f1],
            self.kinds[f0:f1],
            self.keys[f0:f1],
            self.flat[first:last],
        )

    def without_vertices(self) -> "Polytopes":
        """Return the cells with their facets alone."""
        none = (self.vertices[:0], self.errors[:0], self.tight[:0])
        return Polytopes(np.zeros_like(self.vertex_offsets), *none, *self.tables[4:])

    def select(self, rows: np.ndarray) -> "Polytopes":
        """Return some cells, in the order given."""
        vertex_offsets, vertices = ragged_rows(self.vertex_offsets, rows)
        facet_offsets, facets = ragged_rows(self.facet_offsets, rows)
        return Polytopes(
            vertex_offsets,
            self.vertices[vertices],
            self.errors[vertices],
            self.tight[vertices],
            facet_offsets,
            self.slots[facets],
            self.kinds[facets],
            self.keys[facets],
            self.flat[rows],
        )


def ragged_rows(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return new offsets, and which entries of a ragged array belong to some rows."""
    sizes = np.diff(offsets)[rows]
    ends = np.cumsum(sizes)
    entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[rows] - (ends - sizes), sizes)
    return np.concatenate([[0], ends]), entries
