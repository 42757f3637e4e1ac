"""A million regions: time and peak memory of a process of its own."""

import time

import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from benchmarks.models import forward_at, mlp

TARGET = "under 1.0 GB"


def measure(width: int, half: float) -> list:
    """Partition [2, w, w, w, 1] on a box of the given half-width; areas and adjacency included."""
    torch.set_num_threads(2)
    network = mlp(2, width, width, width, 1)
    rs.partition(network, rs.Box(-0.01, 0.01, 2))
    began = time.perf_counter()
    part = rs.partition(network, rs.Box(-half, half, 2))
    part.adjacency()
    part.volumes()
    seconds, memory = time.perf_counter() - began, peak_gigabytes()
    forward = forward_at(network, part)
    began = time.perf_counter()
    forward()
    return [seconds, time.perf_counter() - began, memory, len(part), str(part.claim)]


def run(quick: bool) -> list[Measurement]:
    """Time `rs.partition` on the box of half-width 20."""
    width, half = (64, 2.0) if quick else (512, 20.0)
    seconds, reference, memory, regions, claim = in_fresh_process("benchmarks.plane_large", "measure", width, half)
    name = f"[2, {width}, {width}, {width}, 1], half-width {half:g}, 2 threads"
    return [Measurement(name, seconds, seconds / reference, reference, memory, f"{regions:,} regions, {claim}")]
