"""Polyhedral complexes by explicit incidences.

A complex of dimension d is a list of faces per dimension; a face of dimension k is the list of the (k-1)-faces on its
boundary, and an edge is a pair of vertices. Faces shared by cells are stored once, so neighbouring cells always agree
on where their common boundary was cut. Nothing here depends on d.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reluscope import _kernels

NONE = -1


class VertexLists(NamedTuple):
    """Vertices of faces, back to back.

    Face f has the vertices ``ids[offsets[f] : offsets[f + 1]]``.
    """

    offsets: np.ndarray  # (faces + 1,) int64
    ids: np.ndarray  # (offsets[-1],) int32


@dataclass(frozen=True)
class Complex:
    """Cells and all their faces, of dimension 1 (edges) up to d (cells).

    Face f of dimension k has the boundary ``pool[start[k, f] : start[k, f] + count[k, f]]``; row 0 is unused.
    """

    start: np.ndarray  # (d + 1, capacity) int32
    count: np.ndarray  # (d + 1, capacity) int32
    pool: np.ndarray  # (capacity,) int32, boundary lists with gaps between
    size: np.ndarray  # (d + 1,) int64, faces by dimension; at 0 vertices

    @property
    def dim(self) -> int:
        """Dimension of the cells."""
        return len(self.size) - 1

    @property
    def num_cells(self) -> int:
        """Number of cells."""
        return int(self.size[-1])

    def boundary(self, dim: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the boundary lists of all faces of one dimension as ``(offsets, ids)``.

        The dimension is from 1 to d; ids are of (dim - 1)-faces, of vertices if it is 1.
        """
        number = int(self.size[dim])
        return _kernels.gather_lists(self.start[dim, :number], self.count[dim, :number], self.pool)

    def cofaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for every facet the two cells beside it (the second is -1 on the boundary of the complex)."""
        offsets, ids = self.boundary(self.dim)
        return _kernels.find_cofaces(offsets, ids, int(self.size[self.dim - 1]))

    def vertex_lists(self) -> tuple[VertexLists, VertexLists]:
        """Return the vertices of every facet and of every cell, each vertex once, in no particular order."""
        number = int(self.size[0])
        lists = VertexLists(np.arange(number + 1), np.arange(number, dtype=np.int32))
        facets = lists
        for dim in range(1, self.dim + 1):
            facets = lists
            start, count = self.start[dim, : self.size[dim]], self.count[dim, : self.size[dim]]
            lists = VertexLists(*_kernels.unite_lists(start, count, self.pool, *lists, number))
        return facets, lists

    def cell_vertices(self) -> VertexLists:
        """Return the vertices of every cell, each vertex once, in no particular order."""
        return self.vertex_lists()[1]

    def extract(self, cells: np.ndarray) -> tuple["Complex", np.ndarray, np.ndarray, np.ndarray]:
        """Return the complex of some cells, with the old ids of its vertices, edges and facets."""
        start, count, pool, size, vertices, edges, facets = _kernels.extract(
            self.start, self.count, self.pool, self.size, cells
        )
        return Complex(start, count, pool, size), vertices, edges, facets


def from_polygon(num_vertices: int) -> Complex:
    """Return one polygon with vertices 0, 1, ... in cyclic order."""
    edges = [(i, (i + 1) % num_vertices) for i in range(num_vertices)]
    pool = np.array([v for edge in edges for v in edge] + list(range(num_vertices)), dtype=np.int32)
    start = np.zeros((3, num_vertices), dtype=np.int32)
    count = np.zeros((3, num_vertices), dtype=np.int32)
    start[1] = np.arange(0, 2 * num_vertices, 2)
    count[1] = 2
    start[2, 0], count[2, 0] = 2 * num_vertices, num_vertices
    return Complex(start, count, pool, np.array([num_vertices, num_vertices, 1], dtype=np.int64))


def from_segments(number: int) -> Complex:
    """Return disjoint edges, the i-th from vertex 2 i to vertex 2 i + 1."""
    start = np.zeros((2, 2 * number), dtype=np.int32)
    count = np.zeros((2, 2 * number), dtype=np.int32)
    start[1, :number] = np.arange(0, 2 * number, 2)
    count[1, :number] = 2
    pool = np.arange(2 * number, dtype=np.int32)
    return Complex(start, count, pool, np.array([2 * number, number], dtype=np.int64))
