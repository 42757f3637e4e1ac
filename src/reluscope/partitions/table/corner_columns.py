"""Corners of regions: vertices that the regions of a line or a plane share, or cells with vertices of their own."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.polygons import ordered_corners, polygon_sizes

REDUNDANT = 1e-9


@dataclass(frozen=True, eq=False)
class SharedCorners:
    """Vertices that the regions of a bounded domain of dimension one or two share.

    Corners of a region are in no particular order.
    """

    vertices: Float[np.ndarray, "v d"]
    offsets: Int[np.ndarray, " r1"]  # where each region's ``ids`` begin
    ids: Int[np.ndarray, " c"]  # rows of ``vertices``
    blur: Float[np.ndarray, " v"] | None = None  # error of each vertex; None in early files
    outputs: Float[np.ndarray, "v m"] | None = None  # at vertices, where the walk had costly ones

    @property
    def vertex_blur(self) -> Float[np.ndarray, " v"] | None:
        """The blur of each of `vertices`."""
        return self.blur

    @property
    def largest_coordinate(self) -> float:
        """The largest absolute coordinate of a vertex."""
        return float(np.abs(self.vertices).max(initial=0.0))

    @cached_property
    def middles(self) -> Float[np.ndarray, "r d"]:
        """The mean of the corners of every region: a strictly interior point; NaN where none is left by joining."""
        sizes = np.diff(self.offsets)
        found = np.full((len(sizes), self.vertices.shape[1]), np.nan)
        if (has_corners := sizes > 0).any():
            sums = np.add.reduceat(self.vertices[self.ids], self.offsets[:-1][has_corners], axis=0)
            found[has_corners] = sums / sizes[has_corners, None]
        return found

    @cached_property
    def region_vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of every region as ``(offsets, ids)``: ascending on a line, counter-clockwise in the plane."""
        return self.offsets, ordered_corners(self.vertices, self.offsets, self.ids, self.middles)

    @cached_property
    def volumes(self) -> Float[np.ndarray, " r"]:
        """Length or area of every region."""
        return polygon_sizes(self.vertices, *self.region_vertices)

    def scaled(self, sides: Float[np.ndarray, " d"]) -> "SharedCorners":
        """Return the corners with every coordinate times a number of at most 1."""
        return replace(self, vertices=self.vertices * sides)

    def take(self, kept: np.ndarray, facets: FacetColumns) -> tuple["SharedCorners", FacetColumns]:
        """Return the corners of some regions, in increasing order, and their facets with the new ids of vertices."""
        assert facets.ends is not None
        corners = [self.ids[self.offsets[cell] : self.offsets[cell + 1]] for cell in kept.tolist()]
        ids = np.concatenate([self.ids[:0], *corners])
        vertices = np.unique(np.concatenate([ids, facets.ends.reshape(-1)]))
        taken = self.of_vertices(vertices, np.cumsum([0, *map(len, corners)]), np.searchsorted(vertices, ids))
        return taken, replace(facets, ends=np.searchsorted(vertices, facets.ends))

    def of_vertices(self, rows: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> "SharedCorners":
        """Return other regions with some of the vertices, by their new ids."""
        blur, outputs = (None if column is None else column[rows] for column in (self.blur, self.outputs))
        return SharedCorners(self.vertices[rows], offsets, ids, blur, outputs)


@dataclass(frozen=True, eq=False, kw_only=True)
class CellCorners:
    """Vertices of the convex cells that regions of any number of dimensions consist of.

    A region is one cell, or several that have one code: the parts of an unbounded region in different cones, or what
    cuts of max gates left behind. Its union is convex. Vertices are homogeneous, points times w > 0 or directions with
    w = 0, in a table that cells share; one vertex may be there several times.
    """

    regions: Int[np.ndarray, " c"]  # region that each cell is part of; none is without a cell
    offsets: Int[np.ndarray, " c1"]  # where each cell's ``ids`` begin
    ids: Int[np.ndarray, " v"]  # rows of ``points``
    points: Float[np.ndarray, "p d1"]  # vertices shared by the cells
    blur: Float[np.ndarray, " p"] | None = None  # error of ``points`` if none is a direction; None if unknown

    outputs: ClassVar[None] = None

    @property
    def num_regions(self) -> int:
        """Number of regions that the cells are part of."""
        return int(self.regions.max(initial=-1)) + 1

    @property
    def cell_vertices(self) -> Float[np.ndarray, "v d1"]:
        """Homogeneous vertices of the cells, cell by cell: a new array each time."""
        return self.points[self.ids]

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
        if self.blur is None or not len(self.regions):
            return self.blur
        cells = np.maximum.reduceat(self.blur[self.ids], self.offsets[:-1])
        regions = np.zeros(self.num_regions)
        np.maximum.at(regions, self.regions, cells)
        return np.repeat(regions, np.diff(self._corners[1]))

    @property
    def largest_coordinate(self) -> float:
        """The largest absolute coordinate of a vertex that is no direction."""
        vertices = self.cell_vertices
        proper = vertices[vertices[:, -1] > 0]
        return float((np.abs(proper[:, :-1]).max(axis=1, initial=0.0) / proper[:, -1]).max(initial=0.0))

    @cached_property
    def _corners(self) -> tuple[np.ndarray, np.ndarray]:
        order, starts = self._cells_by_region
        vertices = self.cell_vertices
        found, sizes = [], []
        for region in range(self.num_regions):
            cells = order[starts[region] : starts[region + 1]]
            points = [vertices[self.offsets[c] : self.offsets[c + 1]] for c in cells]
            corners = points[0] if len(points) == 1 else _extreme(np.concatenate(points))
            corners = corners[corners[:, -1] > 0]
            found.append(corners[:, :-1] / corners[:, -1:])
            sizes.append(len(corners))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.concatenate([np.zeros((0, vertices.shape[1] - 1)), *found]), offsets

    @cached_property
    def _cells_by_region(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.regions, kind="stable")
        return order, np.searchsorted(self.regions[order], np.arange(self.num_regions + 1))

    @cached_property
    def volumes(self) -> Float[np.ndarray, " r"]:
        """Volume of every region, infinite where a cell has a direction: of the convex hull of each cell, by Qhull.

        Zero for a region that is thinner than floats can show, as certified partitions have them.
        """
        sizes, vertices = np.zeros(self.num_regions), self.cell_vertices
        for cell, region in enumerate(self.regions.tolist()):
            points = vertices[self.offsets[cell] : self.offsets[cell + 1]]
            is_bounded = bool((points[:, -1] > 0).all())
            sizes[region] += hull_volume(points[:, :-1] / points[:, -1:]) if is_bounded else np.inf
        return sizes

    def scaled(self, sides: Float[np.ndarray, " d"]) -> "CellCorners":
        """Return the corners with every coordinate times a number of at most 1."""
        return replace(self, points=self.points * np.append(sides, 1.0))

    def take(self, kept: np.ndarray, facets: FacetColumns) -> tuple["CellCorners", FacetColumns]:
        """Return the cells of some regions, in increasing order, and their facets, which stay as they are."""
        place = np.full(self.num_regions, -1)
        place[kept] = np.arange(len(kept))
        cells = np.flatnonzero(place[self.regions] >= 0)
        spans = [np.arange(self.offsets[cell], self.offsets[cell + 1]) for cell in cells.tolist()]
        taken = replace(
            self,
            regions=place[self.regions[cells]],
            offsets=np.cumsum([0, *map(len, spans)]),
            ids=self.ids[np.concatenate([np.zeros(0, dtype=np.int64), *spans])],
        )
        return taken, facets


CornerColumns = SharedCorners | CellCorners


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
