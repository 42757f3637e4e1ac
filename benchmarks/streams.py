"""Partitions that go to a file: time, processor time and peak memory of a process of its own, and the file's size."""

import tempfile
import time
from pathlib import Path

import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from benchmarks.models import mlp, tents

TARGET = "10^7 regions in 2 GB, counted, saved, located and drawn"
CASES = (((2, 512, 512, 512, 1), 20.0), ((3, 220, 220, 1), 4.0))
TIMES, QUICK_TIMES = 12, 6


def measure_box(sizes: list[int], half: float) -> list:
    """Stream the regions of a box of the given half-width."""
    torch.set_num_threads(1)
    return _measure(mlp(*sizes), rs.Box(-half, half, sizes[0]))


def measure_tents(times: int) -> list:
    """Stream the regions of a square that is folded so many times."""
    torch.set_num_threads(1)
    return _measure(tents(times), rs.Box(0, 1, 2))


def _measure(network: rs.Network, domain: rs.Box) -> list:
    """Partition a box into a file; open it, locate some witnesses and draw a plane."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "regions.parquet"
        began, processor = time.perf_counter(), time.process_time()
        part = rs.stream(network, domain, path)
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
        peak = peak_gigabytes()
        part = rs.StreamedPartition.load(path, network)
        rows = list(range(0, len(part), max(1, len(part) // 100)))
        began = time.process_time()
        assert part.locate(part.take(rows).witnesses).tolist() == rows
        if domain.dim == 2:
            rs.plots.raster(part, pixels=100)
        after = time.process_time() - began
        size = path.stat().st_size / 1e6
    return [seconds, processor, peak, len(part), str(part.claim), size, after, peak_gigabytes()]


def run(quick: bool) -> list[Measurement]:
    """Stream one million regions, and ten."""
    cases: list[tuple[str, str, tuple]] = [
        (f"{list(sizes)}, half-width {half:g}", "measure_box", (sizes, half))
        for sizes, half in ([((2, 64, 64, 64, 1), 20.0), ((3, 27, 27, 1), 4.0)] if quick else CASES)
    ]
    times = QUICK_TIMES if quick else TIMES
    cases.append((f"a square folded {times} times", "measure_tents", (times,)))
    rows = []
    for name, function, arguments in cases:
        seconds, processor, peak, regions, claim, size, after, most = in_fresh_process(
            "benchmarks.streams", function, *arguments
        )
        detail = (
            f"{regions:,} regions, {claim}, {processor:.0f} s of processor time, a file of {size:.0f} MB; located and, "
            f"of two dimensions, drawn in {after:.0f} s more, peak {most:.2f} GB"
        )
        rows.append(Measurement(f"{name}, to a file", seconds, memory=peak, detail=detail))
    return rows
