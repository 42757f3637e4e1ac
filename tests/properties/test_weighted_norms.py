"""Weighted norms: laws of sizes, dual norms and balls, and distances against fractions and against scaled networks."""

import re
from fractions import Fraction
from math import isfinite
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from fuzzer import true_answers as answers
from fuzzer.truth import Dense, TrueDomain, TruePointwise, Truth
from reluscope.networks.input_units import InputUnits

NAMES = ("l1", "l2", "linf")
ROBUST = rs.robustness
POWERS = st.integers(-20, 20).map(lambda power: 2.0**power)
WEIGHTS = st.one_of(POWERS, st.floats(1e-8, 1e8), st.sampled_from([1e-8, 1e8, 3.0, 0.1]))
NORMS = st.builds(rs.Norm, st.sampled_from(NAMES), st.lists(WEIGHTS, min_size=3, max_size=3))
ENTRIES = st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=3).map(np.array)


@given(NORMS, ENTRIES, ENTRIES)
def test_sizes_and_dual_sizes_belong_together(norm, vector, form):
    slack = 1 + 1e-12
    assert abs(form @ vector) <= norm.dual.size(form) * norm.size(vector) * slack + 1e-300
    steepest = norm.steepest(form[None])[0]
    assert form @ steepest == pytest.approx(float(norm.dual.size(form)), rel=1e-12)
    assert norm.size(steepest) == pytest.approx(1.0 if form.any() else 0.0)
    assert norm.size(vector) == pytest.approx(float(norm.dual.dual.size(vector)))
    assert norm.size_of_ones(3) == pytest.approx(float(norm.size(np.ones(3))))


@given(NORMS, ENTRIES)
def test_balls_lie_in_their_boxes_and_touch_all_sides(norm, vector):
    sides = norm.ball_sides(3)
    assert (np.abs(vector) <= norm.size(vector) * sides * (1 + 1e-12)).all()
    assert norm.size(np.diag(sides)) == pytest.approx(np.ones(3))
    assert np.linalg.norm(vector) <= norm.stretch(3) * norm.size(vector) * (1 + 1e-12)


def drawn(seed, width=4):
    """Return layers with entries of few digits, and two points."""
    rng = np.random.default_rng(seed)
    first, last = rng.integers(-8, 9, (width, 2)) / 4.0, rng.integers(-8, 9, (2, width)) / 4.0
    layers = [(first, rng.integers(-8, 9, width) / 4.0), (last, rng.integers(-8, 9, 2) / 4.0)]
    return layers, rng.integers(-20, 21, (2, 2)) / 10.0


def truth_of(layers, weights, half=None):
    """Return the network as a function of weighted inputs, in fractions."""
    (first, bias), (last, offset) = (map(exact, layer) for layer in layers)
    units = TruePointwise(
        ((Fraction(0),),) * len(bias), (((Fraction(0),) * 2, (Fraction(1), Fraction(0))),) * len(bias)
    )
    sides = [1 / Fraction(weight) for weight in weights]
    axes = [tuple(side * (i == j) for j in range(len(sides))) for i, side in enumerate(sides)]
    rows = [] if half is None else [(*(s * one for one in row), Fraction(half)) for row in axes for s in (1, -1)]
    domain = TrueDomain(len(sides), tuple(rows), tuple((*row, Fraction(0)) for row in axes))
    return Truth([Dense(first, bias), units, Dense(last, offset)], domain, 300, 60.0)


def exact(table):
    return tuple(exact(row) if np.ndim(row) else Fraction(float(row)) for row in table)


def is_between(column, power, name):
    """Whether a distance, in l2 its square, is between the ends of a column that has one row."""
    lower, upper = float(column.lower[0]), float(column.upper[0])
    if power is None:
        return upper == np.inf
    of = (lambda end: Fraction(end) ** 2) if name == "l2" else Fraction
    return isfinite(lower) and of(lower) <= power and (upper == np.inf or power <= of(upper))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 9999), st.sampled_from(NAMES), st.lists(WEIGHTS, min_size=2, max_size=2), st.booleans())
def test_distances_are_those_of_fractions(seed, name, weights, is_bounded):
    layers, points = drawn(seed)
    half = 3.0 if is_bounded else None
    net, norm, truth = rs.load(layers), rs.Norm(name, weights), truth_of(layers, weights, half)
    domain = rs.Box(-half, half, 2) if is_bounded else None
    everywhere = truth_of(layers, weights)
    for x in points:
        place = [Fraction(float(entry)) * Fraction(weight) for entry, weight in zip(x, weights, strict=True)]
        label, ties = answers.class_at(truth, place)
        cells = truth.containing(place)
        if ties or len(cells) > 1:
            continue
        asked = {"norm": norm, "domain": domain}
        wall = answers.facet_distance(truth.regions[cells[0]], place, name)
        assert is_between(ROBUST.boundary_distance(net, x[None], **asked)["boundary_distance"], wall, name)
        for function, where in ((ROBUST.decision_distance, truth), (ROBUST.certified_radius, everywhere)):
            parts = answers.changed_parts(where.regions, label)
            power = min((answers.distance_power(part, place, name) for part in parts), default=None)
            column = function(net, x[None], **(asked if where is truth else {"norm": norm}))["decision_distance"]
            assert is_between(column, power, name), (function, x, power, column)
        parts = answers.tied_parts(truth.regions[cells[0]], label)
        power = min((answers.distance_power(part, place, name) for part in parts), default=None)
        column = ROBUST.decision_distance_within(net, x[None], **asked)["decision_distance_within"]
        assert is_between(column, power, name), (x, power, column)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 999), st.sampled_from(NAMES), st.lists(WEIGHTS, min_size=2, max_size=2))
def test_weights_are_those_of_the_columns_of_the_first_layer(seed, name, weights):
    layers, points = drawn(seed)
    scaled = rs.load([(layers[0][0] / weights, layers[0][1]), layers[1]])
    for function in (ROBUST.boundary_distance, ROBUST.certified_radius):
        one = function(rs.load(layers), points, norm=rs.Norm(name, weights))
        other = function(scaled, points * weights, norm=name)
        for quantity in other:
            room = 1e-14 * float(np.abs(points * weights).max())
            assert one[quantity].value == pytest.approx(other[quantity].value, rel=1e-9, abs=room)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 999), st.sampled_from(NAMES), st.sampled_from([0.25, 3.0, 1e4]))
def test_equal_weights_multiply_distances(seed, name, weight):
    layers, points = drawn(seed)
    net, domain = rs.load(layers), rs.Polyhedron([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [9.0, 5.0, 5.0])
    for function in (ROBUST.boundary_distance, ROBUST.decision_distance, ROBUST.decision_distance_within):
        (quantity,) = (plain := function(net, points, norm=name, domain=domain))
        column = function(net, points, norm=rs.Norm(name, [weight] * 2), domain=domain)[quantity]
        assert column.value == pytest.approx(weight * plain[quantity].value, rel=1e-9)
        assert column.claims == plain[quantity].claims


def test_what_is_found_is_told_in_inputs():
    layers, points = drawn(7)
    net, norm = rs.load(layers), rs.Norm("l2", [3.0, 0.2])
    found = ROBUST.decision_distance(net, points, norm=norm)
    away = norm.size(found.details["witnesses"] - points)
    assert away == pytest.approx(found["decision_distance"].value, rel=1e-9)
    assert (net(found.details["beyond"]).argmax(1).numpy() == found.details["adversarial"]).all()
    again = ROBUST.decision_distance(net, points, norm=norm, known=found)
    assert again["decision_distance"].value == pytest.approx(found["decision_distance"].value)
    touched = ROBUST.boundary_distance(net, points, norm=norm)
    away = norm.size(touched.details["points"] - points)
    assert away == pytest.approx(touched["boundary_distance"].value, rel=1e-9)
    assert "weighted l2" in touched["boundary_distance"].given


def test_checkpoints_of_other_weights_are_not_taken(tmp_path):
    layers, points = drawn(7)
    net = rs.load(layers)
    norms = [rs.Norm("l1", weights) for weights in (None, [2.0, 2.0], [4.0, 4.0])]
    found = [ROBUST.decision_distance(net, points, norm=norm, checkpoint=tmp_path) for norm in norms]
    found = [one["decision_distance"].value for one in found]
    assert found[2] == pytest.approx(2 * found[1])
    assert found[1] == pytest.approx(2 * found[0])


@pytest.mark.parametrize("name", ["l2", "linf"])
def test_adversaries_stay_in_weighted_balls_and_boxes(name):
    layers, points = drawn(3)
    net, norm, box = rs.load(layers), rs.Norm(name, [3.0, 0.2]), rs.Box(-2.5, 2.5, 2)
    labels = net(points).argmax(1).numpy()
    found = rs.local.pgd(net, points, labels, radius=0.6, norm=norm, box=box)
    assert (norm.size(found - points) <= 0.6 * (1 + 1e-12)).all()
    assert (np.abs(found) <= 2.5).all()
    scaled = rs.load([(layers[0][0] / norm.weights, layers[0][1]), layers[1]])
    there = rs.local.pgd(
        scaled, points * norm.weights, labels, radius=0.6, norm=name, box=rs.Box([-7.5, -0.5], [7.5, 0.5])
    )
    assert found * norm.weights == pytest.approx(there, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["l2", "linf"])
def test_regions_in_weighted_balls_are_counted(name):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    count = [
        rs.sensitivity.local_complexity(net, [[0.8, 0.8]], 1.0, norm=rs.Norm(name, weights))["local_complexity"].value[
            0
        ]
        for weights in ([1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1e-8, 1e8])
    ]
    assert count == [4 if name == "linf" else 3, 2, 1, 2]


def test_slices_have_weights_of_their_coordinates_and_images_those_of_pixels():
    net = rs.load([(np.eye(3), np.zeros(3)), (np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(2))])
    plane = rs.Slice([1.0, 0.0, 0.0], np.eye(3)[:2], rs.Box(-9, 9, 2))
    found = ROBUST.boundary_distance(net, [[1.0, 4.0]], norm=rs.Norm("l2", [3.0, 1.0]), domain=plane)
    assert found["boundary_distance"].value == pytest.approx([4.0])
    assert found.details["points"] == pytest.approx(np.array([[1.0, 0.0]]))
    with pytest.raises(rs.errors.ShapeError, match="one weight per input, 2 in all, got a norm with 3"):
        ROBUST.boundary_distance(net, [[1.0, 4.0]], norm=rs.Norm("l2", [3.0, 1.0, 1.0]), domain=plane)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("l3",), "name must be 'l1', 'l2' or 'linf', got 'l3'"),
        (("l2", [1.0, 0.0]), r"weights\[1\] must be a number above 0"),
        (("l2", [-1.0]), r"weights\[0\] must be a number above 0"),
        (("l2", [1.0, np.nan]), r"weights\[1\] must be"),
        (("l2", [np.inf]), r"weights\[0\] must be"),
        (("l2", [1e200]), "expected weights from"),
        (("l2", 2.0), "weights must be a sequence"),
    ],
)
def test_wrong_norms_are_refused(arguments, message):
    with pytest.raises(rs.errors.InputError, match=message):
        rs.Norm(*arguments)


def test_norms_of_other_lengths_or_kinds_are_refused():
    net = rs.load(drawn(0)[0])
    calls = [
        lambda norm: ROBUST.boundary_distance(net, [[0.0, 0.0]], norm=norm),
        lambda norm: ROBUST.certified_radius(net, [[0.0, 0.0]], norm=norm),
        lambda norm: ROBUST.decision_distance(net, [[0.0, 0.0]], norm=norm),
        lambda norm: ROBUST.decision_distance_within(net, [[0.0, 0.0]], norm=norm),
        lambda norm: rs.local.pgd(net, [[0.0, 0.0]], np.array([0]), radius=1.0, norm=norm),
        lambda norm: rs.sensitivity.local_complexity(net, [[0.0, 0.0]], 1.0, norm=norm),
    ]
    for call in calls:
        with pytest.raises(rs.errors.ShapeError, match="one weight per input, 2 in all, got a norm with 3"):
            call(rs.Norm("l2", [1.0, 2.0, 3.0]))
        with pytest.raises(rs.errors.InputError, match=r"norm must be 'l1', 'l2' or 'linf'.* a Norm.* got 'l0'"):
            call("l0")
    for call in calls[4:]:
        with pytest.raises(rs.errors.InputError, match='norm must be "linf" or "l2", perhaps with weights'):
            call("l1")


def test_no_other_module_compares_names_of_norms():
    """Fuzzing has its own truth, which shares no code with the package."""
    package = Path(rs.__file__).parent
    compared = re.compile(r"""([=!]= |not in [(\[{])["'](l1|l2|linf)["']""")
    found = [
        path.name
        for path in package.rglob("*.py")
        if compared.search(path.read_text(encoding="utf-8")) and "testing" not in path.parts and path.name != "norms.py"
    ]
    assert not found


def test_ends_hold_what_rounding_of_the_units_makes_of_points():
    units, missed = InputUnits.of(rs.Norm("l1", [3.0]), 1), 0
    for x in np.linspace(0.01, 1.0, 50):
        u, truth = units.enter(np.array([[x]])), 3 * Fraction(float(x))
        lower, upper = units.ends(u[0], u[0], u)
        assert Fraction(float(lower[0])) <= truth <= Fraction(float(upper[0]))
        missed += Fraction(float(u[0, 0])) != truth
    assert missed  # without the ends


def test_norms_are_shown_in_a_line():
    assert repr(rs.Norm("l2")) == "Norm('l2')"
    assert repr(rs.Norm("l1", weights=[1.0, 2.0])) == "Norm('l1', weights=(1.0, 2.0))"
    assert repr(rs.Norm("linf", weights=[1.0] * 50 + [2.0])) == "Norm('linf', weights=51 from 1 to 2)"
