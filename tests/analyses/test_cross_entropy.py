"""Cross-entropy against PyTorch's, and what it refuses."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.analyses.classification.cross_entropy import cross_entropy
from reluscope.errors import InputError, ShapeError


def test_it_is_that_of_torch():
    rng = np.random.default_rng(0)
    net = rs.load([(rng.normal(size=(6, 4)), rng.normal(size=6)), (30 * rng.normal(size=(3, 6)), rng.normal(size=3))])
    points, labels = rng.normal(size=(50, 4)), rng.integers(0, 3, size=50)
    expected = torch.nn.functional.cross_entropy(net(points), torch.tensor(labels)).item()
    found = cross_entropy(net, points, labels)
    assert found.claim == "EXACT"
    assert abs(float(found) - expected) <= 1e-12 * abs(expected) + (found.tolerance or 0)
    assert 0 < (found.tolerance or 0) < 1e-9


def test_large_outputs_do_not_overflow():
    net = rs.load([(1e4 * np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    assert float(cross_entropy(net, [[1.0, 0.0]], np.array([1]))) == 1e4


def test_what_cannot_be_used():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    with pytest.raises(ShapeError, match="one label per sample"):
        cross_entropy(net, [[1.0, 0.0]], np.array([1, 0]))
    with pytest.raises(InputError, match="class numbers"):
        cross_entropy(net, [[1.0, 0.0]], np.array([2]))
    single = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    with pytest.raises(ShapeError, match="two or more outputs"):
        cross_entropy(single, [[1.0, 0.0]], np.array([1]))
