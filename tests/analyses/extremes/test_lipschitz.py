"""The Lipschitz constant against the local maps of all regions of a partition."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings

import reluscope as rs
from networks.models import layers
from reluscope.analyses.extremes.operator_norms import largest_norms, operator_norms
from reluscope.geometry.numbers.norms import Norm
from reluscope.testing import networks

NORMS = ["l1", "l2", "linf"]


def norm_of(matrix, norm):
    """Return a norm of a map by its definition, with all that is extreme in l1 and linf."""
    if norm == "l2":
        return np.linalg.svd(matrix, compute_uv=False).max(initial=0.0)
    return np.linalg.norm(matrix, 1 if norm == "l1" else np.inf)


def steepest_of_all(net, domain, norm):
    part = rs.partition(net, domain)
    maps = part.linearize(range(len(part))).weight.numpy()
    if maps.shape[1] == 1:  # the dual norm of a row
        dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
        return max(np.linalg.norm(one[0], dual) for one in maps)
    return max(norm_of(one, norm) for one in maps)


@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=10)
@given(networks(max_layers=2, max_width=5, num_outputs=2))
def test_it_is_that_of_the_steepest_region_in_the_plane(norm, parameters):
    net, box = rs.load(parameters), rs.Box(-2, 2, 2)
    found = rs.lipschitz(net, box, norm=norm)
    np.testing.assert_allclose(float(found), steepest_of_all(net, box, norm), rtol=1e-6, atol=1e-12)
    assert str(found.value.claim) == "EXACT"


@pytest.mark.few(6)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_sets_of_regions_end_at_the_steepest_one(norm, outputs, seed):
    rng = np.random.default_rng(seed)
    sizes = [4, 7, 6, outputs]
    net = rs.load([(rng.normal(size=(b, a)), 0.3 * rng.normal(size=b)) for a, b in pairwise(sizes)])
    box = rs.Box(-1, 1, 4)
    found = rs.lipschitz(net, box, norm=norm)
    assert found.value.work.get("sets")
    np.testing.assert_allclose(float(found), steepest_of_all(net, box, norm), rtol=1e-6)
    assert str(found.value.claim) == "EXACT"
    maps = rs.region(net, found.point).map.weight.numpy()
    np.testing.assert_allclose(operator_norms(maps, Norm.of(norm))[0], float(found), rtol=1e-9)


def test_a_polyhedron_a_slice_and_all_of_space():
    rng = np.random.default_rng(0)
    net = rs.load([(rng.normal(size=(6, 4)), rng.normal(size=6)), (rng.normal(size=(1, 6)), np.zeros(1))])
    body = rs.Polyhedron(
        np.concatenate([np.eye(4), -np.eye(4), np.ones((1, 4))]), np.concatenate([np.full(8, 0.4), [-0.2]])
    )
    inside, whole = rs.lipschitz(net, body), rs.lipschitz(net, rs.Space(4))
    np.testing.assert_allclose(float(inside), steepest_of_all(net, body, "l2"), rtol=1e-6)
    np.testing.assert_allclose(float(whole), steepest_of_all(net, rs.Space(4), "l2"), rtol=1e-6)
    assert float(inside) <= float(whole)
    plane = rs.Plane(*rng.normal(size=(3, 4)))
    np.testing.assert_allclose(float(rs.lipschitz(net, plane)), steepest_of_all(net, plane, "l2"), rtol=1e-6)


def test_a_budget_leaves_an_interval():
    net, box = rs.load(layers([6, 16, 16, 1])), rs.Box(-1, 1, 6)
    cut = rs.lipschitz(net, box, budget=rs.Budget(regions=3))
    assert str(cut.value.claim) == "LOWER"
    low, high = cut.value.interval
    slopes = net.linearize(np.random.default_rng(0).uniform(-1, 1, (200, 6))).weight.numpy()
    assert np.linalg.norm(slopes, axis=2).max() <= high
    assert 0 < low <= high < np.inf


def test_without_time_the_middle_of_a_box_is_known():
    net, box = rs.load(layers([4, 12, 12, 2])), rs.Box([-1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 2.0, 1.0])
    found = rs.lipschitz(net, box, budget=rs.Budget(seconds=0.0))
    assert found.value.claim == "LOWER"
    assert box.contains(found.point)
    at_middle = np.linalg.norm(net.linearize(box.center[None]).weight.numpy()[0], 2)
    assert float(found) >= at_middle * (1 - 1e-9)


def test_intervals_hold_all_maps():
    rng = np.random.default_rng(0)
    middle, radius = rng.normal(size=(1, 3, 4)), rng.random((1, 3, 4))
    maps = middle + radius * rng.uniform(-1, 1, (200, 3, 4))
    for norm in map(Norm.of, NORMS):
        assert operator_norms(maps, norm).max() <= largest_norms(torch.tensor(middle), torch.tensor(radius), norm)[0]


def test_weights_of_a_norm_are_those_of_inputs():
    net = rs.load([(np.array([[3.0, 4.0]]), np.zeros(1))])
    norm = rs.Norm("l2", weights=[3.0, 1.0])
    assert float(rs.lipschitz(net, rs.Box(-1, 1, 2), norm=norm)) == pytest.approx(np.hypot(1.0, 4.0))


def test_bad_input_is_refused():
    net = rs.load(layers([2, 4, 2]))
    with pytest.raises(rs.errors.InputError, match="norm must be"):
        rs.lipschitz(net, rs.Box(-1, 1, 2), norm="l3")
    with pytest.raises(rs.errors.ShapeError, match="3 dimensions"):
        rs.lipschitz(net, rs.Box(-1, 1, 3))
    with pytest.raises(rs.errors.ShapeError, match="one weight per input"):
        rs.lipschitz(net, rs.Box(-1, 1, 2), norm=rs.Norm("l2", weights=[1.0]))
