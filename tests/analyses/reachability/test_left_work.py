"""Images and reachable sets whose work is ended in the middle: what is there is kept, and true."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from reluscope.findings import Claim
from reluscope.stopping import INTERRUPTED
from reluscope.testing import default_network
from reluscope.time_limits import OutOfTime

images = import_module("reluscope.analyses.reachability.images")
sets = import_module("reluscope.analyses.reachability.reachable_sets")
ENDS = [(KeyboardInterrupt(), "interrupted"), (OutOfTime(3.0), "budget of 3 s")]
BOX = rs.Box(-1, 1, 2)


def failing(function, error, after=0):
    """Return a function that is ended at one of its calls."""
    calls = []

    def call(*given, **named):
        calls.append(None)
        if len(calls) == after + 1:
            raise error
        return function(*given, **named)

    return call


@pytest.mark.parametrize(("error", "said"), ENDS)
@pytest.mark.parametrize("name", ["outputs_at_corners", "dimension_of"])
def test_an_image_keeps_its_first_regions(monkeypatch, error, said, name):
    net = rs.load(default_network([2, 12, 12, 2], seed=1))
    whole = rs.image(net, BOX)
    monkeypatch.setattr(images, "MEMORY", 0)
    monkeypatch.setattr(images, name, failing(getattr(images, name), error))
    found = rs.image(net, BOX)
    assert (len(found), found.partition.note) == (images.FEWEST, said)
    assert found.claim is Claim.LOWER
    assert found.partition.num_open == len(whole) - len(found)
    for one, other in zip(found.corners, whole.corners, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-12)  # few points go through BLAS in another order than many
    assert found.volume().interval[0] <= whole.volume().value <= found.volume().interval[1]
    assert found.maximum([1.0, 0.0]).interval[1] == np.inf


def test_the_image_of_an_interrupted_partition_is_whole(monkeypatch):
    """Whoever gives what is left of a partition waits for all of it."""
    net = rs.load(default_network([2, 12, 12, 2], seed=1))
    part = replace(rs.partition(net, BOX), num_open=1, stop=INTERRUPTED)
    monkeypatch.setattr(images, "MEMORY", 0)
    assert len(rs.image(net, part)) == len(part) > images.FEWEST


def loop(budget=None):
    net = rs.load(default_network([2, 6, 1], seed=0))
    plant = rs.reachability.Plant(np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]]))
    return rs.reach(net, plant, BOX, 4, budget=budget)


def test_a_loop_keeps_its_first_steps_after_ctrl_c(monkeypatch):
    monkeypatch.setattr(sets, "image", failing(sets.image, KeyboardInterrupt(), after=2))
    found = loop()
    assert (len(found), found.stopped) == (2, "interrupted")


def test_a_loop_covers_the_steps_for_which_exact_ones_take_too_long(monkeypatch):
    monkeypatch.setattr(sets, "image", failing(sets.image, OutOfTime(3.0), after=2))
    found = loop()
    assert (len(found), found.stopped) == (5, "budget of 3 s")


@pytest.mark.parametrize(("error", "said"), ENDS)
@pytest.mark.parametrize("after", [0, 1])
def test_a_loop_keeps_the_steps_that_are_covered(monkeypatch, error, said, after):
    few = rs.Budget(regions=1)
    num_exact = sum(isinstance(one, images.Image) for one in loop(few))
    monkeypatch.setattr(sets, "_cover", failing(sets._cover, error, after))
    found = loop(few)
    assert (len(found), found.stopped) == (num_exact + after, said)
