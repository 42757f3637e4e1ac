"""How long a user waits for the first thing to happen."""

import os
import statistics
import subprocess
import sys

from benchmarks.measure import Measurement

TARGET = "import under 0.2 s, first use under 2 s more, commands under 0.5 s of processor time, nn.Module under 2 s"
COMMANDS = ("--help", "info missing.onnx", "bounds --arch 784,11,11")
LOAD = """
from torch import nn
import reluscope as rs
rs.load(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
"""
FIRST_USE = """
import time, reluscope as rs, numpy as np
began = time.perf_counter()
net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
assert len(rs.partition(net, rs.Box(-1, 1, 2))) == 4
print(time.perf_counter() - began)
"""
IMPORT = "import time; began = time.perf_counter(); import reluscope; print(time.perf_counter() - began)"


def run(quick: bool) -> list[Measurement]:
    """Time fresh processes."""
    repeats = 2 if quick else 7
    rows = []
    for name, code in (("import reluscope", IMPORT), ("first load and partition after it", FIRST_USE)):
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        times = [float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(repeats)]
        rows.append(Measurement(name, statistics.median(times)))
    for arguments in COMMANDS:
        command = [sys.executable, "-m", "reluscope", *arguments.split()]
        rows.append(Measurement(f"reluscope {arguments}", statistics.median(_processor(command, repeats))))
    load = [sys.executable, "-c", LOAD]
    rows.append(Measurement("a process that loads a small nn.Module", statistics.median(_processor(load, repeats))))
    return rows


def _processor(command: list[str], repeats: int) -> list[float]:
    """Return processor seconds of whole processes, after one that is not counted."""
    times = []
    for _ in range(repeats + 1):
        before = os.times()
        subprocess.run(command, check=False, capture_output=True)
        after = os.times()
        times.append(after.children_user - before.children_user + after.children_system - before.children_system)
    return times[1:]
