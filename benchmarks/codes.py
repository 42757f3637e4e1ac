"""Codes of many images, distances between many codes, and accuracies with their bounds on rounding."""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, paired, peak_gigabytes
from benchmarks.models import convolutional, mlp, mlp_module

TARGET = "codes and accuracies: at most 1.5 plain float64 forward passes; distances: seconds"


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


def accuracy(name: str, network: rs.Network, images: torch.Tensor) -> Measurement:
    """Time an accuracy beside the network's own forward pass."""
    labels = np.arange(len(images)) % network.num_outputs

    @torch.no_grad()
    def plain() -> None:
        for rows in images.split(500):
            network(rows)

    ratio, seconds, reference = paired(lambda: rs.classification.accuracy(network, images, labels), plain, 3)
    return Measurement(
        f"accuracy on {len(images):,} images, {name}, threads: {torch.get_num_threads()}", seconds, ratio, reference
    )


def _of_convolutions(number: int) -> Measurement:
    network = convolutional()
    images = torch.from_numpy(np.random.default_rng(0).random((number, *network.input_shape)))
    return accuracy("convolutions", network, images)


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
    rows += [accuracy("784-3x1024-10", network, images[: number // 6]), _of_convolutions(number // 60)]
    count = 1_000 if quick else 10_000
    seconds, memory, largest = in_fresh_process("benchmarks.codes", "distances", count, 3072)
    detail = f"largest distance {largest}"
    rows.append(Measurement(f"distances {count:,} x {count:,} of 3,072 bits", seconds, memory=memory, detail=detail))
    return rows
