"""Many networks trained at once: each as it would be by itself, as deterministic as its seeds."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import reluscope as rs
from reluscope_studies.training import Training, train_classifiers

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(150, 5))
LABELS = (POINTS[:, 0] > 0).astype(np.int64) + (POINTS[:, 1] > 0)
WIDTHS = [(1, 4), (4, 1), (3, 3)]
TRAINING = Training("Adam", 0.01, 3, 32)


def train(widths=WIDTHS, seeds=(7, 8, 9), training=TRAINING):
    return train_classifiers(POINTS, LABELS, widths, num_classes=3, seeds=seeds, training=training)


def alone(first_layers, order_seed):
    """Train one network in the plainest way: nn.Linear, one at a time, the same batches."""
    modules = []
    for weight, bias in first_layers:
        layer = nn.Linear(*reversed(weight.shape))
        layer.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
        modules += [layer, nn.ReLU()]
    model = nn.Sequential(*modules[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=TRAINING.learning_rate)
    x, y = torch.tensor(POINTS, dtype=torch.float32), torch.tensor(LABELS)
    order = torch.Generator().manual_seed(order_seed)
    for _ in range(TRAINING.epochs):
        for rows in torch.randperm(len(x), generator=order).split(TRAINING.batch):
            optimizer.zero_grad()
            cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return [(part.weight.detach().numpy(), part.bias.detach().numpy()) for part in model if isinstance(part, nn.Linear)]


def test_each_as_it_would_be_by_itself():
    together, first = train(), train(training=Training("Adam", 2e-3, 0, 128))
    for index, layers in enumerate(together):
        for (weight, bias), (expected, shift) in zip(layers, alone(first[index], 7), strict=True):
            np.testing.assert_allclose(weight, expected, atol=2e-5)
            np.testing.assert_allclose(bias, shift, atol=2e-5)


def test_shapes_and_first_weights():
    for (first, second), layers in zip(WIDTHS, train(training=Training("Adam", 2e-3, 0, 128)), strict=True):
        assert [weight.shape for weight, _ in layers] == [(first, 5), (second, first), (3, second)]
        for weight, bias in layers:
            reach = 1 / np.sqrt(weight.shape[1])
            assert max(np.abs(weight).max(), np.abs(bias).max()) <= reach
            assert rs.load(layers).num_inputs == 5


def test_deterministic_and_by_seed():
    one, again, other = train(), train(), train(seeds=(7, 8, 10))
    assert all(np.array_equal(a[0], b[0]) for x, y in zip(one, again, strict=True) for a, b in zip(x, y, strict=True))
    assert np.allclose(one[0][0][0], other[0][0][0], atol=1e-6)
    assert not np.allclose(one[2][0][0], other[2][0][0], atol=1e-3)


@pytest.mark.slow
def test_it_learns():
    (layers,) = train([(8, 8)], (0,), Training("Adam", 0.01, 60, 32))
    outputs = rs.load(layers)(POINTS).numpy()
    assert (outputs.argmax(axis=1) == LABELS).mean() > 0.9


def test_progress_is_told():
    shares = []
    train_classifiers(POINTS, LABELS, [(2,)], num_classes=3, seeds=[0], training=TRAINING, progress=shares.append)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] == 1


@pytest.mark.parametrize("depth", [1, 3])
def test_other_depths(depth):
    layers = train([(3,) * depth], (1,))[0]
    assert len(layers) == depth + 1
