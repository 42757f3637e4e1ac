"""Corners of regions that were listed by linear programs: those of the polyhedra of their codes.

Where gates compare entries with each other and jump, no engine keeps corners. In few dimensions each region has few
rows that matter, and its corners are found from all of them, region by region.
"""

from dataclasses import replace
from math import inf

import numpy as np

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.regions.region import Region
from reluscope.regions.regions import find_regions

# A few milliseconds each: dimensions in which they are drawn, and regions in a minute or so.
MOST_DIMENSIONS, MOST_REGIONS = 3, 20_000
# Rows that a window misses by more than this share of their terms are without rounding's doubt.
CLEAR = 1e-9


def with_corners(part: Partition, network: Network) -> Partition:
    """Return a bounded domain's partition with its regions' corners, or as it is where none can be had.

    The partition must be found by the tree; the network is on the whole input space.
    """
    domain = part.domain
    if not domain.is_bounded() or not 0 < domain.dim <= MOST_DIMENSIONS or not 0 < len(part) <= MOST_REGIONS:
        return part
    inner, window = (network.restrict(domain), domain.window) if isinstance(domain, Slice) else (network, domain)
    witnesses = part.witnesses
    found = find_regions(inner.at(witnesses, tolerance=part.tolerance), domain=window)
    if any(isinstance(one, Region) and one.clear < inf for one in found):
        return part
    try:
        corners = [
            _near(one.polyhedron, window).vertices() if isinstance(one, Region) else np.zeros((0, domain.dim))
            for one in found
        ]
    except DegenerateGeometryError:  # thinner than floats resolve
        return part
    codes = [one.code.words[0] for one in found if isinstance(one, Region)]
    if min(map(len, corners)) <= domain.dim or not np.array_equal(codes, part.codes.words):
        return part
    if domain.dim == 1:
        corners = [np.sort(one, axis=0) for one in corners]
    number, nothing = len(part), np.zeros(0, dtype=np.int64)
    points = np.concatenate(corners)
    cells = CellCorners(
        regions=np.arange(number),
        offsets=np.cumsum([0, *map(len, corners)]).astype(np.int64),
        ids=np.arange(len(points), dtype=np.int32),
        points=np.column_stack([points, np.ones(len(points))]),
    )
    geometry = RegionColumns(
        words=part.codes.words,
        witnesses=witnesses,
        facets=FacetColumns(nothing, nothing, 0),
        corners=cells,
        is_bounded=np.ones(number, dtype=bool),
    )
    return replace(part, geometry=geometry)


def _near(region: Polyhedron, window: Domain) -> Polyhedron:
    """Return a region within a window without the rows that are far from all of it: of top-k gates nearly all."""
    if not isinstance(window, Box):
        return region
    middle, half = (window.lo + window.hi) / 2, (window.hi - window.lo) / 2
    reach = np.abs(region.A) @ half
    sizes = np.abs(region.A) @ np.abs(middle) + reach + np.abs(region.b)
    is_near = region.A @ middle + reach >= region.b - CLEAR * sizes
    return region if is_near.all() else Polyhedron(region.A[is_near], region.b[is_near])
