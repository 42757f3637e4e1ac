"""The plane of a fully connected network, codes, adjacency and areas included, against one forward pass."""

import torch

import reluscope as rs
from benchmarks.measure import Measurement, paired
from benchmarks.models import forward_at, mlp

TARGET = "at most 2 forward passes over the vertices"


def run(quick: bool) -> list[Measurement]:
    """Time `rs.partition` on the box [-1, 1]^2."""
    rows = []
    widths = [(64, 64, 64)] if quick else [(64, 64, 64), (256, 256, 256)]
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for hidden in widths:
            network = mlp(2, *hidden, 1)

            def work(network: rs.Network = network) -> rs.Partition:
                part = rs.partition(network, rs.Box(-1, 1, 2))
                part.adjacency()
                part.volumes()
                return part

            part = work()
            ratio, seconds, reference = paired(work, forward_at(network, part), 3 if quick else 7)
            name = f"[2, {', '.join(map(str, hidden))}, 1], {threads} thread{'s' * (threads > 1)}"
            detail = f"{len(part):,} regions, {len(part.vertices):,} vertices, {part.claim}"
            rows.append(Measurement(name, seconds, ratio, reference, detail=detail))
    return rows
