"""Regions of codes in fractions, by themselves: leads, nearest points against corners and feet, and their limits."""

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import LEAKY, affine, network_of
from reluscope.analyses.robustness import exact_cells as module
from reluscope.analyses.robustness.exact_cells import ExactCells
from reluscope.analyses.robustness.viewpoints import open_domain, viewpoint
from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.programs.rational_program import CONSTANT, deepest, value_at, whole_form
from reluscope.networks.building.builder import GraphBuilder
from reluscope.testing import default_network
from reluscope.tolerance import Tolerance


def cells_of(net, point, norm="l2", domain=None):
    return ExactCells(viewpoint(*open_domain(net, domain), np.array(point, dtype=float), Norm(norm), Tolerance()))


def planes(weight, bias):
    """Return a network that is one affine map where both inputs are positive."""
    return network_of([affine(np.eye(2), [0.0, 0.0]), LEAKY, affine(weight, bias)], 2)


CODE = ((1, 1),)


@pytest.mark.parametrize(
    ("weight", "bias", "label", "lead"),
    [
        ([[1, 2], [3, 4]], [5, 0], 1, {0: 2, 1: 2, CONSTANT: -5}),
        ([[1, 2], [1, 2]], [0, -1], 1, None),  # behind everywhere
        ([[1, 2], [1, 2]], [0, 0], 1, None),  # equal, and the lower one wins
        ([[1, 2], [1, 4]], [5, 5], 1, {1: 2}),
        ([[1, 2], [1, 4]], [5, 0], 1, {1: 2, CONSTANT: -5}),
        ([[1, 2], [1, 2], [9, 9]], [1, 2, 99], 1, {}),  # ahead everywhere
    ],
)
def test_leads_of_classes_are_those_of_their_rows(weight, bias, label, lead):
    cells = cells_of(planes(weight, bias), [1.0, 1.0])
    object.__setattr__(cells.view, "label", 0)
    found = cells._lead(CODE, label)
    if not lead:
        assert found == lead
        return
    scale = Fraction(found[1]) / lead[1]
    assert scale > 0
    assert {axis: Fraction(entry) / scale for axis, entry in found.items()} == lead


@pytest.mark.parametrize(("own", "label", "bias", "wins"), [(0, 1, 0, False), (1, 0, 0, True), (1, 0, -1, False)])
def test_of_equal_classes_the_lower_one_wins(own, label, bias, wins):
    cells = cells_of(planes([[1, 2], [1, 2]], [bias, 0]), [1.0, 1.0])
    object.__setattr__(cells.view, "label", own)
    assert (cells._lead(CODE, label) is not None) == wins


@pytest.mark.parametrize(("own", "sign"), [(0, 1), (1, -1)])
def test_the_only_score_is_the_lead_of_class_1(own, sign):
    cells = cells_of(planes([[1, 2]], [-7]), [1.0, 1.0])
    object.__setattr__(cells.view, "label", own)
    found = cells._lead(CODE, 1 - own)
    assert [Fraction(found[axis], abs(found[0])) for axis in (0, 1, CONSTANT)] == [sign, 2 * sign, -7 * sign]


def nearest_squared(rows):
    """Return the square of the least Euclidean distance of a polygon ``a . u + c >= 0`` from 0, by corners and feet."""

    def is_in(point):
        return all(a * point[0] + b * point[1] + c >= 0 for a, b, c in rows)

    points = [(Fraction(0), Fraction(0))]
    for a, b, c in rows:
        points.append((-a * c / (a * a + b * b), -b * c / (a * a + b * b)))
    for (a, b, c), (d, e, f) in combinations(rows, 2):
        if det := a * e - b * d:
            points.append(((b * f - c * e) / det, (c * d - a * f) / det))
    return min(x * x + y * y for x, y in points if is_in((x, y)))


def test_nearest_points_are_within_their_ends_and_what_is_right_beyond_is_inside():
    """Thin wedges far away among them; a step beyond is shorter than a share of the point's size."""
    near = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        point = draw.normal(size=2) * 10.0 ** draw.choice([-3, 0, 6])
        cells = cells_of(planes([[1, 2], [3, 4]], [5, 0]), point.tolist())
        start = [Fraction(entry) for entry in point.tolist()]
        inside = [Fraction(entry) for entry in (point + draw.normal(size=2)).tolist()]
        rows = []
        for _ in range(draw.integers(1, 5)):
            row = [Fraction(entry) for entry in draw.normal(size=2).tolist()]
            room = Fraction(10.0 ** -draw.choice([0, 3, 12]) * draw.uniform(0.1, 1))
            rows.append((*row, room - sum(a * x for a, x in zip(row, inside, strict=True))))
        rows.append((rows[0][0], rows[0][1] + Fraction(1, 10**9), rows[0][2]))
        forms = [whole_form(list(row)) for row in rows]
        inner, depth = deepest(forms, 2)
        if depth <= 0:
            continue
        found = cells._nearest(forms, inner, 1)
        seen = [(a, b, c + a * start[0] + b * start[1]) for a, b, c in rows]
        truth = nearest_squared(seen)
        assert Fraction(found.lower) ** 2 <= truth <= Fraction(found.upper) ** 2
        assert found.lower <= found.distance <= found.upper
        assert found.upper <= found.distance * (1 + 1e-14)
        room = Fraction(1, 10**24) * Fraction(cells.view.scale) ** 2
        assert Fraction(found.upper) ** 2 <= truth * (1 + Fraction(1, 10**3)) + room
        past = [x + Fraction(entry) for x, entry in zip(start, found.beyond.tolist(), strict=True)]
        slack = Fraction(np.spacing(np.abs(point).max() + np.abs(found.beyond).max()))
        assert all(value_at(form, past) > -slack * sum(map(abs, form.values())) for form in forms)
        assert np.abs(found.beyond - found.step).max() <= 1e-9 * cells.view.scale
        near += truth > 0
    assert near > 20


@pytest.mark.parametrize("norm", ["l1", "linf", "l2"])
def test_upper_ends_are_as_long_as_the_step_in_fractions(norm):
    powers = {"l1": (sum, 1), "linf": (max, 1), "l2": (lambda one: sum(x * x for x in one), 2)}
    size, power = powers[norm]
    for seed in range(20):
        draw = np.random.default_rng(seed)
        cells = cells_of(planes([[1, 2], [3, 4]], [5, 0]), [0.0, 0.0], norm)
        forms = [whole_form([Fraction(float(entry)) for entry in [*draw.normal(size=2), -draw.uniform()]])]
        found = cells._nearest(forms, deepest(forms, 2)[0], 1)
        step = [abs(Fraction(entry)) for entry in found.step.tolist()]
        assert Fraction(found.upper) ** power >= size(step)
        assert found.lower <= found.upper


@pytest.mark.parametrize("is_closed", [True, False])
def test_regions_without_an_interior_count_where_they_are_closed(is_closed):
    """Between x_0 = 1 and the tie at x_0 = 1, and the same with a little room, and with less than none."""
    for shift, there in ((0.0, is_closed), (2.0**-40, True), (-(2.0**-40), False)):
        net = planes([[0, 0], [1, 0]], [0, -1.0])
        box = rs.Box([0.5, 0.5], [1.0 + shift, 2.0])
        found = cells_of(net, [0.75, 1.0], domain=box)._decided(CODE, 1, is_closed=is_closed)
        assert (found is not None) == there


def test_networks_are_small_up_to_so_many_numbers_and_multiplications(monkeypatch):
    net = rs.load(default_network([3, 5, 4, 2], seed=0))
    numbers, work = (5 + 4 + 2 * 3) * 3, 4 * module.multiplications(net)
    for spare, is_small in ((0, True), (-1, False)):
        monkeypatch.setattr(module, "MAX_NUMBERS", numbers + spare)
        monkeypatch.setattr(module, "MAX_MULTIPLICATIONS", work)
        assert cells_of(net, np.ones(3)).is_small == is_small
        monkeypatch.setattr(module, "MAX_NUMBERS", numbers)
        monkeypatch.setattr(module, "MAX_MULTIPLICATIONS", work + spare)
        assert cells_of(net, np.ones(3)).is_small == is_small
    monkeypatch.setattr(module, "MAX_DIMENSIONS", 2)
    assert not cells_of(net, np.ones(3)).is_small


def test_max_gates_count_their_candidates_and_others_and_jumps_are_not_for_fractions(monkeypatch):
    steps = [affine(np.ones((6, 2)), np.zeros(6)), ("max", 3), affine(np.eye(2), np.zeros(2)), LEAKY]
    pooled, numbers = network_of(steps, 2), (6 + 2 + 2 * 2) * 2
    for spare, is_small in ((0, True), (-1, False)):
        monkeypatch.setattr(module, "MAX_NUMBERS", numbers + spare)
        assert cells_of(pooled, [1.0, 1.0]).is_small == is_small
    monkeypatch.undo()
    bent = GraphBuilder()
    jumping = bent.build(bent.pointwise(bent.input((2,)), "jump", [0.0], [1.0, 1.0], [0.0, 1.0], may_jump=True))
    choosing = SimpleNamespace(stages=[*pooled.stages, SimpleNamespace(gate=SimpleNamespace(num_units=1))])
    for net in (jumping, choosing):
        cells = cells_of(pooled, [1.0, 1.0])
        object.__setattr__(cells.view, "network", net)
        assert not cells.is_small


@pytest.mark.parametrize("left", [0, 1, 2])
def test_codes_are_decided_while_there_are_some_left(left):
    cells = cells_of(planes([[1, 0], [0, 1]], [0, 0]), [2.0, 1.0])
    cells.left = left
    one, two = cells._change(CODE, 1), cells._change(CODE, 1)
    assert one is two
    assert cells.left == left - 1
    assert one.distance == pytest.approx(0.5**0.5)
