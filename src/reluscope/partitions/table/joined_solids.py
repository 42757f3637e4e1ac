"""Finished chunks of three and more dimensions joined into regions and their neighbours.

Inside a chunk the complex knows which cells share a facet. Across a seam the two sides were cut by the same units at
the same places, up to rounding, so the pieces of the seam lie on top of each other: each is matched with the one whose
centre is its own. Where max gates cut one side only, a small step across the piece tells which region lies there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reluscope import _kernels
from reluscope.codes.distinct import group_equal_rows
from reluscope.partitions.complexes.chunks import Chunk
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns, distinct_pairs
from reluscope.partitions.table.region_columns import RegionColumns

# Pieces of a seam lie on top of each other if their centres are closer than this share of their size.
COINCIDENT = 1e-3
# Relative to the way from a witness to the middle of a seam: how far behind it codes are read.
STEP = 1e-6


@dataclass(frozen=True)
class SolidPatch:
    """The finished cells of one chunk of any dimension."""

    points: np.ndarray  # (v, d)
    offsets: np.ndarray  # (r + 1,) where each cell's ``ids`` begin
    ids: np.ndarray  # vertices of the cells
    left: np.ndarray  # (f,) cell on one side of the inner facets
    right: np.ndarray  # (f,) cell on the other side
    seams: np.ndarray  # (s,) seam of every piece of a seam
    seam_cells: np.ndarray  # (s,) cell of every piece of a seam
    centers: np.ndarray  # (s, d) mean of the piece's vertices
    sizes: np.ndarray  # (s,) how far the vertices lie from that mean
    roots: np.ndarray  # (r,)
    words: np.ndarray  # (r, w)
    blur: np.ndarray  # (v,) how far each vertex may be from its true place
    in_doubt: np.ndarray  # (r,) whether a sign stayed undecided on the way to it

    @classmethod
    def of(cls, chunk: Chunk) -> "SolidPatch":
        """Keep the geometry and the codes of a chunk that has passed all gates."""
        facets, (offsets, ids) = chunk.cells.vertex_lists()
        left, right = chunk.cells.cofaces()
        inner = right >= 0
        pieces = np.flatnonzero(~inner & (chunk.seams >= 0))
        centers, sizes = _kernels.extents(chunk.points, *facets, pieces)
        words = np.concatenate([*chunk.words, np.zeros((chunk.cells.num_cells, 0), dtype=np.uint64)], axis=1)
        return cls(
            chunk.points,
            offsets,
            ids,
            left[inner],
            right[inner],
            chunk.seams[pieces],
            left[pieces],
            centers,
            sizes,
            chunk.roots,
            words,
            chunk.blur,
            np.full(len(chunk), chunk.in_doubt),
        )

    def __len__(self) -> int:
        return len(self.roots)


Across = Callable[[np.ndarray], np.ndarray]


def join(patches: list[SolidPatch], dim: int, num_words: int, across: Across) -> RegionColumns:
    """Join finished chunks of a bounded domain; cells of equal codes are one region.

    Regions are in the order of the patches. ``across`` returns the packed codes at points, and is asked only where cuts
    of max gates end at a seam.
    """
    starts = np.cumsum([0, *(len(patch.roots) for patch in patches)])[:-1]

    def joined(name: str, empty: tuple[int, ...], dtype, shift: bool = False) -> np.ndarray:
        parts = [getattr(patch, name) + (start if shift else 0) for patch, start in zip(patches, starts, strict=True)]
        return np.concatenate([np.zeros(empty, dtype=dtype), *parts])

    words = joined("words", (0, num_words), np.uint64)
    first, region, _ = group_equal_rows(words)
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(patch.offsets) for patch in patches)])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # Homogeneous.
    corners = np.ones((int(offsets[-1]), dim + 1))
    blur = np.zeros(len(corners))
    ends = np.cumsum([0, *(len(patch.ids) for patch in patches)])
    for patch, begin, end in zip(patches, ends[:-1], ends[1:], strict=True):
        corners[begin:end, :dim] = patch.points[patch.ids]
        blur[begin:end] = patch.blur[patch.ids]
    means = (
        np.add.reduceat(corners[:, :dim], offsets[:-1], axis=0) / counts[:, None] if len(counts) else corners[:, :dim]
    )
    left, right = (region[joined(name, (0,), np.int64, shift=True)] for name in ("left", "right"))

    seams, owners = joined("seams", (0,), np.int64), joined("seam_cells", (0,), np.int64, shift=True)
    centers, sizes = joined("centers", (0, dim), np.float64), joined("sizes", (0,), np.float64)
    one, other = _matched(seams, centers, sizes)
    left, right = np.concatenate([left, region[owners[one]]]), np.concatenate([right, region[owners[other]]])
    is_alone = np.ones(len(seams), dtype=bool)
    is_alone[one] = is_alone[other] = False
    alone = np.flatnonzero(is_alone)
    num_unmatched = 0
    if len(alone):
        beside, known = _stepped(centers[alone], means[owners[alone]], words[first], across)
        left = np.concatenate([left, region[owners[alone[known]]]])
        right = np.concatenate([right, beside[known]])
        num_unmatched = int((~known).sum())
    ids = np.arange(len(corners))
    in_doubt = np.bincount(region, joined("in_doubt", (0,), np.bool_), len(first)) > 0
    return RegionColumns(
        words=words[first],
        witnesses=means[first],
        facets=FacetColumns(*distinct_pairs(left, right, len(first)), num_unmatched),
        corners=CellCorners(regions=region, offsets=offsets, ids=ids, points=corners, blur=blur),
        is_bounded=np.ones(len(first), dtype=bool),
        in_doubt=None if num_unmatched else in_doubt,
    )


def _matched(seams: np.ndarray, centers: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of pieces of one seam that are each other's nearest, and as good as equal."""
    # In a direction that no seam is likely to be perpendicular to, pieces that coincide stand side by side.
    direction = np.random.default_rng(0).standard_normal(centers.shape[1])
    heights = centers @ (direction / np.linalg.norm(direction))
    partner = _kernels.nearest_in_place(seams, centers, sizes, heights, np.lexsort((heights, seams)), COINCIDENT)
    rows = np.arange(len(seams))
    good = (partner >= 0) & (partner[partner] == rows) & (rows < partner)
    return rows[good], partner[good]


def _stepped(
    centers: np.ndarray, witnesses: np.ndarray, words: np.ndarray, across: Across
) -> tuple[np.ndarray, np.ndarray]:
    """Return the region a small step beyond each piece, seen from its own cell, and whether there is one."""
    codes = across(centers + STEP * (centers - witnesses))
    everything = np.concatenate([words, codes])
    first, group, _ = group_equal_rows(everything)
    place = first[group[len(words) :]]
    return np.where(place < len(words), place, 0), place < len(words)
