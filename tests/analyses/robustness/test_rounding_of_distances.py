"""Tolerances of distances where rounding is all there is of them: against fractions."""

import inspect
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import LEAKY, RELU, affine, fractions_of, network_of, rational_map, rational_values
from reluscope.analyses.robustness import class_changes as changes
from reluscope.analyses.robustness import exact_cells
from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.class_changes import Change
from reluscope.analyses.robustness.distance_search import EndedSearch
from reluscope.analyses.robustness.exact_cells import ExactCells
from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
from reluscope.findings import Status
from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.geometry.programs.rational_program import value_at, whole_form
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.fractions.rational import multiplications
from reluscope.stopping import INTERRUPTED, Stop, StopReason, words_of
from reluscope.tolerance import Tolerance

NORMS = ("l1", "linf")
JUMP = ("pointwise", [0.5], [0.0, 1.0], [0.0, 0.0])


def is_between(column, exact, row=0):
    """Tell whether an exact number lies between the ends of a cell."""
    return Fraction(float(column.lower[row])) <= exact <= Fraction(float(column.upper[row]))


def length(row, norm):
    """Return the dual norm, in fractions."""
    return {"l1": max, "linf": sum}[norm]([abs(entry) for entry in row])


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kink", [LEAKY, RELU])
def test_outputs_that_cancel_leave_a_distance_with_their_rounding(norm, kink):
    """All units are far from their kinks, so that the distance is that to a hyperplane."""
    far = 0
    for seed in range(25):
        generator = np.random.default_rng(seed)
        steps = [affine(generator.normal(size=(3, 2)), 1e8 * generator.uniform(1, 2, 3)), kink]
        weight, point = generator.normal(size=(2, 3)), generator.normal(size=2)
        inner = rational_values(steps, point)[-1]
        heights = [float(sum(w * v for w, v in zip(fractions_of(row), inner, strict=True))) for row in weight]
        steps.append(affine(weight, [generator.uniform(1, 2) - heights[0], -heights[1]]))
        rows = rational_map(steps, point)
        ahead = [a - b for a, b in zip(*rows, strict=True)]
        margin = sum((w * v for w, v in zip(ahead, fractions_of(point), strict=False)), ahead[-1])
        exact = abs(margin) / length(ahead[:-1], norm)
        net = network_of(steps, 2)
        within = rs.robustness.decision_distance_within(net, point[None], norm=norm)["decision_distance_within"]
        whole = rs.robustness.decision_distance(net, point[None], norm=norm)["decision_distance"]
        for found in (within, whole):
            assert is_between(found, exact)
            assert found.upper[0] - found.lower[0] < 1e-4
            assert found.is_exact[0] == (found.upper[0] - found.lower[0] <= found.tolerance[0])
        far += abs(Fraction(float(within.value[0])) - exact) > Fraction(1, 10**10)
    assert far > 5


@pytest.mark.few(1)
@pytest.mark.parametrize("slope", [1e-3, 3e-6])
def test_a_corner_of_two_rows_that_are_nearly_parallel_moves_by_more_than_they(slope):
    """The region ends at ``x_1 + slope x_2 = c`` right before outputs tie at ``x_1 = c'``, so that x_2 has to move.

    In l-infinity the least step (t, t') has ``x_1 = c'`` and ``slope x_2`` down to c - c'.
    """
    apart = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        offset = 1e7 * generator.uniform(1, 2)
        # h_1 = offset - x_1 - slope x_2 > 0 in the region, h_2 = x_1 + 64, both exact in fractions only.
        steps = [
            affine([[-1 / 3, -slope / 3], [1 / 7, 0.0]], [offset / 3, offset / 7]),
            RELU,
            # What is left of the first unit is small, and its rounding is not.
            affine([[3.0, 0.0], [0.0, 7.0]], [-offset + 1.0, -offset - 1.0 - 50 * slope]),
            RELU,
            affine([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0]),
        ]
        point = np.zeros(2)
        steps[2][2][1] += 64.0
        steps[4] = affine([[0.0, 0.0], [0.0, 1.0]], [64.0, 0.0])
        rows, ties = rational_map(steps[:3], point), rational_map(steps, point)
        edge, ahead = rows[0], [b - a for a, b in zip(*ties, strict=True)]
        # edge x + e >= 0 and ahead x + f >= 0: where both are equations, and the farther of the two coordinates.
        (a, b, e), (c, d, f) = edge, ahead
        det = a * d - b * c
        x, y = (b * f - d * e) / det, (c * e - a * f) / det
        exact = max(abs(x), abs(y))
        assert abs(y) > 2 * abs(x)
        found = rs.robustness.decision_distance_within(network_of(steps, 2), point[None], norm="linf")
        column = found["decision_distance_within"]
        assert np.isfinite(column.value[0])
        assert is_between(column, exact)
        apart += abs(Fraction(float(column.value[0])) - exact) > Fraction(1, 10**8)
    assert apart > 5


def test_the_domain_is_in_the_way_as_exactly_as_its_rows_are_rounded():
    net = network_of([affine(np.eye(2), [1e12, 1e12]), RELU, affine(np.ones((1, 2)), [0.0])], 2)
    apart = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        row, size = generator.uniform(0.1, 1.0, 2), 10.0 ** generator.integers(-3, 9)
        point = size * generator.normal(size=2) * (seed % 3 > 0)
        bound = float(row @ point + generator.uniform(0.1, 1.0))
        exact = Fraction(bound) - sum(w * v for w, v in zip(fractions_of(row), fractions_of(point), strict=True))
        domain = rs.Polyhedron(row[None], [bound])
        found = rs.robustness.boundary_distance(net, point[None], norm="l1", domain=domain)
        column = found["boundary_distance"]
        assert found.details["sources"].tolist() == [[-1, 0, -1]]
        assert is_between(column, exact / max(fractions_of(row)))
        assert column.upper[0] - column.lower[0] < 2e-13 * (1 + 10 * size)
        apart += Fraction(float(column.value[0])) != exact / max(fractions_of(row))
    assert apart > 5


def test_the_farther_of_domain_and_facet_is_not_reported():
    net = network_of([affine(np.eye(2), [1.0, 2.0]), RELU, affine(np.ones((1, 2)), [0.0])], 2)
    near = rs.robustness.boundary_distance(net, [[0.0, 0.0]], norm="l2", domain=rs.Box(-3, 3, 2))
    assert near["boundary_distance"].value[0] == 1.0
    assert (near.details["sources"].tolist(), near.details["points"].tolist()) == ([[0, 0, 0]], [[-1.0, 0.0]])
    tie = rs.robustness.boundary_distance(net, [[0.0, 0.0]], norm="l2", domain=rs.Box(-1, 3, 2))
    assert tie.details["sources"].tolist() == [[0, 0, 0]]  # a unit comes before the domain
    outside = np.array([[3.0 + 1e-13, 0.0]])  # outside by rounding: on the boundary
    found = rs.robustness.boundary_distance(net, outside, norm="l2", domain=rs.Box(-1, 3, 2))
    assert found["boundary_distance"].value[0] == 0.0


CORNER = [(np.eye(2), np.array([9.0, 9.0])), (np.eye(2), np.zeros(2))]


def found_by(monkeypatch, *searches):
    """Return the distances from one point after another that searches with these ends would leave."""
    # What the function itself sees, however its module was imported.
    names, ends = inspect.unwrap(rs.robustness.decision_distance).__globals__, iter(searches)
    monkeypatch.setitem(names, "search", lambda *_: next(ends))
    points = np.repeat([[3.0, 1.0]], len(searches), axis=0)
    return rs.robustness.decision_distance(rs.load(CORNER), points, norm="l2")


def change_at(distance, error):
    return Change(distance, distance - error, distance + error, np.array([-1.0, 1.0]), np.array([-1.1, 1.1]), 1)


def test_ends_hold_what_the_duals_leave_open_and_what_rounding_does(monkeypatch):
    found = found_by(
        monkeypatch,
        EndedSearch(1.125, change_at(1.5, 0.125), None, 7, 0),
        EndedSearch(1.5, change_at(1.5, 0.0), None, 7, 0),
        EndedSearch(np.inf, None, None, 7, 0),
        EndedSearch(1e12, None, None, 7, 0),
        EndedSearch(-0.0625, change_at(0.0625, 0.125), None, 7, 0),
    )["decision_distance"]
    assert found.value.tolist() == [1.5, 1.5, np.inf, 1e12, 0.0625]
    assert found.lower.tolist() == [1.125, 1.5, np.inf, 1e12, 0.0]
    assert found.upper.tolist() == [1.625, 1.5, np.inf, np.inf, 0.1875]
    assert found.claims == ("ESTIMATE", "EXACT", "EXACT", "LOWER", "ESTIMATE")


def test_distances_are_exact_to_a_millionth_of_the_distance_or_a_billionth_of_the_point(monkeypatch):
    near, far = (EndedSearch(1.5 - gap, change_at(1.5, 0.0), None, 7, 0) for gap in (1.49e-6, 1.51e-6))
    found = found_by(monkeypatch, near, far)["decision_distance"]
    assert found.scale.tolist() == [3.0] * 2  # the point is (3, 1)
    assert found.tolerance == pytest.approx([1.5e-6] * 2)
    assert found.claims == ("EXACT", "UPPER")


def test_a_frontier_beyond_the_certified_radius_is_the_bound(monkeypatch):
    found = found_by(monkeypatch, EndedSearch(1.75, change_at(2.0, 0.0), Stop(StopReason.REGIONS, 3), 7, 0))
    assert str(found.finding("decision_distance")) == "1.75 (LOWER, in [1.75, 2])"


@pytest.mark.parametrize(("stopped", "undecided"), [(Stop(StopReason.REGIONS, 3), 0), (None, 2), (INTERRUPTED, 1)])
def test_a_search_that_did_not_end_or_left_doubts_is_a_lower_bound(monkeypatch, stopped, undecided):
    found = found_by(monkeypatch, EndedSearch(0.5, change_at(2.0, 0.0), stopped, 7, undecided))
    finding = found.finding("decision_distance")
    # Its own region keeps the class of a point as far as this, where a search ended before it knew.
    lower = float(np.sqrt(2.0)) if stopped else 0.5
    assert (finding.claim, finding.value) == ("LOWER", pytest.approx(lower, rel=1e-12))
    assert finding.interval == (finding.value, 2.0)
    assert (found.details["stopped"].tolist(), found.details["num_undecided"].tolist()) == (
        [words_of(stopped)],
        [undecided],
    )
    assert found.details["witnesses"] == pytest.approx(np.array([[2.0, 2.0]]))
    assert found.details["beyond"] == pytest.approx(np.array([[1.9, 2.1]]))
    assert found.stopped == words_of(stopped if stopped is INTERRUPTED else None)


@pytest.mark.parametrize(("farther", "nearest"), [(0.0, 1.0), (0.75, 5 / 3)])
def test_a_tolerance_holds_the_gap_to_the_dual_bound_of_every_rival(monkeypatch, farther, nearest):
    """The nearest of the rivals may be nearer than what was found by as much as any of their bounds is below."""
    from reluscope.analyses.robustness.cells_of_classes import StepRegion

    net = rs.load(
        [
            (np.eye(2), np.array([9.0, 9.0])),
            (np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]]), np.array([0.0, 0.0, 9.0])),
        ]
    )
    proper = StepRegion.nearest_change

    def loose(cell, rival, bound):
        found = proper(cell, rival, bound)
        if rival.label == 1:  # asked first, and alone if it is as near as it seems
            return replace(found, distance=found.distance + farther, lower=found.lower - 0.5)
        return replace(found, lower=found.lower - 0.25)

    monkeypatch.setattr(StepRegion, "nearest_change", loose)
    found = rs.robustness.decision_distance_within(net, [[3.0, 1.0]], norm="linf")
    column = found["decision_distance_within"]
    assert column.value[0] == pytest.approx(nearest)
    assert column.lower[0] == pytest.approx(0.5)
    assert column.claims == ("ESTIMATE",)


def test_a_class_that_rounding_could_have_made_is_no_change():
    """Right beyond the tie the other class leads by less than the outputs are rounded."""
    from reluscope.analyses.robustness.class_changes import _first_other_class
    from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
    from reluscope.tolerance import Tolerance

    for offset in (1e8, -1e8):
        net = rs.load([(np.eye(2), np.array([1e3, 1e3])), (np.eye(2), np.array([offset, offset]))])
        net, window = open_domain(net, None)
        view = viewpoint(net, window, np.array([3.0, 1.0]), L2, Tolerance())
        small, large = np.array([-1.0 - 1e-8, 1.0 + 1e-8]), np.array([-1.0 - 1e-2, 1.0 + 1e-2])
        assert _first_other_class(view, small[None], ties=False) is None
        assert _first_other_class(view, np.array([small, large]), ties=False)[1] == 1
        assert _first_other_class(view, np.array([small, large]), ties=False)[0] == pytest.approx(large)
        assert _first_other_class(view, small[None], ties=True)[1] == 1
        assert _first_other_class(view, np.zeros((1, 2)), ties=True) is None
        assert _first_other_class(view, np.zeros((0, 2)), ties=True) is None
        # The same lead is within the rounding that a larger safety factor allows for.
        careful = replace(view, tolerance=Tolerance(rounding=16e6))
        assert _first_other_class(careful, large[None], ties=False) is None


def test_what_a_search_left_undecided_is_told(monkeypatch):
    found = found_by(monkeypatch, *[EndedSearch(0.5, None, None, 7, 3)] * 2)
    assert found.details["num_undecided"].tolist() == [3, 3]
    assert found.details["num_branches"].tolist() == [7, 7]
    assert found.finding("decision_distance", 1).claim == "LOWER"
    assert found.finding("decision_distance", 1).interval == (0.5, np.inf)
    assert found.details["adversarial"].tolist() == [-1, -1]
    assert np.isnan(found.details["witnesses"]).all()
    assert np.isnan(found.details["beyond"]).all()


def test_points_after_an_interruption_are_not_reached(monkeypatch):
    found = found_by(
        monkeypatch, EndedSearch(0.5, change_at(2.0, 0.0), INTERRUPTED, 7, 0), EndedSearch(0.5, None, None, 7, 0)
    )
    assert found.status == (Status.DONE, Status.NOT_REACHED)
    assert found.details["stopped"].tolist() == ["interrupted", ""]
    assert found.details["adversarial"].tolist() == [1, -1]
    assert found.median("decision_distance").claim == "ESTIMATE"  # the second may be anywhere


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_way_is_followed_as_far_as_a_cell_s_outputs_hold(norm):
    from reluscope.analyses.robustness.cells_of_classes import StepRegion
    from reluscope.analyses.robustness.class_changes import _share_within
    from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
    from reluscope.tolerance import Tolerance

    net, window = open_domain(rs.load([(np.eye(2), np.array([50.0, 50.0])), (np.eye(2), np.zeros(2))]), None)
    view = viewpoint(net, window, np.array([3.0, 1.0]), Norm(norm), Tolerance())
    own = StepRegion.of(view, view.first_pieces())
    own, table = StepRegion.of(view, view.first_pieces()), own.half_spaces
    cell = StepRegion(view, table.rows, table.offsets, own.errors, own.entries, own.outputs, radius=2.0)
    step, short, long = np.array([1.0, 0.25]), np.array([0.25, -0.125]), np.array([3.0, 4.0])
    assert _share_within(step, short, cell) == 1.0
    share = _share_within(step, long, cell)
    assert 0 < share < 1
    assert Norm(norm).size(step + share * long) <= 2.0
    assert Norm(norm).size(step + share * long) == pytest.approx(2.0)
    assert _share_within(np.array([2.0, 0.0]), np.array([1.0, 0.0]), cell) < 1e-15


def test_what_is_confirmed_far_inside_lies_on_the_way_there(monkeypatch):
    """Without a direction at once, points between the step and the deepest one are asked, within the radius."""
    from reluscope.analyses.robustness import class_changes as changes
    from reluscope.analyses.robustness.cells_of_classes import StepRegion
    from reluscope.analyses.robustness.viewpoints import Viewpoint, open_domain, viewpoint
    from reluscope.tolerance import Tolerance

    net, window = open_domain(rs.load([(np.eye(2), np.array([50.0, 50.0])), (np.eye(2), np.zeros(2))]), None)
    view = viewpoint(net, window, np.array([3.0, 1.0]), L2, Tolerance())
    assert isinstance(view, Viewpoint)
    own = StepRegion.of(view, view.first_pieces())
    own, table = StepRegion.of(view, view.first_pieces()), own.half_spaces
    cell = StepRegion(view, table.rows, table.offsets, own.errors, own.entries, own.outputs, radius=2.0)
    (rival,) = cell.rivals
    found = cell.nearest_change(rival, np.inf)
    asked = []
    proper = changes._first_other_class
    monkeypatch.setattr(StepRegion, "inward", lambda *_: None)
    monkeypatch.setattr(
        changes,
        "_first_other_class",
        lambda view, steps, *, ties: (asked.append(steps), proper(view, steps, ties=ties))[1],
    )
    change = changes.confirm(cell, rival, found)
    deep = cell.deepest(rival)
    (steps,) = asked
    assert (np.linalg.norm(steps, axis=1) <= 2.0 + 1e-12).all()
    assert np.linalg.norm(steps[-1]) == pytest.approx(2.0)
    away = steps - found.point
    assert np.abs(away[:, 0] * (deep - found.point)[1] - away[:, 1] * (deep - found.point)[0]).max() < 1e-8
    assert np.linalg.norm(away, axis=1) / np.linalg.norm(away[-1]) == pytest.approx(changes.SHARES)
    assert (change.distance, change.label) == (pytest.approx(np.sqrt(2.0)), 1)


@pytest.mark.parametrize("seconds", [None, 1.5])
def test_regions_are_listed_for_all_points_unless_they_are_counted(seconds, monkeypatch):
    asked = []
    names = inspect.unwrap(rs.robustness.decision_distance).__globals__
    monkeypatch.setitem(names, "tied_regions", lambda *given: asked.append(given))
    views = [view_of(rs.load(CORNER), point) for point in ([3.0, 1.0], [1.0, 2.0])]
    for regions in (0, 5, None):
        assert not asked
        assert names["_Listed"](views, rs.Budget(regions=regions, seconds=seconds)).near(views[1]) is None
    ((*_, points, labels, norm, _, allowed),) = asked
    assert (points.tolist(), labels.tolist()) == ([[3.0, 1.0], [1.0, 2.0]], [view.label for view in views])
    assert (norm, allowed) == (L2, None if seconds is None else 3.0)


def test_a_budget_is_kept_and_none_is_endless():
    from networks.models import layers

    net, points = rs.load(layers([2, 6, 5, 3], seed=1)), [[0.1, 0.2]]
    cut = rs.robustness.decision_distance(net, points, norm="l2", budget=rs.Budget(regions=1))
    assert cut.details["stopped"].tolist() == ["budget of 1 regions"]
    assert (cut.finding("decision_distance").claim, cut.stopped) == ("LOWER", "")
    assert rs.robustness.decision_distance(net, points, norm="l2").details["stopped"].tolist() == [""]


def test_a_class_right_beyond_counts_if_rounding_cannot_undo_it():
    """With outputs as large as 10, rounding of 2^-7 of a sum hides a lead of a millionth."""
    net = network_of([affine(np.eye(2), [9.0, 9.0]), RELU, affine(np.eye(2), [0.0, 0.0])], 2)
    steps = np.array([[0.0, 0.0], [-1.0, 1.0], [-1.0 - 1e-6, 1.0 + 1e-6]])
    for tolerance, expected in ((rs.Tolerance(), 1), (rs.Tolerance(rounding=2.0**45), None)):
        view = viewpoint(*open_domain(net, None), np.array([3.0, 1.0]), L2, tolerance)
        found = changes._first_other_class(view, steps, ties=False)
        assert (None if found is None else found[1]) == expected
        assert found is None or found[0] == pytest.approx(steps[2])
        assert changes._first_other_class(view, steps[:0], ties=True) is None
        assert changes._first_other_class(view, steps[:2], ties=True) is None  # at a tie the lower class stays


def test_a_class_that_ties_on_a_line_alone_wins_in_no_open_region():
    # Of 0 and |x| the first one is taken at 0, where neither unit is active, and nowhere else.
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2))])
    net, window = open_domain(net, rs.Box(-2, 2, 1))
    cells = ExactCells(viewpoint(net, window, np.array([1.0]), L2, Tolerance()))
    flat = ((0, 0),)
    assert cells._change(flat, 0) is None
    assert cells.change([np.array([0, 0])], 0).distance == 1.0


def view_of(net, point, norm=L2, domain=None):
    return viewpoint(*open_domain(net, domain), np.array(point, dtype=float), norm, Tolerance())


@pytest.mark.parametrize(
    ("gates", "is_small"),
    [
        ([RELU], True),
        ([RELU, LEAKY], True),
        ([RELU, ("max", 2)], True),
        ([RELU, JUMP], False),
        ([JUMP, RELU], False),
        ([JUMP], False),
    ],
)
def test_networks_with_jumps_are_too_much_for_codes_in_fractions(gates, is_small):
    builder = GraphBuilder()
    value = builder.input((2,))
    for kind, *tables in gates:
        value = (
            builder.maxout(value, 0, *tables)
            if kind == "max"
            else builder.pointwise(value, "kink", *tables, may_jump=True)
        )
    net = builder.build(value)
    assert ExactCells(view_of(net, [0.25, 0.75])).is_small == is_small


def test_networks_of_many_inputs_or_units_are_too_much_for_codes_in_fractions(monkeypatch):
    net = rs.load([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))])
    assert ExactCells(view_of(net, [1.0, 2.0, 3.0])).is_small
    # Three units and bounds of three inputs, times three; four evaluations of the network.
    for name, most in (("MAX_DIMENSIONS", 3), ("MAX_NUMBERS", 27), ("MAX_MULTIPLICATIONS", 4 * multiplications(net))):
        with monkeypatch.context() as patch:
            patch.setattr(exact_cells, name, most)
            assert ExactCells(view_of(net, [1.0, 2.0, 3.0])).is_small
            patch.setattr(exact_cells, name, most - 1)
            assert not ExactCells(view_of(net, [1.0, 2.0, 3.0])).is_small


def test_what_is_too_much_for_fractions_stays_as_floats_have_it(monkeypatch):
    view = view_of(rs.load(CORNER), [3.0, 1.0])
    code = view.first_pieces()
    (rival,) = StepRegion.of(view, code).rivals
    cells = ExactCells(view)
    found = cells.rival(code, rival)
    assert (found.label, found.error, found.entries) != (rival.label, rival.error, rival.entries)
    assert found.row == pytest.approx(rival.row / np.abs(rival.row).max())
    assert Fraction(found.slack) == Fraction(rival.slack) / Fraction(float(np.abs(rival.row).max()))
    monkeypatch.setattr(exact_cells, "MAX_NUMBERS", 1)
    assert ExactCells(view).rival(code, rival) is rival


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_classes_from_fractions_are_off_by_their_last_digit(seed):
    rng = np.random.default_rng(seed)
    steps = [
        affine(rng.normal(size=(3, 2)), [9.0, 9.0, 9.0]),
        RELU,
        affine(rng.normal(size=(2, 3)), rng.normal(size=2)),
    ]
    point = rng.normal(size=2)
    view = view_of(network_of(steps, 2), point)
    code = view.first_pieces()
    (rival,) = StepRegion.of(view, code).rivals
    found = ExactCells(view).rival(code, rival)
    rows = rational_map(steps, point)
    *row, constant = (other - own for own, other in zip(rows[view.label], rows[1 - view.label], strict=True))
    height = sum(a * b for a, b in zip(row, fractions_of(point), strict=True)) + constant
    scale = max(map(abs, row))
    for mine, exact in zip(found.row.tolist(), row, strict=True):
        assert abs(Fraction(mine) + exact / scale) <= Fraction(found.entries)
    assert abs(Fraction(found.slack) - height / scale) <= Fraction(found.error)
    assert found.error <= 1e-15 * abs(found.slack)
    assert found.entries <= 1e-15
    assert found.length == pytest.approx(np.linalg.norm(found.row))
    assert found.noise.tolist() == [0.0] * len(rival.noise)


def test_changes_in_all_codes_within_a_ball_as_long_as_they_are_few():
    view = view_of(rs.load(CORNER), [3.0, 1.0])
    first = view.first_pieces()

    def pieces(radius):
        ball = CutBall(radius, view.norm, view.lower, view.upper)
        none, every = ([np.full(len(table), piece, dtype=np.int32) for table in first] for piece in (0, 1))
        return enclose(view.network, view.x, ball, tuple(none), tuple(every), rounding=view.rounding).pieces

    # Units end at -9: of a small ball there is one code, of a large one there are four.
    for radius, number in ((2.0, 1), (30.0, 4)):
        cells = ExactCells(view)
        cells.left = number
        found = cells.changes(pieces(radius), [1])
        assert min(change.distance for change in found) == pytest.approx(2**0.5)
        assert (cells.left, len(cells._known)) == (0, number)
        assert cells.changes(pieces(radius), [1]) is None
        cells = ExactCells(view)
        cells.left = number - 1
        assert cells.changes(pieces(radius), [1]) is None
        assert cells.changes([], [1]) is None


def least_distance(forms, point, order):
    """Return the least distance in l1 or linf to where forms are at least 0 in the plane, at a corner of all lines."""
    x, y = map(Fraction, point)
    lines = [(Fraction(f.get(0, 0)), Fraction(f.get(1, 0)), Fraction(f.get(exact_cells.CONSTANT, 0))) for f in forms]
    lines = [(a, b, a * x + b * y + c) for a, b, c in lines]  # around the point
    # On lines through the point on which a norm may be least: the axes in l1, the diagonals in linf.
    rays = [(1, 0, 0), (0, 1, 0)] if order == 1 else [(1, 1, 0), (1, -1, 0)]
    found = [Fraction(0)] if all(c >= 0 for _, _, c in lines) else []
    for (a, b, c), (d, e, f) in combinations([*lines, *rays], 2):
        if det := a * e - b * d:
            s, t = (b * f - c * e) / det, (c * d - a * f) / det
            if all(a * s + b * t + c >= 0 for a, b, c in lines):
                found.append(abs(s) + abs(t) if order == 1 else max(abs(s), abs(t)))
    return min(found)


def wild_forms(rng, point, scale):
    """Return forms with a common point inside, which is at some distance from a point, and this one."""
    inner = [Fraction(float(p + scale * s)) for p, s in zip(point, rng.normal(size=2), strict=True)]
    forms = []
    for row in rng.integers(-9, 10, (int(rng.integers(1, 5)), 2)).tolist():
        room = Fraction(float(scale * rng.uniform(0.01, 0.5)))
        if any(row):
            forms.append(whole_form([*map(Fraction, row), room - sum(a * b for a, b in zip(row, inner, strict=True))]))
    return forms or [whole_form([Fraction(1), Fraction(0), 1 - inner[0]])], inner


@pytest.mark.parametrize("is_short", [False, True])
@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("linf", np.inf)])
@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_changes_in_fractions_have_ends_around_the_least_distance(norm, order, scale, is_short, monkeypatch):
    rng, moved = np.random.default_rng(3), 0
    net = rs.load([(np.eye(2), np.full(2, 9.0)), (np.eye(2), np.zeros(2))])
    whole = exact_cells.nearest_point

    def short(*of, **asked):  # a point that is not quite there, or nowhere
        found = whole(*of, **asked)
        share = rng.choice([0.0, 0.5, 1 - 1e-6, np.inf])
        return replace(found, point=np.full(2, np.inf) if share == np.inf else share * found.point)

    monkeypatch.setattr(exact_cells, "nearest_point", short if is_short else whole)
    for _ in range(25):
        point = (rng.integers(-50, 50, 2) / 16).tolist()
        forms, inner = wild_forms(rng, point, scale)
        change = ExactCells(view_of(net, point, Norm(norm)))._nearest(forms, inner, 1)
        exact = least_distance(forms, point, order)
        assert Fraction(change.lower) <= exact <= Fraction(change.upper)
        assert change.lower <= change.distance <= change.upper <= change.distance * (1 + 1e-14)
        assert is_short or change.upper - change.lower <= 1e-9 * (scale + change.upper)
        # The step fulfils all forms up to its last digits; what is beyond goes on into all of them, not far.
        away = np.abs(change.beyond - change.step).max()
        assert away <= 1e-9 * max(np.abs(point).max(), 1e-300)
        for form in forms:
            at, past = (
                value_at(form, [Fraction(p) + Fraction(u) for p, u in zip(point, steps.tolist(), strict=True)])
                for steps in (change.step, change.beyond)
            )
            digits = sum(abs(form.get(axis, 0)) * abs(Fraction(change.step[axis])) for axis in range(2)) / 2**51
            assert at >= -digits
            assert past >= -digits
            moved += past > at
    assert moved > 8


def test_ends_of_a_change_keep_to_each_other_whatever_bounds_say(monkeypatch):
    """What is reached for certain may be bounded below what was found, and what is proved above it, by rounding."""
    for norm, exact in (("l2", 2**0.5), ("l1", 2.0), ("linf", 1.0)):
        view = view_of(rs.load(CORNER), [3.0, 1.0], Norm(norm))
        cell = StepRegion.of(view, view.first_pieces())
        (rival,) = cell.rivals
        found = cell.nearest_change(rival, np.inf)
        for reached in (0.5 * exact, exact, 2 * exact, np.inf):
            monkeypatch.setattr(StepRegion, "reached", lambda *_, reached=reached: reached)
            change = changes.confirm(cell, rival, found)
            assert change.lower <= change.distance <= change.upper <= exact * (1 + 1e-8)
            beyond = [abs(Fraction(entry)) for entry in change.beyond.tolist()]
            upper = Fraction(change.upper)
            assert reached != exact or change.upper == max(reached, change.distance)
            if reached > exact and norm == "l2":
                assert sum(entry**2 for entry in beyond) <= upper**2
            elif reached > exact:
                assert (sum(beyond) if norm == "l1" else max(beyond)) <= upper
            column = rs.robustness.decision_distance_within(rs.load(CORNER), [[3.0, 1.0]], norm=norm)
            column = column["decision_distance_within"]
            assert column.lower[0] <= column.value[0] <= column.upper[0]


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_what_is_reached_right_beyond_a_change_is_as_far_as_fractions_say(norm, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(StepRegion, "reached", lambda *_: np.inf)
    for _ in range(25):
        view = view_of(rs.load(CORNER), rng.uniform(1, 8, 2), Norm(norm))
        cell = StepRegion.of(view, view.first_pieces())
        (rival,) = cell.rivals
        change = changes.confirm(cell, rival, cell.nearest_change(rival, np.inf))
        beyond = [abs(Fraction(entry)) for entry in change.beyond.tolist()]
        upper = Fraction(change.upper)
        assert sum(beyond) <= upper if norm == "l1" else sum(entry**2 for entry in beyond) <= upper**2
        assert change.upper <= change.distance * (1 + 1e-7) + 1e-9


def test_a_point_that_floats_leave_outside_goes_in_before_its_distance_is_told(monkeypatch):
    net, window = open_domain(rs.load([(np.eye(1), np.full(1, 9.0)), (np.ones((1, 1)), np.zeros(1))]), rs.Box(-5, 5, 1))
    cells = ExactCells(viewpoint(net, window, np.zeros(1), L2, Tolerance()))
    nearest_point = exact_cells.nearest_point

    def short(*of, **asked):
        found = nearest_point(*of, **asked)
        return replace(found, point=0.999 * found.point)

    monkeypatch.setattr(exact_cells, "nearest_point", short)
    change = cells._nearest([{0: 1, exact_cells.CONSTANT: -1}], [Fraction(2)], 1)  # from 1 on
    assert change.distance == pytest.approx(1.0)
    assert change.upper >= 1.0
