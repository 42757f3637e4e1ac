"""Distances to the nearest facet against all half-spaces of `regions`, known networks, and sampled directions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from reluscope.geometry.numbers.norms import Norm
from reluscope.regions.nearest_facets import _lengths, nearest_facets
from reluscope.testing.strategies import networks


def by_half_spaces(net, points):
    found = []
    for region, point in zip(rs.regions(net, points), points, strict=True):
        P = region.polyhedron
        distances = (P.b - P.A @ point) / np.linalg.norm(P.A, axis=1)
        found.append(distances.min(initial=np.inf))
    return np.array(found)


@pytest.mark.few(2)
@pytest.mark.parametrize("budget", [1, 2**28])
@pytest.mark.parametrize("kind", ["dense", "branched", "pool"])
def test_distances_are_those_of_all_half_spaces(kind, budget):
    net = {
        "dense": lambda: rs.load(layers([5, 9, 7, 3])),
        "branched": branched,
        "pool": lambda: rs.load(
            nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.Hardtanh(), nn.MaxPool2d(3, 2, 1), nn.Flatten()),
            input_shape=(1, 6, 6),
        ),
    }[kind]()
    points = np.random.default_rng(1).normal(size=(7, net.num_inputs))
    found = nearest_facets(net.at(points), memory=budget)
    truth = by_half_spaces(net, points)
    assert np.allclose(found.distances, truth, rtol=1e-10)
    assert (np.abs(found.distances - truth) <= found.errors + 1e-14 * truth).all()


def test_the_source_is_what_changes_beyond_the_facet():
    net = branched()
    points = np.random.default_rng(5).normal(size=(6, net.num_inputs))
    found = nearest_facets(net.at(points))
    regions = rs.regions(net, points)
    for point, region, distance, source in zip(points, regions, found.distances, found.sources, strict=True):
        row = int(np.flatnonzero((region.sources == source).all(axis=1))[0])
        normal = region.polyhedron.A[row] / np.linalg.norm(region.polyhedron.A[row])
        gate, unit, piece = (int(entry) for entry in source)
        name = net.gates[gate].name
        inside = net.codes(point + distance * (1 - 1e-6) * normal).by_gate()[name].to_array()[0]
        outside = net.codes(point + distance * (1 + 1e-6) * normal).by_gate()[name].to_array()[0]
        assert inside[unit] != piece
        assert outside[unit] == piece


def test_the_ball_lies_in_the_region_and_no_larger_one():
    net = rs.load(layers([3, 12, 8, 2], seed=4))
    points = np.random.default_rng(0).normal(size=(5, 3))
    found = nearest_facets(net.at(points))
    directions = np.random.default_rng(1).normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for point, distance in zip(points, found.distances, strict=True):
        code = net.codes(point).words
        assert (net.codes(point + 0.999 * distance * directions).words == code).all()
        assert (net.codes(point + 1.2 * distance * directions).words != code).any()


def test_points_on_kinks_have_distance_zero():
    net = rs.load([(np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = nearest_facets(net.at([[0.0, 0.0], [1.0, 1.0], [3.0, 1.0]]))
    assert found.is_on_boundary.tolist() == [True, True, False]
    assert found.distances[2] == pytest.approx(np.sqrt(2))


def test_what_cannot_bend_is_infinitely_far():
    constant = rs.load([(np.zeros((2, 3)), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    assert nearest_facets(constant.at(np.zeros((2, 3)))).distances.tolist() == [np.inf, np.inf]
    assert nearest_facets(constant.at(np.zeros((2, 3)))).sources.tolist() == [[-1, -1, -1]] * 2
    affine = rs.load([(np.ones((2, 3)), np.ones(2))])
    assert nearest_facets(affine.at(np.zeros((1, 3)))).distances[0] == np.inf
    dead = rs.load(
        nn.Sequential(Dead(), nn.ReLU(), nn.MaxPool1d(2)), input_shape=(1, 4)
    )  # equal candidates: a pool over dead units never changes
    assert nearest_facets(dead.at(np.zeros((1, 4)))).distances[0] == pytest.approx(1.0)


class Dead(nn.Module):
    def forward(self, x):
        return x - torch.ones(4)


@given(networks(num_inputs=st.integers(1, 4), num_outputs=2), st.integers(0, 100))
def test_degenerate_networks(parameters, seed):
    net = rs.load(parameters)
    points = np.random.default_rng(seed).normal(size=(4, net.num_inputs))
    found = nearest_facets(net.at(points))
    for row in range(len(points)):
        if found.distances[row] > 1e-9:
            assert found.distances[row] == pytest.approx(by_half_spaces(net, points[row : row + 1])[0], rel=1e-9)


def test_a_unit_that_is_zero_all_over_has_no_hyperplane():
    net = rs.load([(np.array([[0.0, 0.0], [3.0, 4.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    found = nearest_facets(net.at([[1.0, 1.0]]))
    assert (found.distances.tolist(), found.sources.tolist()) == ([pytest.approx(1.4)], [[0, 1, 0]])
    nothing = rs.load([(np.zeros((1, 2)), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    assert nearest_facets(nothing.at([[1.0, 1.0]])).distances.tolist() == [np.inf]


def test_errors_are_those_of_slacks_and_of_lengths_as_far_as_the_facet_is():
    """Of ``2 (3 x + 9) - 30`` at x = 5 the slack is 18, the length 6, and both are known up to coarse rounding."""
    net = rs.load(
        [(np.array([[3.0]]), np.array([9.0])), (np.array([[2.0]]), np.array([-30.0])), (np.ones((1, 1)), [0.0])]
    )
    at = net.at([[5.0]], tolerance=rs.Tolerance(rounding=2.0**42)).with_gates()
    found, unit = nearest_facets(at), 2.0**-10
    assert (found.distances.tolist(), found.sources.tolist()) == ([3.0], [[1, 0, 0]])
    noise, wrong = at.gates[1].errors[0, 0].item(), found.errors[0] * 6 - at.gates[1].errors[0, 0].item()
    assert noise > unit * (2 * 24 + 30)
    assert wrong >= 3.0 * unit * 6  # the length of the gradient is a product, and three steps are taken along it


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_blocks_of_inputs_give_what_all_of_them_give(norm):
    net = rs.load([(np.array([[1.0, -5.0, 2.0], [4.0, 0.5, 1.0]]), np.full(2, 9.0)), (np.ones((1, 2)), np.ones(1))])
    at = net.at([[0.1, 0.2, 0.3], [0.3, -0.2, 0.1]]).with_gates()
    (whole, largest), (parts, largest_parts) = (_lengths(at, Norm(norm), block) for block in (3, 1))
    order = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    rows = [[1.0, -5.0, 2.0], [4.0, 0.5, 1.0]]
    for sizes, most in ((whole, largest), (parts, largest_parts)):
        expected = [np.linalg.norm(row, order) for row in rows]
        assert np.allclose(np.broadcast_to(sizes[0].reshape(-1, 2), (2, 2)), expected)
        assert np.allclose(most[0].reshape(-1, 2), [5.0, 4.0])
