"""Signs of cut functions on the faces of a complex, as bits of words: from vertices up to cells.

One sign per vertex decides all others: a face has the strict signs that its boundary has. Where a function is zero at
all vertices of a face, the face is flat, and the signs that its values had before are kept as noise.
"""

import numpy as np
from numba import njit

from reluscope.geometry.complexes import NONE

# Sides of a face: the strict signs on it. Without any the cut function is zero on the face, and the signs that its
# values had before they were decided to be zero are kept as noise; exact zeros leave nothing.
PLUS, MINUS, BOTH = 1, 2, 3
NOISE_PLUS, NOISE_MINUS, NOISE = 4, 8, 12
# Zeros count as certain where their error is at most this many times the resolution.
SLACK = 32.0
# Number of cuts whose signs are kept together, as the bits of one word.
GROUP = 64
ZERO, ONE = np.uint64(0), np.uint64(1)


@njit(cache=True)
def sign_vertices(first, last, heights, blur, rounding, slopes, floor, group, kept, above, below) -> None:
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
def sign_faces(first, last, start, count, pool, lower_above, lower_below, kept, above, below) -> None:
    """Find which cuts some point of a face lies above, and which one lies below, from its boundary; keep these bits."""
    for f in range(first, last):
        plus = minus = ZERO
        for i in range(start[f], start[f] + count[f]):
            plus |= lower_above[pool[i]]
            minus |= lower_below[pool[i]]
        above[f], below[f] = plus & kept, minus & kept


@njit(cache=True)
def sign_halves(faces, start, count, pool, other, lower_above, lower_below, bit, above, below) -> None:
    """Find the signs of faces that were cut, as they are now, and of their other halves."""
    before = bit - ONE
    kept = ~(bit | before)
    for face in faces:
        half = other[face]
        if half == NONE:
            continue
        # What earlier cuts left on either side of a cell stays as it is.
        plus, minus = above[face] & before, below[face] & before
        sign_faces(face, face + 1, start, count, pool, lower_above, lower_below, kept, above, below)
        sign_faces(half, half + 1, start, count, pool, lower_above, lower_below, kept, above, below)
        above[face] |= plus | bit
        below[face] |= minus
        above[half] |= plus
        below[half] |= minus | bit


@njit(cache=True)
def fill_sides(sides, above, below) -> None:
    """Write the signs of cells; the entries of flat ones stay."""
    for f in range(sides.shape[0]):
        for i in range(sides.shape[1]):
            bit = ONE << np.uint64(i)
            signs = (PLUS if above[f] & bit else 0) | (MINUS if below[f] & bit else 0)
            if signs:
                sides[f, i] = signs


@njit(cache=True)
def find_crossed(above, below, bit, found) -> int:
    """List the faces with both signs, and return their number."""
    number = 0
    for f in range(above.shape[0]):
        found[number] = f
        if above[f] & below[f] & bit:
            number += 1
    return number


@njit(cache=True)
def is_doubtful(height, error, floor) -> bool:
    """Return whether a zero has a known sign, or an error that exceeds the resolution by more than a small factor."""
    return height > min(error, floor) or error > SLACK * floor


@njit(cache=True)
def count_doubts(start, pool, num_edges, blur, rounding, slope, floor, is_strict, raw) -> int:
    """Count doubtful zeros beside strict signs; all others belong to flat cells, which are known to be flat."""
    is_beside = np.zeros(len(is_strict), dtype=np.bool_)
    for edge in range(num_edges):
        a, b = pool[start[1, edge]], pool[start[1, edge] + 1]
        if is_strict[a] != is_strict[b]:
            is_beside[b if is_strict[a] else a] = True
    found = 0
    for v in np.flatnonzero(is_beside):
        found += is_doubtful(abs(raw[v]), rounding + slope * blur[v], floor)
    return found


@njit(cache=True)
def noise_of_face(level, face, start, count, pool, raw):
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
