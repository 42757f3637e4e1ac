"""A partition of several dimensions made certain: the regions of the float walk, completed in rational arithmetic."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reluscope.budget import Budget
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Box, Polyhedron, Slice
from reluscope.networks.network import Network
from reluscope.partitions.doubts.shown_regions import CONFIRMED, UNCONFIRMED
from reluscope.partitions.exact.exact_regions import ExactRegions, exact_regions
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.corner_columns import CellCorners
from reluscope.partitions.table.facet_columns import FacetColumns
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.tolerance import EPSILON

# What is told of cells that floats left in doubt.
OF_DOUBTS = (CONFIRMED, UNCONFIRMED, "cells_left_out")


def certified(part: Partition, network: Network, effort: Effort, began: float) -> Partition:
    """Return a complete partition of a bounded domain with exactly its true regions, and their certificate.

    Claims EXACT; found regions keep their order, missed ones follow, vertices and witnesses are exact ones rounded.
    What floats found, LOWER, after Ctrl-C, time-out or lack of memory.
    """
    start = time.perf_counter()
    assert isinstance(part.domain, Slice | Box | Polyhedron)
    exact = exact_regions(network, part.domain, part.codes, Effort(Budget(seconds=effort.budget.seconds), began=began))
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
    points = np.array([[float(entry) for entry in vertex] for vertex in certificate.vertices])
    witnesses = [[float(entry) for entry in certificate.witness(row)] for row in range(len(certificate))]
    pairs = np.array(exact.neighbors, dtype=np.int64).reshape(-1, 2)
    corners = CellCorners(
        regions=np.arange(len(certificate)),
        offsets=np.cumsum([0, *map(len, certificate.corners)]),
        ids=np.concatenate([np.array(row, dtype=np.int64) for row in certificate.corners]),
        points=np.hstack([points, np.ones((len(points), 1))]),
        blur=np.array([_rounded(vertex) for vertex in certificate.vertices]),
    )
    return RegionColumns(
        words=words,
        witnesses=np.array(witnesses),
        facets=FacetColumns(pairs[:, 0], pairs[:, 1], 0),
        corners=corners,
        is_bounded=np.ones(len(certificate), dtype=bool),
    )


def _rounded(vertex: tuple[Fraction, ...]) -> float:
    """Return a bound on how far a vertex moves when its coordinates are rounded to float64."""
    return float(sum(EPSILON * abs(entry) for entry in vertex if Fraction(float(entry)) != entry))
