"""Subdivision of a complex by functions that are affine on each of its cells.

Cutting by a zero set needs one sign per vertex and nothing else: a face with both strict signs falls into two halves,
and the new face between them is bounded by the ridges that the two halves share. Line, plane and space are the same
code, and coincident or concurrent cuts are ordinary input, because no general position is assumed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from reluscope.geometry.complexes import NONE, Complex, grow

PLUS, MINUS, BOTH = 1, 2, 3


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
    positive : (cells, cuts) bool
        Whether the cut function is positive inside the cell; only the first ``num_done`` columns are meaningful.
    tail, head : (new vertices,) int64; share : (new vertices,) float64
        A new vertex lies at ``(1 - share) * tail + share * head``, two vertices that precede it.
    heights : (vertices, cuts) float64
        Cut functions at all vertices; what was decided to be zero is exactly zero, in the first ``num_done`` columns.
    num_done : int
        Cuts that were made before the number of cells passed the limit.
    num_undecided : int
        Signs between the rounding bound and the resolution; they were taken as zero.
    """

    complex: Complex
    seams: np.ndarray
    parent: np.ndarray
    positive: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    share: np.ndarray
    heights: np.ndarray
    num_done: int
    num_undecided: int


def subdivide(
    cells: Complex,
    seams: np.ndarray,
    heights: np.ndarray,
    *,
    rounding: np.ndarray,
    floor: np.ndarray,
    limit: int,
) -> Subdivision:
    """Cut a complex by the zero sets of functions that are affine on each of its cells.

    Parameters
    ----------
    cells : Complex
    seams : (facets,) int64
    heights : (v, c) float64
        Value of every cut function at every vertex.
    rounding : (c,) float64
        Bound on the rounding error of every cut function.
    floor : (c,) float64
        Values up to this size count as zero because of the resolution. Values between the two bounds are undecided.
    limit : int
        Stop after the first cut with more cells than this.

    Returns
    -------
    Subdivision

    Notes
    -----
    Each cut looks at every face once: O(cuts * faces). Keep complexes small (hundreds of cells).
    """
    out = _subdivide(cells.start, cells.count, cells.pool, cells.size, seams, heights, rounding, floor, limit)
    start, count, pool, size, seams, parent, positive, tail, head, share, heights, done, undecided = out
    return Subdivision(
        Complex(start, count, pool, size),
        seams,
        parent,
        positive,
        tail,
        head,
        share,
        heights,
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
def column_signs(heights, bound) -> tuple[np.ndarray, ...]:
    """Return per column whether some value lies above its bound, below minus the bound, or between.

    Columns that lie between at every vertex are set to zero: they vanish, and must not pass noise on as a value.
    """
    columns = heights.shape[1]
    above = np.zeros(columns, dtype=np.bool_)
    below = np.zeros(columns, dtype=np.bool_)
    within = np.zeros(columns, dtype=np.bool_)
    for v in range(heights.shape[0]):
        for j in range(columns):
            value = heights[v, j]
            above[j] |= value > bound[j]
            below[j] |= value < -bound[j]
            within[j] |= abs(value) <= bound[j]
    for v in range(heights.shape[0]):
        for j in range(columns):
            if not (above[j] or below[j]):
                heights[v, j] = 0.0
    return above, below, within


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
def _subdivide(start, count, pool, size, seams, heights, rounding, floor, limit) -> tuple[Any, ...]:
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
    positive = np.zeros((capacity, num_cuts), dtype=np.bool_)
    heights = _lengthen(heights, max(2 * num_old_vertices, 16))
    tail = np.empty(capacity, dtype=np.int64)
    head = np.empty(capacity, dtype=np.int64)
    share = np.empty(capacity, dtype=np.float64)
    tag = 0
    undecided = 0
    done = 0

    for j in range(num_cuts):
        # One decision per vertex, from which everything else follows.
        larger, smaller = max(rounding[j], floor[j]), min(rounding[j], floor[j])
        for v in range(size[0]):
            value = heights[v, j]
            height = abs(value)
            if height > larger:
                flag[0, v] = PLUS if value > 0 else MINUS
            else:
                flag[0, v] = 0
                heights[v, j] = 0.0
                undecided += height > smaller
        # Room for the worst case: every face splits, and each half keeps a copy of the list and the new face.
        needed = size.max() * 2 + size[1 : dim + 1].max()
        if needed > capacity:
            capacity = 2 * needed
            start, count = _widen(start, capacity), _widen(count, capacity)
            flag, other = _widen(flag, capacity), _widen(other, capacity)
            stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
            seams, parent = grow(seams, capacity), grow(parent, capacity)
            tail, head, share = grow(tail, capacity), grow(head, capacity), grow(share, capacity)
            positive = _lengthen(positive, capacity)
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
                        heights = _lengthen(heights, 2 * new)
                    # Always from the lower id, so that the result does not depend on the order within the edge.
                    low, high = min(a, b), max(a, b)
                    t = heights[low, j] / (heights[low, j] - heights[high, j])
                    for i in range(num_cuts):
                        heights[new, i] = (1.0 - t) * heights[low, i] + t * heights[high, i]
                    heights[new, j] = 0.0
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
                        if flag[k - 1, child] & PLUS or other[k - 1, child] != NONE:
                            for g in range(start[k - 1, child], start[k - 1, child] + count[k - 1, child]):
                                stamp[k - 2, pool[g]] = tag
                    for i in range(first, first + number):
                        child = pool[i]
                        minus = child
                        if other[k - 1, child] != NONE:
                            minus = other[k - 1, child]
                        elif flag[k - 1, child] & PLUS:
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
                    for i in range(first, first + number):
                        child = pool[i]
                        if other[k - 1, child] != NONE or flag[k - 1, child] & PLUS:
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
                        elif not flag[k - 1, child] & PLUS:
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
                if k == dim - 1:
                    seams[new_face] = seams[f]
                if k == dim:
                    parent[new_face] = parent[f]
                    for i in range(j):
                        positive[new_face, i] = positive[f, i]
                if k == 1 and dim == 1:
                    seams[separator] = NONE
        for f in range(size[dim]):
            positive[f, j] = flag[dim, f] & PLUS
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
        seams[: size[dim - 1]].copy(),
        parent[: size[dim]].copy(),
        positive[: size[dim]],
        tail[:new_vertices].copy(),
        head[:new_vertices].copy(),
        share[:new_vertices].copy(),
        heights[: size[0]],
        done,
        undecided,
    )
