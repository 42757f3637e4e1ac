"""Distances to region boundaries against all half-spaces of the regions, and codes on either side of them."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses.robustness import distance_to_facets as boundary
from reluscope.geometry.numbers.norms import Norm
from reluscope.networks.point_evaluation import bytes_of_gates
from reluscope.testing import networks

NORMS = ("l1", "l2", "linf")


def by_half_spaces(net, points, norm, domain):
    found = []
    for region, point in zip(rs.regions(net, points, domain=domain), points, strict=True):
        P = region.polyhedron
        found.append(((P.b - P.A @ point) / Norm(norm).dual.size(P.A)).min(initial=np.inf))
    return np.array(found)


@pytest.mark.few(7)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("make", [lambda: rs.load(layers([5, 9, 7, 3])), branched])
@pytest.mark.parametrize("bounded", [False, True])
def test_distances_are_those_of_all_half_spaces(make, norm, bounded):
    net = make()
    points = np.random.default_rng(1).uniform(-1, 1, (6, net.num_inputs))
    domain = rs.Box(-1.01, 1.02, net.num_inputs) if bounded else None
    found = rs.robustness.boundary_distance(net, points, norm=norm, domain=domain)
    assert np.allclose(found["boundary_distance"].value, by_half_spaces(net, points, norm, domain), rtol=1e-9)
    assert np.allclose(Norm(norm).size(found.details["points"] - points), found["boundary_distance"].value, rtol=1e-9)
    assert found.finding("boundary_distance", 0).claim == "EXACT"
    assert (found.finding("boundary_distance", 0).tolerance or 0.0) < 1e-9


@pytest.mark.parametrize("norm", NORMS)
def test_the_unit_flips_right_beyond_the_touched_point(norm):
    net = branched()
    points = np.random.default_rng(5).normal(size=(6, net.num_inputs))
    found = rs.robustness.boundary_distance(net, points, norm=norm)
    for point, touched, source in zip(points, found.details["points"], found.details["sources"], strict=True):
        gate, unit, piece = (int(entry) for entry in source)
        name = net.gates[gate].name
        codes = [net.codes(point + t * (touched - point)).by_gate()[name].to_array()[0] for t in (1 - 1e-6, 1 + 1e-6)]
        assert codes[0][unit] != piece
        assert codes[1][unit] == piece


@settings(max_examples=20)
@given(networks(), st.integers(0, 99), st.sampled_from(NORMS))
def test_degenerate_networks(parameters, seed, norm):
    net, x = rs.load(parameters), np.random.default_rng(seed).uniform(-2, 2, (3, 2))
    found = rs.robustness.boundary_distance(net, x, norm=norm)
    assert np.allclose(found["boundary_distance"].value, by_half_spaces(net, x, norm, None), rtol=1e-9)
    assert np.isnan(found.details["points"]).any(axis=1).tolist() == np.isinf(found["boundary_distance"].value).tolist()


def test_domains_name_their_rows():
    net = rs.load([([[1.0, 0.0]], [-9.0]), ([[1.0]], [0.0])])
    box = rs.robustness.boundary_distance(net, [[0.0, 0.5]], norm="l2", domain=rs.Box(-1, 1, 2))
    assert box.details["sources"].tolist() == [[-1, 1, -1]]
    assert box.details["points"].tolist() == [[0.0, 1.0]]
    corner = rs.Polyhedron([[3.0, 4.0], [-1.0, 0.0], [0.0, -1.0]], [5.0, 0.0, 0.0])
    cut = rs.robustness.boundary_distance(net, [[0.9, 0.5]], norm="l1", domain=corner)
    assert cut["boundary_distance"].value[0] == pytest.approx(0.3 / 4)
    assert cut.details["sources"].tolist() == [[-1, 0, -1]]
    with pytest.raises(rs.errors.InputError, match="point 1 outside"):
        rs.robustness.boundary_distance(net, [[0.0, 0.0], [3.0, 0.0]], norm="l2", domain=rs.Box(-1, 1, 2))


def test_a_network_that_never_bends():
    net = rs.load([([[1.0, 2.0]], [0.0])])
    found = rs.robustness.boundary_distance(net, [[0.0, 0.0]], norm="linf")
    assert found["boundary_distance"].value.tolist() == [np.inf]
    assert found.details["sources"].tolist() == [[-1, -1, -1]]


def test_points_are_asked_about_in_blocks_that_memory_holds(monkeypatch):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    one = bytes_of_gates(net)
    for memory, number in ((0, 1), (one, 1), (7 * one, 7), (10**6 * one, boundary.AT_ONCE)):
        monkeypatch.setattr(boundary, "BUDGET", memory)
        assert boundary.points_at_once(net) == number


def test_no_table_of_inputs_by_inputs_is_made():
    """Of images of tens of thousands of numbers it would take gigabytes."""
    number = 6_000
    net = rs.load([(np.full((3, number), 1 / number), np.array([-0.2, -0.4, -0.7])), (np.ones((1, 3)), np.zeros(1))])
    tracemalloc.start()
    box = rs.Box(0.45, 1.0, number)
    found = rs.robustness.boundary_distance(net, np.full((1, number), 0.5), norm="linf", domain=box)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["boundary_distance"].value[0] == pytest.approx(0.05)
    assert peak < 8 * number**2 / 2
