"""The regions of a line or a plane as a complex: vertices are shared, and facets know their ends."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from reluscope.partitions.table.boundedness import Boundedness
from reluscope.partitions.table.polygons import ordered_corners, polygon_sizes


@dataclass(frozen=True, eq=False)
class Mosaic:
    """All regions of a bounded domain of dimension one or two, with shared vertices.

    Facets between regions come first, then those on the domain's boundary, with ``right`` -1. Corners are in no
    particular order.
    """

    vertices: np.ndarray  # (v, d)
    offsets: np.ndarray  # (r + 1,) where each region's ``ids`` begin
    ids: np.ndarray  # vertices of the regions
    ends: np.ndarray  # (f, d) vertices of every facet
    left: np.ndarray  # (f,)
    right: np.ndarray  # (f,)
    roots: np.ndarray  # (r,)
    words: np.ndarray  # (r, w)
    num_unmatched: int  # seams that are not covered from both sides
    blur: np.ndarray | None = None  # (v,) error of each vertex; None in early files
    outputs: np.ndarray | None = None  # (v, m) at vertices, where the walk had costly ones

    kind: ClassVar[str] = "mosaic"
    has_vertices: ClassVar[bool] = True
    has_facet_vertices: ClassVar[bool] = True

    @property
    def dim(self) -> int:
        """Dimension of the domain."""
        return self.vertices.shape[1]

    @property
    def vertex_blur(self) -> np.ndarray | None:
        """The blur of each of `vertices`."""
        return self.blur

    @cached_property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of every region as ``(offsets, ids)``: ascending on a line, counter-clockwise in the plane."""
        return self.offsets, ordered_corners(self.vertices, self.offsets, self.ids, self.witnesses)

    @cached_property
    def witnesses(self) -> np.ndarray:
        """A strictly interior point of every region: the mean of its corners."""
        if not len(self.roots):
            return np.zeros((0, self.dim))
        sums = np.add.reduceat(self.vertices[self.ids], self.offsets[:-1], axis=0)
        return sums / np.diff(self.offsets)[:, None]

    @cached_property
    def volumes(self) -> np.ndarray:
        """Length or area of every region."""
        return polygon_sizes(self.vertices, *self.region_vertices)

    @property
    def is_bounded(self) -> np.ndarray:
        """Whether each region is bounded: all are."""
        return self.boundedness.is_bounded

    @property
    def boundedness(self) -> Boundedness:
        """That all regions are bounded."""
        return Boundedness.everywhere(len(self.roots))

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Regions on both sides of every facet between two, and its ends."""
        inner = self.right >= 0
        return self.left[inner], self.right[inner], self.ends[inner]

    def take(self, kept: np.ndarray) -> "Mosaic":
        """Return some of the regions, in increasing order; what bordered on others borders on the outside."""
        place = np.full(len(self.roots) + 1, -1)  # its last entry is for the outside
        place[kept] = np.arange(len(kept))
        left, right = place[self.left], place[self.right]
        facets = np.flatnonzero((left >= 0) | (right >= 0))
        left, right, ends = left[facets], right[facets], self.ends[facets]
        left, right = np.where(left < 0, right, left), np.where(left < 0, -1, right)
        corners = [self.ids[self.offsets[cell] : self.offsets[cell + 1]] for cell in kept.tolist()]
        ids = np.concatenate([self.ids[:0], *corners])
        vertices = np.unique(np.concatenate([ids, ends.reshape(-1)]))
        return replace(
            self,
            vertices=self.vertices[vertices],
            blur=None if self.blur is None else self.blur[vertices],
            outputs=None if self.outputs is None else self.outputs[vertices],
            offsets=np.cumsum([0, *map(len, corners)]),
            ids=np.searchsorted(vertices, ids),
            ends=np.searchsorted(vertices, ends),
            left=left,
            right=right,
            roots=self.roots[kept],
            words=self.words[kept],
        )

    def recoded(self, kept: np.ndarray, words: np.ndarray) -> "Mosaic":
        """Return some of the regions, in increasing order, under other codes."""
        return replace(self.take(kept), words=words)
