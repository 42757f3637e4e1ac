"""Polyhedral complexes by explicit incidences.

A complex of dimension d is a list of faces per dimension; a face of dimension k is the list of the (k-1)-faces on its
boundary, and an edge is a pair of vertices. Faces shared by cells are stored once, so neighbouring cells always agree
on where their common boundary was cut. Nothing here depends on d.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.interruption import held

NONE = -1


class VertexLists(NamedTuple):
    """Vertices of faces, back to back.

    Parameters
    ----------
    offsets : (faces + 1,) int64
        Face f has the vertices ``ids[offsets[f] : offsets[f + 1]]``.
    ids : (offsets[-1],) int32
    """

    offsets: np.ndarray
    ids: np.ndarray


@dataclass(frozen=True)
class Complex:
    """Cells and all their faces, of dimension 1 (edges) up to d (cells).

    Parameters
    ----------
    start, count : (d + 1, capacity) int32
        Face f of dimension k has the boundary ``pool[start[k, f] : start[k, f] + count[k, f]]``; row 0 is unused.
    pool : (capacity,) int32
        Boundary lists, back to back, with gaps.
    size : (d + 1,) int64
        Number of faces of each dimension; ``size[0]`` is the number of vertices.
    """

    start: np.ndarray
    count: np.ndarray
    pool: np.ndarray
    size: np.ndarray

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

        Parameters
        ----------
        dim : int
            Dimension of the faces, from 1 to d.

        Returns
        -------
        offsets : (faces + 1,) int64
        ids : (offsets[-1],) int32
            Ids of (dim - 1)-faces; of vertices if ``dim`` is 1.
        """
        number = int(self.size[dim])
        return _gather_lists(self.start[dim, :number], self.count[dim, :number], self.pool)

    def cofaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for every facet the two cells beside it (the second is -1 on the boundary of the complex)."""
        offsets, ids = self.boundary(self.dim)
        return _cofaces(offsets, ids, int(self.size[self.dim - 1]))

    def vertex_lists(self) -> tuple[VertexLists, VertexLists]:
        """Return the vertices of every facet and of every cell, each vertex once, in no particular order."""
        number = int(self.size[0])
        lists = VertexLists(np.arange(number + 1), np.arange(number, dtype=np.int32))
        facets = lists
        for dim in range(1, self.dim + 1):
            facets = lists
            start, count = self.start[dim, : self.size[dim]], self.count[dim, : self.size[dim]]
            lists = VertexLists(*_united_lists(start, count, self.pool, *lists, number))
        return facets, lists

    def cell_vertices(self) -> VertexLists:
        """Return the vertices of every cell, each vertex once, in no particular order."""
        return self.vertex_lists()[1]

    def extract(self, cells: np.ndarray) -> tuple["Complex", np.ndarray, np.ndarray, np.ndarray]:
        """Return the complex of some cells, with the old ids of its vertices, edges and facets."""
        start, count, pool, size, vertices, edges, facets = _extract(
            self.start, self.count, self.pool, self.size, np.ascontiguousarray(cells, dtype=np.int64)
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


@njit(cache=True)
def grow(array, length) -> np.ndarray:
    """Return a longer copy of a vector, its end undefined."""
    grown = np.empty(length, dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@held
@njit(cache=True)
def _gather_lists(start, count, pool) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.zeros(count.shape[0] + 1, dtype=np.int64)
    for f in range(count.shape[0]):
        offsets[f + 1] = offsets[f] + count[f]
    ids = np.empty(offsets[-1], dtype=np.int32)
    for f in range(count.shape[0]):
        for i in range(count[f]):
            ids[offsets[f] + i] = pool[start[f] + i]
    return offsets, ids


@held
@njit(cache=True)
def _cofaces(offsets, ids, num_facets) -> tuple[np.ndarray, np.ndarray]:
    left = np.full(num_facets, NONE, dtype=np.int64)
    right = np.full(num_facets, NONE, dtype=np.int64)
    for cell in range(offsets.shape[0] - 1):
        for i in range(offsets[cell], offsets[cell + 1]):
            facet = ids[i]
            if left[facet] == NONE:
                left[facet] = cell
            else:
                right[facet] = cell
    return left, right


@held
@njit(cache=True)
def _united_lists(start, count, pool, below_offsets, below_ids, num_vertices) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of faces, given those of the faces one dimension below."""
    number = start.shape[0]
    most = 0
    for face in range(number):
        for i in range(start[face], start[face] + count[face]):
            most += below_offsets[pool[i] + 1] - below_offsets[pool[i]]
    offsets = np.zeros(number + 1, dtype=np.int64)
    ids = np.empty(most, dtype=np.int32)
    stamp = np.full(num_vertices, NONE, dtype=np.int32)
    used = 0
    for face in range(number):
        for i in range(start[face], start[face] + count[face]):
            child = pool[i]
            for k in range(below_offsets[child], below_offsets[child + 1]):
                vertex = below_ids[k]
                if stamp[vertex] != face:
                    stamp[vertex] = face
                    ids[used] = vertex
                    used += 1
        offsets[face + 1] = used
    return offsets, ids[:used].copy()


@held
@njit(cache=True)
def _extract(start, count, pool, size, cells) -> tuple[np.ndarray, ...]:
    dim = size.shape[0] - 1
    most = size.max()
    new_id = np.full((dim + 1, most), NONE, dtype=np.int32)
    old_id = np.empty((dim + 1, most), dtype=np.int32)
    new_size = np.zeros(dim + 1, dtype=np.int64)
    for i in range(cells.shape[0]):
        new_id[dim, cells[i]] = i
        old_id[dim, i] = cells[i]
    new_size[dim] = cells.shape[0]
    total = 0
    for k in range(dim, 0, -1):
        for f in range(new_size[k]):
            face = old_id[k, f]
            total += count[k, face]
            for i in range(start[k, face], start[k, face] + count[k, face]):
                child = pool[i]
                if new_id[k - 1, child] == NONE:
                    new_id[k - 1, child] = new_size[k - 1]
                    old_id[k - 1, new_size[k - 1]] = child
                    new_size[k - 1] += 1
    most = new_size.max()
    new_start = np.zeros((dim + 1, most), dtype=np.int32)
    new_count = np.zeros((dim + 1, most), dtype=np.int32)
    new_pool = np.empty(total, dtype=np.int32)
    where = 0
    for k in range(1, dim + 1):
        for f in range(new_size[k]):
            face = old_id[k, f]
            new_start[k, f] = where
            new_count[k, f] = count[k, face]
            for i in range(start[k, face], start[k, face] + count[k, face]):
                new_pool[where] = new_id[k - 1, pool[i]]
                where += 1
    vertices = old_id[0, : new_size[0]].astype(np.int64)
    edges = old_id[1, : new_size[1]].astype(np.int64)
    facets = old_id[dim - 1, : new_size[dim - 1]].astype(np.int64)
    return new_start, new_count, new_pool, new_size, vertices, edges, facets
