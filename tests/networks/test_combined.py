"""Networks made of others, against the functions that they stand for."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import layers
from reluscope.testing import networks


@given(networks(num_inputs=2, num_outputs=3), networks(num_inputs=3, num_outputs=2), st.integers(0, 2**16))
def test_one_behind_the_other(first, second, seed):
    f, g = rs.load(first), rs.load(second)
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(2, 4)), rng.normal(size=2)
    x = rng.normal(size=(20, 4))
    both = rs.compose([(A, b), f, g])
    np.testing.assert_allclose(both(x), g(f(x @ A.T + b)), rtol=1e-9, atol=1e-9)
    assert len({gate.name for gate in both.gates}) == len(f.gates) + len(g.gates)
    assert both.num_units == f.num_units + g.num_units


@given(networks(num_outputs=2), networks(num_outputs=2), st.integers(0, 2**16))
def test_side_by_side_and_apart(first, second, seed):
    f, g = rs.load(first), rs.load(second)
    x = np.random.default_rng(seed).normal(size=(20, 2))
    np.testing.assert_allclose(rs.stack([f, g])(x), torch.cat([f(x), g(x)], dim=1))
    np.testing.assert_allclose(rs.difference(f, g)(x), f(x) - g(x), atol=1e-12)
    same = rs.difference(f, f)
    assert same.num_units == 2 * f.num_units
    assert not same(x).any()


def test_shapes_are_fitted_in_row_major_order():
    pictures = rs.load(
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3)), input_shape=(1, 4, 4)
    )
    flat = rs.load(layers([16, 16]))
    x = np.random.default_rng(0).normal(size=(5, 16))
    both = rs.compose([flat, pictures])
    np.testing.assert_allclose(both(x), pictures(flat(x).reshape(5, 1, 4, 4)), atol=1e-12)
    np.testing.assert_allclose(rs.stack([pictures, flat])(x)[:, :3], pictures(x.reshape(5, 1, 4, 4)), atol=1e-12)


def test_names_stay_and_regions_are_those_of_both():
    f, g = rs.load(layers([2, 5, 1])), rs.load(layers([2, 4, 1]))
    both = rs.difference(f, g)
    assert [gate.name for gate in both.gates] == ["relu 0", "relu 0_1"]
    box = rs.Box(-3, 3, 2)
    assert len(rs.partition(both, box)) == len(rs.partition(rs.stack([f, g]), box)) > len(rs.partition(f, box))


def test_how_far_a_network_is_from_its_rounded_copy():
    parameters = layers([3, 8, 1])
    coarse = [(np.round(8 * np.asarray(w)) / 8, np.round(8 * np.asarray(b)) / 8) for w, b in parameters]
    apart = rs.difference(rs.load(parameters), rs.load(coarse))
    found = rs.maximize(apart, rs.Box(-1, 1, 3), budget=rs.Budget(regions=500))
    seen = float(apart(np.random.default_rng(0).uniform(-1, 1, (2000, 3))).max())
    low, high = found.value.interval or (found.value.value, found.value.value + 1e-6)
    assert seen <= high
    assert low >= seen - 1e-9


def test_bad_input_is_refused():
    f, g = rs.load(layers([2, 3, 2])), rs.load(layers([3, 3, 1]))
    with pytest.raises(rs.errors.ShapeError, match="takes 3 numbers, and the one before gives 2"):
        rs.compose([f, g])
    with pytest.raises(rs.errors.InputError, match="at least one network"):
        rs.compose([(np.eye(2), np.zeros(2))])
    with pytest.raises(rs.errors.InputError, match="a network or a pair"):
        rs.compose([f, 3.0])
    with pytest.raises(rs.errors.ShapeError, match="must be"):
        rs.compose([f, (np.eye(2), np.zeros(3))])
    with pytest.raises(rs.errors.ShapeError, match="equally many inputs, got 2 and 3"):
        rs.stack([f, g])
    with pytest.raises(rs.errors.ShapeError, match="equally many outputs"):
        rs.difference(f, rs.load(layers([2, 3, 1])))
    ended = rs.load(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1), nn.Sigmoid()), input_shape=(2,))
    with pytest.raises(rs.errors.ReluscopeError, match=r"(?i)sigmoid"):
        rs.compose([ended, rs.load(layers([1, 2, 1]))])
    assert rs.compose([rs.load(layers([2, 2])), ended]).left_off is not None
