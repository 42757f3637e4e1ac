"""Partitions of three and more dimensions, and of unbounded domains: from a walk to the table."""

import time
from dataclasses import replace
from operator import attrgetter
from typing import cast

import numpy as np

from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.geometry.cutting.face_lattices import from_polytope
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.networks.network import Network
from reluscope.partitions.cells.cellwise import walk_cells
from reluscope.partitions.complexes.chunks import Resolution
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.incidence import num_left, walk_chunks
from reluscope.partitions.doubts.walk_rounding import Rounding, before_walk
from reluscope.partitions.driver.joined_parts import joined_parts
from reluscope.partitions.driver.walk import Walked
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.gathered_cells import gather
from reluscope.partitions.table.joined_solids import SolidPatch, join
from reluscope.partitions.table.polygons import ordered_corners
from reluscope.partitions.table.region_columns import RegionColumns


def partition_cellwise(
    network: Network,
    domain: Domain,
    method: str,
    effort: Effort,
    keeps_vertices: bool,
) -> Partition:
    """Partition any domain of a network with pointwise gates, cell by cell."""
    began = time.perf_counter()
    window = domain.window if isinstance(domain, Slice) else domain
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    with effort.counting("partition") as counted:
        walked = walk_cells(inner, window, counted, keeps_vertices=keeps_vertices)
    regions, walked = joined_parts(walked, lambda parts: gather(parts, window.dim, network.layout.num_words))
    if network.jumps:  # beyond a facet anything may be: keys match where nothing jumps, and there alone
        nothing = np.zeros(0, dtype=np.int64)
        regions = replace(in_order(regions), facets=FacetColumns(nothing, nothing, 0))
    if not keeps_vertices:
        regions = regions.without_corners()
    num_open = sum(walked.left)
    return table_of(network, domain, regions, walked, num_open, effort=effort, began=began, method=method)


def in_order(regions: RegionColumns) -> RegionColumns:
    """Return regions of a bounded line or plane with their corners in order, as pictures need them."""
    cells = cast("CellCorners", regions.corners)
    points = cells.cell_vertices
    if points.shape[1] > 3 or not len(points) or (points[:, -1] <= 0).any():
        return regions
    corners = np.ascontiguousarray(points[:, :-1] / points[:, -1:])
    ids = np.arange(len(points), dtype=np.int32)
    order = ordered_corners(corners, cells.offsets, ids, np.ascontiguousarray(regions.witnesses[cells.regions]))
    return replace(regions, corners=replace(cells, ids=cells.ids[order]))


def partition_solid(
    network: Network,
    domain: Slice | Box,
    method: str,
    effort: Effort,
    rounding: Rounding = "measured",
) -> Partition:
    """Partition a bounded domain by a complex of shared faces."""
    began = time.perf_counter()
    window = domain.window if isinstance(domain, Slice) else domain
    assert not isinstance(window, Space)  # it is bounded
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    shape = window_shape(window)
    corners = shape.corners
    resolution = Resolution.of(effort.tolerance, float(np.linalg.norm(np.ptp(corners.points, axis=0))))
    measured, left = before_walk(inner, window, effort, rounding)
    with left.counting("partition") as counted:
        walked = walk_chunks(
            inner,
            from_polytope(shape.incidence),
            corners,
            inner.points(corners.points),
            resolution,
            effort=counted,
            finish=SolidPatch.of,
            exact_signs=ExactSigns(inner, [window]),
            rounding=measured,
        )
    regions, walked = joined_parts(
        walked,
        lambda parts: join(parts, window.dim, network.layout.num_words, lambda points: inner.codes(points).words),
        attrgetter("roots"),
    )
    num_open = int(num_left(walked, 1)[0])
    return table_of(network, domain, regions, walked, num_open, effort=effort, began=began, method=method)


def table_of(
    network: Network,
    domain: Domain,
    regions: RegionColumns,
    walked: Walked,
    num_open: int,
    *,
    effort: Effort,
    began: float,
    method: str,
) -> Partition:
    """Return the partition of a domain into regions, with what the walk says of it."""
    return Partition(
        domain=domain,
        codes=Codes(regions.words, network.layout),
        geometry=regions,
        num_undecided=walked.num_undecided + (0 if num_open else regions.num_unmatched),
        num_open=num_open,
        tolerance=effort.tolerance,
        fingerprint=network.fingerprint,
        network=network,
        stop=walked.stop,
        work={**walked.work, "seconds": time.perf_counter() - began},
        method=method,
        jumps=network.jumps,
    )
