"""Hamming distances of packed codes: the number of units on which two codes differ.

    d(a, b) = |{i : a_i != b_i}|,    truncated at a threshold t:  min(d(a, b), t).

A unit of many pieces differs if any of its bits does, so the exclusive ors of the planes of a gate are joined before
bits are counted. Truncation at 2 gives the adjacency metric of the ReLU code space (Shepeleva et al. 2020).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from reluscope import _kernels
from reluscope.codes.layout import CodeLayout

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
    """Return the distances (s, t) of all pairs of packed codes, uint16, or uint32 beyond 65,535.

    `second` None compares the first set with itself at half the cost. Distances above the threshold are reported as it.
    Unsigned: differences wrap around unless converted first. Cost: s t w word operations.
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
    """Return a function that computes tiles of uint64 distances between rows of two sets of packed codes.

    Distances above `stop` are given as it.
    """
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    if stop is None and layout.num_words >= LONG and layout.is_binary:
        return lambda rows, columns: _kernels.long_distances(first[rows], second[columns])
    turned, units = np.ascontiguousarray(second.T), _unit_words(layout)
    most = layout.num_units if stop is None else stop
    return lambda rows, columns: _kernels.tile_distances(first[rows], turned[:, columns], units, most)


def _unit_words(layout: CodeLayout) -> np.ndarray:
    """Return (q, 3): for each 64 units of a gate the column of plane 0, the number of planes, the step between."""
    table = [
        (layout.words(index).start + word, gate.num_planes, gate.words_per_plane)
        for index, gate in enumerate(layout)
        for word in range(gate.words_per_plane)
    ]
    return np.array(table, dtype=np.int64).reshape(-1, 3)


def for_each(task: Callable[[int], None], starts: range, work: int) -> None:
    """Do a task for each start, on the threads that torch may use if there is enough work."""
    num_threads = min(torch.get_num_threads(), len(starts))
    if num_threads < 2 or work < THREADED_WORK:
        for start in starts:
            task(start)
        return
    # Kernels release the interpreter's lock, so plain threads are parallel.
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in pool.map(task, starts):
            pass
