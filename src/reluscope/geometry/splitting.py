"""Subdivision of a complex by functions that are affine on each of its cells.

Cutting by a zero set needs one sign per vertex and nothing else: a face with both strict signs falls into two halves,
and the new face between them is bounded by the ridges that the two halves share. Line, plane and space are the same
code, and coincident or concurrent cuts are ordinary input, because no general position is assumed.

Two scales of error are kept apart. A cut function is known up to its *rounding*, so that its zero set is known up to
rounding over slope: this is the *skew* of an edge along it. Where an edge is cut, the same error is divided by the
slope of the cut function along the edge, which is small where the two are nearly parallel: this is the *blur* of the
new vertex. The sign of a function at a vertex is in doubt up to its rounding plus its slope times the blur.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from reluscope.geometry.complexes import NONE, Complex, grow
from reluscope.geometry.face_cuts import (
    POOL,
    FaceLists,
    NewVertices,
    VertexTable,
    cut_edges,
    cut_faces,
    lengthen,
    room_for_halves,
    skew_edges,
    widen,
)
from reluscope.geometry.face_signs import (
    GROUP,
    NOISE_PLUS,
    ONE,
    PLUS,
    ZERO,
    count_doubts,
    fill_sides,
    find_crossed,
    is_doubtful,
    noise_of_face,
    sign_faces,
    sign_halves,
    sign_vertices,
)
from reluscope.interruption import held


@dataclass(frozen=True)
class Placement:
    """Where the faces of a complex lie, and how exactly that is known.

    Parameters
    ----------
    points : (v, d) float64
        Vertices.
    blur : (v,) float64
        How far a vertex may be from where the zero sets truly meet.
    skew : (edges,) float64
        How far an edge may be from the true zero set that it lies on.
    """

    points: np.ndarray
    blur: np.ndarray
    skew: np.ndarray

    @classmethod
    def exact(cls, cells: Complex, points: np.ndarray) -> "Placement":
        """Return vertices that are where they should be."""
        return cls(points, np.zeros(len(points)), np.zeros(int(cells.size[1])))


@dataclass(frozen=True)
class Subdivision:
    """A complex after some cuts, and how it came from the one before.

    Parameters
    ----------
    complex : Complex
        Old faces keep their ids (as the half where the cut function is positive); new ones follow.
    seams : (facets,) int64
        The seam that each facet lies on, inherited by the halves of a facet, -1 for the facets made here.
    parent : (cells,) int64
        Cell of the old complex that each cell lies in.
    sides : (cells, cuts) uint8
        PLUS or MINUS: the sign of the cut function inside the cell. Neither if it is *flat*: zero at all vertices, so
        that nothing is known of its inside; then NOISE_PLUS and NOISE_MINUS say which signs were decided to be zero.
        Only the first ``num_done`` columns are meaningful.
    tail, head : (new vertices,) int64; share : (new vertices,) float64
        A new vertex lies at ``(1 - share) * tail + share * head``, two vertices that precede it.
    heights : (vertices, cuts) float64
        Cut functions at all vertices; what was decided to be zero is exactly zero, in the first ``num_done`` columns.
    snapped : (cuts,) float64
        Largest absolute value that was decided to be zero.
    placement : Placement
        Of all vertices and edges.
    num_done : int
        Cuts that were made before the number of cells passed the limit.
    num_undecided : int
        Vertices beside a strict sign whose own sign was taken as zero although that may hide more than the resolution
        allows. Flat cells are not counted.
    """

    complex: Complex
    seams: np.ndarray
    parent: np.ndarray
    sides: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    share: np.ndarray
    heights: np.ndarray
    snapped: np.ndarray
    placement: Placement
    num_done: int
    num_undecided: int

    @property
    def positive(self) -> np.ndarray:
        """Whether each cut function is positive inside each cell, ``(cells, cuts)``."""
        return is_positive(self.sides)


def is_positive(sides: np.ndarray) -> np.ndarray:
    """Return whether functions are positive, as far as floats can tell: on a flat cell noise decides, if it agrees."""
    return (sides & PLUS > 0) | (sides == NOISE_PLUS)


def subdivide(
    cells: Complex,
    placement: Placement,
    seams: np.ndarray,
    heights: np.ndarray,
    *,
    rounding: np.ndarray,
    slopes: np.ndarray,
    floor: np.ndarray,
    limit: int,
) -> Subdivision:
    """Cut a complex by the zero sets of functions that are affine on each of its cells.

    Parameters
    ----------
    cells : Complex
    placement : Placement
        Of its vertices and edges.
    seams : (facets,) int64
    heights : (v, c) float64
        Value of every cut function at every vertex.
    rounding : (c,) float64
        Bound on the rounding error of every cut function.
    slopes : (c,) float64
        The steepest slope of every cut function on any cell.
    floor : (c,) float64
        Values up to this size count as zero because of the resolution.
    limit : int
        Stop after the first cut with more cells than this.

    Returns
    -------
    Subdivision

    Notes
    -----
    A sign is strict if the value exceeds both the floor and its error, ``rounding + slopes * blur``. Other values count
    as zero, which is *undecided* if the value exceeds its error (the sign is known, and the resolution hides it) or
    the error exceeds the floor by more than a small factor (more than the resolution may be hidden).

    Each cut looks at every face once: O(cuts * faces). Keep complexes small (hundreds of cells).
    """
    out = _subdivide(
        cells.start,
        cells.count,
        cells.pool,
        cells.size,
        placement.points,
        placement.blur,
        placement.skew,
        seams,
        heights,
        rounding,
        slopes,
        floor,
        limit,
    )
    start, count, pool, size, points, blur, skew, seams, parent, sides, tail, head, share, heights, snapped = out[:15]
    done, undecided = out[15:]
    return Subdivision(
        Complex(start, count, pool, size),
        seams,
        parent,
        sides,
        tail,
        head,
        share,
        heights,
        snapped,
        Placement(points, blur, skew),
        int(done),
        int(undecided),
    )


@held
@njit(cache=True)
def _subdivide(
    start, count, pool, size, points, blur, skew, seams, heights, rounding, slopes, floor, limit
) -> tuple[Any, ...]:
    dim = size.shape[0] - 1
    num_cuts = heights.shape[1]
    num_old_vertices = size[0]
    capacity = max(64, 2 * size.max())
    start = widen(start[:, : size.max()], capacity)
    count = widen(count[:, : size.max()], capacity)
    # Numbers of faces, and how far the pool is filled.
    size = np.append(size, pool.shape[0])
    # Bit by bit for the cuts of a group: which lie below some point of a face, and which above.
    above = np.zeros((dim + 1, capacity), dtype=np.uint64)
    below = np.zeros((dim + 1, capacity), dtype=np.uint64)
    other = np.full((dim + 1, capacity), NONE, dtype=np.int32)
    stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
    found = np.empty(capacity, dtype=np.int64)
    pool = grow(pool, max(256, 2 * pool.shape[0]))
    seams = grow(seams, capacity)
    parent = np.arange(capacity)
    sides = np.zeros((capacity, num_cuts), dtype=np.uint8)
    heights = lengthen(heights, max(2 * num_old_vertices, 16))
    points = lengthen(points, len(heights))
    blur = grow(blur, len(heights))
    skew = grow(skew, capacity)
    snapped = np.zeros(num_cuts)
    # For the cut at hand, where it is zero: the value before, and the slope along the edge that the vertex was made on.
    raw = np.zeros(len(heights))
    rise = np.zeros(len(heights))
    tail = np.empty(capacity, dtype=np.int64)
    head = np.empty(capacity, dtype=np.int64)
    share = np.empty(capacity, dtype=np.float64)
    tag = 0
    undecided = 0
    done = 0

    for j in range(num_cuts):
        known, slope = rounding[j], slopes[j]
        group = (j - j % GROUP, min(j - j % GROUP + GROUP, num_cuts))
        bit = ONE << np.uint64(j - group[0])
        later = ~(bit | (bit - ONE))
        # One decision per vertex, from which everything else follows.
        if j == group[0]:
            every = ~ZERO
            sign_vertices(0, size[0], heights, blur, rounding, slopes, floor, group, every, above[0], below[0])
            for k in range(1, dim + 1):
                lower = above[k - 1], below[k - 1]
                sign_faces(0, size[k], start[k], count[k], pool, *lower, every, above[k], below[k])
        doubts, zeros = 0, 0
        for v in range(size[0]):
            if not (above[0, v] | below[0, v]) & bit:
                raw[v], rise[v], heights[v, j] = heights[v, j], 0.0, 0.0
                zeros += 1
                snapped[j] = max(snapped[j], abs(raw[v]))
                doubts += is_doubtful(abs(raw[v]), known + slope * blur[v], floor[j])
        if doubts and zeros < size[0]:
            is_strict = ((above[0, : size[0]] | below[0, : size[0]]) & bit) != ZERO
            undecided += count_doubts(start, pool, size[1], blur, known, slope, floor[j], is_strict, raw)
        # Room for the worst case: every face splits, and each half keeps a copy of the list and the new face.
        needed = size[: dim + 1].max() * 2 + size[1 : dim + 1].max()
        if needed > capacity:
            capacity = 2 * needed
            start, count = widen(start, capacity), widen(count, capacity)
            above, below, other = widen(above, capacity), widen(below, capacity), widen(other, capacity)
            stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
            seams, parent = grow(seams, capacity), grow(parent, capacity)
            tail, head, share = grow(tail, capacity), grow(head, capacity), grow(share, capacity)
            skew, found = grow(skew, capacity), grow(found, capacity)
            sides = lengthen(sides, capacity)
        old = size.copy()
        for k in range(dim + 1):
            other[k, : old[k]] = NONE
        for k in range(1, dim + 1):
            number = find_crossed(above[k, : old[k]], below[k, : old[k]], bit, found)
            faces = found[:number]
            first = size[k - 1]
            if k == 1:
                room, most = 4 * number, size[0] + number
                if most > len(heights):
                    heights, points = lengthen(heights, 2 * most), lengthen(points, 2 * most)
                    blur, raw, rise = grow(blur, 2 * most), grow(raw, 2 * most), grow(rise, 2 * most)
            else:
                room = room_for_halves(faces, start[k], count[k], pool, other[k - 1], count[k - 1])
            if size[POOL] + room > len(pool):
                pool = grow(pool, 2 * (size[POOL] + room))
            lists = FaceLists(start, count, pool, size, other)
            rows = VertexTable(heights, points, blur, skew, raw, rise)
            if k == 1:
                made = NewVertices(tail, head, share, num_old_vertices)
                cut_edges(faces, j, known, slope, lists, above, bit, rows, made)
                signs = above[0], below[0]
                sign_vertices(first, size[0], heights, blur, rounding, slopes, floor, group, later, *signs)
            else:
                undecided += cut_faces(faces, k, lists, above, below, bit, stamp, tag)
                tag += number
                lower, signs = (above[k - 2], below[k - 2]), (above[k - 1], below[k - 1])
                sign_faces(first, size[k - 1], start[k - 1], count[k - 1], pool, *lower, later, *signs)
            if k == 2:
                skew_edges(faces, first, j, known, lists, rows)
            lower, signs = (above[k - 1], below[k - 1]), (above[k], below[k])
            sign_halves(faces, start[k], count[k], pool, other[k], *lower, bit, *signs)
            if k == dim:
                seams[first : size[k - 1]] = NONE
            for face in faces:
                half = other[k, face]
                if half != NONE and k == dim - 1:
                    seams[half] = seams[face]
                if half != NONE and k == dim:
                    parent[half] = parent[face]
                    sides[half, :j] = sides[face, :j]
        for cell in range(size[dim]):
            if not (above[dim, cell] | below[dim, cell]) & bit:
                sides[cell, j] = noise_of_face(dim, cell, start, count, pool, raw)
        done = j + 1
        if size[dim] > limit or done == group[1]:
            fill_sides(sides[: size[dim], group[0] : done], above[dim], below[dim])
        if size[dim] > limit:
            break

    new_vertices = size[0] - num_old_vertices
    most = size[: dim + 1].max()
    return (
        start[:, :most].copy(),
        count[:, :most].copy(),
        pool[: size[POOL]].copy(),
        size[: dim + 1].copy(),
        points[: size[0]].copy(),
        blur[: size[0]].copy(),
        skew[: size[1]].copy(),
        seams[: size[dim - 1]].copy(),
        parent[: size[dim]].copy(),
        sides[: size[dim]],
        tail[:new_vertices].copy(),
        head[:new_vertices].copy(),
        share[:new_vertices].copy(),
        heights[: size[0]],
        snapped,
        done,
        undecided,
    )
