"""relucent (PyPI, dependency group ``bench``) on the same networks and box, in the same process, counts compared."""

import importlib.util
import statistics
import time

import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp, mlp_module

TARGET = "5,000 times relucent on [2, 64, 64, 64, 1]; in several dimensions 1,000 times up to 3 inputs, 100 times at 8"
IN_SPACE = [((3, 16, 16, 1), rs.Space(3)), ((6, 12, 12, 1), rs.Box(-1, 1, 6)), ((8, 8, 8, 1), rs.Box(-1, 1, 8))]


def run(quick: bool) -> list[Measurement]:
    """Time both; the peer once, because it takes minutes."""
    if importlib.util.find_spec("relucent") is None:
        print("  relucent is not installed: pip install --group bench")
        return []
    import relucent  # pyright: ignore[reportMissingImports]

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
    for sizes, domain in [((3, 16, 16, 1), rs.Space(3))] if quick else IN_SPACE:
        rows.append(_in_space(relucent, sizes, domain))
    return rows


def _in_space(relucent, sizes: tuple[int, ...], domain: rs.Space | rs.Box) -> Measurement:
    """Time both on a domain of several dimensions; ours is the median of five, the peer's runs once."""
    network = mlp(*sizes)
    part = rs.partition(network, domain)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        rs.partition(network, domain)
        times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    peer = relucent.Complex(relucent.convert(mlp_module(*sizes)))
    options = {} if isinstance(domain, rs.Space) else {"cube_radius": 1.0, "cube_mode": "intersect"}
    began = time.perf_counter()
    peer.bfs(start=torch.zeros(sizes[0]) + 0.0123, **options)
    reference = time.perf_counter() - began
    detail = f"{len(part):,} regions here, {len(peer):,} there; {reference / seconds:,.0f} times"
    name = f"relucent, {list(sizes)}, {domain.describe()}"
    return Measurement(name, seconds, seconds / reference, reference, detail=detail)
