"""Boxes and sets in turns decide what either decides, count the work of both, and end together."""

import numpy as np
import pytest

import reluscope as rs
from analyses.verification.test_verify import above, check
from reluscope.analyses.verification import in_turns
from reluscope.analyses.verification.box_search import BoxSearch
from reluscope.analyses.verification.in_turns import InTurns, search_kind
from reluscope.analyses.verification.program_search import ProgramSearch
from reluscope.partitions.driver.walk import Step
from reluscope.testing import default_network


def searched(net, safe, budget=None, kind=InTurns, **options):
    search = kind(net, safe, None, **options)
    return search, search.run(rs.Budget(regions=20_000) if budget is None else budget)


@pytest.mark.few(3)
@pytest.mark.parametrize("first", [0, 16, 4096])
@pytest.mark.parametrize("seed", range(3))
def test_verdicts_are_those_of_the_partition(seed, first, monkeypatch):
    monkeypatch.setattr(in_turns, "FIRST_BOXES", first)
    net = rs.load(default_network([3, 8, 6, 2], seed=seed))
    low, high = -np.ones(3), np.ones(3)
    row = np.random.default_rng(seed).normal(size=2)
    most = float((rs.partition(net, rs.Box(low, high)).outputs @ row).max())
    for excess, verdict in ((1e-4, "HOLDS"), (-1e-4, "VIOLATED")):
        safe = above(low, high, row, most + excess)
        assert check(net, safe, rs.verify(net, safe)) == verdict
        assert check(net, safe, rs.verify(net, safe, certify=True)) == verdict


def test_sets_go_on_where_boxes_would_not_end(monkeypatch):
    monkeypatch.setattr(in_turns, "FIRST_BOXES", 8)
    net = rs.load(default_network([6, 10, 10, 1], seed=0))
    low, high = -np.ones(6), np.ones(6)
    level = float(rs.maximize(net, rs.Box(low, high)).value) + 1e-6
    safe = above(low, high, [1.0], level)
    alone, _ = searched(net, safe, kind=ProgramSearch)
    both, stopped = searched(net, safe)
    assert alone.is_proved and both.is_proved and stopped is None  # noqa: PT018
    assert both.work["sets"] > 0
    assert both.num_branches == sum(both.work.values())
    assert both.undecided == 0.0


def test_a_budget_counts_the_work_of_both_and_ends_both(monkeypatch):
    monkeypatch.setattr(in_turns, "FIRST_BOXES", 8)
    net = rs.load(default_network([8, 24, 24, 1], seed=1))
    found = rs.maximize(net, rs.Box(-np.ones(8), np.ones(8)), budget=rs.Budget(regions=10))
    safe = above(-np.ones(8), np.ones(8), [1.0], float(found.value) + 1e-3)
    search, stopped = searched(net, safe, rs.Budget(regions=400))
    assert str(stopped) == "budget of 400 regions"
    assert {*search.work} == {"boxes", "sets"}
    assert 400 <= search.num_branches < 800
    assert 0 < search.undecided <= 1
    again, _ = searched(net, safe, rs.Budget(regions=400))
    assert again.work == search.work
    assert search.least_key == max(one.least_key for one in search.searches)


def test_bounds_of_what_is_left_are_no_promises_of_the_solver():
    """Keys of the queue come from linear programs; what they prove with rounding is a little less."""
    net = rs.load(default_network([12, 16, 16, 1], seed=2))
    search, _ = searched(net, above(-np.ones(12), np.ones(12), [1.0], 0.3), rs.Budget(regions=60), ProgramSearch)
    assert len(search.queue) > 1
    assert search.queue[0].key - 1e-5 < search.least_key < 0


def test_what_is_searched_depends_on_the_inputs_that_vary():
    small, wide = rs.load(default_network([12, 5, 1], seed=0)), np.zeros(12)
    for free, kind in ((2, BoxSearch), (3, InTurns), (10, InTurns), (11, ProgramSearch)):
        safe = above(-(np.arange(12) < free).astype(float), wide, [1.0], 9.0)
        assert search_kind(small, safe, "auto") is kind
        assert search_kind(small, safe, "inputs") is BoxSearch
        assert search_kind(small, safe, "units") is ProgramSearch


def test_it_ends_where_boxes_leave_something_and_there_are_no_sets(monkeypatch):
    monkeypatch.setattr(in_turns, "is_small", lambda bounds, most: False)
    net = rs.load(default_network([3, 5, 1], seed=0))
    search = InTurns(net, above(-np.ones(3), np.ones(3), [1.0], 9.0), None)
    steps = iter([[search], [], []])
    monkeypatch.setattr(search._boxes, "step", lambda: Step(next(steps)))
    assert search.run(rs.Budget(regions=10)) is None
    assert not search.is_proved


def test_a_set_that_is_not_proved_empty_promises_nothing():
    net = rs.load(default_network([12, 16, 16, 1], seed=2))
    search, _ = searched(net, above(-np.ones(12), np.ones(12), [1.0], 0.3), rs.Budget(regions=20), ProgramSearch)
    assert search.least_key > -np.inf
    one = search.queue[0].what
    nothing = one.relaxed._replace(miss=np.inf, mix=0 * one.relaxed.mix)
    search.push(np.inf, one._replace(relaxed=nothing))
    assert search.least_key == -np.inf
