"""Work in tasks: each done once whatever happens to workers, and cells, chunks and trees the same with any executor."""

import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from threading import Event

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.effort import Effort
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.cells import cell_tasks, cellwise
from reluscope.partitions.complexes import incidence
from reluscope.partitions.driver import parallel, walk
from reluscope.partitions.driver.parallel import run_tasks
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.stopping import OUT_OF_MEMORY, Stop, StopReason
from reluscope.testing import default_network, pseudo_random_network


class Here(Executor):
    """Does work at once, and treats some tasks as told: lost with their worker, cancelled, or refused."""

    def __init__(self, fate=None):
        self.fate = {} if fate is None else fate
        self.number = -1
        self.done = []

    def submit(self, fn, /, *args, **kwargs):
        self.number += 1
        fate = self.fate.get(self.number)
        if fate == "refused":
            raise BrokenProcessPool("no more work")
        future = Future()
        if fate == "lost":
            future.set_exception(BrokenProcessPool("the worker is gone"))
        elif fate == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            self.done.append(self.number)
            future.set_result(fn(*args, **kwargs))
        return future


TASKS = [(2, power) for power in range(8)]


@pytest.mark.parametrize(
    "fate", [{}, {2: "lost", 5: "cancelled"}, {6: "refused", 7: "refused"}, dict.fromkeys(range(8), "lost")]
)
def test_every_task_is_done_once(fate):
    results = list(run_tasks(pow, TASKS, Here(fate)))
    assert sorted(results) == [(power, 2**power) for power in range(8)]


def test_without_an_executor_tasks_are_done_in_order():
    asked = []
    for index, result in run_tasks(lambda *task: asked.append(task) or len(asked), TASKS):
        assert (result, len(asked)) == (index + 1, index + 1)


def test_an_executor_that_was_shut_down_is_no_loss():
    with ThreadPoolExecutor(1) as executor:
        pass
    assert len(list(run_tasks(pow, TASKS, executor))) == 8


def test_what_a_task_raises_is_raised_and_the_rest_is_cancelled():
    with ThreadPoolExecutor(1) as executor, pytest.raises(ZeroDivisionError):
        list(run_tasks(divmod, [(1, 0), *TASKS], executor))
    begun, closed = [], Event()
    with ThreadPoolExecutor(1) as executor:
        # The first one ends at once, and the next one when the rest has been cancelled.
        results = run_tasks(
            lambda number: begun.append(number) or (number and closed.wait()), [(i,) for i in range(50)], executor
        )
        next(results)
        results.close()
        closed.set()
    assert len(begun) <= 2


class KilledWorker(Exception):  # noqa: N818 (the name of dask's)
    """What dask says of a task at which one worker after the other died."""


class Scheduler(Here):
    """Like dask's executor when tasks fail: errors of any kind come back, or nothing does."""

    def __init__(self, fate, workers=()):
        super().__init__()
        self.errors = fate
        self.workers = list(workers)
        self.asked = 0
        self._client = self
        self.scheduler = self
        self.pending = []

    def submit(self, fn, /, *args, **kwargs):
        error = self.errors.get(self.number + 1)
        if error is None:
            return super().submit(fn, *args, **kwargs)
        self.number += 1
        future = Future()
        if error == "nothing":
            self.pending.append(future)
        else:
            future.set_exception(error)
        return future

    def identity(self):
        self.asked += 1
        workers = self.workers.pop(0)
        if isinstance(workers, Exception):
            raise workers
        return {"workers": workers}

    def sync(self, function, callback_timeout):
        assert callback_timeout < 60
        return function()


def test_what_fails_elsewhere_is_tried_here():
    errors = {0: OSError("a connection"), 3: MemoryError(), 5: ImportError("no such module"), 6: ValueError("a pickle")}
    assert sorted(run_tasks(pow, TASKS, Scheduler(errors))) == [(power, 2**power) for power in range(8)]


def test_a_task_that_killed_its_workers_is_given_up():
    results = dict(run_tasks(pow, TASKS, Scheduler({2: KilledWorker()})))
    assert results.pop(2) == parallel.Lost(Stop(StopReason.WORKERS_DIED))
    assert results == {power: 2**power for power in range(8) if power != 2}


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 GB")])
@pytest.mark.parametrize("executor", [None, Here(), Here({1: "lost"})])
def test_a_task_without_memory_is_given_up(error, executor):
    def hungry(number):
        if number == 1:
            raise error
        return number

    results = dict(run_tasks(hungry, [(0,), (1,), (2,)], executor))
    assert results == {0: 0, 1: parallel.Lost(OUT_OF_MEMORY), 2: 2}


def test_other_errors_are_no_lack_of_memory():
    with pytest.raises(RuntimeError, match="something else"):
        list(run_tasks(fail, [("something else",)]))


def fail(words):
    raise RuntimeError(words)


@pytest.fixture
def silence(monkeypatch):
    monkeypatch.setattr(parallel, "SECONDS_OF_SILENCE", 0.01)


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize("error", [OSError("cut off"), TimeoutError("deaf"), AttributeError("closed")])
def test_a_scheduler_that_is_gone_is_not_waited_for(error):
    executor = Scheduler(dict.fromkeys(range(2, 8), "nothing"), [error])
    found = list(run_tasks(pow, TASKS, executor))
    assert found == [(power, 2**power) for power in (0, 1, 7, 6, 5, 4, 3, 2)]
    assert executor.asked == 1
    assert all(future.cancelled() for future in executor.pending)


@pytest.mark.usefixtures("silence")
def test_a_scheduler_whose_workers_are_gone_is_not_waited_for():
    """New ones may come: no worker has to be missed a few times, one after the other."""
    workers = [{}, {}, {"a": 1}, *[{}] * parallel.MAX_TIMES_WITHOUT_WORKERS]
    executor = Scheduler({7: "nothing"}, workers)
    assert dict(run_tasks(pow, TASKS, executor))[7] == 2**7
    assert executor.workers == []


@pytest.mark.usefixtures("silence")
def test_workers_that_take_long_are_waited_for():
    executor = Scheduler({7: "nothing"}, [{"a": 1}] * 10**6)
    results = run_tasks(pow, TASKS, executor)
    found = dict(next(results) for _ in range(7))
    threading.Timer(0.2, lambda: executor.pending[0].set_result("late")).start()
    found.update(results)
    assert found[7] == "late"
    assert executor.asked >= 3


@pytest.mark.parametrize("reason", [KilledWorker(), MemoryError()])
def test_what_was_given_up_makes_a_lower_bound(net, whole, reason, small_tasks, monkeypatch):
    faithful, calls = cellwise.cut_cells, iter(range(10**6))

    def hungry(*arguments, **options):
        if next(calls) >= 44:
            raise MemoryError
        return faithful(*arguments, **options)

    if isinstance(reason, MemoryError):
        monkeypatch.setattr(cellwise, "cut_cells", hungry)
        executor = Here()
    else:
        executor = Scheduler({1: reason})
    part = rs.partition(net, DOMAINS["box"], method="cellwise", executor=executor)
    stop = OUT_OF_MEMORY if isinstance(reason, MemoryError) else Stop(StopReason.WORKERS_DIED)
    assert (part.claim, part.stop) == (Claim.LOWER, stop)
    assert part.num_open > 0
    assert 0 < len(part) <= int(part.finding()) <= len(whole["box"])


@pytest.mark.slow
def test_a_count_by_the_tree_says_what_it_has():
    network, box = from_arrays(default_network([6, 9, 7, 1], seed=2)), rs.Box(-1, 1, 6)
    whole = tree_count(network, box)
    found = tree_count(network, box, Effort(executor=Scheduler({1: KilledWorker()})))
    assert (found.stop, sum(found.left) > 0) == (Stop(StopReason.WORKERS_DIED), True)
    assert found.num_found + sum(found.left) <= whole.num_found
    assert tree_count(network, box, Effort(executor=Scheduler({1: OSError()}))).num_found == whole.num_found


@pytest.mark.parametrize(("workers", "most"), [([], 3), ([OSError("cut off")], 3), ([{"a": {"nthreads": 2}}], 8)])
def test_no_more_tasks_are_sent_than_keep_workers_busy(workers, most, monkeypatch):
    monkeypatch.setattr(parallel, "FEWEST_AHEAD", 3)
    pending, waited = [], []

    class Slow(Scheduler):
        def submit(self, fn, /, *args, **kwargs):
            pending.append((super().submit(fn, *args, **kwargs), fn))
            return pending[-1][0]

    def oldest_done(done, patience):
        waited.append(len(pending))
        future, call = pending.pop(0)
        future.set_result(call())
        return done.get_nowait()

    monkeypatch.setattr(parallel, "_next", oldest_done)
    executor = Slow(dict.fromkeys(range(30), "nothing"), workers)
    if not workers:
        del executor._client
    tasks = [(2, power) for power in range(30)]
    assert list(run_tasks(pow, tasks, executor)) == [(power, 2**power) for power in range(30)]
    assert waited == [most] * (31 - most) + [*range(most - 1, 0, -1)]
    assert executor.asked == len(workers)


def test_progress_counts_tasks():
    told = []
    list(run_tasks(pow, TASKS[:3], Here({1: "lost"}), report=lambda *state: told.append(state)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    list(run_tasks(pow, [], Here(), report=lambda *state: told.append(state)))
    assert len(told) == 4


def test_tensors_of_tasks_are_sent_as_bytes():
    from multiprocessing.reduction import ForkingPickler

    call = parallel._Call(torch.add, (torch.arange(3), 1))
    sent = bytes(ForkingPickler.dumps(call))
    assert b"rebuild_storage_fd" in bytes(ForkingPickler.dumps(torch.arange(3)))
    assert b"rebuild_storage" not in sent
    assert ForkingPickler.loads(sent)().tolist() == [1, 2, 3]


# Cells.


@pytest.fixture(scope="module")
def net():
    return from_arrays(default_network([4, 8, 5, 1], seed=2))


DOMAINS = {"box": rs.Box(-1, 1, 4), "space": rs.Space(4)}


@pytest.fixture(scope="module")
def whole(net):
    return {name: rs.partition(net, domain) for name, domain in DOMAINS.items()}


@pytest.fixture
def small_tasks(monkeypatch):
    monkeypatch.setattr(cell_tasks, "TASKS", 8)
    monkeypatch.setattr(cell_tasks, "CELLS_PER_TASK", 4)
    monkeypatch.setattr(cellwise, "BATCH", 16)


def check_same(part, whole):
    """Codes, boundedness, volumes and neighbours are the same, region by region."""
    order, other = (np.lexsort(p.codes.words.T) for p in (part, whole))
    np.testing.assert_array_equal(part.codes.words[order], whole.codes.words[other])
    np.testing.assert_array_equal(part.is_bounded()[order], whole.is_bounded()[other])
    adjacency, truth = part.adjacency()[order][:, order], whole.adjacency()[other][:, other]
    assert (adjacency != truth).nnz == 0
    if isinstance(part.domain, rs.Box):
        np.testing.assert_allclose(part.volumes()[order], whole.volumes()[other])


@pytest.mark.few(3)
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("fate", [{}, {1: "lost", 3: "cancelled"}, dict.fromkeys(range(99), "refused")])
def test_cells_are_the_same_with_an_executor(net, whole, name, fate, small_tasks):
    executor = Here(fate)
    part = rs.partition(net, DOMAINS[name], method="cellwise", executor=executor)
    assert part.claim is whole[name].claim is Claim.EXACT
    check_same(part, whole[name])
    assert executor.number >= 7


@pytest.mark.parametrize("kind", ["threads", pytest.param("process", marks=pytest.mark.slow)])
def test_cells_are_the_same_in_threads_and_in_another_process(net, whole, kind, small_tasks):
    one = ProcessPoolExecutor(1, mp_context=get_context("forkserver")) if kind == "process" else ThreadPoolExecutor(3)
    with one as executor:
        check_same(rs.partition(net, DOMAINS["box"], executor=executor), whole["box"])


@pytest.mark.slow
def test_the_order_of_cells_does_not_depend_on_who_comes_first(net, small_tasks):
    parts = [rs.partition(net, DOMAINS["box"], method="cellwise", executor=Here(fate)) for fate in ({}, {0: "lost"})]
    np.testing.assert_array_equal(parts[0].codes.words, parts[1].codes.words)


@pytest.mark.parametrize("regions", [0, 1, 40, 150])
def test_a_budget_of_cells_with_an_executor_leaves_a_lower_bound(net, whole, regions, small_tasks):
    part = rs.partition(net, DOMAINS["box"], method="cellwise", executor=Here(), budget=rs.Budget(regions=regions))
    assert part.claim is Claim.LOWER
    assert regions <= len(part) <= int(part.finding()) <= len(whole["box"])
    assert part.note.partition(":")[0] == f"budget of {regions:,} regions"


@pytest.mark.parametrize("after", [0, 3, 7])
def test_ctrl_c_keeps_whole_cells(net, whole, after, small_tasks, monkeypatch):
    faithful, calls = cellwise.cut_cells, iter(range(10**6))

    def interrupted(*arguments, **options):
        if next(calls) == after:
            raise KeyboardInterrupt
        return faithful(*arguments, **options)

    monkeypatch.setattr(cellwise, "cut_cells", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        part = rs.partition(net, DOMAINS["box"], method="cellwise", executor=Here())
    truth = set(map(bytes, whole["box"].codes.words))
    assert part.claim is Claim.LOWER
    assert set(map(bytes, part.codes.words)) <= truth
    assert len(part) <= int(part.finding()) <= len(truth)


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_tasks_that_begin_after_the_time_come_back_at_once(method, net, small_tasks, monkeypatch):
    """The clock stops for the tasks here, and has run out in the workers: all cells are open, none is lost."""
    monkeypatch.setattr(incidence, "TASKS", 6)
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 16)
    faithful, late = walk._task, []

    def begin_late(way, *others):
        late.append(way)
        return faithful(replace(way, began=way.began - 10**7), *others)

    monkeypatch.setattr(walk, "_task", begin_late)
    domain, network = (rs.Box(-1, 1, 2), plane_network()) if method == "incidence" else (DOMAINS["box"], net)
    part = rs.partition(network, domain, method=method, executor=Here(), budget=rs.Budget(seconds=10**6))
    assert part.claim is Claim.LOWER
    assert len(late) >= 6
    assert part.num_open > 0
    assert int(part.finding()) <= len(rs.partition(network, domain))


def plane_network():
    return from_arrays(default_network([2, 24, 24, 1], seed=2))


# Trees.


@pytest.mark.slow
def test_trees_in_threads_do_not_share_room():
    network, box = from_arrays(default_network([6, 9, 7, 1], seed=2)), rs.Box(-1, 1, 6)
    alone = tree_count(network, box)
    with ThreadPoolExecutor(4) as executor:
        together = tree_count(network, box, Effort(executor=executor))
    assert (together.num_found, together.work["programs"]) == (alone.num_found, alone.work["programs"])


def test_a_search_that_grows_too_large_is_broken_up_on_its_way(monkeypatch):
    from reluscope.partitions.tree import tree_items, tree_search

    monkeypatch.setattr(tree_search, "MIN_CELLS", 40)
    monkeypatch.setattr(tree_search, "MAX_CELLS", 41)
    monkeypatch.setattr(tree_items, "BATCH", 4)
    network = from_arrays(pseudo_random_network(3, (8, 8)))
    with ThreadPoolExecutor(3) as executor:
        found = tree_count(network, rs.Space(3), Effort(executor=executor))
    assert (found.num_found, found.left, found.num_undecided) == (654, (), 0)


def test_progress_shows_tasks(net, small_tasks, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the captured stream for a terminal
    rs.partition(net, DOMAINS["box"], executor=Here(), progress=True)
    assert "8 of 8 tasks" in capsys.readouterr().err.replace("\x1b[2m", "").replace("\x1b[0m", "")
