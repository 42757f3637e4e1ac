"""Integrated gradients: attributions add up, and are the limit of many sampled steps."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from networks.models import layers
from reluscope.testing import networks


def by_steps(net, x, start, output, number=20_000):
    """Return attributions as they are approximated elsewhere: means of gradients at the middles of steps."""
    shares = (np.arange(number) + 0.5) / number
    points = torch.tensor(start + shares[:, None] * (x - start), requires_grad=True)
    net(points)[:, output].sum().backward()
    return (x - start) * points.grad.mean(dim=0).numpy()


@settings(max_examples=25)
@given(networks(num_outputs=2), st.integers(0, 2**16))
def test_attributions_add_up_to_the_change(parameters, seed):
    net = rs.load(parameters)
    x, start = np.random.default_rng(seed).uniform(-2, 2, (2, 3, 2))
    found = rs.sensitivity.integrated_gradients(net, x, start)
    scale = 1 + np.abs(found.attributions).max()
    assert (found.gaps <= 1e-9 * scale).all()


def test_it_is_the_limit_of_many_steps():
    net = rs.load(layers([6, 16, 16, 3]))
    x, start = np.random.default_rng(0).normal(size=(2, 2, 6))
    found = rs.sensitivity.integrated_gradients(net, x, start, outputs=[1, 2])
    for row, output in enumerate((1, 2)):
        expected = by_steps(net, x[row], start[row], output)
        np.testing.assert_allclose(found.attributions[row], expected, atol=2e-3 * np.abs(expected).max())


def test_one_baseline_serves_all_samples_and_a_sample_at_it_has_no_attributions():
    net = rs.load(layers([3, 5, 1]))
    x = np.array([[0.5, 0.5, 0.5], [1.0, 2.0, 3.0]])
    found = rs.sensitivity.integrated_gradients(net, x, x[0])
    assert not found.attributions[0].any()
    assert found.changes[0] == 0.0
    assert found.gaps.max() < 1e-9


def test_bad_input_is_refused():
    net, x = rs.load(layers([3, 5, 2])), np.ones((2, 3))
    with pytest.raises(rs.errors.ShapeError, match="baseline must be one point, or 2"):
        rs.sensitivity.integrated_gradients(net, x, np.zeros((3, 3)))
    with pytest.raises(rs.errors.ShapeError, match="one output for each of 2 samples"):
        rs.sensitivity.integrated_gradients(net, x, outputs=[0])
    with pytest.raises(rs.errors.InputError):
        rs.sensitivity.integrated_gradients(net, x, outputs=[0, 5])
