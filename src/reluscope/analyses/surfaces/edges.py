"""The edges of a polygonal surface, and which polygons meet at them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from reluscope.partitions.levels.level_polygons import following
from reluscope.partitions.levels.level_sets import LevelSet


@dataclass(frozen=True)
class SurfaceEdges:
    """Edges, each once.

    ``polygons`` has the two that meet at an edge: the first runs from the lower vertex to the higher, if only one does.
    It is -1 at edges where not exactly two meet.
    """

    ends: Int[np.ndarray, "e 2"]  # vertices, the lower first
    counts: Int[np.ndarray, " e"]  # how many polygons meet there
    polygons: Int[np.ndarray, "e 2"]  # the two that meet there, else -1
    row: Int[np.ndarray, " _"]  # edge that begins at each corner of the polygons

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
