"""Codes of many images, and distances between many codes."""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import mlp, mlp_module

TARGET = "codes: at most 1.5 plain float64 forward passes; distances: seconds"


def distances(number: int, units: int) -> list:
    """Return seconds, memory beyond the codes in gigabytes, and the largest distance."""
    layout = rs.CodeLayout((rs.GateLayout("relu", units),))
    rng = np.random.default_rng(0)
    one, two = (rs.Codes.from_pieces([rng.integers(0, 2, (number, units), dtype=np.uint8)], layout) for _ in range(2))
    one[:10].distance(two[:10])
    before = peak_gigabytes()
    began = time.perf_counter()
    largest = int(one.distance(two).max())
    return [time.perf_counter() - began, peak_gigabytes() - before, largest]


def run(quick: bool) -> list[Measurement]:
    """Time 60,000 images on 784-3x1024-10 (random images: the time does not depend on them)."""
    number = 2_000 if quick else 60_000
    torch.set_num_threads(2)
    network = mlp(784, 1024, 1024, 1024, 10)
    module = mlp_module(784, 1024, 1024, 1024, 10).double()
    images = torch.from_numpy(np.random.default_rng(0).random((number, 784)))

    @torch.no_grad()
    def plain() -> None:
        for rows in images.split(4096):
            module(rows)

    ratio, seconds, reference = paired(lambda: network.codes(images), plain, 3)
    rows = [Measurement(f"codes of {number:,} images, 784-3x1024-10, 2 threads", seconds, ratio, reference)]
    count = 1_000 if quick else 10_000
    seconds, memory, largest = in_fresh_process("benchmarks.codes", "distances", count, 3072)
    detail = f"largest distance {largest}"
    rows.append(Measurement(f"distances {count:,} x {count:,} of 3,072 bits", seconds, memory=memory, detail=detail))
    return rows
