"""Finished cells joined into regions: equal codes are one region, equal keys the two sides of a facet."""

from collections.abc import Sequence

import numpy as np

from reluscope import _kernels
from reluscope.codes.distinct import group_equal_rows
from reluscope.partitions.cells.cell_patches import CellPatch
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns


def gather(patches: Sequence[CellPatch], dim: int, num_words: int) -> RegionColumns:
    """Join the cells of a walk to regions in the order in which they were found.

    Facets are joined by key. One is unmatched that is alone with its key or has one region on both sides, unless it
    lies on a wall, where one region's cells may meet.
    """
    return regions_of(joined(patches, dim, num_words), dim)


def regions_of(cells: CellPatch, dim: int) -> RegionColumns:
    """Return the regions of all cells; see `gather`."""
    first, region, counts = group_equal_rows(cells.words)
    facets = FacetColumns(*_kernels.join_facets(cells.facet_keys, region[cells.facet_cells], cells.on_walls))
    corners = CellCorners(regions=region, offsets=cells.corner_offsets, ids=cells.corner_ids, points=cells.corners)
    return RegionColumns(
        words=cells.words[first],
        witnesses=cells.middles[first, :dim] / cells.middles[first, dim:],
        facets=facets,
        corners=corners,
        is_bounded=np.bincount(region, weights=cells.is_bounded, minlength=len(first)) == counts,
        in_doubt=None if facets.num_unmatched else np.bincount(region, cells.in_doubt, len(first)) > 0,
    )


def joined(patches: Sequence[CellPatch], dim: int, num_words: int) -> CellPatch:
    """Return all cells of patches as one."""
    patches = [_no_cells(dim, num_words), *patches]
    starts = np.cumsum([0, *map(len, patches)])
    names = ("words", "corners", "middles", "is_bounded", "facet_keys", "on_walls", "in_doubt", "owners")
    columns = {name: np.concatenate([getattr(patch, name) for patch in patches]) for name in names}
    sizes = np.concatenate([np.diff(patch.corner_offsets) for patch in patches])
    of_corners = np.int32 if len(columns["corners"]) < 2**31 else np.int64
    places = np.cumsum([0, *(len(patch.corners) for patch in patches)], dtype=of_corners)
    return CellPatch(
        **columns,
        corner_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        corner_ids=np.concatenate(
            [patch.corner_ids + place for patch, place in zip(patches, places[:-1], strict=True)]
        ),
        facet_cells=np.concatenate(
            [patch.facet_cells + start for patch, start in zip(patches, starts[:-1], strict=True)]
        ),
    )


def _no_cells(dim: int, num_words: int) -> CellPatch:
    none = np.zeros(0, dtype=bool)
    points = np.zeros((0, dim + 1))
    return CellPatch(
        words=np.zeros((0, num_words), dtype=np.uint64),
        corner_offsets=np.zeros(1, dtype=np.int64),
        corner_ids=np.zeros(0, dtype=np.int32),
        corners=points,
        middles=points,
        is_bounded=none,
        facet_cells=np.zeros(0, dtype=np.int64),
        facet_keys=np.zeros((0, 2), dtype=np.uint64),
        on_walls=none,
        in_doubt=none,
        owners=np.zeros(0, dtype=np.int64),
    )
