"""Processor time of whole partitions on one thread; beside another checkout, where ``RELUSCOPE_BEFORE`` names one."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Measurement

TARGET = (
    "of one thread's processor time: [2, 64, 64, 64, 1] 12 ms, [2, 256, 256, 256, 1] 300, [3, 64, 64, 1] 150, "
    "[6, 12, 12, 1] 65, [8, 8, 8, 1] 90, [3, 16, 16, 1] on R^3 8, [4, 16, 16, 1] on R^4 80; first plane after a cold "
    "installation under 5 s"
)
CASES = (
    ((2, 64, 64, 64, 1), "Box"),
    ((2, 256, 256, 256, 1), "Box"),
    ((3, 64, 64, 1), "Box"),
    ((6, 12, 12, 1), "Box"),
    ((8, 8, 8, 1), "Box"),
    ((3, 16, 16, 1), "Space"),
    ((4, 16, 16, 1), "Space"),
)
WORK = """
import json, sys, time, torch, reluscope as rs
from benchmarks.models import mlp
torch.set_num_threads(1)
sizes, domain, repeats = json.loads(sys.argv[1])
net = mlp(*sizes)
where = rs.Box(-1, 1, sizes[0]) if domain == "Box" else rs.Space(sizes[0])
rs.partition(net, where)
times = []
for _ in range(repeats):
    began = time.process_time()
    part = rs.partition(net, where)
    times.append(time.process_time() - began)
print(json.dumps([min(times), len(part), int(part.num_undecided)]))
"""
COLD = """
import time, numpy as np, reluscope as rs
from reluscope.testing import default_network
net = rs.load(default_network([2, 16, 16, 1]))
began = time.perf_counter()
rs.partition(net, rs.Box(-1, 1, 2))
rs.partition(net, rs.Space(2))
rs.partition(net, rs.Box(-1, 1, 2), method="tree")
print(time.perf_counter() - began)
"""


def run(quick: bool) -> list[Measurement]:
    """Time every case in processes of its own, by turns with the other checkout."""
    before = os.environ.get("RELUSCOPE_BEFORE")
    repeats, rounds = (1, 1) if quick else (5, 5)
    rows = []
    for sizes, domain in CASES:
        if quick and max(sizes) > 64:
            continue
        pairs = []
        for _ in range(rounds):
            mine = _measure(sizes, domain, repeats)
            other = _measure(sizes, domain, repeats, before) if before else None
            assert other is None or mine[1:] == other[1:], f"{sizes}: {mine[1:]} and {other[1:]}"
            pairs.append((mine, other))
        seconds = statistics.median(mine[0] for mine, _ in pairs)
        detail = f"{pairs[0][0][1]:,} regions, {pairs[0][0][2]} undecided; processor time, one thread"
        case = f"{list(sizes)} on {'a box' if domain == 'Box' else f'R^{sizes[0]}'}"
        if before is None:
            rows.append(Measurement(case, seconds, detail=detail))
            continue
        ratio = statistics.median(mine[0] / other[0] for mine, other in pairs)
        reference = statistics.median(other[0] for _, other in pairs)
        rows.append(Measurement(f"{case}, against the version before", seconds, ratio, reference, detail=detail))
    times = [float(_python(COLD, [])) for _ in range(rounds)]
    detail = "plane, all of the plane and tree; nothing is compiled or cached"
    rows.append(Measurement("first partitions of a process by three engines", statistics.median(times), detail=detail))
    return rows


def _measure(sizes: tuple[int, ...], domain: str, repeats: int, checkout: str | None = None) -> list:
    return json.loads(_python(WORK, [json.dumps([sizes, domain, repeats])], checkout))


def _python(code: str, arguments: list[str], checkout: str | None = None) -> str:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if checkout is not None:
        environment["PYTHONPATH"] = str(Path(checkout) / "src")
    return subprocess.check_output([sys.executable, "-c", code, *arguments], text=True, env=environment)
