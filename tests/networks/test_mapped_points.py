"""Modules that take one point, or that map functions over points, weights or sets by `torch.vmap`."""

import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import seeded
from reluscope.errors import ReluscopeError

NOTE = "The model takes one point without a batch axis."


class Product(nn.Module):
    """One point through a matrix, as it stands on paper."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))

    def forward(self, x):
        return torch.relu(self.weight @ x)


class Numbers(nn.Module):
    """Single numbers of one point: products, sums, entries, and a convolution of one channel."""

    def __init__(self):
        super().__init__()
        self.layer, self.filter = nn.Linear(3, 4), nn.Conv1d(1, 2, 2)

    def forward(self, x):
        assert x.ndim == 1
        z = torch.relu(self.layer(x))
        return torch.stack([z.max(), torch.dot(z, torch.arange(4.0).to(z)), self.filter(z[None]).sum(), z[0] - x[1]])


class OfSet(nn.Module):
    """The mean over the rows of one set, and its norm in l1."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)

    def forward(self, x):
        return torch.cat([torch.relu(self.layer(x)).mean(0), x.abs().sum()[None]])


class Mapped(nn.Module):
    """A function of a point, mapped over a batch."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        return torch.vmap(lambda point: self.last(torch.relu(self.first(point))))(x)


class Ensemble(nn.Module):
    """Several networks side by side: functions mapped over weights, whose axis comes before that of points."""

    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(6, 4, 3))

    def forward(self, x):
        return torch.vmap(lambda weight: torch.relu(x @ weight.T))(self.weights).mean(0)


@pytest.mark.parametrize(("kind", "shape"), [(Product, 3), (Numbers, 3), (OfSet, (5, 3))])
def test_modules_of_one_point(kind, shape):
    model = seeded(kind)
    net = rs.load(model, input_shape=shape)
    x = torch.randn(20, *net.input_shape, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(net(x).float(), torch.stack([model(point) for point in x]), rtol=1e-5, atol=1e-5)
    assert NOTE in net.notes
    assert net.gates[0].name.startswith("relu")


@pytest.mark.parametrize("kind", [Mapped, Ensemble])
def test_functions_that_are_mapped(kind):
    model = seeded(kind)
    net = rs.load(model, input_shape=3)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(net(x).float(), model(x), rtol=1e-5, atol=1e-5)
    assert NOTE not in net.notes
    assert model(x).grad_fn is not None  # the model is as it was


class Of(nn.Module):
    """A function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize(
    "function",
    [lambda x: x.sum(), lambda x: torch.relu(x).reshape(-1), lambda x: torch.cat([x, x]), lambda x: x.amax(0)],
)
def test_what_keeps_no_batch_is_of_one_point(function):
    net = rs.load(Of(function), input_shape=3)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(net(x), torch.stack([function(point) for point in x]))
    assert net.notes == (NOTE,)


def test_points_along_another_axis_are_points():
    net = rs.load(Of(lambda x: x.t().relu().t()), input_shape=3)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(net(x), torch.relu(x))
    assert not net.notes


@pytest.mark.parametrize(
    "function", [lambda x: x - x.mean(0), lambda x: torch.relu(x).flip(0), lambda x: x + torch.arange(len(x))[:, None]]
)
def test_points_that_depend_on_each_other_are_refused(function):
    with pytest.raises(ReluscopeError, match="batch"):
        rs.load(Of(function), input_shape=3)
