"""Bounds by parity constraints: right as often as stated, near the truth, and certain where nothing is random."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

import reluscope as rs
from reluscope.analyses.counting.by_mip import count_by_mip
from reluscope.analyses.counting.code_search import CodeSearch
from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope.stopping import words_of
from reluscope.testing import pseudo_random_network
from reluscope_studies.bounds import count_lower_by_parity, parity

CUBE = rs.Box(0, 1, 5)


def cube(dim=5):
    """2^dim regions on the unit cube."""
    return rs.load([(np.eye(dim), np.full(dim, -0.5)), (np.ones((1, dim)), np.zeros(1))])


@pytest.mark.parametrize(("num_trials", "confidence"), [(1, 0.9), (8, 0.8), (16, 0.99)])
def test_the_limit_is_wrong_no_more_often_than_stated(num_trials, confidence):
    """Whatever the count: each trial succeeds with a probability of at most N / 2^s, here with just that."""
    for level, number in itertools.product(range(1, 12), (1, 2, 5, 31, 100)):
        chance = min(1.0, number / 2**level)
        wrong = sum(
            binom.pmf(successes, num_trials, chance)
            for successes in range(num_trials + 1)
            if parity._least_count(level, successes, num_trials, confidence) > number
        )
        assert wrong <= 1 - confidence + 1e-9


def test_all_trials_successful_is_the_published_bound():
    """MBound: with alpha t = log2(1 / (1 - c)), at least 2^(s - alpha)."""
    alpha = np.log2(1 / 0.05) / 10
    assert parity._least_count(20, 10, 10, 0.95) == np.ceil(2 ** (20 - alpha))


@pytest.mark.slow
def test_bounds_are_right_as_often_as_stated():
    """Ten codes and 2^5 ways to be fulfilled: most trials succeed with one code at most, and the bound is sharp."""
    net, box = rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2)
    bounds = [
        int(count_lower_by_parity(net, box, num_parities=5, num_trials=8, confidence=0.8, seed=seed).finding)
        for seed in range(60)
    ]
    right = sum(bound <= 10 for bound in bounds)
    assert binom.ppf(1e-3, 60, 0.8) <= right < 60  # at times it is wrong, as it should be


@pytest.mark.parametrize("code", [0.0, 1.0])
def test_a_constraint_leaves_every_code_with_one_half(code):
    search = CodeSearch(cube(), CUBE)
    solution = np.full(search.model.program.num_columns, code)
    trials = parity._Trials(search)
    assert 70 <= sum(trials._constrain(solution) for _ in range(200)) <= 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "domain"),
    [(cube(8), rs.Box(0, 1, 8)), (rs.load(pseudo_random_network(3, [3, 3])), rs.Box(-1, 1, 3))],
    ids=["cube", "deep"],
)
def test_bounds_are_near_the_truth(network, domain):
    number = {5: 2**5, 8: 2**8, 3: 12}[network.num_inputs]
    found = [count_lower_by_parity(network, domain, seed=seed).finding for seed in range(5)]
    assert np.median([int(one) for one in found]) >= number / 8
    assert all(int(one) <= number for one in found)
    by_chance = [one.method.startswith("random parity constraints") for one in found]
    assert [one.claim for one in found] == [Claim.ESTIMATE if chance else Claim.LOWER for chance in by_chance]
    assert any(by_chance) == (number == 256)  # of few regions more codes are seen than chance proves
    again = count_lower_by_parity(network, domain, seed=0).finding
    assert (int(again), again.method) == (int(found[0]), found[0].method)


def test_the_method_states_its_confidence():
    found, stopped = count_lower_by_parity(cube(8), rs.Box(0, 1, 8), confidence=0.95, num_trials=10, num_parities=6)
    assert found.method.startswith("random parity constraints, 6 in each of 10 trials, of which ")
    assert found.method.endswith("confidence 0.95")
    assert (found.interval, found.source, words_of(stopped)) == ((int(found), float("inf")), "serra2020", "")


def test_codes_seen_are_a_bound_without_chance():
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = count_lower_by_parity(net, rs.Box(-1, 1, 1)).finding
    assert int(found) <= int(count_by_mip(net, rs.Box(-1, 1, 1)).finding) == 3
    assert (found.claim, found.interval) == (Claim.LOWER, (int(found), float("inf")))
    stable = rs.load([([[1.0]], [5.0]), ([[1.0]], [0.0])])
    assert int(count_lower_by_parity(stable, rs.Box(-1, 1, 1)).finding) == 1


def test_codes_without_a_point_are_no_codes():
    """Both units are active on a sliver that the solver does not see, and it takes both for inactive instead."""
    net = rs.load([([[10.0], [-1.0]], [-1.0, 0.1]), ([[1.0, 1.0]], [0.0])])
    search = CodeSearch(net, rs.Box(-1, 1, 1))
    first = search.any_code()
    assert first is not None
    search.model.forbid(first)
    second = search.any_code()
    assert second is not None
    search.model.forbid(second)
    assert search.any_code() is None
    assert search.num_certain == 2


def test_trials_leave_the_program_as_it_was():
    trials = parity._Trials(CodeSearch(cube(), CUBE))
    program = trials.search.model.program
    before = program.num_rows, program.num_columns
    trials.most_parities()
    trials.has_code(4)
    assert (program.num_rows, program.num_columns) == before
    assert len(list(iter(trials.search.next_code, None))) == 32


def test_budgets_and_interruption(monkeypatch):
    found, stopped = count_lower_by_parity(cube(), CUBE, budget=Budget(seconds=0.0))
    assert (int(found), found.claim, words_of(stopped)) == (1, Claim.LOWER, "budget of 0 s")
    found, stopped = count_lower_by_parity(cube(), CUBE, budget=Budget(regions=2))
    assert (int(found) >= 2, words_of(stopped)) == (True, "budget of 2 regions")
    calls, any_code = itertools.count(), CodeSearch.any_code

    def interrupted(self, seconds=np.inf):
        if next(calls) == 9:
            raise KeyboardInterrupt
        return any_code(self, seconds)

    monkeypatch.setattr(CodeSearch, "any_code", interrupted)
    found, stopped = count_lower_by_parity(cube(), CUBE, num_parities=2)
    assert words_of(stopped) == "interrupted"
    assert 1 <= int(found) <= 32  # nine trials of sixteen


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"confidence": 0}, {"num_trials": 0}, {"num_parities": -1}])
def test_numbers_out_of_range(wrong):
    with pytest.raises(InputError):
        count_lower_by_parity(cube(), CUBE, **wrong)
