"""The nearest codes of codes, by tiles of distances: never the whole table."""

import numpy as np
from jaxtyping import Int
from numba import njit

from reluscope.codes.distances import TILE_COLUMNS, TILE_ROWS, for_each, tiles
from reluscope.codes.layout import CodeLayout
from reluscope.interruption import held


def nearest_rows(
    queries: np.ndarray, words: np.ndarray, layout: CodeLayout, k: int, *, others: bool
) -> tuple[Int[np.ndarray, "q k"], Int[np.ndarray, "q k"]]:
    """Return the k nearest packed codes of packed codes.

    Parameters
    ----------
    queries, words : (q, w) and (t, w) uint64
    layout : CodeLayout
        Of both.
    k : int
        From 1 to t, or to t - 1 for others.
    others : bool
        The two sets are one, and no code is its own neighbour.

    Returns
    -------
    distances, rows : (q, k) int64
        Ascending; at equal distances the lower row comes first.

    Notes
    -----
    Cost: q t w word operations on the threads that numba may use; memory is that of the result and of a tile.
    """
    distances = np.full((len(queries), k), np.iinfo(np.int64).max, dtype=np.int64)
    rows = np.zeros((len(queries), k), dtype=np.int64)
    tile_distances = tiles(queries, words, layout, None)

    def search(start: int) -> None:
        chosen = slice(start, start + TILE_ROWS)
        for column in range(0, len(words), TILE_COLUMNS):
            tile = tile_distances(chosen, slice(column, column + TILE_COLUMNS))
            _keep_nearest(tile, column, start if others else -1, distances[chosen], rows[chosen])

    for_each(search, range(0, len(queries), TILE_ROWS), work=len(queries) * len(words) * max(1, layout.num_words))
    return distances, rows


@held
@njit(nogil=True, cache=True)
def _keep_nearest(tile, first_column, first_row, distances, rows):
    """Put the distances of a tile where they belong in sorted lists; with a first row, leave out the diagonal."""
    most = distances.shape[1]
    for i in range(tile.shape[0]):
        own = first_row + i - first_column if first_row >= 0 else -1
        for j in range(tile.shape[1]):
            found = np.int64(tile[i, j])
            if found >= distances[i, most - 1] or j == own:
                continue
            place = most - 1
            while place > 0 and distances[i, place - 1] > found:
                distances[i, place], rows[i, place] = distances[i, place - 1], rows[i, place - 1]
                place -= 1
            distances[i, place], rows[i, place] = found, first_column + j
