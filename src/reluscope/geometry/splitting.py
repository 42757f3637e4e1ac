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

# Sides of a face: the strict signs on it. Without any the cut function is zero on the face, and the signs that its
# values had before they were decided to be zero are kept as noise; exact zeros leave nothing.
PLUS, MINUS, BOTH = 1, 2, 3
NOISE_PLUS, NOISE_MINUS, NOISE = 4, 8, 12
# A vertex decided to be zero hides nothing thicker than the resolution, if it is known this many times as exactly.
SLACK = 32.0


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


@njit(cache=True)
def interpolate(rows, tail, head, share):
    """Fill the last rows in order: each is a convex combination of two rows that precede it."""
    first = rows.shape[0] - tail.shape[0]
    for i in range(tail.shape[0]):
        a, b, t = tail[i], head[i], share[i]
        for j in range(rows.shape[1]):
            rows[first + i, j] = (1.0 - t) * rows[a, j] + t * rows[b, j]


@njit(cache=True)
def steepest(heights, tail, head, length):
    """Return for each column the largest slope of its values along the given edges."""
    slopes = np.zeros(heights.shape[1])
    for e in range(tail.shape[0]):
        a, b = tail[e], head[e]
        inverse = 1.0 / length[e] if length[e] > 0 else 0.0
        for j in range(heights.shape[1]):
            slopes[j] = max(slopes[j], abs(heights[a, j] - heights[b, j]) * inverse)
    return slopes


@njit(cache=True)
def column_ranges(heights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest, the largest and the smallest absolute value of each column."""
    columns = heights.shape[1]
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    least = np.full(columns, np.inf)
    for v in range(heights.shape[0]):
        for j in range(columns):
            value = heights[v, j]
            low[j] = min(low[j], value)
            high[j] = max(high[j], value)
            least[j] = min(least[j], abs(value))
    return low, high, least


@njit(cache=True)
def _widen(array, columns) -> np.ndarray:
    grown = np.empty((array.shape[0], columns), dtype=array.dtype)
    grown[:, : array.shape[1]] = array
    return grown


@njit(cache=True)
def _lengthen(array, rows) -> np.ndarray:
    grown = np.empty((rows, array.shape[1]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def _decide(heights, j, number, blur, rounding, slope, floor, flag, raw, rise) -> tuple[int, int, float]:
    """Decide the sign of one cut function at all vertices; return doubts, zeros and the largest value among them."""
    doubts, zeros, snapped = 0, 0, 0.0
    for v in range(number):
        value = heights[v, j]
        height, error = abs(value), rounding + slope * blur[v]
        if height > max(error, floor):
            flag[v] = PLUS if value > 0 else MINUS
        else:
            flag[v] = 0
            heights[v, j] = 0.0
            raw[v], rise[v] = value, 0.0
            zeros += 1
            snapped = max(snapped, height)
            doubts += _is_doubtful(height, error, floor)
    return doubts, zeros, snapped


@njit(cache=True)
def _is_doubtful(height, error, floor) -> bool:
    """Whether a zero is one whose sign is known, or one that may be more than the resolution allows."""
    return height > min(error, floor) or error > SLACK * floor


@njit(cache=True)
def _count_doubts(start, pool, num_edges, blur, rounding, slope, floor, flag, raw) -> int:
    """Count doubtful zeros beside strict signs; the others belong to flat cells only, which are seen as such."""
    is_beside = np.zeros(len(flag), dtype=np.bool_)
    for edge in range(num_edges):
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        if (flag[a] == 0) != (flag[b] == 0):
            is_beside[a if flag[a] == 0 else b] = True
    found = 0
    for v in np.flatnonzero(is_beside):
        found += _is_doubtful(abs(raw[v]), rounding + slope * blur[v], floor)
    return found


@njit(cache=True)
def _noise(level, face, start, count, pool, raw):
    """Return which signs were decided to be zero at the vertices of a flat face."""
    found = 0
    faces, below = np.full(1, face, dtype=np.int32), np.empty(0, dtype=np.int32)
    while level > 0:
        number = 0
        for f in faces:
            number += count[level, f]
        below = np.empty(number, dtype=np.int32)
        number = 0
        for f in faces:
            for i in range(start[level, f], start[level, f] + count[level, f]):
                below[number] = pool[i]
                number += 1
        faces = below
        level -= 1
    for v in faces:
        if raw[v] != 0:
            found |= NOISE_PLUS if raw[v] > 0 else NOISE_MINUS
    return found


@njit(cache=True)
def _steepest_side(face, j, start, count, pool, other, points, heights):
    """Return the largest slope of a cut function along the sides of a polygon, halves of cut sides included."""
    steepest = 0.0
    for i in range(start[2, face], start[2, face] + count[2, face]):
        for edge in (pool[i], other[1, pool[i]]):
            if edge == NONE:
                continue
            a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
            length = 0.0
            for axis in range(points.shape[1]):
                length += (points[a, axis] - points[b, axis]) ** 2
            if length > 0:
                steepest = max(steepest, abs(heights[a, j] - heights[b, j]) / np.sqrt(length))
    return steepest


@njit(cache=True)
def _subdivide(
    start, count, pool, size, points, blur, skew, seams, heights, rounding, slopes, floor, limit
) -> tuple[Any, ...]:
    dim = size.shape[0] - 1
    num_cuts = heights.shape[1]
    num_old_vertices = size[0]
    size = size.copy()
    capacity = max(64, 2 * size.max())
    start = _widen(start[:, : size.max()], capacity)
    count = _widen(count[:, : size.max()], capacity)
    flag = np.zeros((dim + 1, capacity), dtype=np.uint8)
    other = np.full((dim + 1, capacity), NONE, dtype=np.int32)
    stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
    pool_size = pool.shape[0]
    pool = grow(pool, max(256, 2 * pool_size))
    seams = grow(seams, capacity)
    parent = np.arange(capacity)
    sides = np.zeros((capacity, num_cuts), dtype=np.uint8)
    heights = _lengthen(heights, max(2 * num_old_vertices, 16))
    points = _lengthen(points, len(heights))
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
        # One decision per vertex, from which everything else follows.
        known, slope = rounding[j], slopes[j]
        doubts, zeros, snapped[j] = _decide(heights, j, size[0], blur, known, slope, floor[j], flag[0], raw, rise)
        if doubts and zeros < size[0]:
            undecided += _count_doubts(start, pool, size[1], blur, known, slope, floor[j], flag[0], raw)
        # Room for the worst case: every face splits, and each half keeps a copy of the list and the new face.
        needed = size.max() * 2 + size[1 : dim + 1].max()
        if needed > capacity:
            capacity = 2 * needed
            start, count = _widen(start, capacity), _widen(count, capacity)
            flag, other = _widen(flag, capacity), _widen(other, capacity)
            stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
            seams, parent = grow(seams, capacity), grow(parent, capacity)
            tail, head, share = grow(tail, capacity), grow(head, capacity), grow(share, capacity)
            skew = grow(skew, capacity)
            sides = _lengthen(sides, capacity)
        old = size.copy()
        for v in range(old[0]):
            other[0, v] = NONE
        for k in range(1, dim + 1):
            for f in range(old[k]):
                first, number = start[k, f], count[k, f]
                signs = 0
                for i in range(first, first + number):
                    child = pool[i]
                    if k > 1 and other[k - 1, child] != NONE:
                        signs = BOTH
                        break
                    signs |= flag[k - 1, child]
                other[k, f] = NONE
                flag[k, f] = signs
                if signs != BOTH:
                    continue
                if pool_size + 4 * number + 8 + old[k] > pool.shape[0]:
                    pool = grow(pool, 2 * (pool_size + 4 * number + 8 + old[k]))
                if k == 1:
                    a, b = pool[first], pool[first + 1]
                    if flag[0, a] != PLUS:
                        a, b = b, a
                    new = size[0]
                    if new >= heights.shape[0]:
                        heights, points = _lengthen(heights, 2 * new), _lengthen(points, 2 * new)
                        blur, raw, rise = grow(blur, 2 * new), grow(raw, 2 * new), grow(rise, 2 * new)
                    # Always from the lower id, so that the result does not depend on the order within the edge.
                    low, high = min(a, b), max(a, b)
                    t = heights[low, j] / (heights[low, j] - heights[high, j])
                    for i in range(num_cuts):
                        heights[new, i] = (1.0 - t) * heights[low, i] + t * heights[high, i]
                    heights[new, j] = 0.0
                    length = 0.0
                    for i in range(points.shape[1]):
                        length += (points[low, i] - points[high, i]) ** 2
                        points[new, i] = (1.0 - t) * points[low, i] + t * points[high, i]
                    length = np.sqrt(length)
                    raw[new] = 0.0
                    rise[new] = abs(heights[low, j] - heights[high, j]) / length if length > 0 else np.inf
                    blur[new] = min((known + slope * skew[f]) / rise[new], length)
                    tail[new - num_old_vertices] = low
                    head[new - num_old_vertices] = high
                    share[new - num_old_vertices] = t
                    size[0] += 1
                    flag[0, new] = 0
                    other[0, new] = NONE
                    stamp[0, new] = NONE
                    pool[pool_size], pool[pool_size + 1] = a, new
                    pool[pool_size + 2], pool[pool_size + 3] = new, b
                    half_counts = (2, 2)
                    separator = new
                else:
                    # The new face between the halves: every ridge that both halves touch.
                    tag += 1
                    separator = size[k - 1]
                    where = pool_size
                    for i in range(first, first + number):
                        child = pool[i]
                        if flag[k - 1, child] == PLUS or other[k - 1, child] != NONE:
                            for g in range(start[k - 1, child], start[k - 1, child] + count[k - 1, child]):
                                stamp[k - 2, pool[g]] = tag
                    for i in range(first, first + number):
                        child = pool[i]
                        minus = child
                        if other[k - 1, child] != NONE:
                            minus = other[k - 1, child]
                        elif flag[k - 1, child] == PLUS:
                            continue
                        for g in range(start[k - 1, minus], start[k - 1, minus] + count[k - 1, minus]):
                            ridge = pool[g]
                            if stamp[k - 2, ridge] == tag:
                                stamp[k - 2, ridge] = NONE
                                if where + 2 * number + 8 >= pool.shape[0]:
                                    pool = grow(pool, 2 * pool.shape[0])
                                pool[where] = ridge
                                where += 1
                    if where - pool_size < k or (k == 2 and where - pool_size > 2):
                        # Rounding made the signs inconsistent; the face stays whole and the count says so.
                        undecided += 1
                        where = pool_size
                        for i in range(first, first + number):
                            child = pool[i]
                            pool[where] = child
                            where += 1
                            if other[k - 1, child] != NONE:
                                pool[where] = other[k - 1, child]
                                where += 1
                        start[k, f], count[k, f] = pool_size, where - pool_size
                        pool_size = where
                        continue
                    start[k - 1, separator], count[k - 1, separator] = pool_size, where - pool_size
                    pool_size = where
                    flag[k - 1, separator] = 0
                    other[k - 1, separator] = NONE
                    stamp[k - 1, separator] = NONE
                    size[k - 1] += 1
                    if k == dim:
                        seams[separator] = NONE
                    if k == 2:
                        a, b = pool[pool_size - 2], pool[pool_size - 1]
                        steep = max(rise[a], rise[b])
                        if steep == 0.0:
                            steep = _steepest_side(f, j, start, count, pool, other, points, heights)
                        skew[separator] = (known + max(abs(raw[a]), abs(raw[b]))) / steep
                    for i in range(first, first + number):
                        child = pool[i]
                        if other[k - 1, child] != NONE or flag[k - 1, child] == PLUS:
                            pool[where] = child
                            where += 1
                    pool[where] = separator
                    where += 1
                    middle_of_halves = where
                    for i in range(first, first + number):
                        child = pool[i]
                        if other[k - 1, child] != NONE:
                            pool[where] = other[k - 1, child]
                            where += 1
                        elif flag[k - 1, child] != PLUS:
                            pool[where] = child
                            where += 1
                    pool[where] = separator
                    where += 1
                    half_counts = (middle_of_halves - pool_size, where - middle_of_halves)
                new_face = size[k]
                size[k] += 1
                start[k, f], count[k, f] = pool_size, half_counts[0]
                start[k, new_face], count[k, new_face] = pool_size + half_counts[0], half_counts[1]
                pool_size += half_counts[0] + half_counts[1]
                flag[k, f], flag[k, new_face] = PLUS, MINUS
                other[k, f], other[k, new_face] = new_face, NONE
                stamp[k, new_face] = NONE
                if k == 1:
                    skew[new_face] = skew[f]
                if k == dim - 1:
                    seams[new_face] = seams[f]
                if k == dim:
                    parent[new_face] = parent[f]
                    for i in range(j):
                        sides[new_face, i] = sides[f, i]
                if k == 1 and dim == 1:
                    seams[separator] = NONE
        for f in range(size[dim]):
            sides[f, j] = flag[dim, f]
            if flag[dim, f] == 0:
                sides[f, j] = _noise(dim, f, start, count, pool, raw)
        done = j + 1
        if size[dim] > limit:
            break

    new_vertices = size[0] - num_old_vertices
    most = size.max()
    return (
        start[:, :most].copy(),
        count[:, :most].copy(),
        pool[:pool_size].copy(),
        size,
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
