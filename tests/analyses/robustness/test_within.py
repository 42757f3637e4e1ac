"""Distances to decision boundaries within a region against scipy's programs over `region`'s half-spaces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls

import reluscope as rs
from networks.models import layers
from reluscope.geometry.numbers.norms import Norm
from reluscope.testing import networks

NORMS = ("l1", "l2", "linf")


def by_scipy(net, x, norm, domain):
    """Return the least distance over all rivals."""
    region = rs.region(net, x, domain=domain)
    weight, bias = region.map.weight[0].numpy(), region.map.bias[0].numpy()
    label, dim, best = int(net(x).argmax()), len(x), np.inf
    for other in set(range(len(bias))) - {label}:
        A = np.concatenate([region.polyhedron.A, (weight[label] - weight[other])[None]])
        slack = np.append(region.polyhedron.b, bias[other] - bias[label]) - A @ x
        if norm == "l2":
            weights, rest = nnls(np.vstack([-A.T, -slack]), np.append(np.zeros(dim), 1.0))
            best = min(best, np.inf if rest < 1e-8 else np.linalg.norm(A.T @ weights) / (1 + slack @ weights))
            continue
        over = np.eye(dim) if norm == "l1" else np.ones((dim, 1))
        rows = np.block([[A, np.zeros((len(A), over.shape[1]))], [np.eye(dim), -over], [-np.eye(dim), -over]])
        cost = np.append(np.zeros(dim), np.ones(over.shape[1]))
        found = linprog(cost, rows, np.append(slack, np.zeros(2 * dim)), bounds=(None, None))
        best = min(best, found.fun if found.status == 0 else np.inf)
    return best


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("bounded", [False, True])
def test_nearest_of_all_rivals(norm, bounded):
    net = rs.load(layers([4, 5, 4, 8], seed=3))
    domain = rs.Box(-1, 1, 4) if bounded else None
    points = np.random.default_rng(0).uniform(-1, 1, (14, 4))
    found = rs.robustness.decision_distance_within(net, points, norm=norm, domain=domain)
    truth = np.array([by_scipy(net, point, norm, domain) for point in points])
    assert 0 < np.isfinite(truth).sum() < 14
    column, there = found["decision_distance_within"], np.isfinite(truth)
    assert np.allclose(column.value[there], truth[there], rtol=1e-7)
    for row in np.flatnonzero(~there).tolist():
        # Without a box rows that contradict each other do so but for their rounding, which matters very far away.
        claim = "EXACT" if np.isinf(column.value[row]) else "LOWER"
        assert (column.upper[row], column.claims[row]) == (np.inf, claim)
        assert column.lower[row] > 1e9
        assert claim == "EXACT" or not bounded
    for row in np.flatnonzero(np.isfinite(truth)).tolist():
        outputs = net(found.details["points"][row])[0]
        assert outputs[found.details["rivals"][row]] == pytest.approx(
            float(outputs[found.details["classes"][row]]), abs=1e-7
        )
        assert Norm(norm).size(found.details["points"][row] - points[row]) == pytest.approx(truth[row])
        assert found.finding("decision_distance_within", row).claim == "EXACT"
    assert (found.details["rivals"][np.isinf(truth)] == -1).all()


@settings(max_examples=12)
@given(networks(num_outputs=2, max_width=4), st.integers(0, 99), st.sampled_from(NORMS))
def test_never_nearer_than_the_nearest_of_the_network(parameters, seed, norm):
    net, x = rs.load(parameters), np.random.default_rng(seed).uniform(-2, 2, (1, 2))
    within = rs.robustness.decision_distance_within(net, x, norm=norm, domain=rs.Box(-2, 2, 2))
    nearest = rs.robustness.decision_distance(net, x, norm=norm, domain=rs.Box(-2, 2, 2))
    boundary = rs.robustness.boundary_distance(net, x, norm=norm, domain=rs.Box(-2, 2, 2))
    inside, whole, facet = (
        float(found[name].value[0])
        for found, name in (
            (within, "decision_distance_within"),
            (nearest, "decision_distance"),
            (boundary, "boundary_distance"),
        )
    )
    # At the facet itself the outputs may tie and never change places.
    if inside < facet * (1 - 1e-7) - 1e-9:
        assert whole == pytest.approx(inside, rel=1e-7, abs=1e-9)
    assert whole >= min(inside, facet) - 1e-9


def test_a_tie_at_the_point_is_at_distance_zero():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    found = rs.robustness.decision_distance_within(net, [[1.0, 1.0], [2.0, 1.0]], norm="linf")
    assert found["decision_distance_within"].value.tolist() == [0.0, 0.5]
    assert found.details["points"].tolist() == [[1.0, 1.0], [1.5, 1.5]]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("shift", "truth"), [(-0.1, 0.075), (0.1, np.inf)])
def test_units_whose_slopes_are_below_rounding_are_where_fractions_say(norm, shift, truth):
    # relu(h - h + e h - 0.9 e) * 4 / e + shift, for e = 1e-17 and h = x_0 + 2.75 at 1: the unit ends at h = 0.9.
    copies = (np.array([[1.0], [1.0], [1.0]]), np.full(3, 2.75))
    net = rs.load([copies, (np.array([[1.0, -1.0, 1e-17]]), [-9e-18]), (np.array([[4e17]]), [shift])])
    found = rs.robustness.decision_distance_within(net, [[-1.75]], norm=norm).finding("decision_distance_within", 0)
    assert (found.value, found.claim) == (pytest.approx(truth), "EXACT")


def test_without_fractions_rows_that_rounding_hides_leave_the_distance_open(monkeypatch):
    copies = (np.array([[1.0], [1.0], [1.0]]), np.full(3, 2.75))
    net = rs.load([copies, (np.array([[1.0, -1.0, 1e-17]]), [-9e-18]), (np.array([[4e17]]), [0.1])])
    monkeypatch.setattr("reluscope.analyses.robustness.exact_cells.MAX_MULTIPLICATIONS", 0)
    found = rs.robustness.decision_distance_within(net, [[-1.75]], norm="l2")
    assert found["decision_distance_within"].upper[0] == np.inf


def test_a_tie_that_is_missed_by_less_than_rounding_is_none():
    # relu(x) + 5e-10 is positive, and 0 at x = 0 as far as steps of 2.6e11 can tell.
    for constant, truth in ((5e-10, np.inf), (0.0, 264995929986.42)):
        net = rs.load([(np.array([[1.0]]), np.zeros(1)), (np.array([[1.0]]), np.array([constant]))])
        found = rs.robustness.decision_distance_within(net, [[264995929986.42]], norm="l2")["decision_distance_within"]
        assert found.lower[0] <= truth <= found.upper[0]


def test_many_tight_rows_leave_a_way_in():
    """In linf many pixels are at their bounds: least squares of tight rows shows no direction, and a program does."""
    points = rs.datasets.digits("test").points
    net = rs.load(rs.datasets.demo_network(), data=points)
    found = rs.robustness.decision_distance_within(net, points[[2, 18]], norm="linf")
    assert [found.finding("decision_distance_within", row).claim for row in range(2)] == [rs.Claim.EXACT] * 2
