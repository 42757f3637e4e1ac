"""The demo's report in a process of its own, kernels compiled: start-up, work and page together."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Measurement

TARGET = "demo under 15 s, page under 5 MB"


def run(quick: bool) -> list[Measurement]:
    """Time ``reluscope demo``."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "reluscope", "demo", "--quiet", "--force", "-o", folder]
        subprocess.run(command, check=True, capture_output=True)
        times = []
        for _ in range(1 if quick else 5):
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
        size = (Path(folder) / "report.html").stat().st_size / 1e6
    return [Measurement("reluscope demo", statistics.median(times), detail=f"page of {size:.1f} MB")]
