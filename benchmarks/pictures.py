"""Drawing many regions, into PNG and into the SVG of a report, compared with finding them."""

import time
from collections.abc import Callable

import torch
from matplotlib.figure import Figure

import reluscope as rs
from benchmarks.measure import Measurement, paired
from benchmarks.models import mlp

TARGET = "100,000 regions in under 3 s, PNG or SVG"

DRAW: dict[str, Callable[[rs.Partition], Figure]] = {
    "activation rate": rs.plots.partition,
    "classes": lambda part: rs.plots.partition(part, color="class"),
    "boundaries by gate": rs.plots.boundaries,
}


def run(quick: bool) -> list[Measurement]:
    """Time pictures of a plane of [2, w, w, w, 5]; the ratio is to `rs.partition`."""
    torch.set_num_threads(2)
    width, half = (64, 1.0) if quick else (256, 1.15)
    network, box = mlp(2, width, width, width, 5), rs.Box(-half, half, 2)
    part = rs.partition(network, box)
    # Pictures of classes need the outputs at the vertices once, one forward pass that the partition keeps.
    began = time.perf_counter()
    _ = part.outputs
    forward = time.perf_counter() - began
    rows = []
    for name, draw in DRAW.items():
        for kind, save in (("PNG", rs.plots.to_png), ("SVG", rs.plots.to_svg)):
            ratio, seconds, reference = paired(
                lambda draw=draw, save=save: save(draw(part)), lambda: rs.partition(network, box), 3
            )
            size = len(save(draw(part))) / 1e6
            detail = f"{len(part):,} regions, {size:.1f} MB"
            detail += f", and {forward:.2f} s once for outputs" if name == "classes" else ""
            rows.append(Measurement(f"{name}, {kind}", seconds, ratio, reference, detail=detail))
    return rows
