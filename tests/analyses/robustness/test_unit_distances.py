"""Distances to hyperplanes of units: against gradients by torch, codes at feet, and the distance to the boundary."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.errors import ShapeError
from reluscope.findings import Claim
from reluscope.testing import default_network, networks

NORMS = ["l1", "l2", "linf"]
DUAL = {"l1": inf, "l2": 2, "linf": 1}
INSIDE, OUTSIDE = 1 - 1e-6, 1 + 1e-6


def by_gradients(layers, x, name, weights):
    """Distance to every unit, and the foot, from torch's gradients of pre-activations at one point."""
    value, found = torch.tensor(x, requires_grad=True), {}
    hidden = value
    for gate, (weight, bias) in enumerate(layers[:-1]):
        hidden = torch.tensor(weight) @ hidden + torch.tensor(bias)
        for unit, one in enumerate(hidden):
            slope = torch.autograd.grad(one, value, retain_graph=True)[0].numpy() / weights
            size = np.linalg.norm(slope, DUAL[name])
            step = np.sign(slope) if name == "linf" else slope / size if name == "l2" else np.zeros_like(slope)
            if name == "l1":
                step[np.abs(slope).argmax()] = np.sign(slope[np.abs(slope).argmax()])
            height = float(one.detach())
            distance = abs(height) / size
            found[gate, unit] = distance, x - np.sign(height) * distance * step / weights
        hidden = torch.relu(hidden)
    return found


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [0.5, 2.0, 3.0]])
def test_units_are_as_far_as_gradients_say(name, weights):
    layers = default_network([3, 8, 6, 2], 4)
    net, points = rs.load(layers), np.random.default_rng(0).normal(size=(6, 3))
    found = rs.robustness.unit_distances(net, points, norm=rs.Norm(name, weights))
    assert len(found) == 6 * 14
    within = found["foot_is_within"].value
    for row in range(len(found)):
        sample, gate, unit = (int(found.keys[key][row]) for key in ("sample", "gate", "unit"))
        distance, foot = by_gradients(layers, points[sample], name, np.array(weights))[gate, unit]
        assert found["unit_distance"].value[row] == pytest.approx(distance, rel=1e-9)
        point = points[sample]
        before = net.codes(point + INSIDE * (foot - point))
        beyond = net.codes(point + OUTSIDE * (foot - point)).by_gate()
        is_within = before == net.codes(point)
        assert within[row] == is_within
        if is_within:
            assert list(beyond.values())[gate].to_array()[0, unit] == found.keys["beyond"][row]
    assert found["unit_distance"].is_exact.all()
    assert found["foot_is_within"].is_exact.all()
    assert 0 < within.sum() < len(found)


@settings(deadline=None)
@given(st.data())
def test_the_closest_is_the_boundary(data):
    net = rs.load(data.draw(networks(2, 2, 4)))
    name = data.draw(st.sampled_from(NORMS))
    points = np.array(data.draw(st.lists(st.tuples(*2 * [st.integers(-8, 8)]), min_size=1, max_size=3))) / 4 + 1 / 7
    boundary = rs.robustness.boundary_distance(net, points, norm=name)["boundary_distance"]
    found = rs.robustness.unit_distances(net, points, norm=name)
    for sample in range(len(points)):
        rows = found.keys["sample"] == sample
        distances, within = found["unit_distance"], found["foot_is_within"]
        least = distances.value[rows].min(initial=inf)
        assert least == pytest.approx(boundary.value[sample], rel=1e-9)
        assert (distances.lower[rows] <= distances.upper[rows]).all()
        if np.isfinite(least):
            closest = rows & (distances.value <= least * (1 + 1e-12))
            assert within.upper[closest].all()


def test_constant_units_are_nowhere():
    net = rs.load([([[1.0, 0.0], [0.0, 0.0]], [0.0, 1.0]), ([[1.0, 1.0]], [0.0])])
    found = rs.robustness.unit_distances(net, [[2.0, 5.0]], norm="l2")
    assert found["unit_distance"].value.tolist() == [2.0, inf]
    assert found["foot_is_within"].value.tolist() == [1, 0]
    assert set(found["unit_distance"].claims) == {Claim.EXACT}


def test_fractions_decide_slopes_that_rounding_hides():
    """A unit that reads two units of one slope with opposite signs: 0.1 + 0.2 - 0.3 of it is left in floats."""
    layers = [([[0.1], [0.2], [0.3]], [1.0, 1.0, 1.0]), ([[1.0, 1.0, -1.0]], [-0.5]), ([[1.0]], [0.0])]
    found = rs.robustness.unit_distances(rs.load(layers), [[0.0]], norm="l2")
    hidden = found.keys["gate"] == 1
    slope = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    assert found["unit_distance"].value[hidden] == pytest.approx(float(Fraction(1, 2) / abs(slope)))
    assert found["unit_distance"].is_exact[hidden].all()


def test_max_units_have_a_row_for_each_rival_and_clamps_two():
    module = nn.Sequential(nn.Linear(2, 4), nn.Unflatten(1, (1, 4)), nn.MaxPool1d(2), nn.Flatten(), nn.Hardtanh())
    net = rs.load(module.double(), input_shape=2)
    found = rs.robustness.unit_distances(net, np.random.default_rng(1).normal(size=(5, 2)) / 9, norm="l2")
    numbers = [(found.keys["gate"] == gate).sum() / 5 for gate in range(2)]
    assert numbers == [2, 4]
    boundary = rs.robustness.boundary_distance(net, np.random.default_rng(1).normal(size=(5, 2)) / 9, norm="l2")
    least = found["unit_distance"].value.reshape(5, -1).min(axis=1)
    np.testing.assert_allclose(least, boundary["boundary_distance"].value)


def test_what_does_not_fit_is_refused():
    net = rs.load(default_network([3, 4, 1], 0))
    with pytest.raises(ShapeError, match="one weight per input"):
        rs.robustness.unit_distances(net, np.zeros((1, 3)), norm=rs.Norm("l2", [1.0, 2.0]))
