"""Unsafe outputs that are met with equality alone, or missed by less than rounding, against corners in fractions."""

from fractions import Fraction
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.analyses.verification import exact_leaves as module
from reluscope.analyses.verification.exact_leaves import ExactLeaves, UnitRanges, box_cell
from reluscope.geometry.programs.rational_program import value_at
from reluscope.networks.building.builder import GraphBuilder

Case, Property = rs.verification.Case, rs.verification.Property
VERIFYING = import_module("reluscope.analyses.verification.deciding")


def drawn(seed):
    """Return layers of a network of two inputs, the function of its output that is asked about, and a box."""
    rng = np.random.default_rng(seed)
    layers = [(rng.normal(size=(4, 2)), rng.normal(size=4) / 2), (rng.normal(size=(1, 4)), rng.normal(size=1))]
    if seed % 3:  # dead units, equal units, corners that no float64 holds
        layers = [(np.round(W * seed) / (seed % 3 * 3 - 2), np.round(b * 3) / 3) for W, b in layers]
    return layers, np.array([-1.0, -0.75]), np.array([1.0, 1 / 3])


def output(layers, point):
    """Return the output in fractions."""
    for place, (W, b) in enumerate(layers):
        point = [
            sum((Fraction(w) * x for w, x in zip(row, point, strict=True)), Fraction(c))
            for row, c in zip(W.tolist(), b.tolist(), strict=True)
        ]
        point = [max(entry, Fraction(0)) for entry in point] if place == 0 else point
    return point[0]


def least(layers, lower, upper):
    """Return the least output on a box, which is at a corner of the pieces of the one hidden layer."""
    ends = [[Fraction(entry) for entry in side.tolist()] for side in (lower, upper)]
    lines = [(*map(Fraction, row), Fraction(c)) for row, c in zip(layers[0][0].tolist(), layers[0][1], strict=True)]
    for low, high in (ends,):
        lines += [(Fraction(1), Fraction(0), -low[0]), (Fraction(1), Fraction(0), -high[0])]
        lines += [(Fraction(0), Fraction(1), -low[1]), (Fraction(0), Fraction(1), -high[1])]
    values = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if det := a * e - b * d:
            point = [(b * f - c * e) / det, (c * d - a * f) / det]
            if all(low <= entry <= high for low, entry, high in zip(ends[0], point, ends[1], strict=True)):
                values.append(output(layers, point))
    return min(values)


def verdicts(seed, split):
    """Compare verdicts right at, below and above the least output with the truth."""
    layers, lower, upper = drawn(seed)
    truth = least(layers, lower, upper)
    level = float(truth)
    for end in (level, np.nextafter(level, -np.inf), np.nextafter(level, np.inf)):
        safe = Property([Case(lower, upper, [rs.Polyhedron([[1.0]], [end])])])
        found = rs.verify(rs.load(layers), safe, split=split)
        assert str(found) == ("VIOLATED" if Fraction(float(end)) >= truth else "HOLDS")
        if (one := found.counterexample) is not None:
            point = one.exact or [Fraction(entry) for entry in one.point.tolist()]
            assert output(layers, point) <= Fraction(float(end))
            assert all(low <= entry <= high for low, entry, high in zip(lower, point, upper, strict=True))
            np.testing.assert_allclose([float(entry) for entry in point], one.point, rtol=1e-15)


@pytest.fixture
def without_attack(monkeypatch):
    monkeypatch.setattr(VERIFYING, "_attacked", lambda *of: None)


@pytest.mark.few(2)
@pytest.mark.parametrize(("seed", "split"), [(0, "inputs"), (1, "inputs"), (2, "inputs"), (3, "inputs"), (2, "units")])
def test_equality_is_decided(seed, split, without_attack):
    verdicts(seed, split)


def test_the_corners_would_see_leaves_that_find_nothing(without_attack, monkeypatch):
    monkeypatch.setattr(ExactLeaves, "_within", lambda *of: None)
    with pytest.raises(AssertionError):
        [verdicts(seed, "inputs") for seed in range(4)]


def test_where_no_float64_is_unsafe_the_input_is_given_in_fractions():
    net = rs.load([(np.array([[3.0], [-3.0]]), np.array([-1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))])  # |3 x - 1|
    one = rs.verify(net, Property([Case([0.0], [1.0], [rs.Polyhedron([[1.0]], [0.0])])])).counterexample
    assert (one.exact, one.point.tolist(), one.outputs.tolist()) == ((Fraction(1, 3),), [1 / 3], [0.0])
    one = rs.verify(net, Property([Case([0.0], [1.0], [rs.Polyhedron([[1.0]], [0.5])])])).counterexample
    assert one.exact is None


@pytest.mark.parametrize("end", [0.3, np.nextafter(0.3, 1.0)])
def test_an_equation_is_missed_from_either_side(end, without_attack):
    # Three times what 0.1 is as a float64 lies between these two.
    net = rs.load([(np.zeros((1, 1)), np.array([3.0])), (np.array([[0.1]]), np.zeros(1))])
    level = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [end])
    assert rs.verify(net, Property([Case([0.0], [1.0], [level])]), split="inputs").verdict == "HOLDS"


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_single_points_of_networks_with_max_gates_are_decided(steps):
    parts = torch.nn.Linear(1, 2, bias=False), torch.nn.Unflatten(1, (1, 2)), torch.nn.MaxPool1d(2), torch.nn.Flatten()
    pooled = torch.nn.Sequential(*parts).double()
    torch.nn.init.constant_(pooled[0].weight, 0.3)
    value = 3 * Fraction(0.3)  # between two numbers of float64
    end = float(value) + steps * np.spacing(float(value))
    safe = Property([Case([3.0], [3.0], [rs.Polyhedron([[-1.0]], [-end])])])
    found = rs.verify(rs.load(pooled, input_shape=(1,)), safe, budget=rs.Budget(regions=10))
    assert found.verdict == ("VIOLATED" if Fraction(end) <= value else "HOLDS")


def test_pieces_that_meet_in_float64_and_not_in_fractions_give_no_counterexample():
    level, slopes = 0.17286432160804022, (0.1, 1.1)
    starts = [-slope * level for slope in slopes]
    below, above = (
        Fraction(slope) * Fraction(level) + Fraction(start) for slope, start in zip(slopes, starts, strict=True)
    )
    end = float((below + above) / 2)
    assert below < Fraction(end) < above  # the largest value up to the breakpoint is the one below
    bent = GraphBuilder()
    net = bent.build(bent.pointwise(bent.input((1,)), "bent", [level], slopes, starts))
    safe = Property([Case([0.0], [level], [rs.Polyhedron([[-1.0]], [-end])])])
    assert str(rs.verify(net, safe)) in ("HOLDS", "OPEN")


@pytest.mark.parametrize(
    ("level", "low", "high", "opened"),
    [
        (0.0, -1.0, 1.0, (0, 1)),
        (0.0, 1e-12, 1e6, (0, 1)),  # rounding of the larger end may hide that the range goes on
        (0.0, -1e6, -1e-12, (0, 1)),
        (1e6, 2.0, 1e6 * (1 - 1e-12), (0, 1)),
        (1e6, 1e6 * (1 + 1e-12), 3e6, (0, 1)),
        (0.0, 0.0, 0.0, (0, 1)),
        (0.0, -2e-210, -1e-210, (0, 1)),
        (0.0, 1.0, 2.0, None),
        (0.0, -2.0, -1.0, None),
        (1e6, 0.0, 9e5, None),
        (1e6, 1.1e6, 2e6, None),
    ],
)
def test_units_are_open_whose_ranges_come_near_a_breakpoint(level, low, high, opened):
    bent = GraphBuilder()
    net = bent.build(bent.pointwise(bent.input((1,)), "bent", [level], [0.0, 1.0], [0.0, -level]))
    leaves = ExactLeaves(net)
    pieces, found = leaves._opened(UnitRanges([np.array([low])], [np.array([high])]))
    assert found == ([] if opened is None else [(0, 0, *opened)])
    assert pieces == [[0 if opened is not None else int(low > level)]]
    free = UnitRanges([np.array([low])], [np.array([high])], [np.array([0])], [np.array([1])])
    assert leaves._opened(free) == (pieces, found)
    held = UnitRanges([np.array([low])], [np.array([high])], [np.array([1])], [np.array([1])])
    assert leaves._opened(held) == ([[1]], [] if opened is None else [(0, 0, 1, 1)])


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)])
def test_units_have_the_pieces_of_their_range_that_they_are_held_to(first, last):
    bent = GraphBuilder()
    leaves = ExactLeaves(bent.build(bent.pointwise(bent.input((1,)), "bent", [-1, 1], [1, 0, 1], [1, 0, -1])))
    ends = [np.array([-2.0])], [np.array([2.0])]
    held = UnitRanges(*ends, [np.array([first])], [np.array([last])])
    assert leaves._opened(held) == ([[first]], [(0, 0, first, last)])


# |x| + |y|, of which two units are open around 0 for each input.
SIDES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
DIAMOND = rs.load([(SIDES, np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
WIDE = UnitRanges([np.full(4, -1.0)], [np.full(4, 1.0)])


@pytest.mark.parametrize("is_last", [True, False])
def test_leaves_take_what_they_are_allowed_and_the_last_one_as_much_as_any(is_last, monkeypatch):
    box, unsafe = (-np.ones(2), np.ones(2)), [rs.Polyhedron([[-1.0]], [-1.5])]
    leaves = ExactLeaves(DIAMOND)
    leaves.allowed = 10**6
    found = leaves.decide(*box, WIDE, unsafe, is_last=is_last)
    assert found.outputs[0] >= 1.5
    used = 10**6 - leaves.allowed
    assert used > 0
    for allowed in (10**6 + 7, 0):
        leaves.allowed = allowed
        is_decided = is_last or allowed > 0
        assert (leaves.decide(*box, WIDE, unsafe, is_last=is_last) is not None) == is_decided
        assert leaves.allowed == allowed - used * is_decided
    monkeypatch.setattr(module, "MAX_MULTIPLICATIONS", 1)
    leaves.allowed = 10**6
    assert leaves.decide(*box, WIDE, unsafe, is_last=is_last) is None
    assert leaves.allowed == 10**6


@pytest.mark.parametrize(("most", "is_decided"), [(15, False), (16, True)])
def test_leaves_have_so_many_codes_at_most(most, is_decided, monkeypatch):
    monkeypatch.setattr(module, "MAX_CODES", most)
    leaves = ExactLeaves(DIAMOND)
    leaves.allowed = 10**6
    found = leaves.decide(-np.ones(2), np.ones(2), WIDE, [rs.Polyhedron([[-1.0]], [-2.5])])
    assert found == (() if is_decided else None)


@pytest.mark.parametrize("axis", [0, 1])
def test_boxes_that_are_flat_along_one_side_are_no_points(axis):
    lower, upper = np.full(2, -0.25), np.full(2, -0.25)
    upper[axis] = 1.0
    leaves = ExactLeaves(DIAMOND)
    leaves.allowed = 10**6
    found = leaves.decide(lower, upper, WIDE, [rs.Polyhedron([[-1.0]], [-1.25])])
    assert found.point[axis] == 1
    assert leaves.decide(lower, upper, WIDE, [rs.Polyhedron([[-1.0]], [-1.3])]) == ()


@pytest.mark.parametrize("spare", [0, -1])
def test_points_take_one_pass(spare):
    leaves, point = ExactLeaves(DIAMOND), np.array([0.5, 0.25])
    leaves.allowed = leaves._pass + spare
    found = leaves.decide(point, point, WIDE, [rs.Polyhedron([[-1.0]], [-0.5])])
    assert (found is not None) == (spare == 0)
    assert leaves.allowed == (0 if spare == 0 else leaves._pass - 1)


def test_boxes_are_cells_with_their_middle_inside():
    lower, upper = np.array([-1.0, 0.1]), np.array([3.0, 0.3])
    cell = box_cell(lower, upper)
    assert cell.point == (1, (Fraction(0.1) + Fraction(0.3)) / 2)
    for axis, ends in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        for row, end in zip(cell.weak[2 * axis :], ends, strict=False):
            place = [*cell.point]
            place[axis] = Fraction(end)
            assert value_at(row, place) == 0
            assert value_at(row, cell.point) > 0
