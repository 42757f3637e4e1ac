"""Topology that is ended before its first face: an empty table that says so, whatever the dimension."""

from importlib import import_module

import pytest

import reluscope as rs
from reluscope.testing import default_network
from reluscope.time_limits import OutOfTime

WALK = import_module("reluscope.partitions.driver.walk")
DOMAINS = [
    rs.Box(-1, 1, 3),
    rs.Plane([0.0, 0, 0], [1.0, 0, 0], [0.0, 1, 0]),
    rs.Segment([0.0, 0, 0], [1.0, 1, 1]),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=["space", "plane", "line"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OutOfTime(1.0)], ids=["Ctrl-C", "time"])
@pytest.mark.parametrize("name", ["persistence", "critical_points", "betti"])
def test_it_is_an_empty_table(monkeypatch, domain, error, name):
    part = rs.partition(rs.load(default_network([3, 8, 6, 2], seed=2)), domain)

    def ended(*given):
        raise error

    monkeypatch.setattr(WALK, "_advanced", ended)
    monkeypatch.setattr("reluscope.budget.is_overdue", lambda: True)
    found = getattr(rs.topology, name)(part)
    assert found.stopped
    assert len(found) == (domain.dim + 1 if name == "betti" else 0)
