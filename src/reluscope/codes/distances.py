"""Hamming distances of packed codes: the number of units on which two codes differ.

    d(a, b) = |{i : a_i != b_i}|,    truncated at a threshold t:  min(d(a, b), t).

A unit of many pieces differs if any of its bits does, so the exclusive ors of the planes of a gate are joined before
bits are counted. Truncation at 2 gives the adjacency metric of the ReLU code space (Shepeleva et al. 2020).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit, types
from numba.core import config
from numba.extending import intrinsic

from reluscope.codes.layout import CodeLayout
from reluscope.interruption import held

# A tile of distances is 64 x 512 numbers of 8 bytes, and 512 codes of 3,072 bits are 200 kB: both stay in the
# second-level cache.
TILE_ROWS = 64
TILE_COLUMNS = 512
# Below this many words to compare, threads cost more than they give.
THREADED_WORK = 2**27
# From this many words on, sums over the words of one pair beat sums over many pairs word by word.
LONG = 16


def hamming_distances(
    first: np.ndarray, second: np.ndarray | None, layout: CodeLayout, threshold: int | None = None
) -> np.ndarray:
    """Return the distances (s, t) of all pairs of packed codes.

    Parameters
    ----------
    first : (s, w) uint64
    second : (t, w) uint64 or None
        None compares the first set with itself, at half the cost.
    layout : CodeLayout
        Of both sets.
    threshold : int, optional
        Distances above it are reported as it; comparing stops early where all codes of a tile are that far apart.

    Returns
    -------
    distances : (s, t) uint16, or uint32 where a distance may exceed 65,535
        Unsigned: a difference of two distances wraps around unless converted first.

    Notes
    -----
    Cost: s t w word operations in cache-sized tiles, on all threads that numba may use (NUMBA_NUM_THREADS) where that
    pays; memory is that of the result.
    """
    largest = layout.num_units if threshold is None else min(layout.num_units, threshold)
    others = first if second is None else second
    distances = np.empty((len(first), len(others)), dtype=np.uint16 if largest <= 0xFFFF else np.uint32)
    tile_distances = tiles(first, others, layout, None if threshold is None else largest)

    def fill_rows(start: int) -> None:
        rows = slice(start, start + TILE_ROWS)
        # A tile of a symmetric table is computed if it reaches the diagonal from above, and mirrored.
        reached = start // TILE_COLUMNS * TILE_COLUMNS if second is None else 0
        for column in range(reached, len(others), TILE_COLUMNS):
            columns = slice(column, column + TILE_COLUMNS)
            tile = tile_distances(rows, columns)
            if threshold is not None:
                np.minimum(tile, largest, out=tile)
            # Narrow before the mirror image: its reads then stay in one tile of the cache.
            tile = tile.astype(distances.dtype)
            distances[rows, columns] = tile
            if second is None and column >= start + TILE_ROWS:
                distances[columns, rows] = tile.T

    for_each(fill_rows, range(0, len(first), TILE_ROWS), work=distances.size * max(1, layout.num_words))
    return distances


def tiles(
    first: np.ndarray, second: np.ndarray, layout: CodeLayout, stop: int | None
) -> Callable[[slice, slice], np.ndarray]:
    """Return what computes tiles of distances, uint64, between rows of two sets of packed codes.

    Parameters
    ----------
    first, second : (s, w) and (t, w) uint64
    layout : CodeLayout
    stop : int or None
        Above it distances need not be told apart.
    """
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    if stop is None and layout.num_words >= LONG and layout.is_binary:
        return lambda rows, columns: _long_distances(first[rows], second[columns])
    turned, units = np.ascontiguousarray(second.T), _unit_words(layout)
    most = np.uint64(layout.num_units if stop is None else stop)
    return lambda rows, columns: _tile_distances(first[rows], np.ascontiguousarray(turned[:, columns]), units, most)


def _unit_words(layout: CodeLayout) -> np.ndarray:
    """Return (q, 3): for each 64 units of a gate the column of plane 0, the number of planes, the step between."""
    table = [
        (layout.words(index).start + word, gate.num_planes, gate.words_per_plane)
        for index, gate in enumerate(layout)
        for word in range(gate.words_per_plane)
    ]
    return np.array(table, dtype=np.int64).reshape(-1, 3)


def for_each(task: Callable[[int], None], starts: range, work: int) -> None:
    """Do a task for each start, on the threads that numba may use if there is enough work."""
    num_threads = min(config.NUMBA_NUM_THREADS, len(starts))  # pyright: ignore[reportAttributeAccessIssue]
    if num_threads < 2 or work < THREADED_WORK:
        for start in starts:
            task(start)
        return
    # Kernels release the interpreter's lock, so plain threads are parallel without numba's costly parallel mode.
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in pool.map(task, starts):
            pass


@intrinsic
def _popcount(typing_context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


_READ_ONLY_WORDS = types.Array(types.uint64, 2, "C", readonly=True)
_READ_ONLY_TABLE = types.Array(types.int64, 2, "C", readonly=True)


@held
@njit(
    types.uint64[:, ::1](_READ_ONLY_WORDS, _READ_ONLY_WORDS, _READ_ONLY_TABLE, types.uint64),
    nogil=True,
    cache=True,
)
def _tile_distances(rows, columns, units, stop):
    """Distances of codes in rows (a, w) and in columns (w, b); a row ends early once all its distances reach stop."""
    num_columns = columns.shape[1]
    distances = np.zeros((rows.shape[0], num_columns), dtype=np.uint64)
    changed = np.empty(num_columns, dtype=np.uint64)
    for i in range(rows.shape[0]):
        row = distances[i]
        for q in range(units.shape[0]):
            start = units[q, 0]
            if units[q, 1] == 1:
                word, others = rows[i, start], columns[start]
                for j in range(num_columns):
                    row[j] += _popcount(word ^ others[j])  # pyright: ignore[reportCallIssue]
            else:
                changed[:] = np.uint64(0)
                for plane in range(units[q, 1]):
                    column = start + plane * units[q, 2]
                    word, others = rows[i, column], columns[column]
                    for j in range(num_columns):
                        changed[j] |= word ^ others[j]
                for j in range(num_columns):
                    row[j] += _popcount(changed[j])  # pyright: ignore[reportCallIssue]
            if q % 8 == 7:
                least = stop
                for j in range(num_columns):
                    least = min(least, row[j])
                if least >= stop:
                    break
    return distances


@held
@njit(types.uint64[:, ::1](_READ_ONLY_WORDS, _READ_ONLY_WORDS), nogil=True, cache=True)
def _long_distances(rows, columns):
    """Distances of codes (a, w) and (b, w) whose units have one bit each."""
    num_rows, num_columns, num_words = rows.shape[0], columns.shape[0], rows.shape[1]
    distances = np.empty((num_rows, num_columns), dtype=np.uint64)
    # Blocks of 2 x 4 pairs: eight sums stay in registers and every word that is read is used for several. At the ends
    # a block is filled up with codes that are there already.
    for i in range(0, num_rows, 2):
        above = i
        below = min(i + 1, num_rows - 1)
        one, two = rows[above], rows[below]
        for j in range(0, num_columns, 4):
            last = num_columns - 1
            k, l, m = min(j + 1, last), min(j + 2, last), min(j + 3, last)  # noqa: E741
            a, b, c, d = columns[j], columns[k], columns[l], columns[m]
            zero = np.uint64(0)
            s0, s1, s2, s3, t0, t1, t2, t3 = zero, zero, zero, zero, zero, zero, zero, zero
            for w in range(num_words):
                x, y = one[w], two[w]
                p, q, r, s = a[w], b[w], c[w], d[w]
                s0 += _popcount(x ^ p)  # pyright: ignore[reportCallIssue]
                s1 += _popcount(x ^ q)  # pyright: ignore[reportCallIssue]
                s2 += _popcount(x ^ r)  # pyright: ignore[reportCallIssue]
                s3 += _popcount(x ^ s)  # pyright: ignore[reportCallIssue]
                t0 += _popcount(y ^ p)  # pyright: ignore[reportCallIssue]
                t1 += _popcount(y ^ q)  # pyright: ignore[reportCallIssue]
                t2 += _popcount(y ^ r)  # pyright: ignore[reportCallIssue]
                t3 += _popcount(y ^ s)  # pyright: ignore[reportCallIssue]
            distances[above, j], distances[above, k], distances[above, l], distances[above, m] = s0, s1, s2, s3
            distances[below, j], distances[below, k], distances[below, l], distances[below, m] = t0, t1, t2, t3
    return distances
