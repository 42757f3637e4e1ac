"""A call that nobody limits or watches warns once when it takes long, and no call within another one does."""

import re
import time
import warnings

import numpy as np
import pytest

import reluscope as rs
from reluscope import progress
from reluscope.progress import LongCall, told
from reluscope.testing import default_network

NET, BOX = rs.load(default_network([3, 12, 12, 2], seed=1)), rs.Box(-1, 1, 3)
POINTS = np.random.default_rng(0).uniform(-1, 1, (40, 3))


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "SILENCE", 0.0)


def said(call):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in heard]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("partition", lambda: rs.partition(NET, BOX)),
        ("count", lambda: rs.count(NET, BOX)),
        ("image", lambda: rs.image(NET, BOX)),
        ("boundary_distance", lambda: rs.robustness.boundary_distance(NET, POINTS, norm="l2")),
        ("measure_regions", lambda: rs.measure_regions(rs.partition(NET, BOX, progress=False))),
    ],
)
def test_a_long_call_warns_once(name, call):
    (heard,) = said(call)
    assert re.match(f"{name} has taken \\d+ s and ", heard)
    assert "budget=rs.Budget(seconds=60)" in heard
    assert "progress=False leaves this warning out" in heard


def test_the_warning_is_about_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="partition has taken") as heard:
        rs.partition(NET, BOX)
    assert heard[0].filename == __file__


@pytest.mark.parametrize(
    "given",
    [
        {"progress": False},
        {"progress": lambda share: None},
        {"budget": rs.Budget(seconds=60)},
        {"budget": rs.Budget(regions=10**6)},
    ],
)
def test_calls_that_are_limited_or_watched_are_silent(given):
    assert not said(lambda: rs.partition(NET, BOX, **given))


def test_no_budget_is_no_limit():
    assert said(lambda: rs.partition(NET, BOX, budget=None))


def test_calls_that_somebody_tells_of_are_silent():
    with told():
        assert not said(lambda: rs.partition(NET, BOX))
    assert said(lambda: rs.partition(NET, BOX))


def test_it_says_how_long_the_rest_takes(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(progress, "SILENCE", 10.0)
    call = LongCall("partition", has_budget=True)
    now = 105.0
    assert not said(lambda: call(0.01))
    now = 112.0
    (heard,) = said(lambda: [call(0.01), call(0.02)])
    assert heard.startswith("partition has taken 12 s and takes about 20 minutes more: budget=rs.Budget(seconds=60) ")


def test_what_is_computed_later_is_not_told_of():
    found = rs.coefficients.matrix(NET, POINTS)
    assert found.progress is False
    assert not said(lambda: found.output(0).sum())
