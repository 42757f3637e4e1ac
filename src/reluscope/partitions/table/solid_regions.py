"""The regions of a domain of several dimensions: convex cells with vertices of their own, and who touches whom.

A region is one cell, or several that have one code: the parts of an unbounded region in different cones, or what
cuts of max gates left behind. Its union is convex.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64
from scipy.optimize import nnls

from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.partitions.table.boundedness import Boundedness

REDUNDANT = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class SolidRegions:
    """Regions and their neighbours, with the vertices of the cells that they consist of.

    Vertices are homogeneous, points times w > 0 or directions with w = 0, in a table that cells share; one vertex may
    be there several times. Pairs ``left`` < ``right`` share a facet, each once.
    """

    words: UInt64[np.ndarray, "r w"]  # packed codes, all different
    witnesses: Float[np.ndarray, "r d"]  # strictly interior points
    is_bounded: Bool[np.ndarray, " r"]  # as far as vertices show, see `boundedness`
    left: Int[np.ndarray, " f"]
    right: Int[np.ndarray, " f"]
    regions: Int[np.ndarray, " c"]  # region that each cell is part of
    cell_offsets: Int[np.ndarray, " c1"]  # where each cell's ``corner_ids`` begin
    corner_ids: Int[np.ndarray, " v"]  # rows of ``corners``
    corners: Float[np.ndarray, "p d1"]  # vertices shared by the cells
    num_unmatched: int  # facets whose other side was not found
    is_proved: Bool[np.ndarray, " r"] | None = None  # where ``is_bounded`` is proved, once asked
    blur: Float[np.ndarray, " p"] | None = None  # error of ``corners`` if all are points; None if unknown

    kind: ClassVar[str] = "solid"
    has_vertices: ClassVar[bool] = True
    has_facet_vertices: ClassVar[bool] = False

    @property
    def boundedness(self) -> Boundedness | None:
        """Which regions are bounded, and of which that is proved; None where it has not been asked yet."""
        return None if self.is_proved is None else Boundedness(self.is_bounded, self.is_proved)

    @property
    def dim(self) -> int:
        """Dimension of the domain."""
        return self.witnesses.shape[1]

    @property
    def cell_vertices(self) -> Float[np.ndarray, "v d1"]:
        """Homogeneous vertices of the cells, cell by cell: a new array each time."""
        return self.corners[self.corner_ids]

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Regions on both sides of every facet between two; ends of facets are not kept."""
        return self.left, self.right, np.zeros((len(self.left), 0), dtype=np.int64)

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """Corners of all regions, region by region: a corner is listed for each region that it belongs to."""
        return self._corners[0]

    @property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of every region as ``(offsets, ids)``; directions of unbounded regions are not among them."""
        return self._corners[1], np.arange(len(self._corners[0]))

    @property
    def vertex_blur(self) -> Float[np.ndarray, " v"] | None:
        """The blur of each of `vertices`: that of the region's most blurred corner."""
        if self.blur is None or not len(self.words):
            return self.blur
        cells = np.maximum.reduceat(self.blur[self.corner_ids], self.cell_offsets[:-1])
        regions = np.zeros(len(self.words))
        np.maximum.at(regions, self.regions, cells)
        return np.repeat(regions, np.diff(self._corners[1]))

    @cached_property
    def _corners(self) -> tuple[np.ndarray, np.ndarray]:
        order, starts = self._cells_by_region
        vertices = self.cell_vertices
        found, sizes = [], []
        for region in range(len(self.words)):
            cells = order[starts[region] : starts[region + 1]]
            points = [vertices[self.cell_offsets[c] : self.cell_offsets[c + 1]] for c in cells]
            corners = points[0] if len(points) == 1 else _extreme(np.concatenate(points))
            corners = corners[corners[:, -1] > 0]
            found.append(corners[:, :-1] / corners[:, -1:])
            sizes.append(len(corners))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.concatenate([np.zeros((0, self.dim)), *found]), offsets

    @cached_property
    def _cells_by_region(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.regions, kind="stable")
        return order, np.searchsorted(self.regions[order], np.arange(len(self.words) + 1))

    @cached_property
    def volumes(self) -> Float[np.ndarray, " r"]:
        """Volume of every region, infinite where a cell has a direction: of the convex hull of each cell, by Qhull.

        Zero for a region that is thinner than floats can show, as certified partitions have them.
        """
        sizes, vertices = np.zeros(len(self.words)), self.cell_vertices
        for cell, region in enumerate(self.regions.tolist()):
            points = vertices[self.cell_offsets[cell] : self.cell_offsets[cell + 1]]
            is_bounded = bool((points[:, -1] > 0).all())
            sizes[region] += hull_volume(points[:, :-1] / points[:, -1:]) if is_bounded else np.inf
        return sizes

    def recoded(self, kept: np.ndarray, words: np.ndarray) -> "SolidRegions":
        """Return some of the regions, in increasing order, under other codes."""
        place = np.full(len(self.words), -1)
        place[kept] = np.arange(len(kept))
        cells = np.flatnonzero(place[self.regions] >= 0)
        spans = [np.arange(self.cell_offsets[cell], self.cell_offsets[cell + 1]) for cell in cells.tolist()]
        between = (place[self.left] >= 0) & (place[self.right] >= 0)
        return replace(
            self,
            words=words,
            witnesses=self.witnesses[kept],
            is_bounded=self.is_bounded[kept],
            is_proved=None,
            left=place[self.left[between]],
            right=place[self.right[between]],
            regions=place[self.regions[cells]],
            cell_offsets=np.cumsum([0, *map(len, spans)]),
            corner_ids=self.corner_ids[np.concatenate([np.zeros(0, dtype=np.int64), *spans])],
        )


def _extreme(points: np.ndarray) -> np.ndarray:
    """Return the homogeneous points that are no combination of others: what walls between first cells made goes."""
    points = np.unique(points, axis=0)
    kept = np.ones(len(points), dtype=bool)
    for row in range(len(points)):
        # Only points on a wall, x_i = 0 or x_i = x_j < 0, can be no corner of the union.
        entries = np.sort(np.append(points[row, :-1], 0.0))
        if (entries[1:] != entries[:-1]).all():
            continue
        kept[row] = False
        _, residual = nnls(points[kept].T, points[row])
        kept[row] = residual > REDUNDANT * np.abs(points[row]).max()
    return points[kept]
