"""Partitions in three and more dimensions: regions per second, and how the cost grows with their number."""

import time

import torch

import reluscope as rs
from benchmarks.measure import Measurement, paired
from benchmarks.models import mlp

TARGET = "400,000 regions/s in space, adjacency included; cost linear in the number of regions"

# Sizes, domain, and the number of regions that is known to be true.
CASES = [
    ((3, 16, 16, 1), rs.Space(3), 5_028),
    ((3, 32, 32, 32, 1), rs.Box(-1, 1, 3), 20_724),
    ((3, 64, 64, 1), rs.Box(-1, 1, 3), 93_425),
    ((6, 12, 12, 1), rs.Box(-1, 1, 6), 7_990),
    ((8, 8, 8, 1), rs.Box(-1, 1, 8), 2_026),
]


def run(quick: bool) -> list[Measurement]:
    """Time each on one thread; the ratio is to a forward pass over as many points as there are regions."""
    torch.set_num_threads(1)
    rows = []
    for sizes, domain, truth in CASES[:2] if quick else CASES:
        network = mlp(*sizes)
        part = rs.partition(network, domain)
        assert len(part) == truth
        points = torch.from_numpy(part.witnesses.copy())
        ratio, seconds, reference = paired(
            lambda network=network, domain=domain: rs.partition(network, domain),
            lambda network=network, points=points: network(points),
            3 if quick else 7,
        )
        detail = f"{truth:,} regions, {len(part.facets):,} facets, {truth / seconds:,.0f} regions/s, {part.claim}"
        rows.append(Measurement(f"{list(sizes)}, {domain.describe()}", seconds, ratio, reference, detail=detail))
    return rows + _growth(quick)


def _growth(quick: bool) -> list[Measurement]:
    """Time one network on boxes of growing size: regions over three decades, and the time for each."""
    network = mlp(3, 64, 64, 1)
    rows = []
    for half in (0.1, 0.3) if quick else (0.1, 0.3, 1.0, 3.0):
        box = rs.Box(-half, half, 3)
        rs.partition(network, box)
        began = time.perf_counter()
        part = rs.partition(network, box)
        seconds = time.perf_counter() - began
        detail = f"{len(part):,} regions, {1e6 * seconds / len(part):.1f} microseconds each, {part.claim}"
        rows.append(Measurement(f"[3, 64, 64, 1], half-width {half:g}", seconds, detail=detail))
    return rows
