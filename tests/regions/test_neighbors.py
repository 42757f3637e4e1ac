"""Neighbours across facets against the facets of exact partitions, degenerate networks included."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched
from reluscope.errors import BudgetExceededError
from reluscope.testing import default_network, networks

# Regions of which fractions decide whether they hold a point: up to a second each.
MOST_EXACT = 12


def by_partition(part, index) -> set[tuple[int, ...]]:
    facets = part.facets
    others = np.r_[facets.right[facets.left == index], facets.left[facets.right == index]]
    return set(map(tuple, part.codes[np.unique(others)].to_array().tolist()))


def check(net, around, domain=None) -> None:
    """Check what is promised of points, rows and flips, without using how they were found."""
    P, own = around.region.polyhedron, around.region.code.to_array()[0]
    units = np.cumsum([0, *(gate.num_units for gate in net.gates)])
    for facet in range(len(around)):
        rows = around.rows[facet]
        slack = P.b - P.A @ around.on_facets[facet]
        assert np.abs(slack[rows]).max() <= 1e-9 * (1 + np.abs(P.b).max())
        assert (np.delete(slack, rows) > 0).all()
        code = around.codes[facet : facet + 1].to_array()[0]
        flips = around.flips[facet]
        assert np.flatnonzero(code != own).tolist() == (units[flips[:, 0]] + flips[:, 1]).tolist()
        named = {(int(gate), int(unit)): int(piece) for gate, unit, piece in around.region.sources[rows]}
        for (gate, unit), piece in named.items():
            if [gate, unit] in flips.tolist() and len(rows) == 1:
                assert code[units[gate] + unit] == piece
    if len(around):
        assert net.codes(around.points) == around.codes
        there = rs.regions(net, around.points, domain=domain)
        for facet, (one, point, back) in enumerate(zip(there, around.points, around.on_facets, strict=True)):
            assert (one.polyhedron.A @ point < one.polyhedron.b).all()
            if facet < MOST_EXACT:
                assert one.polyhedron.contains(back, 1e-9 * (1 + np.abs(back).max()))


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [2, 3, 4])
def test_neighbours_are_those_of_an_exact_partition(dim: int) -> None:
    net = rs.load(default_network([dim, 8, 6, 2], 3))
    box = rs.Box(-2, 2, dim)
    part = rs.partition(net, box)
    points = np.random.default_rng(0).uniform(-2, 2, (12, dim))
    for point, index in zip(points, part.locate(points), strict=True):
        around = rs.neighbors(net, point, domain=box)
        check(net, around, box)
        assert set(map(tuple, around.codes.to_array().tolist())) == by_partition(part, index)


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(networks(), st.integers(0, 99))
def test_degenerate_networks_in_the_plane(parameters, seed) -> None:
    net, box = rs.load(parameters), rs.Box(-4, 4, 2)
    part = rs.partition(net, box)
    point = np.random.default_rng(seed).uniform(-4, 4, 2)
    around = rs.neighbors(net, point, domain=box)
    check(net, around, box)
    assert set(map(tuple, around.codes.to_array().tolist())) == by_partition(part, int(part.locate(point[None])[0]))


@settings(max_examples=8, deadline=None)
@given(networks(3), st.integers(0, 99))
def test_degenerate_networks_in_space(parameters, seed) -> None:
    net, box = rs.load(parameters), rs.Box(-4, 4, 3)
    part = rs.partition(net, box)
    point = np.random.default_rng(seed).uniform(-4, 4, 3)
    around = rs.neighbors(net, point, domain=box)
    check(net, around, box)
    assert set(map(tuple, around.codes.to_array().tolist())) == by_partition(part, int(part.locate(point[None])[0]))


@pytest.mark.slow
def test_other_gates() -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.last = nn.Linear(2, 6), nn.Linear(3, 5), nn.Linear(5, 2)

        def forward(self, x):
            x = self.first(x).reshape(-1, 3, 2).amax(2)
            return self.last(nn.functional.hardtanh(self.second(x)))

    torch.manual_seed(0)
    for net in (rs.load(Mixed(), input_shape=(2,)), branched()):
        for point in np.random.default_rng(1).uniform(-1, 1, (2, net.num_inputs)):
            check(net, rs.neighbors(net, point))


def test_duplicated_and_waking_units_flip_together() -> None:
    W = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    # The second layer is constant zero left of 0, sits on its breakpoint there, and wakes beyond.
    net = rs.load([(W, np.zeros(4)), (np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    around = rs.neighbors(net, [-1.0, 0.5], domain=rs.Box(-2, 2, 2))
    assert [rows.tolist() for rows in around.rows] == [[0, 1, 2]]
    assert around.flips[0].tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert len(around.ends) == 3
    check(net, around)


def test_slices_and_networks_that_never_bend() -> None:
    net = rs.load(default_network([5, 8, 2], 1))
    plane = rs.Plane(np.zeros(5), np.eye(5)[0], np.eye(5)[1])
    around = rs.neighbors(net, [0.3, 0.2], domain=plane)
    check(net.restrict(plane), around, plane.window)
    assert len(rs.neighbors(rs.load([([[1.0, 2.0]], [0.0])]), [0.0, 0.0])) == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(8))
def test_hidden_units_of_any_scale(seed):
    generator = np.random.default_rng(seed)
    weights = [generator.normal(size=shape) for shape in ((5, 2), (4, 5), (1, 4))]
    biases = [generator.normal(size=5) / 2, generator.normal(size=4) / 2, np.zeros(1)]
    first, second = (np.ldexp(1.0, generator.integers(-150, 150, size)) for size in (5, 4))
    scaled = [
        (weights[0] * first[:, None], biases[0] * first),
        (weights[1] / first * second[:, None], biases[1] * second),
        (weights[2] / second, biases[2]),
    ]
    plain, net = rs.load(list(zip(weights, biases, strict=True))), rs.load(scaled)
    box, x = rs.Box(-np.ones(2), np.ones(2)), generator.uniform(-1, 1, 2)
    expected, found = rs.neighbors(plain, x, domain=box), rs.neighbors(net, x, domain=box)
    assert np.array_equal(found.codes.to_array(), expected.codes.to_array())
    np.testing.assert_allclose(found.points, expected.points, rtol=1e-9)
    assert np.array_equal(net.codes(found.points).to_array(), found.codes.to_array())
    pairs = [rs.partition(network, box, method="tree").adjacency() for network in (plain, net)]
    assert (pairs[0] != pairs[1]).nnz == 0


@pytest.mark.parametrize("ask", [rs.neighbors, rs.region, rs.regions])
def test_seconds_are_kept(ask, monkeypatch):
    monkeypatch.setattr("reluscope.time_limits.LEAST_GRACE", 0.0)
    with pytest.raises(BudgetExceededError, match=rf"^{ask.__name__} found nothing within its budget of 0 s"):
        ask(rs.load(default_network([3, 8, 2], 1)), [0.1, 0.2, 0.3], budget=rs.Budget(seconds=0))
