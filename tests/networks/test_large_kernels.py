"""Large kernels at few places are one product of matrices, and give what torch's convolution gives."""

import pytest
import torch

import reluscope as rs
from reluscope.networks.graph.operators import convolution
from reluscope.networks.graph.operators.convolution import Convolution

SETTINGS = [
    {"kernel_size": 3, "padding": 1},
    {"kernel_size": (3, 2), "stride": (2, 1), "padding": (0, 1), "bias": False},
    {"kernel_size": 2, "dilation": (2, 1)},
    {"kernel_size": 1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_one_product_is_the_convolution(settings, monkeypatch):
    torch.manual_seed(0)
    module = torch.nn.Conv2d(3, 5, **settings).double()
    x = torch.randn(4, 3, 6, 7, dtype=torch.float64)
    monkeypatch.setattr(convolution, "MIN_KERNEL", 1)
    net = rs.load(torch.nn.Sequential(module), input_shape=(3, 6, 7))
    (node,) = (node for node in net.nodes if isinstance(node, Convolution))
    assert node._has_few_places(x)
    expected = module(x)
    torch.testing.assert_close(net(x), expected, rtol=1e-13, atol=1e-14)
    torch.testing.assert_close(node.linear(x), expected - (0 if module.bias is None else module.bias[:, None, None]))
    monkeypatch.setattr(convolution, "MAX_PLACES", 1)
    assert not node._has_few_places(x)


def test_gradients_pass(monkeypatch):
    monkeypatch.setattr(convolution, "MIN_KERNEL", 1)
    net = rs.load(
        torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.ReLU(), torch.nn.Flatten()), input_shape=(2, 4, 4)
    )
    x = torch.randn(2, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(net, x)


def test_groups_and_other_axes_are_left_to_torch(monkeypatch):
    monkeypatch.setattr(convolution, "MIN_KERNEL", 1)
    for module, shape in (
        (torch.nn.Conv2d(4, 4, 3, groups=2), (4, 5, 5)),
        (torch.nn.Conv1d(2, 3, 2), (2, 5)),
        (torch.nn.Conv3d(2, 3, 2), (2, 3, 3, 3)),
    ):
        x = torch.randn(2, *shape, dtype=torch.float64)
        net = rs.load(torch.nn.Sequential(module.double()), input_shape=shape)
        torch.testing.assert_close(net(x), module(x), rtol=1e-12, atol=1e-13)
