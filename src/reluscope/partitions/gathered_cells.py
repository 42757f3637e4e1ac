"""Finished cells joined into regions: equal codes are one region, equal keys the two sides of a facet."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reluscope.codes.distinct import group_equal_rows
from reluscope.partitions.solid_regions import SolidRegions


@dataclass(frozen=True)
class CellPatch:
    """Finished cells of one batch.

    Parameters
    ----------
    words : (r, w) uint64
        Packed codes.
    vertex_offsets : (r + 1,) int64; vertices : (v, d + 1) float64
        Homogeneous vertices of every cell.
    facet_cells : (f,) int64; facet_keys : (f, 2) uint64; on_walls : (f,) bool
        The inner facets of every cell, with keys that both sides share, and whether they lie on a wall between parts of
        the domain, where both sides may be of one region.
    """

    words: np.ndarray
    vertex_offsets: np.ndarray
    vertices: np.ndarray
    facet_cells: np.ndarray
    facet_keys: np.ndarray
    on_walls: np.ndarray

    def __len__(self) -> int:
        return len(self.words)


def gather(patches: Sequence[CellPatch], dim: int, num_words: int) -> SolidRegions:
    """Join the cells of a walk.

    Parameters
    ----------
    patches : sequence of CellPatch
    dim, num_words : int
        Of the domain, and of a code.

    Returns
    -------
    SolidRegions
        Regions in the order in which they were found.
    """
    sizes = [len(patch) for patch in patches]
    words = np.concatenate([np.zeros((0, num_words), dtype=np.uint64), *(patch.words for patch in patches)])
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(patch.vertex_offsets) for patch in patches)])
    vertices = np.concatenate([np.zeros((0, dim + 1)), *(patch.vertices for patch in patches)])
    starts = np.cumsum([0, *sizes])[:-1]
    cells = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(patch.facet_cells + at for patch, at in zip(patches, starts, strict=True))]
    )
    keys = np.concatenate([np.zeros((0, 2), dtype=np.uint64), *(patch.facet_keys for patch in patches)])
    on_walls = np.concatenate([np.zeros(0, dtype=bool), *(patch.on_walls for patch in patches)])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    first, region, _ = group_equal_rows(words)
    if len(words):
        means = np.add.reduceat(vertices, offsets[:-1], axis=0) / counts[:, None]
        ideal = np.add.reduceat(vertices[:, dim] == 0, offsets[:-1]) > 0
    else:
        means, ideal = np.zeros((0, dim + 1)), np.zeros(0, dtype=bool)
    is_bounded = np.bincount(region, weights=ideal, minlength=len(first)) == 0
    left, right, num_unmatched = _paired(keys, region[cells], on_walls)
    return SolidRegions(
        words=words[first],
        witnesses=means[first, :dim] / means[first, dim:],
        is_bounded=is_bounded,
        left=left,
        right=right,
        regions=region,
        cell_offsets=offsets,
        cell_vertices=vertices,
        num_unmatched=num_unmatched,
    )


def _paired(keys: np.ndarray, regions: np.ndarray, on_walls: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the pairs of different regions with facets of equal keys, and how many facets have no other side."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, regions, on_walls = keys[order], regions[order], on_walls[order]
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    group = np.cumsum(begins) - 1
    alone = np.bincount(group, minlength=1) == 1
    # On a facet there are two regions, each perhaps in several cells: the smallest and the largest are both.
    starts = np.flatnonzero(begins)
    if not len(starts):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0
    low, high = np.minimum.reduceat(regions, starts), np.maximum.reduceat(regions, starts)
    pairs = np.unique(np.stack([low, high], axis=1)[low < high], axis=0)
    # The cells of one region on both sides of a wall have facets of one key, too, in two parts of the domain.
    one_sided = alone | ((low == high) & ~np.logical_or.reduceat(on_walls, starts))
    return pairs[:, 0], pairs[:, 1], int(one_sided.sum())
