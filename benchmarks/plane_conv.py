"""A plane, and a segment, through a convolutional network of CIFAR size, against one forward pass over the vertices."""

import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import convolutional, forward_at, three_images

TARGET = "plane: at most 2 forward passes, under 1.5 GB; segment: at most 3"


def measure(side: float, repeats: int) -> list:
    """Partition a square window of the plane through three images (a segment for side 0)."""
    torch.set_num_threads(1)
    network = convolutional()
    a, b, c = three_images()
    window = rs.Box(-side / 2, side / 2, 2) if side else None
    domain = rs.Plane(a, b, c, window=window) if window else rs.Segment(a, b)
    part = rs.partition(network, domain)
    memory = peak_gigabytes()
    ratio, seconds, reference = paired(lambda: rs.partition(network, domain), forward_at(network, part), repeats)
    return [ratio, seconds, reference, memory, f"{len(part):,} regions, {len(part.vertices):,} vertices, {part.claim}"]


def run(quick: bool) -> list[Measurement]:
    """Time windows of three sizes, and the segment between two of the images."""
    rows = []
    for side, repeats in [(0.2, 3)] if quick else [(0.2, 5), (0.5, 5), (1.4, 3), (0.0, 5)]:
        ratio, seconds, reference, memory, detail = in_fresh_process("benchmarks.plane_conv", "measure", side, repeats)
        name = f"conv 32-64-128, fc 1024: {f'window of side {side:g}' if side else 'segment'}, 1 thread"
        rows.append(Measurement(name, seconds, ratio, reference, memory, detail))
    return rows
