"""Distances to decision boundaries against all regions of exact partitions, closed forms, and dense sampling."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, nnls
from torch import nn

import reluscope as rs
from networks.models import layers
from reluscope.analyses.robustness import search as searching
from reluscope.geometry.norms import check_norm, dual, size
from reluscope.testing import networks

NORMS = ("l1", "l2", "linf")


def distance_to(A, b, x, norm):
    """Return the distance of x to {A y <= b} by scipy; inf if there is no point."""
    slack, dim = b - A @ x, len(x)
    if norm == "l2":
        scale = max(1.0, np.abs(slack).max())
        weights, residual = nnls(np.vstack([-A.T, -slack / scale]), np.append(np.zeros(dim), 1.0))
        return np.inf if residual < 1e-7 else scale * np.linalg.norm(A.T @ weights) / (1 + slack @ weights / scale)
    identity, zero = np.eye(dim), np.zeros((len(A), dim if norm == "l1" else 1))
    over = identity if norm == "l1" else np.ones((dim, 1))
    rows = np.block([[A, zero], [identity, -over], [-identity, -over]])
    cost = np.append(np.zeros(dim), np.ones(over.shape[1]))
    found = linprog(cost, rows, np.append(slack, np.zeros(2 * dim)), bounds=(None, None))
    return found.fun if found.status == 0 else np.inf


def by_all_regions(part, x, norm, label):
    """Return the least distance to the part of any region in which another class wins, found one by one."""
    best = np.inf
    for row in part:
        P, weight, bias = row.polyhedron, row.map.weight[0].numpy(), row.map.bias[0].numpy()
        if len(bias) == 1:
            weight, bias = np.concatenate([0 * weight, weight]), np.append(0.0, bias)
        values = row.vertices @ weight.T + bias
        for other in range(len(bias)):
            lead = values[:, other] - values[:, label]
            wins = lead.max() > 1e-7 or (other < label and np.abs(lead).max() < 1e-7)
            if other != label and wins:
                cut = np.concatenate([P.A, (weight[label] - weight[other])[None]])
                best = min(best, distance_to(cut, np.append(P.b, bias[other] - bias[label]), x, norm))
    return best


def check(net, domain, x, norm, rel=1e-6):
    found = rs.robustness.decision_distance(net, x, norm=norm, domain=domain)
    part = rs.partition(net, domain)
    for row, point in enumerate(x):
        truth = by_all_regions(part, point, norm, found.classes[row])
        assert found.num_branches[row] <= len(part)  # what is opened is a region, and none is opened twice
        assert found.is_exact[row]
        assert found.upper[row] == pytest.approx(truth, rel=rel, abs=1e-7)
        assert found.finding(row).claim == "EXACT"
        if np.isfinite(truth):
            check_witness(net, found, row, point)
    return found


def check_witness(net, found, row, point):
    assert size(found.witnesses[row] - point, found.norm) == pytest.approx(found.upper[row], abs=1e-9)
    assert found.lower[row] <= found.upper[row] + 1e-12
    assert found.upper[row] - found.lower[row] <= 1e-7
    outputs = net(found.beyond[row])[0]
    label = int(outputs.argmax()) if len(outputs) > 1 else int(outputs[0] > 0)
    assert label == found.adversarial[row] != found.classes[row]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("sizes", [[1, 8, 6, 1], [2, 8, 6, 3], [3, 4, 3, 2]])
def test_nearest_of_all_regions(sizes, norm):
    net, domain = rs.load(layers(sizes, seed=3)), rs.Box(-1.5, 1.5, sizes[0])
    check(net, domain, np.random.default_rng(0).uniform(-1.5, 1.5, ({1: 12, 2: 8, 3: 3}[sizes[0]], sizes[0])), norm)


@settings(max_examples=20)
@given(networks(num_outputs=2, max_width=4), st.integers(0, 99), st.sampled_from(NORMS))
def test_degenerate_networks_from_generic_points(parameters, seed, norm):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    check(net, domain, np.random.default_rng(seed).uniform(-2, 2, (1, 2)), norm)


@settings(max_examples=20)
@given(
    networks(num_outputs=3, max_width=4),
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)),
    st.sampled_from(NORMS),
)
def test_degenerate_networks_from_points_on_kinks_and_corners(parameters, point, norm):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    check(net, domain, np.array([point]) / 2, norm)


@settings(max_examples=20)
@given(networks(num_outputs=2, max_layers=2, max_width=4), st.integers(0, 99))
def test_least_distance_to_the_pieces_of_the_decision_boundary(parameters, seed):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    x = np.random.default_rng(seed).uniform(-2, 2, 2)
    ends = rs.decision_boundary(rs.partition(net, domain)).ends
    along = ends[:, 1] - ends[:, 0]
    share = ((x - ends[:, 0]) * along).sum(1) / np.maximum((along**2).sum(1), 1e-300)
    nearest = ends[:, 0] + np.clip(share, 0, 1)[:, None] * along
    truth = np.linalg.norm(nearest - x, axis=1).min(initial=np.inf)
    found = rs.robustness.decision_distance(net, x, norm="l2", domain=domain)
    assert found.upper[0] == pytest.approx(truth, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("norm", NORMS)
def test_half_space_classifiers_have_their_closed_form(norm):
    rng = np.random.default_rng(1)
    weight, x = rng.normal(size=(2, 20)), rng.normal(size=(4, 20))
    margin = np.abs(x @ (weight[0] - weight[1]) + 0.3)
    truth = margin / size(weight[0] - weight[1], dual(norm))
    plain = rs.load([(weight, np.array([0.3, 0.0]))])
    assert np.allclose(rs.robustness.decision_distance(plain, x, norm=norm).upper, truth, rtol=1e-9)


def test_the_absolute_value_from_its_kink_and_beside_it():
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-2.0])])
    found = rs.robustness.decision_distance(net, [[0.0], [0.5], [-3.0], [2.0]], norm="linf")
    assert found.upper.tolist() == [2.0, 1.5, 1.0, 0.0]
    assert found.adversarial.tolist() == [1, 1, 0, 1]
    assert (found.finding(1).tolerance or 0.0) < 1e-9


def test_outputs_that_touch_do_not_count_and_equal_ones_go_to_the_lower():
    # 0 and -|x|: they touch at 0.
    touching = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[0.0, 0.0], [-1.0, -1.0]], [0.0, 0.0])])
    found = rs.robustness.decision_distance(touching, [[1.0]], norm="l2")
    assert found.upper[0] == np.inf
    assert found.finding(0).claim == "EXACT"
    # 0 and relu(x): equal where x < 0, where the lower wins.
    equal = rs.load([([[1.0]], [0.0]), ([[0.0], [1.0]], [0.0, 0.0])])
    assert rs.robustness.decision_distance(equal, [[3.0]], norm="l2").upper[0] == 3.0
    assert rs.robustness.decision_distance(equal, [[-3.0]], norm="l2").upper[0] == 3.0


def test_all_cuts_through_one_point_open_no_more_regions_than_there_are():
    rng = np.random.default_rng(0)
    net = rs.load([(rng.normal(size=(8, 3)), np.zeros(8)), (rng.normal(size=(2, 8)), np.array([9.0, 0.0]))])
    found = rs.robustness.decision_distance(net, [[0.1, 0.2, 0.3]], norm="l2")
    assert found.num_branches[0] <= 2 + 7 * 8  # all cells of 8 planes through a point of space
    assert found.is_exact[0]


@pytest.mark.slow
def test_max_gates_and_many_pieces_against_samples():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Hardtanh(), nn.Unflatten(1, (2, 4)), nn.MaxPool1d(2), nn.Flatten(),
                          nn.Linear(4, 3)).double()  # fmt: skip
    net = rs.load(model, input_shape=(3,))
    rng = np.random.default_rng(0)
    cloud = rng.uniform(-6, 6, (40_000, 3))
    labels = net(cloud).argmax(1).numpy()
    num_finite = 0
    for norm in NORMS:
        found = rs.robustness.decision_distance(net, cloud[:2], norm=norm, domain=rs.Box(-6, 6, 3))
        for row, point in enumerate(cloud[:2]):
            nearest = size(cloud[labels != labels[row]] - point, norm).min(initial=np.inf)
            assert found.upper[row] <= nearest <= found.upper[row] + 0.6
            check_witness(net, found, row, point)
            num_finite += np.isfinite(nearest)
    assert num_finite


def test_polyhedra_and_slices_as_domains():
    net = rs.load(layers([3, 6, 5, 2], seed=4))
    triangle = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1.0, 1.0, 1.0])
    plane = rs.Slice([0.1, 0.2, 0.3], [[1.0, 0.0, 1.0], [0.0, 2.0, 1.0]], triangle)
    points = np.array([[0.2, 0.1], [-1.0, -0.5]])  # the second on the window's boundary
    found = check(net.restrict(plane), triangle, points, "l2")
    same = rs.robustness.decision_distance(net, points, norm="l2", domain=plane)
    assert np.allclose(same.upper, found.upper, rtol=1e-9)
    assert "slice" in same.finding(0).domain or "plane" in same.finding(0).domain


def test_a_budget_leaves_the_frontier():
    net = rs.load(layers([4, 12, 10, 3], seed=1))
    x = np.random.default_rng(2).normal(size=(1, 4))
    whole = rs.robustness.decision_distance(net, x, norm="l2")
    assert whole.num_branches[0] > 5
    frontiers = []
    for regions in (1, 3, 5):
        part = rs.robustness.decision_distance(net, x, norm="l2", budget=rs.Budget(regions=regions))
        finding = part.finding(0)
        assert finding.claim == "LOWER"
        assert finding.interval[0] == finding.value <= whole.upper[0] <= finding.interval[1]
        assert "ended early" in finding.method
        frontiers.append(finding.value)
    assert frontiers == sorted(frontiers)
    assert rs.robustness.decision_distance(net, x, norm="l2", budget=rs.Budget(seconds=0.0)).lower[0] == 0.0


@pytest.mark.parametrize("after", [1, 4])
def test_an_interruption_leaves_what_is_known(monkeypatch, after):
    net = rs.load(layers([4, 12, 10, 3], seed=1))
    x = np.random.default_rng(2).normal(size=(2, 4))
    whole = rs.robustness.decision_distance(net, x, norm="l2")
    calls, cell = iter(range(100)), searching.Viewpoint.cell

    def interrupted(*arguments):
        if next(calls) == after:
            raise KeyboardInterrupt
        return cell(*arguments)

    monkeypatch.setattr(searching.Viewpoint, "cell", interrupted)
    found = rs.robustness.decision_distance(net, x, norm="l2")
    assert len(found) == 1
    assert found.stopped == ("interrupted",)
    assert found.finding(0).claim == "LOWER"
    assert found.lower[0] <= whole.upper[0] <= found.upper[0]


def test_regions_are_computed_again_where_memory_is_short(monkeypatch):
    net = rs.load(layers([3, 12, 8, 3], seed=2))
    x = np.random.default_rng(5).normal(size=(2, 3))
    whole = rs.robustness.decision_distance(net, x, norm="l2")
    monkeypatch.setattr(searching, "CACHE", 0)
    assert np.array_equal(rs.robustness.decision_distance(net, x, norm="l2").upper, whole.upper)


def test_bad_input():
    net = rs.load(layers([2, 3, 2]))
    for bad, message in (
        ({"norm": "l2", "domain": rs.Box(5, 6, 2)}, "outside"),
        ({"norm": "l2", "domain": rs.Box(-1, 1, 3)}, "2 dimensions"),
        ({"norm": "l2", "domain": rs.Polyhedron([[1.0, 0.0]], [1.0], [[0.0, 1.0]], [0.0])}, "equations"),
    ):
        with pytest.raises(rs.errors.InputError, match=message):
            rs.robustness.decision_distance(net, [[0.0, 0.0]], **bad)
    flat = rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0])
    with pytest.raises(rs.errors.InputError, match="expected a norm"):
        check_norm("l0")
    with pytest.raises(rs.errors.DegenerateGeometryError, match="interior"):
        rs.robustness.decision_distance(net, [[0.0, 0.0]], norm="l2", domain=flat)
