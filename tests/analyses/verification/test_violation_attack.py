"""Points that an attack tries: the same ones however few are drawn at a time, and the best of them."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.verification import violation_attack
from reluscope.testing import default_network

CASE = rs.verification.Case(-np.ones(3), np.ones(3), [rs.Polyhedron([[1.0, -1.0]], [0.0])])


def tried():
    net = rs.load(default_network([3, 8, 8, 2], seed=1))
    return violation_attack.candidates(net, CASE, CASE.unsafe[0], np.random.default_rng(2))


@pytest.mark.parametrize("entries", [1, 400, 10**9])
def test_random_points_are_the_same_however_many_are_drawn_at_a_time(monkeypatch, entries):
    known = tried()
    monkeypatch.setattr(violation_attack, "MAX_ENTRIES", entries)
    np.testing.assert_array_equal(tried(), known)


def test_the_first_points_are_the_best_of_a_thousand():
    net = rs.load(default_network([3, 8, 8, 2], seed=1))
    drawn = np.random.default_rng(2).uniform(CASE.lower, CASE.upper, (violation_attack.NUM_RANDOM, 3))
    outputs = net(drawn).numpy()
    excess = outputs[:, 0] - outputs[:, 1]
    best = drawn[np.argsort(excess, kind="stable")[: violation_attack.NUM_STARTS]]
    np.testing.assert_array_equal(tried()[: len(best)], best)
