"""What cannot be done in parts is asked for before it takes memory that there is not."""

import numpy as np
import pytest

import reluscope as rs
from reluscope import needed_memory
from reluscope.errors import ReluscopeError
from reluscope.needed_memory import LEAST, TooLargeError, free_bytes, need
from reluscope.testing import default_network


def test_the_system_says_what_is_free():
    assert free_bytes() > 2**20


def test_a_system_that_does_not_say_refuses_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(needed_memory, "_MEMORY", tmp_path / "none")
    assert free_bytes() == float("inf")
    need(1e18, "numbers", "wait")


def test_what_is_too_large_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setattr(needed_memory, "free_bytes", lambda: 11e9)
    need(10e9, "numbers", "wait")
    with pytest.raises(TooLargeError, match=r"^numbers take about 12 GB of memory, and 11 GB are free: wait$"):
        need(12e9, "numbers", "wait")
    monkeypatch.setattr(needed_memory, "free_bytes", lambda: 0.0)
    need(LEAST - 1, "numbers", "wait")  # little is always there
    assert issubclass(TooLargeError, (ReluscopeError, MemoryError))


def test_half_spaces_of_a_region_are_asked_for_first(monkeypatch):
    net = rs.load(default_network([40, 60, 60, 3], seed=0))
    monkeypatch.setattr(needed_memory, "LEAST", 0)
    monkeypatch.setattr(needed_memory, "free_bytes", lambda: 50_000.0)
    with pytest.raises(TooLargeError, match=r"120 half-spaces in 40 inputs take about .* ask on a Plane"):
        rs.region(net, [0.1] * 40)
    found = rs.inscribed_balls(rs.load(default_network([3, 4, 2], seed=0)), [[0.1, 0.2, 0.3]])
    assert len(found) == 1


def test_what_can_be_asked_for_in_parts_is_not_taken_at_once(monkeypatch):
    monkeypatch.setattr(needed_memory, "AT_ONCE", 1000.0)
    net = rs.load([(np.eye(30), np.zeros(30)), (np.ones((20, 30)), np.zeros(20))])
    with pytest.raises(needed_memory.TooLargeError, match="half-spaces of a box in 30 dimensions take about"):
        _ = rs.Box(-1, 1, 30).polyhedron
    with pytest.raises(
        needed_memory.TooLargeError, match="the map of a point, of 20 outputs and 30 inputs, take about"
    ):
        net.linearize(np.zeros(30))
    with pytest.raises(needed_memory.TooLargeError, match="values of all units as functions of 30 inputs take about"):
        rs.partition(net, rs.Box(-1, 1, 30), method="tree")
    with pytest.raises(needed_memory.TooLargeError, match="ask of a part of the network with fewer outputs"):
        rs.coefficients.local_norms(net, np.zeros((1, 30)))
