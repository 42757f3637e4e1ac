"""Work that does not go to the end, or not in this process: budgets, Ctrl-C, executors. Claims stay true."""

import sys
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

import reluscope as rs
from partitions.checking import check_structure, found_in
from partitions.layered import network_of
from reluscope.effort import Effort
from reluscope.errors import IncompletePartitionError
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.ask import finishing_windows
from reluscope.partitions.complexes import incidence
from reluscope.partitions.driver import parallel, walk
from reluscope.partitions.table import assembly
from reluscope.stopping import INTERRUPTED
from reluscope.testing import default_network

SQUARE = rs.Box(-1, 1, 2)


@pytest.fixture(scope="module")
def net():
    return from_arrays(default_network([2, 24, 24, 24, 1], seed=2))


@pytest.fixture(scope="module")
def whole(net):
    return rs.partition(net, SQUARE)


def check_rows_are_whole(part, whole):
    """Every row of an unfinished partition is a row of the finished one."""
    truth = found_in(whole)
    for code, area in found_in(part).items():
        assert area == pytest.approx(truth[code], abs=1e-12)
    assert (part.volumes() > 0).all()
    assert (part.adjacency() != part.adjacency().T).nnz == 0


@pytest.mark.parametrize("regions", [0, 1, 40, 300])
def test_a_budget_of_regions_gives_a_lower_bound(net, whole, regions, chunks_of):
    chunks_of(24)
    part = rs.partition(net, SQUARE, budget=rs.Budget(regions=regions))
    finding = part.finding()
    assert part.claim is finding.claim is Claim.LOWER
    assert len(part) >= regions
    assert len(part) < regions + 200
    assert len(part) < int(finding) <= len(whole)
    assert finding.interval == (int(finding), np.inf)
    assert f"{regions:,} regions" in part.note
    check_rows_are_whole(part, whole)


def test_a_budget_that_is_not_reached_changes_nothing(net, whole):
    part = rs.partition(net, SQUARE, budget=rs.Budget(regions=10**9, seconds=10**6))
    assert (part.claim, len(part), part.note) == (Claim.EXACT, len(whole), "")


def test_a_budget_of_time(net, whole, chunks_of):
    chunks_of(16)
    part = rs.partition(net, SQUARE, budget=rs.Budget(seconds=0.0))
    assert 0 < len(part) <= 16  # whatever the time, the first ones
    assert part.claim is Claim.LOWER
    assert "0 s" in part.note


def test_no_regions_are_nothing(net):
    part = rs.partition(net, SQUARE, budget=rs.Budget(regions=0))
    assert (len(part), part.claim) == (0, Claim.LOWER)
    assert part.locate([[0.0, 0.0]]).tolist() == [-1]
    assert part.volumes().sum() == 0


def test_questions_about_all_regions_are_refused(net):
    part = rs.partition(net, SQUARE, budget=rs.Budget(regions=0))
    with pytest.raises(IncompletePartitionError, match=r"an average needs.*larger budget"):
        part.require_complete("an average")


@pytest.mark.slow
def test_a_budget_over_several_segments_bounds_each(chunks_of):
    net = from_arrays(default_network([3, 16, 16, 1], seed=5))
    domains = [rs.Segment(*ends) for ends in np.random.default_rng(5).normal(size=(8, 2, 3))]
    truth = [len(part) for part in rs.partitions(net, domains)]
    chunks_of(2)
    for regions in (0, 1, 5, 20, 60):
        for part, number in zip(rs.partitions(net, domains, budget=rs.Budget(regions=regions)), truth, strict=True):
            assert int(part.finding()) <= number
            if part.claim is Claim.EXACT:
                assert len(part) == number


@pytest.mark.parametrize("after", [0, 1, 3, 9])
@pytest.mark.parametrize("where", ["open_stage", "cut", "spread"])
def test_ctrl_c_keeps_the_finished_regions(net, whole, after, where, chunks_of, monkeypatch):
    chunks_of(16)
    interrupt_at(monkeypatch, incidence, where, after)
    with pytest.warns(UserWarning, match="interrupted.*LOWER"):
        part = rs.partition(net, SQUARE)
    assert part.claim is Claim.LOWER
    assert part.note == "interrupted"
    assert int(part.finding()) <= len(whole)
    check_rows_are_whole(part, whole)


def interrupt_at(monkeypatch, owner, name, after):
    """Press Ctrl-C in one call of a function."""
    original, calls = getattr(owner, name), iter(range(10**9))

    def interrupted(*arguments, **options):
        if next(calls) == after:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)


@pytest.mark.parametrize("cells", [16, 10**6])
def test_ctrl_c_while_the_last_chunk_is_put_away(net, whole, cells, chunks_of, monkeypatch):
    chunks_of(cells)
    calls = []
    original = assembly.Patch.of
    monkeypatch.setattr(assembly.Patch, "of", lambda chunk: calls.append(0) or original(chunk))
    rs.partition(net, SQUARE)
    interrupt_at(monkeypatch, assembly.Patch, "of", len(calls) - 1)
    with pytest.warns(UserWarning, match="interrupted.*LOWER"):
        part = rs.partition(net, SQUARE)
    assert len(part) < len(whole)
    assert part.claim is Claim.LOWER
    check_rows_are_whole(part, whole)


def test_ctrl_c_at_any_line_loses_and_doubles_nothing(chunks_of):
    """Ctrl-C is pressed before each line of the engine's loop in turn: rows are whole, and claims true."""
    chunks_of(4)
    small = from_arrays(default_network([2, 3, 2, 1], seed=3))
    truth = rs.partition(small, SQUARE)
    loop = {walk._depth_first.__code__, walk._advanced.__code__}

    def interrupted_before(step):
        seen = iter(range(10**9))

        def trace(frame, event, argument):
            del argument
            if frame.f_code not in loop:
                return None
            if event == "line" and next(seen) == step:
                raise KeyboardInterrupt
            return trace

        return trace

    stopped = 0
    for step in range(4, 10**4):
        sys.settrace(interrupted_before(step))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                part = rs.partition(small, SQUARE)
        except KeyboardInterrupt:  # after the loop
            continue
        finally:
            sys.settrace(None)
        if part.note != "interrupted":
            break
        stopped += 1
        assert part.claim is Claim.LOWER
        assert len(part) < int(part.finding()) <= len(truth)
        check_rows_are_whole(part, truth)
    assert stopped > 20


def test_the_work_of_a_lost_worker_is_done_again(net, whole, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 16)
    monkeypatch.setattr(incidence, "TASKS", 6)

    class Dying(Executor):
        """Takes work, and loses all of it."""

        def submit(self, fn, /, *args, **kwargs):
            del fn, args, kwargs
            future = Future()
            future.set_exception(BrokenProcessPool("the worker is gone"))
            return future

    part = rs.partition(net, SQUARE, executor=Dying())
    assert part.claim is Claim.EXACT
    assert found_in(part) == pytest.approx(found_in(whole), abs=1e-12)


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_a_budget_with_max_gates_bounds_from_below(cells, chunks_of):
    weight = [[1.0, 0], [-1, 0], [0, 1], [0, -1], [0.9, 0.5], [0.3, -0.7]]
    net = network_of([("affine", weight, [0, 0, 0, 0, 0.1, 0.2]), ("max", [[0, 1, 2, 3, 4, 5]])], 2)
    assert len(rs.partition(net, SQUARE)) == 6
    chunks_of(cells)
    for regions in range(8):
        assert int(rs.partition(net, SQUARE, budget=rs.Budget(regions=regions)).finding()) <= 6


@pytest.fixture(scope="module")
def pools():
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        yield {"threads": threads, "processes": processes}


@pytest.mark.parametrize("kind", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_executors_find_the_same(net, whole, kind, pools, monkeypatch):
    # Small chunks here, so that there is something to hand out; other processes keep their own.
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 16)
    monkeypatch.setattr(incidence, "TASKS", 12)
    part = rs.partition(net, SQUARE, executor=pools[kind])
    assert part.claim is Claim.EXACT
    assert found_in(part) == pytest.approx(found_in(whole), abs=1e-12)
    check_structure(part)
    assert part.adjacency().nnz == whole.adjacency().nnz


def test_an_executor_with_a_budget(net, whole, pools, monkeypatch):
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 16)
    monkeypatch.setattr(incidence, "TASKS", 6)
    part = rs.partition(net, SQUARE, executor=pools["threads"], budget=rs.Budget(regions=50))
    assert part.claim is Claim.LOWER
    assert int(part.finding()) <= len(whole)
    check_rows_are_whole(part, whole)


def test_an_executor_takes_many_segments(pools):
    net = from_arrays(default_network([3, 16, 16, 1], seed=5))
    domains = [rs.Segment(*ends) for ends in np.random.default_rng(5).normal(size=(8, 2, 3))]
    serial = rs.partitions(net, domains)
    for one, other in zip(serial, rs.partitions(net, domains, executor=pools["threads"]), strict=True):
        assert found_in(one) == pytest.approx(found_in(other), abs=1e-12)


def test_ctrl_c_with_an_executor(net, whole, chunks_of, monkeypatch):
    chunks_of(16)
    monkeypatch.setattr(incidence, "TASKS", 6)
    with ThreadPoolExecutor(2) as threads:
        interrupt_at(monkeypatch, parallel, "_next", 0)
        with pytest.warns(UserWarning, match="interrupted"):
            part = rs.partition(net, SQUARE, executor=threads)
    assert part.claim is Claim.LOWER
    check_rows_are_whole(part, whole)


def test_progress_is_shown_and_changes_nothing(net, whole, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the captured stream for a terminal
    part = rs.partition(net, SQUARE, progress=True)
    assert len(part) == len(whole)
    shown = capsys.readouterr()
    assert "regions" in shown.err
    assert not shown.out


@pytest.mark.few(5)
@pytest.mark.parametrize("cuts", [0, 3, 40, 400])
@pytest.mark.parametrize("slow", [False, True])
def test_what_is_affordable_says_when_it_was_interrupted(net, monkeypatch, cuts, slow):
    """Also while the regions are forecast, windows grow, or first gates are tried."""
    cut, calls = incidence.cut, iter(range(10**9))

    def stop(*arguments, **options):
        if next(calls) == cuts:
            raise KeyboardInterrupt
        return cut(*arguments, **options)

    monkeypatch.setattr(incidence, "cut", stop)
    if slow:  # networks of which a point takes long are not tried before the forecast
        monkeypatch.setattr(finishing_windows, "pass_seconds", lambda _: 1.0)
        monkeypatch.setattr(finishing_windows, "MIN_SECONDS", 0.0)
        monkeypatch.setattr(finishing_windows, "MIN_TIMES", 0.0)
    try:
        with warnings.catch_warnings(action="ignore"):
            found = finishing_windows.affordable(net, rs.Box(-1, 1, 2), Effort(rs.Budget(regions=200, seconds=2)))
    except KeyboardInterrupt:
        return
    if next(calls) > cuts:
        assert found.part.note == "interrupted"


@pytest.mark.parametrize("is_prompt", [True, False])
def test_what_was_tried_before_a_forecast_is_kept_where_that_is_interrupted(net, whole, monkeypatch, is_prompt):
    def struck(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(finishing_windows, "forecast", struck)
    monkeypatch.setattr(finishing_windows, "TRIED", 0.0)
    monkeypatch.setattr(finishing_windows, "pass_seconds", lambda _: 0.0 if is_prompt else 1.0)
    if not is_prompt:
        with pytest.raises(KeyboardInterrupt):
            finishing_windows.affordable(net, SQUARE, Effort(rs.Budget(seconds=2)))
        return
    tried = finishing_windows.affordable(net, SQUARE, Effort(rs.Budget(seconds=2)))
    assert tried.part.note == "interrupted"
    assert tried.expected is tried.coarse is None
    assert 0 < len(tried.part) < len(whole)
    check_rows_are_whole(tried.part, whole)
    # Also where the partition after the forecast has nothing or less.
    with warnings.catch_warnings(action="ignore"):
        less = replace(rs.partition(net, SQUARE, budget=rs.Budget(regions=1)), stop=INTERRUPTED)
    monkeypatch.setattr(finishing_windows, "TRIED", 0.9)
    monkeypatch.setattr(finishing_windows, "partitioned", lambda *_: tried.part)
    monkeypatch.setattr(finishing_windows, "_forecast_if_hopeless", lambda *_: None)
    for after in (struck, lambda *_: finishing_windows.Affordable(less)):
        monkeypatch.setattr(finishing_windows, "_afforded", after)
        again = finishing_windows.affordable(net, SQUARE, Effort(rs.Budget(seconds=2)))
        assert again.part.note == "interrupted"
        assert len(again.part) == max(len(tried.part), len(less))
