"""Forms over many boxes at once are those of each box alone, rounding included."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.rational_steps import ABSOLUTE, LEAKY, RELU, affine, network_of
from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.analyses.boxes.output_boxes import half_sides
from reluscope.geometry.numbers.norms import LINF
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.passes.box_forms import BoxForms
from reluscope.networks.passes.carry import carry_to_output
from reluscope.testing import networks

CLAMP = ("pointwise", [-1.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0])
COARSE = 1e-3


def drawn_boxes(num_inputs, seed, number=7):
    """Return boxes of all sizes, some of them flat, some points."""
    rng = np.random.default_rng(seed)
    lower = np.round(rng.uniform(-2, 2, (number, num_inputs)) * 4) / 4
    sides = rng.choice([0.0, 1e-6, 0.1, 1.0, 4.0], (number, 1)) * rng.choice([0.0, 1.0, 1.0], (number, num_inputs))
    return lower, lower + sides


def check(net, lower, upper, unit):
    """Compare with the enclosure of each box alone."""
    points, half = net.points((lower + upper) / 2), half_sides(lower, upper)
    carrier = BoxForms(points, torch.as_tensor(half), unit)
    with torch.no_grad():
        value = carry_to_output(net, carrier, carrier.start)
    columns = carrier.widened(value.columns).reshape(len(lower), carrier.count, -1).numpy()
    first = [np.zeros(stage.gate.num_units, dtype=int) for stage in net.stages]
    last = [np.full(stage.gate.num_units, stage.gate.num_pieces - 1) for stage in net.stages]
    for row, (low, high) in enumerate(zip(lower, upper, strict=True)):
        steps = CutBall(np.inf, LINF, -half[row], half[row])
        alone = enclose(net, (low + high) / 2, steps, first, last, rounding=unit).outputs
        near = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(value.center[row].numpy().ravel(), alone.centers, **near)
        np.testing.assert_allclose(columns[row, : net.num_inputs].T, alone.weights, **near)
        np.testing.assert_allclose(np.abs(columns[row, net.num_inputs :]).sum(axis=0), alone.spread, **near)
        np.testing.assert_allclose(value.error[row].numpy().ravel(), alone.errors, rtol=1e-7, atol=1e-300)


@settings(max_examples=40, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_degenerate_networks(layers, seed):
    net = rs.load(layers)
    check(net, *drawn_boxes(net.num_inputs, seed), 1e-12)


@pytest.mark.few(6)
@pytest.mark.parametrize("kinks", [(RELU, LEAKY), (ABSOLUTE, CLAMP), (CLAMP, RELU)])
@pytest.mark.parametrize("seed", range(4))
def test_all_kinds_of_pointwise_units_with_coarse_rounding(kinks, seed):
    rng = np.random.default_rng(seed)
    steps = []
    for kink in kinks:
        steps += [affine(rng.normal(size=(2, 2)), rng.normal(size=2) * rng.choice([0.0, 1.0])), kink]
    net = network_of([*steps, affine(rng.normal(size=(1, 2)), rng.normal(size=1))], 2)
    check(net, *drawn_boxes(2, seed, number=20), COARSE)


class Parted(torch.nn.Module):
    """Values that part and meet again: a later one knows of symbols that an earlier one does not."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        own = torch.relu(self.first(x))
        return own - torch.nn.functional.leaky_relu(self.second(own), 0.1)


def test_values_that_part_and_meet():
    torch.manual_seed(0)
    check(rs.load(Parted(), input_shape=(3,)), *drawn_boxes(3, 0), 1e-12)


@settings(max_examples=20, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_values_are_enclosed(layers, seed):
    net = rs.load(layers)
    lower, upper = drawn_boxes(net.num_inputs, seed)
    boxes = BoxBounds(net, lower.min(axis=0), upper.max(axis=0)).on(lower, upper)
    for box in [boxes[place] for place in range(len(boxes))]:
        points = np.random.default_rng(seed).uniform(box.lower, box.upper, (200, net.num_inputs))
        values = net(np.concatenate([points, [box.lower, box.upper]])).numpy().reshape(202, -1)
        least, most = box.range(np.eye(net.num_outputs))
        assert (least <= values + 1e-12).all()
        assert (values <= most + 1e-12).all()


def test_networks_with_max_units_are_evaluated_box_by_box():
    net = network_of([affine([[1.0], [-1.0]], [0.0, 0.0]), ("max", 2)], 1)  # |x|
    boxes = BoxBounds(net, np.array([-1.0]), np.array([2.0])).on(np.array([[-1.0], [1.0]]), np.array([[1.0], [2.0]]))
    ranges = [np.concatenate(boxes[place].range(np.eye(1))) for place in range(2)]
    assert ranges[0][0] <= 0
    assert ranges[0][1] >= 1
    np.testing.assert_allclose(ranges[1], [1, 2])
