"""How long a user waits for the first thing to happen."""

import statistics
import subprocess
import sys
import time

from benchmarks.measure import Measurement

TARGET = "import under 0.2 s, first use under 2 s more, --help under 0.5 s"
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
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "reluscope", "--help"], check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    rows.append(Measurement("reluscope --help", statistics.median(times)))
    return rows
