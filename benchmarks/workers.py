"""Two worker processes against one: how far independent tasks share a long count, and a partition."""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp
from reluscope.effort import Effort
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.tree.tree_count import tree_count

TARGET = "two workers at least 1.7 times one, on counts of over 30 s"


Work = Callable[[Executor], int]


def run(quick: bool) -> list[Measurement]:
    """Count by linear programs, and partition cell by cell, with one and with two processes of one thread."""
    torch.set_num_threads(1)
    inputs, first, second = (20, 6, 4) if quick else (20, 14, 11)
    by_tree, box = mlp(inputs, first, second, 1), rs.Box(-1, 1, inputs)
    width = 8 if quick else 24
    by_cells, five = mlp(5, width, width, 1), rs.Box(-1, 1, 5)
    cases: dict[str, Work] = {
        f"tree of [{inputs}, {first}, {second}, 1], {box.describe()}": lambda executor: (
            tree_count(by_tree, box, Effort.of(None, executor, False)).num_found
        ),
        f"cells of [5, {width}, {width}, 1], {five.describe()}": lambda executor: len(
            rs.partition(by_cells, five, executor=executor)
        ),
    }
    alone, together = (_time(cases, workers) for workers in (1, 2))
    rows = []
    for name, (number, seconds) in together.items():
        truth, reference = alone[name]
        assert number == truth
        detail = f"{number:,} regions, EXACT, speed-up {reference / seconds:.2f}"
        rows.append(Measurement(name, seconds, seconds / reference, reference, detail=detail))
    return rows


def _time(cases: dict[str, Work], workers: int) -> dict[str, tuple[int, float]]:
    """Return numbers of regions and seconds, with processes that have started and compiled before."""
    found = {}
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("forkserver")) as executor:
        list(executor.map(_warm_up, range(workers)))
        for name, work in cases.items():
            began = time.perf_counter()
            number = work(executor)
            found[name] = number, time.perf_counter() - began
    return found


def _warm_up(_: int) -> int:
    torch.set_num_threads(1)
    network = from_arrays([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    time.sleep(0.5)  # so that no process takes two of these
    return tree_count(network, rs.Space(2)).num_found + len(rs.partition(network, rs.Space(2)))
