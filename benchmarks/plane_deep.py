"""A window of the plane through three images, through deep networks by all gates, against passes of its vertices."""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.deep_models import MODELS, deep
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from reluscope.partitions.ask.region_search import cells_found
from reluscope.partitions.doubts.shown_regions import shown
from reluscope.partitions.doubts.walk_rounding import rounding_of

TARGET = "0.5 forward passes a vertex and 2 GB; 224 x 224: 1,000 regions in 10 minutes and 6 GB"
# Sides of windows with some thousand regions.
SIDES = {
    "ResNet-18, CIFAR": 0.006,
    "VGG-11-BN, CIFAR": 0.0145,
    "MobileNetV2, CIFAR": 0.014,
    "ResNet-18, 224 x 224": 0.0058,
}


def measure(name: str, side: float) -> list:
    """Partition a square window by processor time: the walk, what is confirmed of it, and one pass of a vertex."""
    torch.set_num_threads(1)
    network = deep(name)
    images = np.random.default_rng(0).random((3, network.num_inputs))
    plane = rs.Plane(*images, window=rs.Box(-side / 2, side / 2, 2))
    began = time.process_time()
    rounding = rounding_of(network, plane, rs.Tolerance())
    measured = time.process_time()
    found = cells_found(network, plane, rounding=rounding or "proved")
    walked = time.process_time()
    part = shown(found)
    confirmed = time.process_time()
    memory = peak_gigabytes()
    rows = network.points(plane.lift(found.vertices[:24]))
    network(rows)
    start = time.process_time()
    network(rows)
    one = (time.process_time() - start) / len(rows)
    number = len(found.vertices)
    proved = int(part.work.get("gates_proved", len(network.gates)))
    confirmed_regions = len(part) - int(part.work.get("cells_unconfirmed", 0))
    detail = (
        f"{len(part):,} regions, {part.claim}, {number:,} vertices; one pass {1000 * one:.0f} ms; rounding measured in "
        f"{measured - began:.1f} s, {confirmed_regions:,} regions confirmed and all found again in "
        f"{confirmed - walked:.1f} s; {proved} of {len(network.gates)} gates proved; {network.num_units:,} units"
    )
    return [(walked - measured) / one / number, walked - measured, one * number, memory, detail]


def run(quick: bool) -> list[Measurement]:
    """Time one window of each network."""
    rows = []
    for name in list(MODELS)[: 1 if quick else None]:
        side = SIDES[name] / (4 if quick else 1)
        ratio, seconds, reference, memory, detail = in_fresh_process("benchmarks.plane_deep", "measure", name, side)
        rows.append(
            Measurement(f"{name}, window of side {side:g}, 1 thread", seconds, ratio, reference, memory, detail)
        )
    return rows
