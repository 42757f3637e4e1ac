"""The nearest codes of codes, by tiles of distances: never the whole table."""

import numpy as np
from jaxtyping import Int

from reluscope import _kernels
from reluscope.codes.distances import TILE_COLUMNS, TILE_ROWS, for_each, tiles
from reluscope.codes.layout import CodeLayout


def nearest_rows(
    queries: np.ndarray, words: np.ndarray, layout: CodeLayout, k: int, *, others: bool
) -> tuple[Int[np.ndarray, "q k"], Int[np.ndarray, "q k"]]:
    """Return distances and rows of the k nearest packed codes of packed codes.

    Ascending; at equal distances the lower row comes first. With `others` the two sets are one, no code is its own
    neighbour, and k is at most t - 1. Cost: q t w word operations; memory of the result and a tile.
    """
    distances = np.full((len(queries), k), np.iinfo(np.int64).max, dtype=np.int64)
    rows = np.zeros((len(queries), k), dtype=np.int64)
    tile_distances = tiles(queries, words, layout, None)

    def search(start: int) -> None:
        chosen = slice(start, start + TILE_ROWS)
        for column in range(0, len(words), TILE_COLUMNS):
            tile = tile_distances(chosen, slice(column, column + TILE_COLUMNS))
            _kernels.keep_nearest(tile, column, start if others else -1, distances[chosen], rows[chosen])

    for_each(search, range(0, len(queries), TILE_ROWS), work=len(queries) * len(words) * max(1, layout.num_words))
    return distances, rows
