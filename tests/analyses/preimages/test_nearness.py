"""Bounds on the features of other regions against exact distances from partitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from networks.models import branched, layers
from reluscope.testing import networks


@settings(max_examples=10)
@given(networks(num_inputs=st.integers(1, 2), num_outputs=2, max_layers=2, max_width=4), st.integers(0, 2**16))
def test_the_interval_holds_the_exact_distance(parameters, seed):
    net = rs.load(parameters)
    box = rs.Box(-2, 2, net.num_inputs)
    x = np.random.default_rng(seed).uniform(-2, 2, net.num_inputs)
    exact = rs.preimages.reached_from_elsewhere(net, x, 0.1, box)
    found = rs.preimages.elsewhere_bounds(net, x, box, budget=60)
    low, high = found.distance.interval or (found.distance.value,) * 2
    assert low - 1e-6 <= exact.distance.value <= high + 1e-6
    for epsilon in (0.01, 0.1, 1.0):
        answer = found.answer(epsilon)
        assert answer is None or answer == (exact.distance.value <= epsilon + 1e-9)
    if np.isfinite(high):
        assert (
            not np.array_equal(net.codes(found.point).words, net.codes(x).words) or high < 1e-6 or on_a_kink(net, found)
        )


def on_a_kink(net, found):
    return min(float(pre.abs().min()) for pre in net.preactivations(found.point)) < 1e-6


def test_many_inputs_have_both_ends():
    net = branched()
    x = np.random.default_rng(0).uniform(-0.5, 0.5, 72)
    found = rs.preimages.elsewhere_bounds(net, x, rs.Box(-0.6, 0.6, 72), budget=4)
    # Four outputs of 72 inputs: some other region has the same ones.
    assert found.distance.value < 1e-6
    assert np.allclose(net(found.point), net(x), atol=1e-6)
    assert found.answer(1e-3) is True
    near = rs.preimages.elsewhere_bounds(net, x, rs.Box(x - 1e-3, x + 1e-3), gate=0, budget=4)
    low, high = near.distance.interval or (near.distance.value,) * 2
    assert 0 <= low <= high
    with pytest.raises(rs.errors.ShapeError, match="as many as inputs"):
        rs.preimages.elsewhere_bounds(net, x, rs.Box(-1, 1, 2))
    with pytest.raises(rs.errors.InputError, match="outside the domain"):
        rs.preimages.elsewhere_bounds(rs.load(layers([2, 2, 1])), [3.0, 0.0], rs.Box(-1, 1, 2))
