"""Exact crossings along rays, against a plain float64 forward pass over the crossing points."""

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import convolutional, mlp
from reluscope.analyses.local import null_directions, pieces_along

TARGET = "at most 5 forward passes over the crossing points"
NETWORKS = {"784-3x1024-10": lambda: mlp(784, 1024, 1024, 1024, 10), "CIFAR-size conv net": convolutional}


def crossings(name: str, count: int, reach: float, repeats: int) -> list:
    """Return the ratio, the seconds of both, the crossings, whether they are exact, and memory in gigabytes."""
    torch.set_num_threads(2)
    network = NETWORKS[name]()
    generator = np.random.default_rng(0)
    x = generator.random(network.num_inputs)
    _, rays = null_directions(network.linearize(x).weight[0], count, generator)
    starts, ends = np.broadcast_to(x, rays.shape), x + reach * rays
    pieces = pieces_along(network, starts, ends)
    inner = pieces.starts > 0
    ways = reach * pieces.starts[inner]
    owners = pieces.segments[inner]

    def forward() -> None:
        for rows in np.array_split(np.arange(len(ways)), max(1, len(ways) // 4096)):
            network(torch.from_numpy(x + ways[rows, None] * rays[owners[rows]]))

    before = peak_gigabytes()
    ratio, seconds, reference = paired(lambda: pieces_along(network, starts, ends), forward, repeats)
    return [ratio, seconds, reference, len(ways), bool(pieces.is_exact.all()), peak_gigabytes() - before]


def run(quick: bool) -> list[Measurement]:
    """Walk along rays in the null space of the logit gradients, at PyTorch's initialisation."""
    rows = []
    for name in ("784-3x1024-10",) if quick else NETWORKS:
        for reach in (0.2,) if quick else (0.2, 2.0):
            count = 10 if quick else 100
            ratio, seconds, reference, number, exact, memory = in_fresh_process(
                "benchmarks.rays", "crossings", name, count, reach, 1 if quick else 3
            )
            claim = rs.Claim.EXACT if exact else rs.Claim.LOWER
            case = f"{count} rays of length {reach:g}, {name}"
            detail = f"{number:,} crossings ({claim}), memory beyond the network"
            rows.append(Measurement(case, seconds, ratio, reference, memory, detail))
    return rows
