"""Doubts and error bounds against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.testing import default_network, strategies


def exactly(parameters, point):
    """Return the pre-activations of every gate, and the outputs, in rational arithmetic."""
    values = [Fraction(float(entry)) for entry in point]
    gates, heights = [], []
    for weight, bias in parameters:
        heights = [
            sum((Fraction(float(w)) * v for w, v in zip(row, values, strict=True)), Fraction(float(b)))
            for row, b in zip(weight, bias, strict=True)
        ]
        gates.append(heights)
        values = [max(height, Fraction(0)) for height in heights]
    return gates[:-1], heights


@given(strategies.networks(num_inputs=2, num_outputs=2), st.integers(0, 10_000))
def test_codes_without_doubts_are_those_of_rational_arithmetic(parameters, seed):
    net = rs.load(parameters)
    generator = np.random.default_rng(seed)
    points = generator.integers(-4, 5, size=(12, 2)) / 4
    # Points that rounding puts on the wrong side of a kink are the ones that matter.
    points = points + generator.integers(-2, 3, size=points.shape) * 2.0**-52
    doubt = rounded_forward(net, points).doubtful
    computed = [pre.numpy() for pre in net.preactivations(points)]
    codes = [part.to_array() for part in net.codes(points).by_gate().values()]
    for row, point in enumerate(points):
        for gate, heights in enumerate(exactly(parameters, point)[0]):
            # Zeros of float64 are read as zeros. What follows a doubt may hang on it.
            zeros = computed[gate][row] == 0
            if doubt[row, gate] or any(zero and height for zero, height in zip(zeros, heights, strict=True)):
                break
            assert codes[gate][row].astype(bool).tolist() == [height > 0 for height in heights]


def test_a_wrong_sign_by_rounding_is_a_doubt():
    # 0.1 + 0.2 - 0.3 is positive in float64 and in truth (of these floats) too, but within the rounding bound.
    net = rs.load([(np.array([[0.1, 0.2]]), np.array([-0.3])), (np.eye(1), np.zeros(1))])
    assert rounded_forward(net, [[1.0, 1.0], [1.0, 2.0]]).doubtful.ravel().tolist() == [True, False]


def test_dead_units_and_ties_of_zeros_are_no_doubt():
    pool = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Unflatten(1, (1, 4)), nn.MaxPool1d(2))
    nn.init.zeros_(pool[0].weight)
    nn.init.zeros_(pool[0].bias)
    net = rs.load(pool, input_shape=(2,))
    assert not rounded_forward(net, [[1.0, 2.0], [0.0, 0.0]]).doubtful.any()


def test_close_candidates_of_a_max_are_a_doubt():
    net = rs.load(nn.Sequential(nn.Unflatten(1, (1, 2)), nn.MaxPool1d(2)), input_shape=(2,))
    torch.manual_seed(0)
    net_of_sums = rs.load(nn.Sequential(nn.Linear(2, 2), nn.Unflatten(1, (1, 2)), nn.MaxPool1d(2)), input_shape=(2,))
    assert not rounded_forward(net, [[1.0, 1.0 + 2**-52], [1.0, 1.0], [1.0, 2.0]]).doubtful.any()  # exact inputs
    weight, bias = (tensor.numpy() for tensor in parameters_of(net_of_sums))
    point = np.linalg.solve(np.stack([weight[0] - weight[1], [1.0, 1.0]]), [bias[1] - bias[0], 1.0])
    points = np.r_[point + 2.0**-50 * np.random.default_rng(0).integers(-8, 9, size=(200, 2)), [point + 0.1]]
    candidates = net_of_sums.preactivations(points)[0].numpy().reshape(len(points), 2)
    gap = np.abs(candidates[:, 0] - candidates[:, 1])
    doubtful = rounded_forward(net_of_sums, points).doubtful.ravel()
    near = (gap > 0) & (gap < 1e-15)
    assert near.sum() > 3
    assert doubtful[near].all()
    assert not doubtful[(gap == 0) | (gap > 1e-12)].any()
    assert gap[-1] > 1e-12


def parameters_of(net):
    return next((node.weight, node.bias) for node in net.nodes if hasattr(node, "weight"))


@pytest.mark.parametrize("widths", [[3, 8, 1], [6, 20, 20, 20, 4], [40, 60, 5]])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_errors_of_outputs_are_bounded_and_not_by_far_too_much(widths, scale):
    parameters = [(weight, scale * bias) for weight, bias in default_network(widths, seed=3)]
    points = scale * np.random.default_rng(0).normal(size=(10, widths[0]))
    found = rounded_forward(rs.load(parameters), points)
    for row, point in enumerate(points):
        truth = exactly(parameters, point)[1]
        error = [abs(Fraction(float(value)) - exact) for value, exact in zip(found.outputs[row], truth, strict=True)]
        assert all(one <= bound for one, bound in zip(error, found.errors[row], strict=True))
    assert found.errors.max() < 1e-12 * scale
