"""Rows of outputs as rows of inputs, against the same rows in fractions: how far off, kept, left out or nowhere."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import reluscope as rs
from oracles.rational_steps import LEAKY, affine, network_of, rational_map
from reluscope.analyses.preimages import rows_of_inputs as module
from reluscope.analyses.preimages.rows_of_inputs import RowsOfInputs
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError

ROUNDING = 64 * 2.0**-52


class Drawn:
    """A region of a network with its map in floats and in fractions, and a box around the point."""

    def __init__(self, seed, size, center, half, *, goes_on=False):
        draw = np.random.default_rng(seed)
        point = center + half * draw.uniform(-1, 1, 2)
        steps = [affine(draw.normal(size=(4, 2)), size * draw.uniform(1, 2, 4)), LEAKY]
        weight = draw.normal(size=(2, 4))
        inner = rational_map(steps, point)
        heights = [
            float(sum(Fraction(w) * row[-1] for w, row in zip(own, inner, strict=True))) for own in weight.tolist()
        ]
        steps.append(affine(weight, [1.0 - heights[0], -heights[1]]))
        if not size:  # without any rounding of the map
            steps = [affine(np.eye(2), center + np.full(2, 8.0)), LEAKY]
            steps.append(affine(draw.integers(-3, 4, (2, 2)), draw.integers(-3, 4, 2)))
        self.exact = rational_map(steps, point)
        self.low, self.high = np.full(2, center - half), np.full(2, center + half)
        net = network_of(steps, 2)
        at = net.at(point[None])
        self.map = at.maps.weight[0].cpu().numpy(), at.maps.bias[0].cpu().numpy()
        self.rows = RowsOfInputs(net, self.low, self.high, goes_on=goes_on)
        self.errors, self.code = self.rows.errors(at)[0], at.codes

    def function(self, row, end):
        """Return ``row . y - end`` as a function of the input, in fractions."""
        mixed = [
            sum(Fraction(a) * one for a, one in zip(row, entries, strict=True))
            for entries in zip(*self.exact, strict=True)
        ]
        return [*mixed[:-1], mixed[-1] - Fraction(end)]

    def ends(self, function):
        corners = product(*zip(self.low.tolist(), self.high.tolist(), strict=True))
        values = [self.value(function, corner) for corner in corners]
        return min(values), max(values)

    @staticmethod
    def value(function, point):
        return sum(slope * Fraction(x) for slope, x in zip(function, point, strict=False)) + function[-1]

    def level(self, row, share):
        """Return an end that the row meets at a share of the box, from 0, where it holds nowhere, to 1."""
        least, most = self.ends(self.function(row, 0.0))
        return float(least + Fraction(share) * (most - least))


# How large terms are that cancel in the map, the middle of the box, and half of its sides.
CASES = [
    (0.0, 0.0, 1.0),
    (0.0, 3.0, 0.5),
    (1.0, 0.0, 1.0),
    (1e3, 0.0, 1.0),
    (2e4, 0.0, 1.0),
    (1e7, 0.0, 1.0),
    (1.0, 1e5, 1.0),
    (1e3, 100.0, 1e-3),
]


@pytest.mark.parametrize(("size", "center", "half"), CASES)
@pytest.mark.parametrize("in_cube", [True, False])
def test_rows_are_where_fractions_say_up_to_what_they_claim(size, center, half, in_cube):
    apart = 0
    for seed in range(24):
        drawn = Drawn(seed, size, center, half)
        draw = np.random.default_rng(seed)
        row = draw.normal(size=2)
        if not drawn.map[0].any():
            continue
        level = drawn.level(row, draw.uniform(0.1, 0.9))
        ask = drawn.rows.of if in_cube else drawn.rows.pulled_back
        found = ask(rs.Polyhedron([row], [level]), *drawn.map, drawn.errors, drawn.code)
        function = drawn.function(row.tolist(), level)
        assert found is not None
        ((*normal,),), (offset,) = found.polyhedron.A.tolist(), found.polyhedron.b.tolist()
        width = (drawn.high - drawn.low).tolist() if in_cube else [1.0, 1.0]
        largest = int(np.argmax(np.abs(normal)))
        scale = Fraction(normal[largest]) / (function[largest] * Fraction(width[largest]))
        sides = list(zip(map(Fraction, drawn.low.tolist()), map(Fraction, drawn.high.tolist()), strict=True))
        lengths = [(high - low) / Fraction(one) for (low, high), one in zip(sides, width, strict=True)]
        extent = sum(abs(Fraction(a)) * length for a, length in zip(normal, lengths, strict=True)) / 2
        off = Fraction(0)
        for corner in product((0, 1), repeat=2):
            point = [side[which] for side, which in zip(sides, corner, strict=True)]
            place = corner if in_cube else point
            here = sum(Fraction(a) * x for a, x in zip(normal, place, strict=True)) - Fraction(offset)
            off = max(off, abs(here - scale * drawn.value(function, point)))
        assert off <= Fraction(found.shift) * extent
        assert found.shift < (2e-10 if in_cube else 1e-8)
        apart += off > 0
    assert apart > 5


@pytest.mark.parametrize(("size", "center", "half"), CASES)
@pytest.mark.parametrize("is_equation", [True, False])
def test_rows_that_hold_everywhere_or_nowhere_are_told_from_others(size, center, half, is_equation):
    """Right at the ends of what outputs are on the box, and one float to either side."""
    met = {True: 0, False: 0}
    for seed in range(16):
        drawn, draw = Drawn(seed, size, center, half), np.random.default_rng(seed)
        row = draw.normal(size=2) * [1, draw.integers(2)]
        end = drawn.level(row.tolist(), draw.choice([0.0, 1.0]))
        for level in (end, np.nextafter(end, np.inf), np.nextafter(end, -np.inf), end + 1e-6 * half, end - 1e-6 * half):
            least, most = drawn.ends(drawn.function(row.tolist(), level))
            target = (
                rs.Polyhedron(np.zeros((0, 2)), [], [row], [level]) if is_equation else rs.Polyhedron([row], [level])
            )
            found = drawn.rows.pulled_back(target, *drawn.map, drawn.errors, drawn.code)
            is_nowhere = least > 0 or (is_equation and most < 0)
            met[is_nowhere] += 1
            if found is None:
                assert is_nowhere
            elif is_equation:
                assert len(found.polyhedron.C) == (least != most)
                assert not len(found.polyhedron.A)
            elif not len(found.polyhedron.A):
                assert most <= 0
            flat = drawn.rows.of(target, *drawn.map, drawn.errors, drawn.code)
            assert (flat is None) == (found is None or (is_equation and least != most))
    assert min(met.values()) > 5


def test_constants_that_cancel_in_a_row_are_in_its_noise():
    net = network_of([affine(np.eye(2), [8.0, 8.0]), LEAKY, affine(np.eye(2), [3e3 - 8.0, 3e3 - 8.0])], 2)
    at, low, high = net.at(np.zeros((1, 2))), -np.ones(2), np.ones(2)
    weight, bias = at.maps.weight[0].cpu().numpy(), at.maps.bias[0].cpu().numpy()
    rows, apart = RowsOfInputs(net, low, high), 0
    for seed in range(20):
        row = np.random.default_rng(seed).uniform(0.5, 1) * np.array([1.0, -1.0 + 1e-4 * seed / 20])
        end = float(row @ bias)
        found = rows.of(rs.Polyhedron([row], [end]), weight, bias, np.zeros(2), at.codes)
        cut = found.polyhedron
        exact = Fraction(end) - sum(Fraction(a) * (3000 - 1) for a in row.tolist())  # of what is seen from the corner
        off = abs(exact - Fraction(float(cut.b[0])) * Fraction(row[0]) * 2 / Fraction(float(cut.A[0, 0])))
        assert off <= Fraction(found.shift) * sum(abs(Fraction(a)) for a in row.tolist())
        apart += off > 0
    assert apart > 5


def test_slopes_that_cancel_in_a_row_are_in_its_noise():
    weight = np.array([[3e3, 0.0], [3e3, 1.0]])
    net = network_of([affine(np.eye(2), [8.0, 8.0]), LEAKY, affine(weight, -8 * weight.sum(axis=1))], 2)
    at, low, high = net.at(np.zeros((1, 2))), -np.ones(2), np.ones(2)
    rows, apart = RowsOfInputs(net, low, high), 0
    for seed in range(20):
        row = np.random.default_rng(seed).uniform(0.5, 1) * np.array([1.0, -1.0 + 1e-4 * seed / 20])
        found = rows.of(rs.Polyhedron([row], [0.0]), weight, np.zeros(2), np.zeros(2), at.codes)
        exact = [sum(Fraction(a) * Fraction(w) for a, w in zip(row, side, strict=True)) for side in weight.T.tolist()]
        scale = exact[1] / Fraction(float(found.polyhedron.A[0, 1]))
        off = abs(exact[0] - scale * Fraction(float(found.polyhedron.A[0, 0])))
        assert off <= Fraction(found.shift) * sum(map(abs, exact))
        apart += off > 0
    assert apart > 5


def test_rows_across_flat_sides_of_a_box_are_off_by_a_finite_share():
    net, at, given = constant()
    rows = RowsOfInputs(net, np.full(1, 0.5), np.full(1, 0.5))
    found = rows.pulled_back(rs.Polyhedron([[0.0, 1.0]], [0.05 + 2**-54]), *given, rows.errors(at)[0], at.codes)
    assert found is not None
    assert len(found.polyhedron.A) == 1
    assert np.isfinite(found.shift)


def constant():
    """A network whose outputs are 0.1 and 0.1 x in floats, on the unit interval."""
    net = network_of([affine(np.eye(1), [1.0]), LEAKY, affine([[0.0], [0.1]], [0.1, -0.1])], 1)
    at = net.at(np.array([[0.5]]))
    given = at.maps.weight[0].cpu().numpy(), at.maps.bias[0].cpu().numpy()
    return net, at, given


@pytest.mark.parametrize("goes_on", [True, False])
def test_constant_rows_are_decided_and_equations_of_them_are_nothing_to_keep(goes_on):
    net, at, given = constant()
    rows = RowsOfInputs(net, np.zeros(1), np.ones(1), goes_on=goes_on)
    errors = rows.errors(at)[0]
    none = np.zeros((0, 2)), np.zeros(0)
    ends = (0.1, True, True), (np.nextafter(0.1, 1), True, False), (np.nextafter(0.1, 0), False, False)
    for end, below, equal in ends:
        row = rs.Polyhedron([[1.0, 0.0]], [end]), rs.Polyhedron(*none, [[1.0, 0.0]], [end])
        for one, holds in zip(row, (below, equal), strict=True):
            for ask in (rows.of, rows.pulled_back):
                found = ask(one, *given, errors, at.codes)
                assert (found is not None) == holds
                assert found is None or (len(found.polyhedron.A), len(found.polyhedron.C), found.shift) == (0, 0, 0.0)


def test_where_inputs_go_on_no_row_with_slope_holds_everywhere_or_nowhere():
    net, at, given = constant()
    for end in (-5.0, 0.05, 5.0):
        for goes_on in (True, False):
            rows = RowsOfInputs(net, np.zeros(1), np.ones(1), goes_on=goes_on)
            found = rows.pulled_back(rs.Polyhedron([[0.0, 1.0]], [end]), *given, rows.errors(at)[0], at.codes)
            if goes_on or end == 0.05:
                assert (found.polyhedron.b / found.polyhedron.A[:, 0]).tolist() == pytest.approx([end * 10])
            else:
                assert (None if found is None else len(found.polyhedron.A)) == (None if end < 0 else 0)


def test_errors_on_a_box_are_those_of_maps_at_its_farthest_corner_and_of_constants():
    net, at, _ = constant()
    rows = RowsOfInputs(net, np.array([-3.0]), np.array([1.0]))
    assert rows.errors(at)[0] == pytest.approx(3 * at.map_errors[0] + at.constant_errors[0], rel=1e-12, abs=0)


@pytest.mark.parametrize("in_cube", [True, False])
def test_rounding_of_rows_adds_up(in_cube, monkeypatch):
    """With CLEAR at zero all rows are made in fractions, and rounded once; else they have the noise of floats."""
    drawn = Drawn(1, 1e3, 3.0, 0.5)
    levels = [drawn.level(row, 0.5) for row in ([1.0, 2.0], [-1.0, 0.5])]
    one, other = (rs.Polyhedron([row], [end]) for row, end in zip(([1.0, 2.0], [-1.0, 0.5]), levels, strict=True))
    both = one.intersect(other)
    for clear in (0.0, 1e-6):
        monkeypatch.setattr(module, "CLEAR", clear)
        ask = drawn.rows.of if in_cube else drawn.rows.pulled_back
        shifts = [ask(each, *drawn.map, drawn.errors, drawn.code).shift for each in (one, other, both)]
        assert shifts[2] == pytest.approx(shifts[0] + shifts[1])
        assert min(shifts) > 0
        if not clear:
            for each, shift in zip((one, other), shifts[:2], strict=True):
                cut = ask(each, *drawn.map, drawn.errors, drawn.code).polyhedron
                size = np.abs(cut.A[0]) @ np.maximum(np.abs(drawn.low), np.abs(drawn.high)) + abs(cut.b[0])
                extent = np.abs(cut.A[0]) @ (drawn.high - drawn.low) / 2
                assert shift == pytest.approx(2 * ROUNDING if in_cube else ROUNDING * size / extent)


def test_where_fractions_are_spent_nothing_is_told(monkeypatch):
    drawn = Drawn(1, 1e7, 0.0, 1.0)
    monkeypatch.setattr(module, "CLEAR", 0.0)
    target = rs.Polyhedron([[1.0, 2.0]], [drawn.level([1.0, 2.0], 0.5)])
    for left, raises in ((10**6, False), (1, True), (0, True)):
        drawn.rows._left = left
        if raises:
            with pytest.raises(TooManyMultiplicationsError):
                drawn.rows.of(target, *drawn.map, drawn.errors, drawn.code)
        else:
            assert drawn.rows.of(target, *drawn.map, drawn.errors, drawn.code) is not None
            assert 0 < drawn.rows._left < left
