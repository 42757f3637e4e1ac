"""A partition made certain: the regions that floats found, completed in rational arithmetic."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reluscope.budget import Budget
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.rational_cones import edges
from reluscope.geometry.polyhedra.rational_polytopes import Row, between
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.networks.network import Network
from reluscope.partitions.cells.first_cells import cone_rows
from reluscope.partitions.doubts.shown_regions import CONFIRMED, UNCONFIRMED
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.exact.exact_regions import ExactRegions, exact_regions
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.tolerance import EPSILON

# What is told of cells that floats left in doubt.
OF_DOUBTS = (CONFIRMED, UNCONFIRMED, "cells_left_out")
# Coordinates of corners have at most so many binary digits before the point.
LARGEST = 1000


def certified(part: Partition, network: Network, effort: Effort) -> Partition:
    """Return a complete partition with exactly its true regions, and their certificate.

    Claims EXACT; found regions keep their order, missed ones follow, vertices and witnesses are exact ones rounded.
    What floats found, LOWER, after Ctrl-C, time-out or lack of memory.
    """
    start = time.perf_counter()
    exact = exact_regions(network, part.domain, part.codes, Effort(Budget(seconds=effort.budget.seconds)))
    if exact.stop:
        # Doubt without bound: floats may have missed regions, and found too many.
        undecided = max(1, part.num_undecided)
        return replace(part, num_undecided=undecided, stop=exact.stop)
    codes = [np.array(table, dtype=np.int64) for table in zip(*exact.certificate.codes, strict=True)]
    packed = Codes.from_pieces(codes, part.codes.layout, num_codes=len(exact.certificate))
    seconds = part.work.get("seconds", 0.0) + time.perf_counter() - start
    return replace(
        part,
        codes=packed,
        geometry=_geometry(exact, packed.words),
        num_undecided=0,
        tolerance=effort.tolerance,
        certified=True,
        confirmed=None,
        stop=None,
        work={name: amount for name, amount in part.work.items() if name not in OF_DOUBTS} | {"seconds": seconds},
        proof=exact.certificate,
    )


def _geometry(exact: ExactRegions, words: np.ndarray) -> RegionColumns:
    certificate = exact.certificate
    witnesses = [[nearest(entry) for entry in certificate.witness(row)] for row in range(len(certificate))]
    pairs = np.array(exact.neighbors, dtype=np.int64).reshape(-1, 2)
    corners, is_bounded = _unbounded_corners(exact) if certificate.is_of_cones else _bounded_corners(certificate)
    return RegionColumns(
        words=words,
        witnesses=np.array(witnesses),
        facets=FacetColumns(pairs[:, 0], pairs[:, 1], 0),
        corners=corners,
        is_bounded=is_bounded,
        is_proved=np.ones(len(certificate), dtype=bool),
    )


def _bounded_corners(certificate: Certificate) -> tuple[CellCorners, np.ndarray]:
    points = np.array([[float(entry) for entry in vertex] for vertex in certificate.vertices])
    corners = CellCorners(
        regions=np.arange(len(certificate)),
        offsets=np.cumsum([0, *map(len, certificate.corners)]),
        ids=np.concatenate([np.array(row, dtype=np.int64) for row in certificate.corners]),
        points=np.hstack([points, np.ones((len(points), 1))]),
        blur=np.array([_rounded(vertex) for vertex in certificate.vertices]),
    )
    return corners, np.ones(len(certificate), dtype=bool)


def _unbounded_corners(exact: ExactRegions) -> tuple[CellCorners, np.ndarray]:
    """Return cells of regions, those with lines in the cones that the walk begins with, and which are bounded."""
    dim = exact.network.network.num_inputs
    cells: list[tuple[int, tuple[Row, ...]]] = []
    is_bounded = np.zeros(len(exact.polytopes), dtype=bool)
    for region, polytope in enumerate(exact.polytopes):
        if corners := edges(polytope):
            cells.append((region, tuple(corners)))
            is_bounded[region] = all(corner[-1] for corner in corners)
            continue
        rows = [row[:-1] for row in polytope.facets() if not row[-1]]
        parts = (between(dim, [*walls, *rows])[1] for walls in cone_rows(dim))
        cells += [(region, part.vertices) for part in parts if part is not None]
    points = [_homogeneous(vertex) for _, vertices in cells for vertex in vertices]
    columns = CellCorners(
        regions=np.array([region for region, _ in cells], dtype=np.int64),
        offsets=np.cumsum([0, *(len(vertices) for _, vertices in cells)]),
        ids=np.arange(len(points)),
        points=np.array(points),
    )
    return columns, is_bounded


def _homogeneous(vertex: Row) -> list[float]:
    """Return a point with a 1 behind it; of a direction, or beyond the range of floats, the largest entry is 1."""
    largest = max(map(abs, vertex))
    size = vertex[-1] if largest >> LARGEST < vertex[-1] else largest
    return [float(Fraction(entry, size)) for entry in vertex]


def _rounded(vertex: tuple[Fraction, ...]) -> float:
    """Return a bound on how far a vertex moves when its coordinates are rounded to float64."""
    return float(sum(EPSILON * abs(entry) for entry in vertex if Fraction(float(entry)) != entry))
