"""Rays on which no logit changes: crossings against bisection, regions against samples, cosines against autograd."""

import sys
from importlib import import_module

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles.segment_bisection import num_regions
from reluscope.analyses.local import null_directions, null_space_rays
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.stopping import Stop, StopReason
from reluscope.testing import default_network, strategies

null_space_rays_module = import_module("reluscope.analyses.local.null_space_rays")

X = digits("test").points.reshape(-1, 64)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


def pooled():
    torch.manual_seed(2)
    layers = (nn.Conv2d(1, 4, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(36, 3))
    return rs.load(nn.Sequential(*layers), input_shape=(1, 8, 8))


def rays(net, x, row, count, seed=0):
    weight = net.linearize(x).weight[0]
    return null_directions(weight, count, np.random.default_rng([seed, row]))[1]


def decision(net, x, top):
    """Return the gradient of the difference of two logits by autograd."""
    at = torch.tensor(x, dtype=torch.float64).reshape(1, *net.input_shape).requires_grad_()
    logits = net(at).flatten()
    (gradient,) = torch.autograd.grad(logits[top[0]] - logits[top[1]], at)
    return gradient.flatten().numpy()


@pytest.mark.slow
@pytest.mark.parametrize(("net", "reach"), [(NET, 0.6), (pooled(), 0.5)], ids=["mlp", "conv and max"])
def test_against_bisection_samples_and_autograd(net, reach):
    points = X[:2]
    found = null_space_rays(net, points, count=6, reach=reach)
    assert found.details["num_crossings"].sum() > 10
    for row, x in enumerate(points):
        directions = rays(net, x, row, 6)
        gradients = net.linearize(x).weight[0].numpy()
        np.testing.assert_allclose(gradients @ directions.T, 0.0, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
        shares = np.linspace(0.0, reach, 4001)
        samples = []
        for ray, e in enumerate(directions):

            def codes(t, e=e, x=x):
                return net.codes(x + t[:, None] * e).to_array()

            assert found.details["num_crossings"][row, ray] + 1 == num_regions(codes, 0.0, reach, grid=500)
            samples.append(x + shares[:, None] * e)
        samples = np.concatenate(samples)
        distinct, first = net.codes(samples).unique(return_index=True)
        assert len(distinct) <= found["regions_along_rays"].value[row]
        assert len(distinct) >= 0.9 * found["regions_along_rays"].value[row]
        logits = net(x).flatten().numpy()
        top = np.argsort(-logits)[:2]
        own = decision(net, x, top)
        seen = []
        for sample in samples[first[1:]]:
            there = decision(net, sample, top)
            seen.append(own @ there / np.linalg.norm(own) / np.linalg.norm(there))
        cosines = found.details["cosines"][row]
        assert len(cosines) == found["regions_along_rays"].value[row] - 1
        assert all(np.abs(cosines - one).min() < 1e-9 for one in seen)
        entered = found.details["entered"][row]
        assert (np.diff(entered) >= 0).all()
        assert entered.min() > 0
        assert entered.max() < reach


def test_claims():
    found = null_space_rays(NET, X[:1], count=3)
    along, around = found.finding("regions_along_rays"), found.finding("surrounding_regions")
    assert (along.claim, around.claim) == ("EXACT", "LOWER")
    assert int(along) == int(around) == found["regions_along_rays"].value[0]
    assert around.interval == (found["regions_along_rays"].value[0], np.inf)
    assert "3 random rays of length 0.2" in along.domain


def test_closed_form():
    # |x_2| kinks at 0.1 steps; the logits x_1 and 0 leave e = (0, 1) or (0, -1).
    kinks = np.array([0.05, 0.1, 0.15, 0.25])
    W = np.array([[1.0, 0.0], *[[0.0, 1.0]] * 4])
    net = rs.load([(W, np.array([0.0, *-kinks])), (np.array([[1.0, 0, 0, 0, 0], [0.0] * 5]), np.zeros(2))])
    found = null_space_rays(net, [[1.0, 0.0]], count=20, reach=0.2)
    assert sorted({*found.details["num_crossings"][0].tolist()}) == [0, 3]
    assert found["regions_along_rays"].value.tolist() == [4]
    np.testing.assert_allclose(found.details["entered"][0], kinks[:3])
    np.testing.assert_allclose(np.concatenate(found.details["cosines"]), 1.0)
    assert found.details["nullity"].tolist() == [1]


def test_the_whole_space_spanned_leaves_no_ray():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    found = null_space_rays(net, [[1.0, 2.0], [-1.0, 2.0]], count=4)
    assert found.details["nullity"].tolist() == [0, 1]  # gradients are (1, 0), (0, 1) here and (0, 0), (0, 1) there
    assert found["regions_along_rays"].value[0] == 0
    assert found.details["num_crossings"][0].tolist() == [0] * 4
    assert len(found.details["cosines"][0]) == 0
    assert int(found.finding("regions_along_rays", 0)) == 0


def test_nothing_to_compare_is_nan():
    net = rs.load([(np.eye(2), np.array([-1.0, -0.1])), (np.eye(2), np.zeros(2))])  # dead around the origin
    found = null_space_rays(net, [[0.0, 0.0]], count=40)
    assert found["regions_along_rays"].value.tolist() == [2]
    assert np.isnan(np.concatenate(found.details["cosines"])).all()


def test_single_output():
    net = rs.load(default_network([8, 12, 12, 1], seed=1))
    x = np.full((1, 8), 0.3)
    found = null_space_rays(net, x, count=10, reach=2.0)
    e = rays(net, x[0], 0, 10)
    own = net.linearize(x).weight[0, 0].numpy()
    part = rs.partition(net, rs.Segment(x[0], x[0] + 2.0 * e[0]))
    for region in part.witnesses[:, 0]:
        there = net.linearize(x + region * e[0]).weight[0, 0].numpy()
        cosine = own @ there / np.linalg.norm(own) / np.linalg.norm(there)
        assert np.abs(np.append(np.concatenate(found.details["cosines"]), 1.0) - cosine).min() < 1e-9


@pytest.mark.slow
def test_batches_change_nothing(monkeypatch):
    module = sys.modules["reluscope.analyses.local.null_space_rays"]
    whole = null_space_rays(NET, X[:3], count=5)
    monkeypatch.setattr(module, "RAYS", 2)
    monkeypatch.setattr(module, "BUDGET", 20_000)
    parts = null_space_rays(NET, X[:3], count=5)
    np.testing.assert_array_equal(parts.details["num_crossings"], whole.details["num_crossings"])
    np.testing.assert_array_equal(parts["regions_along_rays"].value, whole["regions_along_rays"].value)
    np.testing.assert_allclose(
        np.concatenate(parts.details["cosines"]), np.concatenate(whole.details["cosines"]), atol=1e-12
    )
    other = null_space_rays(NET, X[:3], count=5, seed=1)
    assert (other.details["num_crossings"] != whole.details["num_crossings"]).any()


@settings(max_examples=15)
@given(st.data())
def test_degenerate_networks(data):
    net = rs.load(data.draw(strategies.degenerate_networks(num_inputs=3)))
    x = np.array([data.draw(st.tuples(*[strategies.dyadics()] * 3))])
    found = null_space_rays(net, x, count=3, reach=1.0)
    directions = rays(net, x[0], 0, 3)
    for ray, e in enumerate(directions):
        part = rs.partition(net, rs.Segment(x[0], x[0] + e))
        assert found.details["num_crossings"][0, ray] == len(part) - 1
    assert (found.details["nullity"][0] == 0) == (len(directions) == 0)


def test_bad_options():
    for wrong in ({"count": 0}, {"reach": 0.0}, {"reach": np.inf}):
        with pytest.raises(InputError, match=r"count must be|reach must be"):
            null_space_rays(NET, X[:1], **wrong)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (Stop(StopReason.SECONDS, 1.0), StopReason.SECONDS),
        (Stop(StopReason.OUT_OF_MEMORY), StopReason.OUT_OF_MEMORY),
        (Stop(StopReason.INTERRUPTED), StopReason.INTERRUPTED),
    ],
)
def test_rays_that_were_not_walked_to_their_end_say_why(monkeypatch, stop, reason):
    """Seen red: whatever had ended the rays, Ctrl-C was named."""
    walked = null_space_rays_module._group

    def group(network, points, first, *others):
        if first:
            raise IncompletePartitionError("not all rays are there", stop)
        return walked(network, points, first, *others)

    monkeypatch.setattr(null_space_rays_module, "_group", group)
    monkeypatch.setattr(null_space_rays_module, "BUDGET", 1)
    found = null_space_rays(NET, X[:3], count=2, progress=False, budget=rs.Budget(seconds=100))
    assert found.is_done.tolist() == [True, False, False]
    assert found.stop.reason is reason
