"""Norms and margins of local maps against autograd's Jacobian, numpy's singular values and plain loops."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses.coefficients import jacobian_norms as norms
from reluscope.analyses.coefficients import linear_margins, local_norms, margins
from reluscope.analyses.samples import pacing

NETWORKS = {
    "dense": lambda: rs.load(layers([5, 9, 7, 3])),
    "wide": lambda: rs.load(layers([2, 6, 8])),
    "one output": lambda: rs.load(layers([4, 6, 1])),
    "one input": lambda: rs.load(layers([1, 6, 3])),
    "no gates": lambda: rs.load(layers([4, 3])),
    "branched": branched,
    "pool": lambda: rs.load(
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)), input_shape=(1, 6, 6)
    ),
}


def jacobian(net, point):
    point = torch.as_tensor(point).reshape(net.input_shape)
    rows = torch.autograd.functional.jacobian(lambda x: net(x[None]).flatten(), point)
    return rows.reshape(net.num_outputs, -1).numpy()


@pytest.mark.parametrize("name", NETWORKS)
def test_norms_and_margins_by_autograd(name):
    net = NETWORKS[name]()
    points = np.random.default_rng(0).normal(size=(9, net.num_inputs))
    found = local_norms(net, points, margins=True)
    margins = linear_margins(net, points)
    for row, point in enumerate(points):
        weight, values = jacobian(net, point), net(point).flatten().numpy()
        assert found["spectral_norm"].value[row] == pytest.approx(np.linalg.svd(weight, compute_uv=False)[0], rel=1e-12)
        assert found["frobenius_norm"].value[row] == pytest.approx(np.sqrt((weight**2).sum()), rel=1e-12)
        if len(values) == 1:
            best, slope = abs(values[0]) / np.linalg.norm(weight), np.linalg.norm(weight)
            assert margins.details["class"][row] == int(values[0] > 0)
        else:
            own = int(values.argmax())
            others = [one for one in range(len(values)) if one != own]
            slopes = [np.linalg.norm(weight[own] - weight[j]) for j in others]
            distances = [
                (values[own] - values[j]) / slope if slope else np.inf for j, slope in zip(others, slopes, strict=True)
            ]
            if np.isinf(distances).all():
                assert margins["rival_distance"].value[row] == np.inf
                continue
            best, rival = min(distances), others[int(np.argmin(distances))]
            slope = np.linalg.norm(weight[own] - weight[rival])
            assert (margins.details["class"][row], margins.details["rival"][row]) == (own, rival)
        assert margins["rival_distance"].value[row] == pytest.approx(best, rel=1e-9)
        assert [found["margin_slope"].value[row], margins["margin_slope"].value[row]] == pytest.approx(
            [slope, slope], rel=1e-9
        )


def test_medians_and_their_claims():
    net = NETWORKS["dense"]()
    points = np.random.default_rng(0).normal(size=(50, 5))
    found = local_norms(net, points)
    assert {found.median(name).claim for name in found} == {"EXACT"}
    assert 0 < (found.median("spectral_norm").tolerance or 0) < 1e-9
    drawn = local_norms(net, points, margins=True, population=10_000)
    assert list(drawn) == ["spectral_norm", "frobenius_norm", "margin_slope"]
    assert {drawn.median(name).claim for name in drawn} == {"ESTIMATE"}
    assert "50 of 10,000 samples" in drawn.median("spectral_norm").domain


def test_different_maps_are_counted():
    # relu(x) - relu(-x) is x on both sides: two codes, one map.
    twice = [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))]
    found = local_norms(rs.load(twice), [[1.0], [-1.0], [2.0]]).finding("num_different_maps")
    assert (found.value, found.claim, found.interval) == (1, "LOWER", (1, 2))
    net = NETWORKS["dense"]()
    points = np.random.default_rng(0).normal(size=(200, 5))
    number = local_norms(net, points).finding("num_different_maps")
    assert number.claim == "EXACT"
    assert number.value == len(net.codes(points).unique())


def test_ties_and_maps_that_never_change_their_class():
    net = rs.load([(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), np.array([0.0, -1.0, -5.0]))])
    found = linear_margins(net, [[2.0, 0.0], [-5.0, 0.0]])
    assert found["rival_distance"].value == pytest.approx([7.0, 0.0])
    parallel = rs.load([(np.array([[1.0], [1.0]]), np.array([0.0, -1.0]))])
    assert linear_margins(parallel, [[2.0]])["rival_distance"].value[0] == np.inf
    flat = rs.load([(np.zeros((1, 2)), np.ones(1))])
    assert linear_margins(flat, [[0.0, 0.0]])["rival_distance"].value[0] == np.inf


def test_rounding_is_bounded():
    net = rs.load(layers([6, 20, 20, 4], seed=3))
    points = np.random.default_rng(1).normal(size=(5, 6))
    found = local_norms(net, points)
    for row, point in enumerate(points):
        column, exact = found["frobenius_norm"], np.sqrt((jacobian(net, point) ** 2).sum())
        assert column.lower[row] < exact < column.upper[row] < column.value[row] + 1e-8


def test_no_time_and_ctrl_c(monkeypatch):
    net = NETWORKS["dense"]()
    points = np.random.default_rng(0).normal(size=(50, 5))
    with monkeypatch.context() as patch:
        ticks = itertools.count()
        patch.setattr(pacing.time, "perf_counter", lambda: float(next(ticks)))
        found = local_norms(net, points, budget=rs.Budget(seconds=2.0))
    assert found.stopped == "time"
    assert 1 <= found.is_done.sum() < 50
    calls = itertools.count()
    original = rs.Network.at

    def interrupt(*arguments, **options):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(rs.Network, "at", interrupt)
    found = local_norms(net, points)
    assert (found.is_done.sum(), found.stopped) == (3, "interrupted")


def test_equal_outputs_have_no_distance():
    """Margins and slopes of zero: a quotient of nothing is no distance, and no warning either."""
    two = linear_margins(rs.load([([[1.0], [1.0]], [0.0, 0.0])]), [[2.0]])
    assert (two["rival_distance"].value, two["margin"].value, two.details["class"]) == (np.inf, 0.0, 0)
    one = linear_margins(rs.load([([[0.0]], [0.0])]), [[2.0]])
    assert one["rival_distance"].value.tolist() == [np.inf]
    three = linear_margins(rs.load([([[1.0], [1.0], [-1.0]], [0.0, 0.0, 0.0])]), [[2.0]])
    assert (three.details["rival"].tolist(), three["rival_distance"].value.tolist()) == ([2], [2.0])


def test_margins_lie_between_what_rounding_makes_of_them():
    net = rs.load(layers([4, 12, 12, 3], seed=5))
    points = np.random.default_rng(2).normal(size=(20, 4))
    found = linear_margins(net, points)
    assert {claim for name in found for claim in found[name].claims} == {"EXACT"}
    for row, part in enumerate(rs.regions(net, points)):
        weight, bias = part.map.weight.numpy()[0], part.map.bias.numpy()[0]
        own, rival = found.details["class"][row], found.details["rival"][row]
        margin = sum(Fraction(w) * Fraction(x) for w, x in zip(weight[own] - weight[rival], points[row], strict=True))
        exact = float(margin + Fraction(bias[own]) - Fraction(bias[rival]))
        slope = np.linalg.norm(weight[own] - weight[rival])
        for name, value in (("margin", exact), ("margin_slope", slope), ("rival_distance", exact / slope)):
            column = found[name]
            assert column.lower[row] <= value <= column.upper[row]
            assert column.upper[row] - column.lower[row] > 0


def test_a_slope_within_rounding_leaves_the_distance_open():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 1e-18], [1.0, 0.0]]), np.array([0.0, -1.0]))])
    found = linear_margins(net, [[1.0, 1.0]]).finding("rival_distance")
    assert found.claim == "ESTIMATE"
    assert found.interval[1] == np.inf


def test_slopes_are_as_uncertain_as_both_rows_of_the_map():
    nothing = np.zeros(2)
    found = margins.Margins(np.array([0, 2]), np.array([2, 1]), nothing, nothing, nothing)
    of_maps = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    assert margins.slope_errors(found, of_maps).tolist() == [5.0, 48.0]
    assert margins.slope_errors(found, of_maps[:, :1]).tolist() == [1.0, 8.0]


def test_maps_are_told_apart_by_what_they_have_along_directions_of_length_one(monkeypatch):
    """Else two maps that differ by no more than their errors could be farther apart than these."""
    seen = []

    def spied(number, ask, effort, proper=norms.measure, **options):
        return proper(number, lambda block: seen.append(ask(block)) or seen[-1], effort, **options)

    monkeypatch.setattr(norms, "measure", spied)
    net, tolerance = rs.load([(np.array([[3.0]]), np.zeros(1))]), rs.Tolerance(rounding=2.0**20)
    local_norms(net, [[1.0]], tolerance=tolerance)  # its map is (3, 0)
    at = net.at([[1.0]], tolerance=tolerance)
    own = np.hypot(np.linalg.norm(at.map_errors), np.linalg.norm(at.constant_errors))
    assert seen[0].details["errors"] == pytest.approx([own + 3 * 2.0**-32], rel=1e-9, abs=0)
    local_norms(rs.load([(np.array([[0.0]]), np.full(1, 3.0))]), [[1.0]])  # (0, 3)
    own, other = (one.details["projected"] for one in seen)
    assert own**2 + other**2 == pytest.approx(np.full_like(own, 9.0))
