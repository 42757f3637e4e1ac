"""Products with local maps are those with their tables; tables that would fill the machine are refused."""

import numpy as np
import pytest
import torch
from scipy.sparse.linalg import svds
from torch import nn

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network


def _convolutional() -> rs.Network:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 5), nn.LeakyReLU(0.2)
    )
    return rs.load(model, input_shape=(2, 6, 6))


NETS = {
    "dense": lambda: rs.load(default_network([4, 9, 9, 3])),
    "affine": lambda: rs.load([(np.arange(6.0).reshape(2, 3), np.ones(2))]),
    "convolutional": _convolutional,
}


@pytest.mark.parametrize("name", NETS)
def test_products_are_those_with_the_table(name: str) -> None:
    net, draw = NETS[name](), np.random.default_rng(1)
    x, v = (draw.normal(size=(5, net.num_inputs)) for _ in range(2))
    u = draw.normal(size=(5, net.num_outputs))
    weight = net.linearize(x).weight.numpy()
    np.testing.assert_allclose(net.jvp(x, v), np.einsum("smn,sn->sm", weight, v), atol=1e-12)
    np.testing.assert_allclose(net.vjp(x, u), np.einsum("smn,sm->sn", weight, u), atol=1e-12)
    # One of either serves all of the others.
    np.testing.assert_allclose(net.jvp(x[:1], v), v @ weight[0].T, atol=1e-12)
    np.testing.assert_allclose(net.vjp(x, u[0]), np.einsum("smn,m->sn", weight, u[0]), atol=1e-12)
    operator = net.local_operator(x[2])
    assert operator.shape == (net.num_outputs, net.num_inputs)
    np.testing.assert_allclose(operator @ np.eye(net.num_inputs), weight[2], atol=1e-12)
    np.testing.assert_allclose(operator.H @ np.eye(net.num_outputs), weight[2].T, atol=1e-12)
    largest = svds(operator, k=1, return_singular_vectors=False)
    np.testing.assert_allclose(largest, np.linalg.norm(weight[2], 2))


def test_at_a_kink_products_are_those_of_the_code() -> None:
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    assert net.jvp([[0.0]], [[1.0]]).item() == net.vjp([[0.0]], [[1.0]]).item() == 0.0


def test_points_go_in_chunks(monkeypatch) -> None:
    net = NETS["convolutional"]()
    x = np.random.default_rng(0).normal(size=(7, net.num_inputs))
    whole = net.jvp(x, x), net.vjp(x, np.ones(net.num_outputs))
    monkeypatch.setattr("reluscope.networks.evaluation.products.MEMORY", 1)
    again = net.jvp(x, x), net.vjp(x, np.ones(net.num_outputs))
    assert all(bool(torch.allclose(a, b)) for a, b in zip(whole, again, strict=True))


def test_wrong_shapes() -> None:
    net = NETS["dense"]()
    x = np.ones((3, 4))
    with pytest.raises(ShapeError, match="one number for each of 4 inputs"):
        net.jvp(x, np.ones(3))
    with pytest.raises(ShapeError, match="one row of u for each of 3 points, got 2"):
        net.vjp(x, np.ones((2, 3)))
    with pytest.raises(InputError, match="of one point, got 3"):
        net.local_operator(x)


def test_tables_that_do_not_fit_are_refused_before_anything_is_computed(monkeypatch) -> None:
    wide = rs.load([(np.ones((1, 40_000)), np.zeros(1)), (np.ones((40_000, 1)), np.zeros(40_000))])
    with pytest.raises(InputError, match="12,800,320,000 bytes"):
        wide.linearize(np.ones(40_000), budget=rs.Budget(memory=10))
    monkeypatch.setattr("reluscope.networks.network.MAPS", 8 * 40_000)
    with pytest.raises(InputError, match=r"take 320,008 bytes, and 320,000 are allowed: .*net\.jvp"):
        wide.linearize(np.ones(40_000), outputs=[0])
    assert wide.linearize(np.ones(40_000), outputs=[0], budget=rs.Budget(memory=320_008)).weight.shape == (1, 1, 40_000)
    monkeypatch.undo()
    assert wide.linearize(np.ones(40_000), outputs=[0]).weight.shape == (1, 1, 40_000)
