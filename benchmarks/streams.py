"""Partitions that go to a file: time, processor time and peak memory of a process of its own, and the file's size."""

import tempfile
import time
from pathlib import Path

import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from benchmarks.models import mlp

TARGET = "10^7 regions in 2 GB, counted, saved, located and drawn"
CASES = (((2, 512, 512, 512, 1), 20.0), ((3, 220, 220, 1), 4.0))


def measure(sizes: list[int], half: float) -> list:
    """Partition a box of the given half-width into a file; open it, locate its first witnesses and draw a plane."""
    torch.set_num_threads(1)
    network = mlp(*sizes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "regions.parquet"
        began, processor = time.perf_counter(), time.process_time()
        part = rs.partition(network, rs.Box(-half, half, sizes[0]), out=path)
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
        peak = peak_gigabytes()
        part = rs.StreamedPartition.load(path, network)
        rows = list(range(0, len(part), max(1, len(part) // 100)))
        began = time.process_time()
        assert part.locate(part.take(rows).witnesses).tolist() == rows
        if sizes[0] == 2:
            rs.plots.raster(part, pixels=100)
        after = time.process_time() - began
        size = path.stat().st_size / 1e6
    return [seconds, processor, peak, len(part), str(part.claim), size, after, peak_gigabytes()]


def run(quick: bool) -> list[Measurement]:
    """Stream a million regions, and ten."""
    rows = []
    for sizes, half in CASES:
        if quick:
            sizes = (sizes[0], *(width // 8 for width in sizes[1:-1]), 1)
        seconds, processor, peak, regions, claim, size, after, most = in_fresh_process(
            "benchmarks.streams", "measure", sizes, half
        )
        detail = (
            f"{regions:,} regions, {claim}, {processor:.0f} s of processor time, a file of {size:.0f} MB; locating 100 "
            f"points{' and drawing' if sizes[0] == 2 else ''} {after:.0f} s more, peak {most:.2f} GB"
        )
        rows.append(Measurement(f"{list(sizes)}, half-width {half:g}, to a file", seconds, memory=peak, detail=detail))
    return rows
