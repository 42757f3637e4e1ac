"""relucent (PyPI, optional ``[bench]`` extra) on the same networks and box, in the same process, counts compared."""

import importlib.util
import time

import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp, mlp_module

TARGET = "5,000 times relucent on [2, 64, 64, 64, 1]"


def run(quick: bool) -> list[Measurement]:
    """Time both; the peer once, because it takes minutes."""
    if importlib.util.find_spec("relucent") is None:
        print("  relucent is not installed: pip install 'reluscope[bench]'")
        return []
    import relucent

    torch.set_num_threads(2)
    rows = []
    for hidden in [(16, 16)] if quick else [(16, 16), (32, 32, 32), (64, 64, 64)]:
        network = mlp(2, *hidden, 1)
        box = rs.Box(-1, 1, 2)
        rs.partition(network, box)
        began = time.perf_counter()
        part = rs.partition(network, box)
        seconds = time.perf_counter() - began
        peer = relucent.Complex(relucent.convert(mlp_module(2, *hidden, 1)))
        began = time.perf_counter()
        peer.bfs(start=torch.zeros(2) + 0.0123, cube_radius=1.0, cube_mode="intersect")
        reference = time.perf_counter() - began
        name = f"relucent, [2, {', '.join(map(str, hidden))}, 1]"
        detail = f"{len(part):,} regions here, {len(peer):,} there; {reference / seconds:,.0f} times"
        rows.append(Measurement(name, seconds, seconds / reference, reference, detail=detail))
    return rows
