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
    exact = rs.preimages.reached_from_elsewhere(net, x, 0.1, domain=box)
    found = rs.preimages.elsewhere_bounds(net, x, domain=box, budget=rs.Budget(regions=60))
    exact = exact.finding("distance_from_elsewhere").value
    column, (point,) = found["distance_from_elsewhere"], found.details["points"]
    (low,), (high,) = column.lower, column.upper
    assert low - 1e-6 <= exact <= high + 1e-6
    if np.isfinite(high):
        assert not np.array_equal(net.codes(point).words, net.codes(x).words) or high < 1e-6 or on_a_kink(net, point)


def on_a_kink(net, point):
    return min(float(pre.abs().min()) for pre in net.preactivations(point)) < 1e-6


def test_many_inputs_have_both_ends():
    net = branched()
    x = np.random.default_rng(0).uniform(-0.5, 0.5, 72)
    found = rs.preimages.elsewhere_bounds(net, x, domain=rs.Box(-0.6, 0.6, 72), budget=rs.Budget(regions=4))
    # Four outputs of 72 inputs: some other region has the same ones.
    assert found["distance_from_elsewhere"].value[0] < 1e-6
    assert np.allclose(net(found.details["points"]), net(x), atol=1e-6)
    near = rs.preimages.elsewhere_bounds(net, x, domain=rs.Box(x - 1e-3, x + 1e-3), gate=0, budget=rs.Budget(regions=4))
    assert 0 <= near["distance_from_elsewhere"].lower[0] <= near["distance_from_elsewhere"].upper[0]
    with pytest.raises(rs.errors.ShapeError, match="as many as inputs"):
        rs.preimages.elsewhere_bounds(net, x, domain=rs.Box(-1, 1, 2))
    with pytest.raises(rs.errors.InputError, match="outside the domain"):
        rs.preimages.elsewhere_bounds(rs.load(layers([2, 2, 1])), [3.0, 0.0], domain=rs.Box(-1, 1, 2))
