"""Weights carried back through affine nodes: products with their matrices, and gradients through them."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.networks.bounds import backward_bounds
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.graph.nodes import Affine


class Joined(nn.Module):
    """Two ways that meet: by a sum, and side by side."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1, groups=2)
        self.second = nn.Conv2d(2, 4, 1)
        self.last = nn.Linear(4 * 4 * 5 + 2 * 4 * 5, 3)

    def forward(self, x):
        there = torch.relu(self.first(x) + self.second(x))
        return self.last(torch.cat([there.flatten(1), 2 * x.flatten(1)], dim=1))


NETWORKS = {
    "linear": (nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2)), (5,)),
    "strides": (nn.Sequential(nn.Conv2d(3, 4, 4, stride=3, padding=2), nn.ReLU(), nn.Flatten()), (3, 7, 8)),
    "dilation": (nn.Sequential(nn.Conv2d(4, 6, (3, 2), dilation=2, groups=2), nn.ReLU()), (4, 8, 6)),
    "line": (nn.Sequential(nn.Conv1d(2, 3, 5, stride=2, padding=1), nn.LeakyReLU(0.1), nn.AvgPool1d(2)), (2, 17)),
    "space": (nn.Sequential(nn.Conv3d(1, 2, 2, stride=2), nn.ReLU()), (1, 5, 4, 4)),
    "back": (nn.Sequential(nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1), nn.ReLU()), (3, 3, 4)),
    "large kernel": (nn.Sequential(nn.Conv2d(64, 128, 4), nn.ReLU()), (64, 6, 6)),
    "joined": (Joined(), (2, 4, 5)),
}  # fmt: skip


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    torch.manual_seed(0)
    module, shape = NETWORKS[request.param]
    return rs.load(module.double(), input_shape=shape)


def test_weights_are_those_of_products_with_the_matrices(network):
    for node in network.nodes:
        if isinstance(node, Affine):
            weights = torch.randn(3, node.size, dtype=torch.float64, requires_grad=True)
            found, expected = (
                node.transposed(weights),
                [weights.detach().numpy() @ one.toarray() for one in node.matrix()],
            )
            assert len(found) == len(node.inputs)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one.detach().numpy(), other, atol=1e-10)
            rows = [torch.randn_like(one) for one in found]
            (gradient,) = torch.autograd.grad(
                sum((one * row).sum() for one, row in zip(found, rows, strict=True)), weights, materialize_grads=True
            )
            shaped = [row.reshape(-1, *shape) for row, shape in zip(rows, node.input_shapes, strict=True)]
            np.testing.assert_allclose(gradient.numpy(), node.linear(*shaped).reshape(3, -1).numpy(), atol=1e-10)


def test_ranges_with_and_without_matrices(network, monkeypatch):
    low, high = -0.1 * np.ones(network.num_inputs), 0.3 * np.ones(network.num_inputs)
    free = BackwardBounds(network, low, high)
    monkeypatch.setattr(backward_bounds, "SMALL", 2**40)
    dense = BackwardBounds(network, low, high)
    for one, other in zip(free.ranges, dense.ranges, strict=True):
        for end, same in zip(one, other, strict=True):
            np.testing.assert_allclose(end.numpy(), same.numpy(), atol=1e-9)
    inside = np.random.default_rng(0).uniform(low, high, (200, network.num_inputs))
    for gate, (least, most) in zip(network.at(inside).gates, free.ranges, strict=True):
        seen = gate.preactivations.numpy()
        assert (seen >= least.numpy()).all()
        assert (seen <= most.numpy()).all()
