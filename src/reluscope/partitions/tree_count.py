"""Numbers of regions by the tree of linear programs: tasks hand back numbers, so that memory does not grow with them.

With a folder to keep what tasks have counted, a run that was killed continues: how work is broken into tasks depends on
the network, the domain and the tolerance alone, and counts of tasks add up.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor

from reluscope.budget import ENDS, INTERRUPTED, Budget, why_ended
from reluscope.files import stored
from reluscope.files.kept_results import KeptResults, Record
from reluscope.geometry.domains import Domain, Slice
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.partitions.domain_arrays import domain_arrays
from reluscope.partitions.parallel import Lost, Tell, hand_out, why_stopped
from reluscope.partitions.tree_coordinates import Coordinates
from reluscope.partitions.tree_items import Block
from reluscope.partitions.tree_search import Item, Tally, TreeSearch, split_mark
from reluscope.tolerance import Tolerance

Report = Callable[[int], None]


def tree_count(
    network: Network,
    domain: Domain,
    *,
    budget: Budget | None = None,
    tolerance: Tolerance | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    report: Report | None = None,
    tell: Tell | None = None,
) -> Tally:
    """Count all full-dimensional activation regions by linear programs, and keep none of them.

    Parameters
    ----------
    network, domain, budget, tolerance, executor
        As `reluscope.partitions.tree.tree_regions`.
    checkpoint : path, optional
        A folder that keeps the counts of finished tasks; if it is there, work goes on from it.
    report : callable, optional
        Told how many regions more there are.
    tell : callable, optional
        Told how many tasks are done, and how many there are.

    Returns
    -------
    Tally
        Its work is that of this run; ``kept_tasks`` is how many tasks were there before.

    Raises
    ------
    ShapeError, DegenerateGeometryError
        As `reluscope.partitions.tree.tree_regions`.
    InputError
        If the checkpoint belongs to another count, is damaged, or cannot be written.

    Notes
    -----
    Memory: that of one search, and of at most a few thousand cells while work is broken up.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> tree_count(net, rs.Space(3)).num_regions
    8
    """
    began = time.time()
    inner, window = (network.restrict(domain), domain.window) if isinstance(domain, Slice) else (network, domain)
    coordinates = Coordinates.of(inner, window, Tolerance() if tolerance is None else tolerance)
    budget = Budget() if budget is None else budget
    search = TreeSearch(coordinates, budget, began, Block.first(coordinates))
    report = _say_nothing if report is None else report
    with deferred():
        try:
            if executor is None and checkpoint is None:
                for block in search.blocks():
                    report(len(block.cells))
            else:
                for block in search.broken_up():
                    report(len(block.cells))
                if not search.tally.stopped:
                    tasks = search.tasks()
                    key = _key(network, domain, coordinates, tasks)
                    kept = None if checkpoint is None else KeptResults(checkpoint, key)
                    _count_tasks(search, tasks, executor, kept, report, tell)
            for block in search.first():
                report(len(block.cells))
        except ENDS as end:
            search.tally.stopped = why_ended(end)
    tally = search.end()
    tally.work["seconds"] = time.time() - began
    return tally


def _count_tasks(
    search: TreeSearch,
    tasks: list[Item],
    executor: Executor | None,
    kept: KeptResults | None,
    report: Report,
    tell: Tell | None,
) -> None:
    """Count the cells of all tasks but those that were kept."""
    results = {} if kept is None else dict(_kept_counts(kept, len(tasks)))
    for index, tally in results.items():
        search.items.remove(tasks[index])
        search.tally.include(tally)
        report(tally.num_regions)
    if kept is not None:
        search.tally.work["kept_tasks"] = len(results)
    before = len(results)
    left = [index for index in range(len(tasks)) if index not in results]
    # In this process regions are reported as they are found, and not once more.
    live, afterwards = (report, _say_nothing) if executor is None else (None, report)
    budget = search.budget.after(search.tally.num_regions)
    calls = [(search.coordinates, budget, search.began, tasks[index], live) for index in left]
    reasons = []
    if tell is not None and before:
        tell(before, len(tasks))
    for position, tally in hand_out(
        _count,
        calls,
        executor,
        budget,
        None if tell is None else lambda done, _: tell(before + done, len(tasks)),
    ):
        index = left[position]
        reasons.append(tally.stopped)
        if isinstance(tally, Lost) or not tally.num_regions:
            continue  # what it was to do is still to be done
        if kept is not None and not (tally.stopped or tally.num_open):
            kept[f"{index:04d}"] = Record({"regions": tally.num_regions, "undecided": tally.num_undecided})
        search.items.remove(tasks[index])
        search.tally.include(tally)
        afterwards(tally.num_regions)
    if search.items or search.tally.num_open:
        search.tally.stopped = why_stopped(reasons, search.budget, search.tally.num_regions, search.began)


def _kept_counts(kept: KeptResults, number: int) -> Iterator[tuple[int, Tally]]:
    """Yield the number of every task that was finished before, and what it counted: a region at least."""
    for name, record in kept.items():
        with kept.reading(name):
            index, regions, undecided = (
                int(name),
                stored.whole(record.plain, "regions", least=1),
                stored.whole(record.plain, "undecided"),
            )
            if index not in range(number) or name != f"{index:04d}":
                raise ValueError(f"there is no task {name}")
        yield index, Tally(regions, undecided)


def _count(coordinates: Coordinates, budget: Budget, began: float, item: Item, report: Report | None) -> Tally:
    search = TreeSearch(coordinates, budget, began, item)
    with deferred():
        try:
            for block in search.blocks():
                if report is not None:
                    report(len(block.cells))
        except KeyboardInterrupt:
            search.tally.stopped = INTERRUPTED
    return search.end()


def _key(network: Network, domain: Domain, coordinates: Coordinates, tasks: list[Item]) -> dict[str, str]:
    where = hashlib.sha256()
    for name, array in domain_arrays(domain).items():
        where.update(f"{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
    tolerance = coordinates.tolerance
    return {
        "network": network.fingerprint,
        "domain": where.hexdigest(),
        "tolerance": f"{tolerance!r}",
        "version of reluscope": split_mark(tasks),
    }


def _say_nothing(number: int) -> None:
    del number
