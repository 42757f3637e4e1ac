"""A search that stops anywhere: what it calls the frontier is never beyond the nearest change of class."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from reluscope.analyses.robustness import class_changes as changes
from reluscope.analyses.robustness import distance_search as module
from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.distance_search import _NearestChange, _radii, search
from reluscope.analyses.robustness.enclosed_cells import enclosed_cell
from reluscope.analyses.robustness.exact_cells import ExactCells
from reluscope.analyses.robustness.nearest_known import Doubt
from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.geometry.polyhedra.nearest_problem import NearestPoint
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation.enclosures import Enclosure
from reluscope.networks.passes.forms import Forms, OpenUnit
from reluscope.stopping import words_of
from reluscope.tolerance import Tolerance

BOX = rs.Box(-2, 2, 2)


def view_of(seed, norm="l2", sizes=(2, 6, 5, 3)):
    net, window = open_domain(rs.load(layers(list(sizes), seed=seed)), BOX)
    return viewpoint(net, window, np.random.default_rng(seed).uniform(-1, 1, 2), Norm(norm), Tolerance())


def stopped_at(view, regions):
    return search(view, rs.Budget(regions=regions))


@pytest.mark.few(1)
@pytest.mark.parametrize(("norm", "with_attack"), [("l2", False), ("linf", False), ("l2", True)])
def test_lower_bounds_hold_at_every_budget(monkeypatch, norm, with_attack):
    if not with_attack:
        monkeypatch.setattr(module, "nearby_change", lambda view, until: None)
    seen = 0
    for seed in range(2):
        view = view_of(seed, norm)
        whole = stopped_at(view, 10**6)
        assert words_of(whole.stop) == ""
        assert whole.num_undecided == 0
        truth = np.inf if whole.change is None else whole.change.distance
        assert whole.lower <= truth
        assert whole.change is None or whole.lower >= truth * (1 - 1e-6)
        best = 0.0
        for regions in (1, 2, 3, 5, 8, 13, 25):
            part = stopped_at(view, regions)
            assert part.lower <= truth * (1 + 1e-9)
            assert part.lower >= best * (1 - 1e-9)  # more work proves no less
            best = part.lower
            assert part.change is None or part.change.distance >= truth * (1 - 1e-9)
            if words_of(part.stop):
                assert words_of(part.stop) == f"budget of {regions} regions"
                assert part.num_branches >= regions
            seen += 0 < part.lower < 0.99 * truth
    assert seen > 1


def test_without_a_domain_and_a_first_change_the_nearest_is_found_as_well(monkeypatch):
    """Ranges are endless then, and regions are split before there are outputs to bound."""
    monkeypatch.setattr(module, "nearby_change", lambda view, until: None)
    num_found = 0
    for seed in range(3):
        net, point = rs.load(layers([2, 3, 2], seed=seed)), np.random.default_rng(seed).uniform(-1, 1, 2)
        near, far = (
            search(viewpoint(*open_domain(net, domain), point, L2, Tolerance()), rs.Budget())
            for domain in (None, rs.Box(-50, 50, 2))
        )
        assert (words_of(near.stop), near.num_undecided, near.change is None) == ("", 0, far.change is None)
        if near.change is not None and far.change is not None:
            assert near.change.distance == pytest.approx(far.change.distance, rel=1e-6)
            assert near.lower == pytest.approx(near.change.lower)
            num_found += 1
    assert num_found


@pytest.mark.slow
def test_an_interruption_within_a_step_knows_the_frontier(monkeypatch):
    for seed, at in itertools.product(range(2), (1, 4, 12)):
        view = view_of(seed)
        whole = stopped_at(view, 10**6)
        truth = np.inf if whole.change is None else whole.change.distance
        calls, proper = itertools.count(1), _NearestChange._bound

        def interrupted(self, *arguments, at=at, calls=calls, proper=proper):
            if next(calls) == at:
                raise KeyboardInterrupt
            return proper(self, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(_NearestChange, "_bound", interrupted)
            part = stopped_at(view, 10**6)
        assert words_of(part.stop) == "interrupted" or next(calls) <= at + 1
        assert part.lower <= truth * (1 + 1e-9)


def test_radii_grow_up_to_the_change_that_is_known():
    assert _radii(np.inf) == [np.inf]
    assert _radii(0.0) == [0.0]
    found = _radii(2.0)
    assert found[-1] == 2.0
    assert len(found) == 5
    assert np.allclose(np.diff(np.log(found)), np.log(1.4))


def test_what_is_passed_over_and_what_is_undecided_bounds_the_answer():
    """A change that the network does not confirm may be one: the answer is no farther than it."""
    view = view_of(0)
    found = _NearestChange(view, None)
    found.limit = 1.0

    def doubt(key):
        return Doubt(key, (), (), (1,))

    def change(distance, lower):
        return changes.Change(distance, lower, distance, np.zeros(2), np.zeros(2), 1)

    found.settle(changes.Undecided(0.25), doubt(0.25))
    found.settle(changes.Undecided(0.5), doubt(0.5))
    assert (len(found.doubts), found.least_left, found.passed, found.change) == (2, 0.25, np.inf, None)
    found.settle(change(0.75, 0.125), doubt(0.25))  # known too roughly: in doubt from there on
    assert (found.change.distance, found.limit, found.passed, found.least_left) == (0.75, 0.75, np.inf, 0.125)
    found.settle(change(0.8, 0.8), doubt(0.3))
    assert (found.change.distance, found.limit, found.passed) == (0.75, 0.75, 0.8)
    found.settle(change(0.5, 0.5), doubt(0.3))
    assert (found.change.distance, found.limit, found.passed) == (0.5, 0.5, 0.5)
    beyond = _NearestChange(view, None)
    beyond.limit = 0.5
    beyond.settle(change(0.75, 0.75), doubt(0.5))  # confirmed, but beyond the radius that is searched
    assert (beyond.change.distance, beyond.limit, beyond.passed) == (0.75, 0.5, 0.75)


@pytest.mark.slow
def test_an_undecided_change_is_below_what_the_search_says(monkeypatch):
    """No change is confirmed: every one that was found is a doubt, and bounds the answer from below."""
    view = view_of(1)
    truth = stopped_at(view, 10**6).change.distance
    monkeypatch.setattr(module, "nearby_change", lambda view, until: None)
    monkeypatch.setattr(module, "confirm", lambda cell, rival, found: changes.Undecided(found.lower))
    monkeypatch.setattr(ExactCells, "is_small", False)
    found = stopped_at(view, 10**6)
    assert found.change is None
    assert found.num_undecided > 0
    assert found.lower == pytest.approx(truth, rel=1e-6)


@pytest.mark.slow
def test_undecided_changes_bound_the_frontier_of_every_budget(monkeypatch):
    """A search goes on beyond a change that is not confirmed, and so does its frontier; what it says does not."""
    monkeypatch.setattr(module, "nearby_change", lambda view, until: None)
    view = view_of(6, sizes=(2, 4, 3))
    truth = stopped_at(view, 10**6).change.distance
    monkeypatch.setattr(module, "confirm", lambda cell, rival, found: changes.Undecided(found.lower))
    monkeypatch.setattr(ExactCells, "is_small", False)
    whole = stopped_at(view, 10**6)
    assert whole.num_undecided > 1
    assert whole.lower <= truth * (1 + 1e-9)
    beyond = 0
    for regions in range(whole.num_branches - 1, whole.num_branches // 3, -4):
        part = stopped_at(view, regions)
        assert part.lower <= truth * (1 + 1e-9)
        beyond += part.num_undecided > 0
    assert beyond > 2


@pytest.mark.slow
def test_undecided_changes_bound_the_frontier_when_the_radius_grows(monkeypatch):
    """Each radius is searched anew; what the one before left undecided is no farther in the next."""
    view = view_of(6, sizes=(2, 4, 3))
    change = stopped_at(view, 10**6).change
    far = changes.Change(2 * change.distance, 0.0, 2 * change.distance, change.step, change.beyond, change.label)
    monkeypatch.setattr(module, "nearby_change", lambda view, until: far)
    monkeypatch.setattr(module, "confirm", lambda cell, rival, found: changes.Undecided(found.lower))
    monkeypatch.setattr(ExactCells, "is_small", False)
    whole = stopped_at(view, 10**6)
    assert whole.num_undecided > 0
    for regions in range(1, whole.num_branches, 2):
        assert stopped_at(view, regions).lower <= change.distance * (1 + 1e-9)


def test_a_class_that_never_wins_is_not_looked_for():
    net = rs.load(
        [
            (np.eye(2), np.array([9.0, 9.0])),
            (np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 0.0, -5.0])),
        ]
    )
    for point, other in (([3.0, 1.0], 1), ([1.0, 3.0], 0)):
        budget = rs.Budget(regions=100)  # without one regions are listed
        found = rs.robustness.decision_distance(net, [point], norm="linf", domain=rs.Box(-5, 5, 2), budget=budget)
        assert found.finding("decision_distance").value == pytest.approx(1.0)
        assert found.details["adversarial"].tolist() == [other]


def corner_view(point, offset=0.0, tolerance=None):
    """A point from which the classes x_0 and x_1 tie at (x_0 - x_1) / sqrt(2), all units far from their kinks."""
    net = rs.load([(np.eye(2), np.array([9.0, 9.0])), (np.eye(2), np.array([offset, offset]))])
    return viewpoint(*open_domain(net, None), np.array(point), L2, tolerance or Tolerance())


def test_what_is_no_nearer_than_the_change_known_bounds_the_answer_by_its_proof(monkeypatch):
    """Nearer by less than the resolution is not looked at; what multipliers prove of it may be less than that."""
    view, truth = corner_view([3.0, 1.0]), np.sqrt(2.0)
    proper = StepRegion.nearest_change
    monkeypatch.setattr(
        StepRegion, "nearest_change", lambda cell, rival, bound: replace(proper(cell, rival, bound), lower=1.25)
    )
    known = changes.Change(truth + 1e-9, truth, truth + 1e-9, np.array([-1.0, 1.0]), np.array([-1.1, 1.1]), 1)
    monkeypatch.setattr(module, "nearby_change", lambda view, until: known)
    found = search(view, rs.Budget())
    assert (found.lower, found.change) == (pytest.approx(1.25), known)
    # A part is not nearer than the whole of which that was proved.
    first, last = ((np.full(2, piece, dtype=np.int32),) for piece in (0, 1))
    for key, passed, bound in ((0.0, 2.0, 1.25), (1.3125, 2.0, 1.3125), (1.0, 2.0, 1.25), (0.0, 0.5, 0.5)):
        part = _NearestChange(view, known)
        part.limit, part.passed = known.distance, passed
        part._bound(first, last, 1, key, None, 0.0)
        assert part.passed == pytest.approx(bound)


def test_a_change_right_beside_the_point_is_confirmed_farther_away(monkeypatch):
    """The network is sure of the other class only at ten times the distance of the change that was known before."""
    margin = 2.0**-26
    view = corner_view([3.0, 3.0 - margin], offset=2.0**23)
    far = changes.Change(2e-8, 0.0, 2e-8, np.zeros(2), np.zeros(2), 1)
    monkeypatch.setattr(module, "nearby_change", lambda view, until: far)
    found = search(view, rs.Budget())
    assert found.num_undecided == 0
    assert found.change is not None
    assert found.change.distance == pytest.approx(margin / np.sqrt(2), rel=1e-6)


def test_without_rounding_what_has_no_noise_is_settled(monkeypatch):
    monkeypatch.setattr(module, "nearby_change", lambda view, until: None)
    found = search(corner_view([3.0, 1.0], tolerance=Tolerance(rounding=0.0)), rs.Budget())
    assert found.change.distance == pytest.approx(np.sqrt(2.0))


@pytest.mark.parametrize(
    ("spreads", "is_exact"),
    [
        ([[0.0, 0.0], [0.0]], True),
        ([[3.9e-12, -3.9e-12], [0.0]], True),
        ([[4.1e-12, 0.0], [0.0]], False),
        ([[0.0, 0.0], [0.5]], False),
        ([[0.0, 0.5], [0.0]], False),
    ],
)
def test_one_row_with_noise_is_noise(spreads, is_exact):
    view = corner_view([3.0, 1.0])
    limits = [
        Forms(-np.ones(len(row)), np.ones((len(row), 2)), np.array(row)[:, None], np.full(len(row), 1e-12))
        for row in spreads
    ]
    ball = CutBall(1.0, L2, view.lower, view.upper)
    cell, noise, found = enclosed_cell(view, ball, Enclosure(False, limits, [OpenUnit(0, 0, ((0, 0), (1, 1)))], None))
    assert found is is_exact
    flat = np.array([entry for row in spreads for entry in row])
    assert noise[:, 0] == pytest.approx(np.abs(flat) / np.sqrt(2), abs=0)
    assert cell.half_spaces.offsets == pytest.approx((1 + np.abs(flat)) / np.sqrt(2))


@pytest.mark.parametrize("has_outputs", [True, False])
@pytest.mark.parametrize(
    ("key", "passed", "bound"), [(0.0, 2.0, 1.25), (1.3125, 2.0, 1.3125), (1.0, 2.0, 1.25), (0.0, 0.5, 0.5)]
)
def test_what_is_too_far_is_as_far_as_that_is_proved(monkeypatch, has_outputs, key, passed, bound):
    """Whether or not outputs were bounded: where units bend without end, the cell itself is too far."""
    view = corner_view([3.0, 1.0])
    for name in ("nearest", "nearest_change"):
        proper = getattr(StepRegion, name)
        monkeypatch.setattr(
            StepRegion, name, lambda *given, proper=proper: replace(proper(*given), distance=np.inf, lower=1.25)
        )
    if not has_outputs:
        endless = Enclosure(False, [], [OpenUnit(0, 0, ((0, 0), (1, 1)))], None)
        monkeypatch.setattr(module, "enclose", lambda *_, **__: endless)
    part = _NearestChange(view, None)
    part.limit, part.passed = 3.0, passed
    part._bound(*((np.full(2, piece, dtype=np.int32),) for piece in (0, 1)), 1, key, None, 0.0)
    assert (part.passed, part.queue) == (pytest.approx(bound), [])


@pytest.mark.parametrize(("key", "bound"), [(0.0, 1.25), (1.3125, 1.3125)])
@pytest.mark.parametrize("is_empty", [False, True])
def test_what_is_too_thin_for_floats_is_in_doubt_from_where_that_is_proved(monkeypatch, key, bound, is_empty):
    """Where floats find nothing, and nobody proved that, only what was known before bounds the answer."""
    view = corner_view([3.0, 1.0])
    proper = StepRegion.nearest_change
    monkeypatch.setattr(StepRegion, "nearest_change", lambda *given: replace(proper(*given), lower=1.25))
    monkeypatch.setattr(NearestPoint, "is_empty", is_empty)
    monkeypatch.setattr(StepRegion, "is_thin", lambda *_: True)
    monkeypatch.setattr(StepRegion, "is_surely_empty", lambda *_: False)
    part = _NearestChange(view, None)
    part.limit = 3.0
    part._bound(*((np.full(2, piece, dtype=np.int32),) for piece in (0, 1)), 1, key, None, 0.0)
    (doubt,) = part.doubts
    assert doubt.key == pytest.approx(key if is_empty else bound)
    assert (doubt.labels, part.passed, part.queue) == ((1,), np.inf, [])


@pytest.mark.parametrize(("key", "bound"), [(0.0, 1.25), (1.0, 1.25), (1.3125, 1.3125)])
@pytest.mark.parametrize("end", ["settled", "doubt", "queue"])
def test_whatever_becomes_of_regions_they_are_no_nearer_than_what_was_known(monkeypatch, key, bound, end):
    """A change that is not confirmed, noise without units to split, and units to split."""
    view, proper, seen = corner_view([3.0, 1.0]), StepRegion.nearest_change, _NearestChange._seen
    monkeypatch.setattr(StepRegion, "nearest_change", lambda *given: replace(proper(*given), lower=1.25))
    monkeypatch.setattr(module, "confirm", lambda *_: changes.Undecided(0.25))
    opened = [OpenUnit(0, 0, ((0, 0), (1, 1)))] if end == "queue" else []

    def known(*given):
        found = seen(*given)
        return found._replace(is_exact=end == "settled", enclosure=replace(found.enclosure, open=opened))

    monkeypatch.setattr(_NearestChange, "_seen", known)
    monkeypatch.setattr(module, "_most_influential", lambda *_: 0)
    part = _NearestChange(view, None)
    part.limit = 3.0
    part._bound(*((np.full(2, piece, dtype=np.int32),) for piece in (0, 1)), 1, key, None, 0.0)
    found = part.queue if end == "queue" else part.doubts
    assert [one.key for one in found] == [pytest.approx(bound)]
    assert part.passed == np.inf


def test_a_search_begins_with_all_pieces_of_all_units_and_all_other_classes(monkeypatch):
    bent = GraphBuilder()
    value = bent.pointwise(bent.input((2,)), "bent", [-1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0])
    value = bent.linear(value, torch.eye(3, 2).double(), torch.tensor([0.0, 5.0, 0.0]).double())
    net = bent.build(bent.pointwise(value, "again", [0.0], [0.0, 1.0], [0.0, 0.0]))
    begun, part = [], _NearestChange(viewpoint(*open_domain(net, None), np.zeros(2), L2, Tolerance()), None)
    monkeypatch.setattr(_NearestChange, "_bound", lambda self, *given: begun.append(given))
    part._search_within(1.5)
    assert [given[2:] for given in begun] == [(0, 0.0, None, 0.0), (2, 0.0, None, 0.0)]
    for first, last, *_ in begun:
        assert [pieces.tolist() for pieces in first] == [[0, 0], [0, 0, 0]]
        assert [pieces.tolist() for pieces in last] == [[2, 2], [1, 1, 1]]
    assert (part.limit, part.passed, part.doubts, part.queue) == (1.5, np.inf, [], [])


def test_time_that_is_left_is_used_and_time_that_is_over_is_none():
    view = corner_view([3.0, 1.0])
    found = search(view, rs.Budget(seconds=600.0))
    assert (words_of(found.stop), found.change.distance) == ("", pytest.approx(np.sqrt(2.0)))
    over = search(view, rs.Budget(seconds=0.0))
    assert words_of(over.stop) == "budget of 0 s"
    assert over.lower <= np.sqrt(2.0)
