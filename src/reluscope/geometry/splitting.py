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
from reluscope.interruption import held

# Sides of a face: the strict signs on it. Without any the cut function is zero on the face, and the signs that its
# values had before they were decided to be zero are kept as noise; exact zeros leave nothing.
PLUS, MINUS, BOTH = 1, 2, 3
NOISE_PLUS, NOISE_MINUS, NOISE = 4, 8, 12
# A vertex decided to be zero hides nothing thicker than the resolution, if it is known this many times as exactly.
SLACK = 32.0
# Signs of so many cuts at a time are kept as the bits of one word.
GROUP = 64
# Where it is kept, after the numbers of faces, how far the pool is filled.
POOL = -1
ZERO, ONE = np.uint64(0), np.uint64(1)


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
def interpolate(rows, tail, head, share):
    """Fill the last rows in order: each is a convex combination of two rows that precede it."""
    first = rows.shape[0] - tail.shape[0]
    for i in range(tail.shape[0]):
        a, b, t = tail[i], head[i], share[i]
        for j in range(rows.shape[1]):
            rows[first + i, j] = (1.0 - t) * rows[a, j] + t * rows[b, j]


@held
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


@held
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
def _sign_vertices(first, last, heights, blur, rounding, slopes, floor, group, kept, above, below) -> None:
    """Find which cuts of a group some vertices lie strictly above, and which they lie below; keep these bits."""
    begin, end = group
    for v in range(first, last):
        plus = minus = ZERO
        for j in range(begin, end):
            if abs(heights[v, j]) > max(rounding[j] + slopes[j] * blur[v], floor[j]):
                bit = ONE << np.uint64(j - begin)
                if heights[v, j] > 0:
                    plus |= bit
                else:
                    minus |= bit
        above[v], below[v] = plus & kept, minus & kept


@njit(cache=True)
def _sign_faces(first, last, start, count, pool, lower_above, lower_below, kept, above, below) -> None:
    """Find which cuts some point of a face lies above, and which one lies below, from its boundary; keep these bits."""
    for f in range(first, last):
        plus = minus = ZERO
        for i in range(start[f], start[f] + count[f]):
            plus |= lower_above[pool[i]]
            minus |= lower_below[pool[i]]
        above[f], below[f] = plus & kept, minus & kept


@njit(cache=True)
def _sign_halves(faces, start, count, pool, other, lower_above, lower_below, bit, above, below) -> None:
    """Find the signs of faces that were cut, as they are now, and of their other halves."""
    before = bit - ONE
    kept = ~(bit | before)
    for face in faces:
        half = other[face]
        if half == NONE:
            continue
        # What earlier cuts left on either side of a cell stays as it is.
        plus, minus = above[face] & before, below[face] & before
        _sign_faces(face, face + 1, start, count, pool, lower_above, lower_below, kept, above, below)
        _sign_faces(half, half + 1, start, count, pool, lower_above, lower_below, kept, above, below)
        above[face] |= plus | bit
        below[face] |= minus
        above[half] |= plus
        below[half] |= minus | bit


@njit(cache=True)
def _fill_sides(sides, above, below) -> None:
    """Write the signs of cells; what is there of flat ones stays."""
    for f in range(sides.shape[0]):
        for i in range(sides.shape[1]):
            bit = ONE << np.uint64(i)
            signs = (PLUS if above[f] & bit else 0) | (MINUS if below[f] & bit else 0)
            if signs:
                sides[f, i] = signs


@njit(cache=True)
def _find_crossed(above, below, bit, found) -> int:
    """List the faces with both signs, and return their number."""
    number = 0
    for f in range(above.shape[0]):
        found[number] = f
        if above[f] & below[f] & bit:
            number += 1
    return number


@njit(cache=True)
def _room(faces, start, count, pool, other, lower_count) -> int:
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
def _cut_edges(
    edges, j, known, slope, start, count, pool, size, other, above, bit, heights, points, blur, skew, raw, rise, made
) -> None:
    """Cut edges at new vertices, and write the lists of their halves."""
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
def _cut_faces(faces, k, start, count, pool, size, other, above, below, bit, stamp, tag) -> int:
    """Cut faces of dimension k >= 2, and write the lists of their halves and of the new faces between them.

    Return how many could not be cut, because rounding made signs inconsistent: they stay whole.
    """
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
def _skew_edges(polygons, first, j, known, start, count, pool, other, points, heights, raw, rise, skew) -> None:
    """Find how far the new edges across some polygons may be from the true zero set."""
    edge = first
    for polygon in polygons:
        if other[2, polygon] == NONE:
            continue
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        steep = max(rise[a], rise[b])
        if steep == 0.0:
            steep = _steepest_side(polygon, j, start, count, pool, other, points, heights)
            steep = max(steep, _steepest_side(other[2, polygon], j, start, count, pool, other, points, heights))
        skew[edge] = (known + max(abs(raw[a]), abs(raw[b]))) / steep
        edge += 1


@njit(cache=True)
def _is_doubtful(height, error, floor) -> bool:
    """Whether a zero is one whose sign is known, or one that may be more than the resolution allows."""
    return height > min(error, floor) or error > SLACK * floor


@njit(cache=True)
def _count_doubts(start, pool, num_edges, blur, rounding, slope, floor, is_strict, raw) -> int:
    """Count doubtful zeros beside strict signs; the others belong to flat cells only, which are seen as such."""
    is_beside = np.zeros(len(is_strict), dtype=np.bool_)
    for edge in range(num_edges):
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        if is_strict[a] != is_strict[b]:
            is_beside[b if is_strict[a] else a] = True
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


@held
@njit(cache=True)
def _subdivide(
    start, count, pool, size, points, blur, skew, seams, heights, rounding, slopes, floor, limit
) -> tuple[Any, ...]:
    dim = size.shape[0] - 1
    num_cuts = heights.shape[1]
    num_old_vertices = size[0]
    capacity = max(64, 2 * size.max())
    start = _widen(start[:, : size.max()], capacity)
    count = _widen(count[:, : size.max()], capacity)
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
        known, slope = rounding[j], slopes[j]
        group = (j - j % GROUP, min(j - j % GROUP + GROUP, num_cuts))
        bit = ONE << np.uint64(j - group[0])
        later = ~(bit | (bit - ONE))
        # One decision per vertex, from which everything else follows.
        if j == group[0]:
            every = ~ZERO
            _sign_vertices(0, size[0], heights, blur, rounding, slopes, floor, group, every, above[0], below[0])
            for k in range(1, dim + 1):
                lower = above[k - 1], below[k - 1]
                _sign_faces(0, size[k], start[k], count[k], pool, *lower, every, above[k], below[k])
        doubts, zeros = 0, 0
        for v in range(size[0]):
            if not (above[0, v] | below[0, v]) & bit:
                raw[v], rise[v], heights[v, j] = heights[v, j], 0.0, 0.0
                zeros += 1
                snapped[j] = max(snapped[j], abs(raw[v]))
                doubts += _is_doubtful(abs(raw[v]), known + slope * blur[v], floor[j])
        if doubts and zeros < size[0]:
            is_strict = ((above[0, : size[0]] | below[0, : size[0]]) & bit) != ZERO
            undecided += _count_doubts(start, pool, size[1], blur, known, slope, floor[j], is_strict, raw)
        # Room for the worst case: every face splits, and each half keeps a copy of the list and the new face.
        needed = size[: dim + 1].max() * 2 + size[1 : dim + 1].max()
        if needed > capacity:
            capacity = 2 * needed
            start, count = _widen(start, capacity), _widen(count, capacity)
            above, below, other = _widen(above, capacity), _widen(below, capacity), _widen(other, capacity)
            stamp = np.full((dim + 1, capacity), NONE, dtype=np.int64)
            seams, parent = grow(seams, capacity), grow(parent, capacity)
            tail, head, share = grow(tail, capacity), grow(head, capacity), grow(share, capacity)
            skew, found = grow(skew, capacity), grow(found, capacity)
            sides = _lengthen(sides, capacity)
        old = size.copy()
        for k in range(dim + 1):
            other[k, : old[k]] = NONE
        for k in range(1, dim + 1):
            number = _find_crossed(above[k, : old[k]], below[k, : old[k]], bit, found)
            faces = found[:number]
            first = size[k - 1]
            if k == 1:
                room, most = 4 * number, size[0] + number
                if most > len(heights):
                    heights, points = _lengthen(heights, 2 * most), _lengthen(points, 2 * most)
                    blur, raw, rise = grow(blur, 2 * most), grow(raw, 2 * most), grow(rise, 2 * most)
            else:
                room = _room(faces, start[k], count[k], pool, other[k - 1], count[k - 1])
            if size[POOL] + room > len(pool):
                pool = grow(pool, 2 * (size[POOL] + room))
            if k == 1:
                made = tail, head, share, num_old_vertices
                place = heights, points, blur, skew, raw, rise
                _cut_edges(faces, j, known, slope, start, count, pool, size, other, above, bit, *place, made)
                signs = above[0], below[0]
                _sign_vertices(first, size[0], heights, blur, rounding, slopes, floor, group, later, *signs)
            else:
                undecided += _cut_faces(faces, k, start, count, pool, size, other, above, below, bit, stamp, tag)
                tag += number
                lower, signs = (above[k - 2], below[k - 2]), (above[k - 1], below[k - 1])
                _sign_faces(first, size[k - 1], start[k - 1], count[k - 1], pool, *lower, later, *signs)
            if k == 2:
                _skew_edges(faces, first, j, known, start, count, pool, other, points, heights, raw, rise, skew)
            lower, signs = (above[k - 1], below[k - 1]), (above[k], below[k])
            _sign_halves(faces, start[k], count[k], pool, other[k], *lower, bit, *signs)
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
                sides[cell, j] = _noise(dim, cell, start, count, pool, raw)
        done = j + 1
        if size[dim] > limit or done == group[1]:
            _fill_sides(sides[: size[dim], group[0] : done], above[dim], below[dim])
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
