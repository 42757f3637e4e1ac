"""Level sets in space: processor time, beside the forward passes that marching cubes would begin with, and memory."""

import statistics
import time

import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from benchmarks.models import mlp
from reluscope.datasets.demo_surface import surface_network

TARGET = (
    "processor time, one thread: [3, 16, 16, 16, 1] in 0.1 s; [3, 32, 32, 32, 1] before 128^3 forward passes; "
    "8 x 32, trained, in 15 s and 0.6 GB"
)
BOX = rs.Box(-1, 1, 3)
GRID = 128


def run(quick: bool) -> list[Measurement]:
    """Time networks whose level is their median on the box, and the trained one; medians of interleaved runs."""
    torch.set_num_threads(1)
    rows = []
    for sizes in ((3, 16, 16, 16, 1), (3, 32, 32, 32, 1)):
        network = mlp(*sizes)
        rows.append(_beside_a_grid(f"{list(sizes)} at its median", network, 16 if quick else GRID, 1 if quick else 5))
    if not quick:
        rows.append(_beside_a_grid("8 x 32, trained", surface_network(), GRID, 3))
        rows.append(Measurement(**in_fresh_process("benchmarks.level_sets", "memory")))
    return rows


def memory() -> dict[str, object]:
    """Return the peak memory of a level set of the trained network, as a row."""
    torch.set_num_threads(1)
    network = surface_network()
    before, began = peak_gigabytes(), time.process_time()
    found = rs.level_set(network, BOX)
    detail = f"{len(found):,} polygons; {before:.2f} GB before, PyTorch and the network"
    seconds = time.process_time() - began
    return {"case": "8 x 32, trained, own process", "seconds": seconds, "memory": peak_gigabytes(), "detail": detail}


def _beside_a_grid(name: str, network: rs.Network, side: int, repeats: int) -> Measurement:
    axes = [torch.linspace(-1, 1, side, dtype=torch.float64)] * 3
    points = torch.cartesian_prod(*axes)
    values = network(points[:: max(1, len(points) // 5_000)])[:, 0]
    level = 0.0 if float(values.min()) < 0 < float(values.max()) else float(values.median())
    found, times = rs.level_set(network, BOX, level=level), []
    for _ in range(repeats):
        began = time.process_time()
        found = rs.level_set(network, BOX, level=level)
        middle = time.process_time()
        network(points)
        times.append((middle - began, time.process_time() - middle))
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(one / two for one, two in times)
    size = float(values.abs().max())
    error = float((network(found.vertices)[:, 0] - level).abs().max()) / size
    detail = (
        f"{len(found):,} polygons, {len(found.vertices):,} vertices, f within {error:.0e} of its size from the level, "
        f"{found.work['tested_cells']:,} cells tested, {found.claim}; beside {side}^3 forward passes"
    )
    return Measurement(name, mine, ratio, other, detail=detail)
