"""Betti numbers, persistence and critical points: processor time, beside the partition alone."""

import statistics
import time
from collections.abc import Callable

import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp

TARGET = "processor time, one thread: [3, 64, 64, 1] with all Betti numbers in 1 s"


def run(quick: bool) -> list[Measurement]:
    """Time the questions about networks at their medians, in boxes and in whole spaces; medians of three runs."""
    torch.set_num_threads(1)
    domains: list[rs.Box | rs.Space] = [rs.Box(-1, 1, 3), rs.Space(3), rs.Box(-1, 1, 4)]
    cases = list(zip(((3, 16, 16, 1), (3, 16, 16, 1), (4, 16, 16, 1)), domains, strict=True))
    if not quick:
        cases.append(((3, 64, 64, 1), rs.Box(-1, 1, 3)))
    rows = []
    for sizes, domain in cases:
        network = mlp(*sizes)
        part = rs.partition(network, domain)
        values = network(torch.rand(1000, sizes[0], dtype=torch.float64) * 2 - 1)[:, 0]
        level, name = float(values.median()), f"{list(sizes)}, {domain.describe()}"

        def search(network: rs.Network = network, domain: rs.Box | rs.Space = domain) -> object:
            return rs.partition(network, domain)

        for of in ("all", "sublevel", "level"):

            def count(part: rs.Partition = part, of: str = of, level: float = level) -> rs.Findings:
                return rs.topology.betti(part, of=of, level=level)  # pyright: ignore[reportArgumentType]

            found = count()["betti_number"]
            rows.append(
                _beside(f"{name}, {of}", count, search, f"{found.value.astype(int).tolist()}, {found.claims[0]}")
            )
        if isinstance(domain, rs.Box):

            def follow(part: rs.Partition = part) -> rs.Findings:
                return rs.topology.persistence(part)

            rows.append(_beside(f"{name}, persistence", follow, search, f"{len(follow()):,} bars"))
    return rows


def _beside(name: str, work: Callable[[], object], other: Callable[[], object], detail: str) -> Measurement:
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        middle = time.process_time()
        other()
        times.append((middle - began, time.process_time() - middle))
    mine, reference = (statistics.median(column) for column in zip(*times, strict=True))
    return Measurement(name, mine, statistics.median(one / two for one, two in times), reference, detail=detail)
