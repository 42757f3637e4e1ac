"""Cutting the faces of a complex, dimension by dimension: edges at new vertices, other faces along new faces."""

from typing import NamedTuple

import numpy as np
from numba import njit

from reluscope.geometry.complexes import NONE

# The last entry of ``size``, after the numbers of faces, says how far the pool is filled.
POOL = -1


class FaceLists(NamedTuple):
    """The faces of a complex with room for more, as in `Complex`, and the other half of every face that was cut."""

    start: np.ndarray
    counts: np.ndarray
    pool: np.ndarray
    size: np.ndarray
    other: np.ndarray


class VertexTable(NamedTuple):
    """Rows for vertices, with room for more: all cut functions, coordinates and their blur; and the skew of edges.

    For the cut at hand there are its values before they were decided to be zero, and its slopes along the edges on
    which vertices were made.
    """

    heights: np.ndarray
    points: np.ndarray
    blur: np.ndarray
    skew: np.ndarray
    raw: np.ndarray
    rise: np.ndarray


class NewVertices(NamedTuple):
    """Between which two vertices each new one lies, and where; numbered from the first that is new."""

    tail: np.ndarray
    head: np.ndarray
    share: np.ndarray
    num_old: int


@njit(cache=True)
def widen(array, columns) -> np.ndarray:
    """Return a table with more columns, the new ones undefined."""
    grown = np.empty((array.shape[0], columns), dtype=array.dtype)
    grown[:, : array.shape[1]] = array
    return grown


@njit(cache=True)
def lengthen(array, rows) -> np.ndarray:
    """Return a table with more rows, the new ones undefined."""
    grown = np.empty((rows, array.shape[1]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown


@njit(cache=True)
def room_for_halves(faces, start, count, pool, other, lower_count) -> int:
    """Return how much of the pool is enough for the halves of some faces and what comes between them."""
    needed = 0
    for face in faces:
        needed += 4 * count[face] + 8
        for i in range(start[face], start[face] + count[face]):
            needed += lower_count[pool[i]]
            if other[pool[i]] != NONE:
                needed += lower_count[other[pool[i]]]
    return needed


@njit(cache=True)
def cut_edges(edges, j, known, slope, lists, above, bit, rows, made) -> None:
    """Cut edges at new vertices, and write the lists of their halves."""
    start, count, pool, size, other = lists
    heights, points, blur, skew, raw, rise = rows
    tail, head, share, num_old = made
    end = size[POOL]
    for edge in edges:
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        if not above[0, a] & bit:
            a, b = b, a
        # Always from the lower id, so that the result does not depend on the order within the edge.
        low, high = min(a, b), max(a, b)
        new, half = size[0], size[1]
        t = heights[low, j] / (heights[low, j] - heights[high, j])
        for i in range(heights.shape[1]):
            heights[new, i] = (1.0 - t) * heights[low, i] + t * heights[high, i]
        heights[new, j] = 0.0
        length = 0.0
        for i in range(points.shape[1]):
            length += (points[low, i] - points[high, i]) ** 2
            points[new, i] = (1.0 - t) * points[low, i] + t * points[high, i]
        length = np.sqrt(length)
        raw[new] = 0.0
        rise[new] = abs(heights[low, j] - heights[high, j]) / length if length > 0 else np.inf
        blur[new] = min((known + slope * skew[edge]) / rise[new], length)
        tail[new - num_old], head[new - num_old], share[new - num_old] = low, high, t
        pool[end], pool[end + 1], pool[end + 2], pool[end + 3] = a, new, new, b
        start[1, edge], start[1, half] = end, end + 2
        count[1, edge], count[1, half] = 2, 2
        other[0, new], other[1, edge], other[1, half] = NONE, half, NONE
        skew[half] = skew[edge]
        size[0] += 1
        size[1] += 1
        end += 4
    size[POOL] = end


@njit(cache=True)
def cut_faces(faces, k, lists, above, below, bit, stamp, tag) -> int:
    """Cut faces of dimension k >= 2, and write the lists of their halves and of the new faces between them.

    Return how many could not be cut, because rounding made signs inconsistent: they stay whole.
    """
    start, count, pool, size, other = lists
    whole = 0
    end = size[POOL]
    for face in faces:
        first, number = start[k, face], count[k, face]
        tag += 1
        # The new face between the halves: every ridge that both halves touch.
        for i in range(first, first + number):
            child = pool[i]
            if above[k - 1, child] & ~below[k - 1, child] & bit or other[k - 1, child] != NONE:
                for g in range(start[k - 1, child], start[k - 1, child] + count[k - 1, child]):
                    stamp[k - 2, pool[g]] = tag
        where = end
        for i in range(first, first + number):
            child = pool[i]
            if other[k - 1, child] != NONE:
                child = other[k - 1, child]
            elif above[k - 1, child] & ~below[k - 1, child] & bit:
                continue
            for g in range(start[k - 1, child], start[k - 1, child] + count[k - 1, child]):
                ridge = pool[g]
                if stamp[k - 2, ridge] == tag:
                    stamp[k - 2, ridge] = NONE
                    pool[where] = ridge
                    where += 1
        if where - end < k or (k == 2 and where - end > 2):
            whole += 1
            where = end
            for i in range(first, first + number):
                child = pool[i]
                pool[where] = child
                where += 1
                if other[k - 1, child] != NONE:
                    pool[where] = other[k - 1, child]
                    where += 1
            start[k, face], count[k, face] = end, where - end
            end = where
            continue
        separator, half = size[k - 1], size[k]
        size[k - 1] += 1
        size[k] += 1
        start[k - 1, separator], count[k - 1, separator] = end, where - end
        start[k, face] = where
        for i in range(first, first + number):
            child = pool[i]
            if other[k - 1, child] != NONE or above[k - 1, child] & ~below[k - 1, child] & bit:
                pool[where] = child
                where += 1
        pool[where] = separator
        where += 1
        count[k, face], start[k, half] = where - start[k, face], where
        for i in range(first, first + number):
            child = pool[i]
            if other[k - 1, child] != NONE:
                pool[where] = other[k - 1, child]
                where += 1
            elif not above[k - 1, child] & ~below[k - 1, child] & bit:
                pool[where] = child
                where += 1
        pool[where] = separator
        where += 1
        count[k, half], end = where - start[k, half], where
        other[k - 1, separator], other[k, face], other[k, half] = NONE, half, NONE
    size[POOL] = end
    return whole


@njit(cache=True)
def skew_edges(polygons, first, j, known, lists, rows) -> None:
    """Find how far the new edges across some polygons may be from the true zero set."""
    start, _, pool, _, other = lists
    _, _, _, skew, raw, rise = rows
    edge = first
    for polygon in polygons:
        if other[2, polygon] == NONE:
            continue
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        steep = max(rise[a], rise[b])
        if steep == 0.0:
            steep = _steepest_side(polygon, j, lists, rows)
            steep = max(steep, _steepest_side(other[2, polygon], j, lists, rows))
        skew[edge] = (known + max(abs(raw[a]), abs(raw[b]))) / steep
        edge += 1


@njit(cache=True)
def _steepest_side(face, j, lists, rows):
    """Return the largest slope of a cut function along the sides of a polygon, halves of cut sides included."""
    start, count, pool, _, other = lists
    heights, points = rows.heights, rows.points
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
