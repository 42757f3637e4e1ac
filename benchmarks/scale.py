"""A count of 10^9 regions with 1 to 1,000 workers, from what a task, its way and its result cost.

Tasks are done and timed here, one after the other. A simulation of the calling process and its workers then says how
long more of them would take; two workers of Dask on the same count show whether it is right.
``python -m benchmarks.scale FILE`` draws the curve, too.
"""

import heapq
import multiprocessing
import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from reluscope.partitions.cells.cell_tasks import MOST_TASKS
from reluscope.plots.style import CATEGORIES, canvas, figure_of

TARGET = "10^9 regions: 1,000 workers at least 300 times as fast as one, and a simulation right within 20 % for two"
WORKERS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
REGIONS = 10**9
# Dask's workers give every large array back to the system at once, unless told otherwise: twice the time for a task.
KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_MMAP_THRESHOLD_": 2**30}


class Costs(NamedTuple):
    """Seconds that parts of a count take."""

    whole: float  # by the clock, alone
    tasks: list[float]  # of each task
    sent: list[float]  # to make bytes of a task in the calling process, and to read its result
    taken: list[float]  # to read a task, and to make bytes of its result
    regions: int

    @property
    def rest(self) -> float:
        """What is done before the first task and behind the last one."""
        return max(0.0, self.whole - sum(self.tasks) - sum(self.sent) - sum(self.taken))


class Timed(Executor):
    """Does tasks at once, as a worker would that is reached by bytes, and keeps how long each part takes."""

    def __init__(self) -> None:
        self.costs = Costs(0.0, [], [], [], 0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do a task."""
        times = [time.perf_counter()]

        def lap() -> None:
            times.append(time.perf_counter())

        sent = pickle.dumps((fn, args, kwargs))
        lap()
        fn, args, kwargs = pickle.loads(sent)
        lap()
        made = fn(*args, **kwargs)
        lap()
        back = pickle.dumps(made)
        lap()
        future: Future[Any] = Future()
        future.set_result(pickle.loads(back))
        lap()
        send, read, work, write, join = np.diff(times).tolist()
        self.costs.tasks.append(work)
        self.costs.sent.append(send + join)
        self.costs.taken.append(read + write)
        return future


def arrangement(units: int) -> tuple[rs.Network, rs.Box]:
    """Return planes in general position, as a network of one layer, and a box around where they meet."""
    generator = np.random.default_rng(0)
    weight, bias = generator.normal(size=(units, 3)), 0.1 * generator.normal(size=units)
    return rs.load([(weight, bias), (generator.normal(size=(1, units)), np.zeros(1))]), rs.Box(-1, 1, 3)


def measured(network: rs.Network, box: rs.Box) -> Costs:
    """Count once in tasks, one after the other."""
    executor = Timed()
    began = time.perf_counter()
    number = int(rs.count(network, box, executor=executor))
    return executor.costs._replace(whole=time.perf_counter() - began, regions=number)


def simulated(costs: Costs, workers: int, *, overhead: float = 0.0, tasks: int | None = None) -> float:
    """Return how long a count takes with some workers, by what one of them needs.

    The calling process sends tasks and joins results one after the other; a worker takes the next task when it is free.
    With another number of tasks, theirs are drawn from those that were measured. ``overhead`` is what a scheduler adds
    to each task on its way.
    """
    rows = np.arange(len(costs.tasks))
    if tasks is not None:
        rows = np.random.default_rng(0).choice(rows, size=tasks)
    free, sending, end = [0.0] * workers, 0.0, 0.0
    for row in rows.tolist():
        sending += costs.sent[row]
        began = max(heapq.heappop(free), sending + overhead)
        done = began + costs.taken[row] + costs.tasks[row]
        heapq.heappush(free, done)
        end = max(end, done)
    return costs.rest + max(end, sending)


def scaled(costs: Costs, regions: int) -> Costs:
    """Return the costs of a count of so many regions in as many tasks as there are at most, by those of another."""
    growth = regions / costs.regions * len(costs.tasks) / MOST_TASKS
    return costs._replace(tasks=[growth * one for one in costs.tasks], regions=regions)


def run(quick: bool, picture: Path | None = None) -> list[Measurement]:
    """Measure the parts of a count, compare two workers of Dask with the simulation, and simulate a thousand."""
    torch.set_num_threads(1)
    network, box = arrangement(100 if quick else 240)
    rs.count(*arrangement(20))
    costs = measured(network, box)
    each = f"{costs.regions:,} regions in {len(costs.tasks)} tasks"
    rows = [
        Measurement(
            "one process, in tasks",
            costs.whole,
            detail=f"{each}: {np.median(costs.tasks):.3g} s each ({min(costs.tasks):.2g} to {max(costs.tasks):.2g}), "
            f"{1e3 * np.median(costs.sent):.2g} ms to send and join, {1e3 * np.median(costs.taken):.2g} ms to take, "
            f"{costs.rest:.2g} s before and behind",
        )
    ]
    rows += [_beside_processes(network, box, costs), *_beside_dask(network, box, costs)]
    large = scaled(costs, REGIONS)
    times = {workers: simulated(large, workers, tasks=MOST_TASKS) for workers in WORKERS}
    for workers in (1, 10, 100, 1000):
        ratio = times[workers] / times[1]
        detail = f"{REGIONS:,} regions in {MOST_TASKS:,} tasks, {1 / ratio:,.0f} times one worker"
        rows.append(Measurement(f"simulated, {workers:,} workers", times[workers], ratio, times[1], detail=detail))
    if picture is not None:
        _draw(times, picture)
    return rows


def _beside_processes(network: rs.Network, box: rs.Box, costs: Costs) -> Measurement:
    """Count with two processes of this machine, and say what the simulation makes of them."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as executor:
        rs.count(*arrangement(60), executor=executor, progress=False)
        began = time.perf_counter()
        number = int(rs.count(network, box, executor=executor))
        seconds = time.perf_counter() - began
    assert number == costs.regions
    forecast = simulated(costs, 2)
    detail = f"{number:,} regions, speed-up {costs.whole / seconds:.2f}; simulated {forecast:.3g} s"
    return Measurement("two processes", seconds, seconds / forecast, forecast, detail=detail)


def _beside_dask(network: rs.Network, box: rs.Box, costs: Costs) -> list[Measurement]:
    """Count with two workers of Dask, and say what the simulation makes of them."""
    import dask
    from distributed import Client, LocalCluster

    environment = dask.config.get("distributed.nanny.pre-spawn-environ")
    dask.config.set({"distributed.nanny.pre-spawn-environ": {**environment, **KEPT_MEMORY}})
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="") as cluster, Client(cluster) as client:
        executor = client.get_executor(pure=False)
        client.run(_warm_up)  # every worker has imported everything
        rs.count(*arrangement(60), executor=executor, progress=False)
        began = time.perf_counter()
        for future in [executor.submit(int, row) for row in range(50)]:
            future.result()
        overhead = (time.perf_counter() - began) / 50
        began = time.perf_counter()
        number = int(rs.count(network, box, executor=executor))
        seconds = time.perf_counter() - began
    assert number == costs.regions
    forecast = simulated(costs, 2, overhead=overhead)
    detail = f"{number:,} regions, speed-up {costs.whole / seconds:.2f}; simulated {forecast:.3g} s"
    return [Measurement("two workers of Dask", seconds, seconds / forecast, forecast, detail=detail)]


def _warm_up() -> int:
    torch.set_num_threads(1)
    return int(rs.count(*arrangement(20)))


def _draw(times: dict[int, float], path: Path) -> None:
    axes, workers = canvas(None, (6.5, 4.5)), list(times)
    axes.loglog(workers, [times[1] / number for number in workers], color="0.6", label="in proportion")
    axes.loglog(workers, list(times.values()), "o-", color=CATEGORIES[0], label="simulated")
    axes.set_xlabel("workers")
    axes.set_ylabel("seconds for a count of 10⁹ regions")
    axes.grid(alpha=0.3)
    axes.legend()
    figure_of(axes).savefig(path, dpi=150)


if __name__ == "__main__":
    for row in run(quick=False, picture=Path(sys.argv[1])):
        print(f"{row.case}: {row.detail}")
