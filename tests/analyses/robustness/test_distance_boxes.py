"""The nearest change of class by halved boxes, against the search over sets of regions."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.analyses.robustness import distance_boxes
from reluscope.analyses.robustness import distance_search as search
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE

BOX = rs.Box(-1, 1, 3)


# With a budget of regions no partition is tried.
SEARCHED = rs.Budget(regions=10**9)


def by_boxes(monkeypatch, *given, budget=SEARCHED, **settings):
    with monkeypatch.context() as patch:
        patch.setattr(distance_boxes, "NUM_OPEN", -1)
        return rs.robustness.decision_distance(*given, budget=budget, **settings)


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_boxes_and_sets_of_regions_agree(monkeypatch, norm):
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (1, 3))
    for sizes, decision in (([3, 9, 7, 3], "smallest"), ([3, 8, 1], "largest")):
        net = rs.load(layers(sizes, seed=3), decision=decision)
        found = by_boxes(monkeypatch, net, x, norm=norm, domain=BOX)
        usual = rs.robustness.decision_distance(net, x, norm=norm, domain=BOX, budget=SEARCHED)
        assert found[DECISION_DISTANCE].claims == usual[DECISION_DISTANCE].claims
        assert np.allclose(found[DECISION_DISTANCE].value, usual[DECISION_DISTANCE].value, rtol=1e-8)
        assert found.details["adversarial"].tolist() == usual.details["adversarial"].tolist()


@pytest.mark.slow
def test_without_an_attack_and_at_every_budget_no_change_is_nearer(monkeypatch):
    net, x = rs.load(layers([3, 9, 7, 3], seed=3)), np.full((1, 3), 0.2)
    truth = float(rs.robustness.decision_distance(net, x, norm="l2", domain=BOX)[DECISION_DISTANCE].value[0])
    lowers = []
    for regions in (1, 40, 160):
        part = by_boxes(monkeypatch, net, x, norm="l2", domain=BOX, budget=rs.Budget(regions=regions))
        lowers.append(float(part[DECISION_DISTANCE].lower[0]))
        assert lowers[-1] <= truth * (1 + 1e-9) <= float(part[DECISION_DISTANCE].upper[0]) * (1 + 2e-9)
    assert lowers == sorted(lowers)
    monkeypatch.setattr("reluscope.analyses.robustness.distance_search.nearby_change", lambda view, until: None)
    found = by_boxes(monkeypatch, net, x, norm="l2", domain=BOX)
    assert found.finding(DECISION_DISTANCE).claim == "EXACT"
    assert found[DECISION_DISTANCE].value[0] == pytest.approx(truth, rel=1e-8)


def test_codes_that_no_input_has_are_no_regions(monkeypatch):
    dull = np.zeros((4, 1))
    dull[1] = 1.25
    last = np.zeros((2, 4))
    last[1, 1] = 1.75
    net = rs.load([([[1.5, 0.0]], [1.25]), (dull, [0.0, 0.5, 0.0, 0.0]), (last, np.zeros(2))])
    found = by_boxes(monkeypatch, net, [[0.3, -0.2]], norm="l1", domain=rs.Box(-3, 3, 2))
    assert str(found.finding(DECISION_DISTANCE)) == "inf (EXACT)"


def test_changes_known_of_another_norm_are_where_a_search_begins(monkeypatch):
    net, x = rs.load(layers([3, 9, 7, 3], seed=3)), np.full((1, 3), 0.2)
    known = rs.robustness.decision_distance(net, x, norm="linf", domain=BOX)
    whole = rs.robustness.decision_distance(net, x, norm="l2", domain=BOX, known=known)
    assert whole.finding(DECISION_DISTANCE).claim == "EXACT"
    monkeypatch.setattr("reluscope.analyses.robustness.distance_search.nearby_change", lambda view, until: None)
    nothing = rs.Budget(regions=0)
    assert (
        rs.robustness.decision_distance(net, x, norm="l2", domain=BOX, budget=nothing)[DECISION_DISTANCE].upper
        == np.inf
    )
    begun = rs.robustness.decision_distance(net, x, norm="l2", domain=BOX, budget=nothing, known=known)
    distance = np.linalg.norm(known.details["beyond"] - x)
    assert whole[DECISION_DISTANCE].value[0] <= begun[DECISION_DISTANCE].upper[0] * (1 + 1e-9) <= distance * (1 + 1e-6)
    other = rs.robustness.boundary_distance(net, x, norm="l2")
    for wrong in (other, known):
        with pytest.raises(rs.errors.InputError, match="known"):
            rs.robustness.decision_distance(net, np.tile(x, (2, 1)), norm="l2", known=wrong)


def test_points_begin_with_what_those_before_them_met(monkeypatch):
    net, x = rs.load(layers([3, 9, 7, 3], seed=3)), np.full((2, 3), 0.2)
    usual = rs.robustness.decision_distance(net, x[:1], norm="l2", domain=BOX, budget=SEARCHED)
    calls = iter([True, False])
    original = search.nearby_change
    monkeypatch.setattr(search, "nearby_change", lambda view, until: original(view, until) if next(calls) else None)
    found = rs.robustness.decision_distance(net, x, norm="l2", domain=BOX, budget=rs.Budget(regions=0))
    assert np.allclose(found[DECISION_DISTANCE].upper, usual[DECISION_DISTANCE].upper, rtol=1e-6)


def test_what_is_no_number_bounds_nothing(monkeypatch):
    net, x = rs.load(layers([3, 9, 7, 3], seed=3)), np.full((1, 3), 0.2)
    truth = float(rs.robustness.decision_distance(net, x, norm="l2", domain=BOX)[DECISION_DISTANCE].value[0])
    monkeypatch.setattr("reluscope.analyses.robustness.distance_search.nearby_change", lambda view, until: None)
    monkeypatch.setattr(
        distance_boxes, "distances_of_cut_boxes", lambda low, high, forms, *_: np.full(forms.shape[:-1], np.nan)
    )
    found = by_boxes(monkeypatch, net, x, norm="l2", domain=BOX, budget=rs.Budget(regions=200))
    assert found[DECISION_DISTANCE].lower[0] <= truth


@pytest.mark.few(2)
@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("l2", 2), ("linf", np.inf)])
def test_all_nearer_changes_are_in_boxes_that_wait(monkeypatch, norm, order):
    rng, begun = np.random.default_rng(4), []

    class Kept(distance_boxes.BoxChanges):
        def __init__(self, view, change):
            super().__init__(view, replace(change, distance=2 * change.distance, upper=2 * change.upper))
            begun.append(self)

    monkeypatch.setattr(search, "BoxChanges", Kept)
    monkeypatch.setattr(distance_boxes, "nearer_by", lambda view, places, change: change)
    monkeypatch.setattr(distance_boxes, "nearer_by_chance", lambda view, change: change)
    monkeypatch.setattr(distance_boxes, "NUM_CODES", 0)
    monkeypatch.setattr(distance_boxes, "NUM_CODES_NEAR", 0)
    for x in rng.uniform(-0.9, 0.9, (2, 3)):
        net = rs.load(layers([3, 9, 7, 3], seed=3), decision="smallest")
        by_boxes(monkeypatch, net, x[None], norm=norm, domain=BOX, budget=rs.Budget(regions=400))
        found = begun.pop()
        points = rng.uniform(*np.clip([x - found.limit, x + found.limit], -1, 1), (20_000, 3))
        scores = net(points).numpy()
        nearer = np.linalg.norm(points - x, ord=order, axis=1) < found.limit * (1 - 1e-9)
        asked = points[nearer & (scores.argmin(axis=1) != net(x[None]).numpy().argmin())]
        ends = np.stack([[branch.what.lower, branch.what.upper] for branch in found.queue])
        is_in = ((ends[:, 0] <= asked[:, None]) & (asked[:, None] <= ends[:, 1])).all(axis=2)
        assert len(asked) > 100
        assert is_in.any(axis=1).all()
