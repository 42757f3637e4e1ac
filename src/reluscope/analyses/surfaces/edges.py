"""The edges of a polygonal surface, and which polygons meet at them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.partitions.levels.level_polygons import following
from reluscope.partitions.levels.level_sets import LevelSet


@dataclass(frozen=True)
class SurfaceEdges:
    """Edges, each once.

    Parameters
    ----------
    ends : (e, 2) int64
        Vertices, the lower first.
    counts : (e,) int64
        How many polygons meet there.
    polygons : (e, 2) int64
        Of the edges at which two polygons meet, these: the first runs from the lower vertex to the higher, if only one
        does. -1 elsewhere.
    row : (len(ids),) int64
        The edge that begins at each corner of the polygons.
    """

    ends: Int[np.ndarray, "e 2"]
    counts: Int[np.ndarray, " e"]
    polygons: Int[np.ndarray, "e 2"]
    row: Int[np.ndarray, " _"]

    @classmethod
    def of(cls, surface: LevelSet) -> "SurfaceEdges":
        """Find the edges of a level set in space."""
        here, after = surface.ids, following(surface.offsets, surface.ids)
        keys = np.minimum(here, after) * max(1, len(surface.vertices)) + np.maximum(here, after)
        _, first, row, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        row = row.reshape(-1)
        ends = np.sort(np.stack([here[first], after[first]], axis=1), axis=1)
        piece = np.repeat(np.arange(len(surface)), np.diff(surface.offsets))
        order = np.lexsort((here > after, row))
        starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
        polygons = np.full((len(ends), 2), -1)
        pairs = counts == 2
        for side in (0, 1):
            polygons[pairs, side] = piece[order[starts[pairs] + side]]
        return cls(ends, counts, polygons, row)
