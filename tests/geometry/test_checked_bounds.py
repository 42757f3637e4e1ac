"""Bounds that multipliers prove, against the same sums in rational arithmetic; boxes around polyhedra."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import reluscope as rs
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.programs import checked_bounds
from reluscope.geometry.programs.checked_bounds import upper_bound


def exact_bound(gain, rows, low, high, lower, upper, multipliers):
    total = Fraction(0)
    for y, a, b in zip(multipliers.tolist(), low.tolist(), high.tolist(), strict=True):
        total += Fraction(y) * Fraction(b if y > 0 else a) if y else 0
    for column, (a, b) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        rest = Fraction(float(gain[column])) - sum(
            Fraction(y) * Fraction(entry)
            for y, entry in zip(multipliers.tolist(), rows[:, column].tolist(), strict=True)
        )
        if rest:
            total += rest * Fraction(b if rest > 0 else a)
    return total


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 1e8, 1e15]), st.booleans())
def test_no_sum_is_below_what_it_is_in_fractions(seed, offset, is_sparse):
    """Offsets and cancellation make rounding as large as the answer."""
    random = np.random.default_rng(seed)
    height, dim = random.integers(1, 9, 2)
    rows = random.normal(size=(height, dim)) * (random.random((height, dim)) < 0.7)
    gain = random.normal(size=dim)
    low, high = -random.random(height) - offset, random.random(height) + offset
    lower, upper = -random.random(dim) - offset, random.random(dim) + offset
    multipliers = np.linalg.lstsq(rows.T, gain, rcond=None)[0]  # leaves nothing but rounding, where it can
    found = upper_bound(gain, csr_array(rows) if is_sparse else rows, low, high, lower, upper, multipliers)
    exact = exact_bound(gain, rows, low, high, lower, upper, multipliers)
    assert Fraction(found) >= exact
    assert found <= float(exact) + 1e-10 * (1 + offset) * (1 + np.abs(multipliers).sum())


def test_the_rounding_of_what_is_left_decides():
    """0.1 and 0.2 do not cancel 0.3, by what floats do not see, and x goes far."""
    rows, gain = np.array([[0.1, 0.0], [0.2, 1.0]]), np.array([0.1 + 0.2, 1.0])
    rest = Fraction(float(gain[0])) - Fraction(0.1) - Fraction(0.2)
    ends = np.zeros(2), np.zeros(2)
    box = np.array([-1e20, 0.0]), np.array([1e20, 0.0])
    assert rest > 0
    assert upper_bound(gain, rows, *ends, *box, np.ones(2)) >= float(rest) * 1e20
    free = np.array([-np.inf, 0.0]), np.array([np.inf, 0.0])
    assert upper_bound(gain, rows, *ends, *free, np.ones(2)) == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_terms_of_rounding_are_those_of_their_derivation(monkeypatch, seed):
    """With a coarse epsilon every term shows."""
    assert np.finfo(float).eps == checked_bounds.EPSILON
    eps, random = 2.0**-10, np.random.default_rng(seed)
    monkeypatch.setattr(checked_bounds, "EPSILON", eps)
    rows, gain, multipliers = random.normal(size=(3, 5)), random.normal(size=5), random.normal(size=3)
    gain[4] = multipliers @ rows[:, 4]  # nothing is left but rounding
    low, high, lower, upper = -random.random(3), random.random(3), -random.random(5), random.random(5)
    rest = gain - multipliers @ rows
    doubt = 5 * eps * (np.abs(gain) + np.abs(multipliers) @ np.abs(rows))
    ends, sides = np.where(multipliers > 0, high, low), np.where(rest > 0, upper, lower)
    widest = doubt * np.where(np.abs(rest) > doubt, np.abs(sides), np.maximum(np.abs(lower), np.abs(upper)))
    terms = np.append(multipliers * ends, rest * sides)
    expected = terms.sum() + widest.sum() + (8 + 5 + 3) * eps * (np.abs(terms).sum() + widest.sum())
    assert upper_bound(gain, rows, low, high, lower, upper, multipliers) == pytest.approx(expected, rel=1e-9)


def test_a_rest_that_fractions_know_counts_with_its_rounding():
    """Without a lower end, and 1e300 as the upper one: what floats round of the rest decides."""
    rng, rounded = np.random.default_rng(0), 0
    for _ in range(300):
        number = int(rng.integers(1, 6))
        rows, multipliers = rng.normal(size=(number, 1)), rng.normal(size=number)
        gain = rows.T @ multipliers  # as floats have it: what is left is rounding
        rest = Fraction(float(gain[0])) - sum(
            Fraction(a) * Fraction(y) for a, y in zip(rows[:, 0].tolist(), multipliers.tolist(), strict=True)
        )
        sides = (np.array([-np.inf]), np.array([1e300])) if rest > 0 else (np.array([-1e300]), np.array([np.inf]))
        found = upper_bound(gain, rows, *np.zeros((2, number)), *sides, multipliers)
        truth = abs(rest) * Fraction(1e300)
        assert truth <= Fraction(found) <= truth * (1 + Fraction(1, 10**14)) + 1
        rounded += Fraction(float(rest)) != rest
    assert rounded > 100


def test_ends_that_there_are_not_prove_nothing():
    rows, ends = np.ones((1, 1)), (np.array([-np.inf]), np.array([1.0]))
    free = np.array([-np.inf]), np.array([np.inf])
    assert upper_bound(np.ones(1), rows, *ends, *free, np.ones(1)) == pytest.approx(1.0)
    for wrong in (-1.0, np.nan, 0.0):
        assert upper_bound(np.ones(1), rows, *ends, *free, np.array([wrong])) == np.inf
    half = np.array([-np.inf]), np.array([2.0])
    assert upper_bound(np.ones(1), rows, *ends, *half, np.zeros(1)) == pytest.approx(2.0)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.booleans())
def test_boxes_hold_polyhedra_and_are_least(seed, has_sides):
    random = np.random.default_rng(seed)
    dim = int(random.integers(1, 4))
    A = random.normal(size=(dim + 4, dim))
    if has_sides:
        A = np.concatenate([A, 3 * np.eye(dim), -3 * np.eye(dim)])
    b = random.random(len(A))
    polyhedron = rs.Polyhedron(A, b)
    found = bounding_box(polyhedron)
    assert (found is None) == (not polyhedron.is_bounded())
    if found is not None:
        for axis, unit in enumerate(np.eye(dim)):
            assert found[1][axis] == pytest.approx(polyhedron.maximize(unit).value, abs=1e-6)
            assert found[0][axis] == pytest.approx(-polyhedron.maximize(-unit).value, abs=1e-6)


def test_ends_of_boxes_are_on_the_right_side():
    third = rs.Polyhedron([[3.0], [-3.0]], [1.0, 1.0])
    (low,), (high,) = bounding_box(third)
    assert Fraction(low) < Fraction(-1, 3) < Fraction(1, 3) < Fraction(high)
    triangle = rs.Polyhedron([[3.0, 0.0], [-3.0, -1.0], [0.0, 1.0]], [1.0, 1.0, 0.0])
    (left, _), (right, top) = bounding_box(triangle)
    assert Fraction(left) < Fraction(-1, 3) < Fraction(1, 3) < Fraction(right)
    assert top == 0.0
    whole = rs.Polyhedron([[2.0], [-1.0]], [1.0, 0.0])
    assert [end.tolist() for end in bounding_box(whole)] == [[0.0], [0.5]]
    empty = bounding_box(rs.Polyhedron([[1.0], [-1.0]], [-1.0, -1.0]))
    assert empty[0][0] > empty[1][0]
    assert bounding_box(rs.Polyhedron([[1.0, 1.0]], [1.0])) is None


@pytest.mark.parametrize(("lower", "upper"), [(0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf)])
def test_what_vanishes_in_truth_needs_no_end(lower, upper):
    found = upper_bound(
        np.ones(1), np.ones((1, 1)), np.full(1, -np.inf), np.ones(1), np.array([lower]), np.array([upper]), np.ones(1)
    )
    assert 1.0 <= found < 1.0 + 1e-14


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_left_decides_which_end_is_asked_for(sign):
    """0.3 less 0.1 and 0.2 is above zero as floats have it, or below: by less than they see."""
    rows, gain = sign * np.array([[0.1], [0.2]]), sign * np.array([0.1 + 0.2])
    ends = np.zeros(2), np.zeros(2)
    high, low = np.array([np.inf]), np.array([-np.inf])
    beyond, within = ((-np.ones(1), high), (low, np.ones(1)))[:: int(sign)]
    assert upper_bound(gain, rows, *ends, *beyond, np.ones(2)) == np.inf
    assert 0.0 < upper_bound(gain, rows, *ends, *within, np.ones(2)) < 1e-14


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_left_counts_by_how_much_it_is(sign):
    """Seen red: 0.3 less 0.1 and 0.2, 3e-17, counted as 1, with an end on the other side of 0."""
    rows, gain = sign * np.array([[0.1], [0.2]]), sign * np.array([0.1 + 0.2])
    ends, box = (np.zeros(2), np.zeros(2)), (np.array([-np.inf]), np.array([-5.0]))
    lower, upper = box if sign > 0 else (-box[1], -box[0])
    found = upper_bound(gain, rows, *ends, lower, upper, np.ones(2))
    rest = Fraction(0.1 + 0.2) - Fraction(0.1) - Fraction(0.2)
    assert found > -1e-12
    assert Fraction(found) >= -5 * rest


def test_products_below_all_floats_are_allowed_for():
    small = 2.0**-600
    one = np.array([small])
    found = upper_bound(one, np.ones((1, 1)), -one, one, np.zeros(1), np.zeros(1), one)
    assert Fraction(found) >= Fraction(1, 2**1200)


def test_products_below_all_floats_count_with_the_side_they_are_multiplied_by():
    """Nothing is left in floats, and in truth a little of what goes very far."""
    small, rows = np.array([2.0**-600]), np.full((1, 1), 2.0**-600)
    for chosen in (rows, csr_array(rows)):
        ends = np.zeros(1), np.zeros(1)
        found = upper_bound(np.zeros(1), chosen, *ends, np.array([-(2.0**1000)]), np.ones(1), small)
        assert Fraction(found) >= Fraction(1, 2**200)
        assert upper_bound(np.zeros(1), chosen, *ends, np.array([-np.inf]), np.ones(1), small) == np.inf
        assert upper_bound(np.zeros(1), chosen, *ends, -np.ones(1), np.array([np.inf]), small) < 2.0**-1000
    # Of a column without entries nothing is lost.
    rows = np.array([[2.0**-600, 0.0]])
    free = np.array([-1.0, -np.inf]), np.array([1.0, np.inf])
    assert upper_bound(np.zeros(2), rows, *ends, *free, small) < 2.0**-1000


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_all_sizes_are_not_below_what_they_are_in_fractions(seed):
    random = np.random.default_rng(seed)

    def wild(*shape):
        return np.ldexp(random.normal(size=shape), random.choice([-1060, -560, -520, -30, 0, 30, 480], shape))

    for _ in range(60):
        height, dim = random.integers(1, 6, 2)
        rows, gain, multipliers = wild(height, dim) * (random.random((height, dim)) < 0.7), wild(dim), wild(height)
        low, lower = -np.abs(wild(height)), -np.abs(wild(dim))
        ends = low, low + np.abs(wild(height)), lower, lower + np.abs(wild(dim))
        if random.random() < 0.5:  # nothing but rounding is left, where it can be
            gain = rows.T @ multipliers
        found = upper_bound(gain, rows, *ends, multipliers)
        assert not found < np.inf or Fraction(found) >= exact_bound(gain, rows, *ends, multipliers)
