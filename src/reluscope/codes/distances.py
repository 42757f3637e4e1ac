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

# A tile of distances is 64 x 512 numbers of 8 bytes, and 512 codes of 3,072 bits are 200 kB: both stay in the
# second-level cache.
TILE_ROWS = 64
TILE_COLUMNS = 512
# Below this many words to compare, threads cost more than they give.
THREADED_WORK = 2**27


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
    num_columns = len(first if second is None else second)
    distances = np.empty((len(first), num_columns), dtype=np.uint16 if largest <= 0xFFFF else np.uint32)
    first = np.ascontiguousarray(first)
    columns = np.ascontiguousarray((first if second is None else second).T)
    stop = np.uint64(largest)
    units = _unit_words(layout)

    def fill_rows(start: int) -> None:
        rows = slice(start, start + TILE_ROWS)
        # A tile of a symmetric table is computed if it reaches the diagonal from above, and mirrored.
        reached = start // TILE_COLUMNS * TILE_COLUMNS if second is None else 0
        for column in range(reached, num_columns, TILE_COLUMNS):
            others = slice(column, column + TILE_COLUMNS)
            tile = _tile_distances(first[rows], np.ascontiguousarray(columns[:, others]), units, stop)
            if threshold is not None:
                np.minimum(tile, stop, out=tile)
            distances[rows, others] = tile
            if second is None and column >= start + TILE_ROWS:
                distances[others, rows] = tile.T

    _for_each(fill_rows, range(0, len(first), TILE_ROWS), work=distances.size * max(1, layout.num_words))
    return distances


def _unit_words(layout: CodeLayout) -> np.ndarray:
    """Return (q, 3): for each 64 units of a gate the column of plane 0, the number of planes, the step between."""
    table = [
        (layout.words(index).start + word, gate.num_planes, gate.words_per_plane)
        for index, gate in enumerate(layout)
        for word in range(gate.words_per_plane)
    ]
    return np.array(table, dtype=np.int64).reshape(-1, 3)


def _for_each(task: Callable[[int], None], starts: range, work: int) -> None:
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
