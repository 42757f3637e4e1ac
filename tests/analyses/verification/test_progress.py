"""How far searches are: the share that is told goes up to the end, and is that of the budget where that is more."""

from itertools import pairwise

import numpy as np
import pytest

import reluscope as rs
from reluscope.partitions.driver import stepped_search
from reluscope.testing import default_network

Case, Property = rs.verification.Case, rs.verification.Property
NET = rs.load(default_network([2, 12, 10, 1], seed=1))
HIGHEST = float(rs.partition(NET, rs.Box(-1, 1, 2)).outputs.max())


def at_least(level, cases=1):
    """Return the property that the output stays below a level, on strips of a square."""
    ends, unsafe = np.linspace(-1, 1, cases + 1), [rs.Polyhedron([[-1.0]], [-level])]
    return Property([Case([low, -1.0], [high, 1.0], unsafe) for low, high in pairwise(ends)])


@pytest.fixture(autouse=True)
def _told_at_every_step(monkeypatch):
    monkeypatch.setattr(stepped_search, "INTERVAL", 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("split", ["inputs", "units"])
@pytest.mark.parametrize("cases", [1, 3])
def test_shares_of_a_proof_go_up_to_the_end(split, cases):
    told = []
    found = rs.verify(NET, at_least(HIGHEST + 1e-3, cases), split=split, progress=told.append)
    assert str(found) == "HOLDS"
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert max(share for share in told if share < 1) > 0.4


@pytest.mark.slow
def test_shares_of_violations_go_up_to_the_end():
    told = []
    found = rs.violations(NET, at_least(HIGHEST - 0.05), progress=told.append)
    assert found.claim == "EXACT"
    assert told == sorted(told)
    assert told[-1] == 1.0
    also = []
    rs.preimages.of(
        NET, rs.Polyhedron([[-1.0]], [0.05 - HIGHEST]), domain=rs.Box(-1, 1, 2), progress=also.append, method="boxes"
    )
    assert also == told


def test_a_budget_that_is_nearly_spent_is_told():
    told = []
    wide = rs.load(default_network([6, 40, 40, 1], seed=1))
    highest = float(wide(np.random.default_rng(0).uniform(-1, 1, (10_000, 6))).max())
    safe = Property([Case(-np.ones(6), np.ones(6), [rs.Polyhedron([[-1.0]], [-2 * highest])])])
    found = rs.verify(wide, safe, budget=rs.Budget(regions=300), progress=told.append)
    assert found.stopped == "budget of 300 regions"
    assert found.undecided.value > 0.5
    assert max(share for share in told if share < 1) > 0.5
    assert told == sorted(told)
