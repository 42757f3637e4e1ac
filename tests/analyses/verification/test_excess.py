"""By how much outputs are outside what is unsafe, whatever their errors are, against fractions; the points inside."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.verification import verdict as verdicts


def test_outputs_are_outside_by_what_fractions_say_whatever_is_lost():
    """Products that cancel, or fall below all floats with errors alone: ends of the largest excess of some rows."""
    draw, close, below = np.random.default_rng(0), 0, 0
    for _ in range(400):
        rows, size = draw.integers(1, 4), draw.integers(1, 5)
        scales = 10.0 ** draw.choice([-320, -200, -170, 0, 0, 100], size=2)
        outputs, A = draw.normal(size=size) * scales[0], draw.normal(size=(rows, size)) * scales[1]
        outputs *= draw.random(size) < 0.8
        errors = np.abs(draw.normal(size=size)) * scales[0] * draw.choice([0.0, 1e-17, 1e-3])
        if draw.random() < 0.5 and outputs[-1]:
            A[:, -1] = -(A[:, :-1] @ outputs[:-1] / outputs[-1])
        b = draw.choice([0.0, 1.0]) * (A @ outputs)
        least, most = (float(end[0]) for end in verdicts._excess_of_rows(A, b, outputs[None], errors[None]))
        lows, highs = [], []
        for row, end in zip(A.tolist(), b.tolist(), strict=True):
            middle = sum(Fraction(a) * Fraction(y) for a, y in zip(row, outputs.tolist(), strict=True)) - Fraction(end)
            reach = sum(abs(Fraction(a)) * Fraction(e) for a, e in zip(row, errors.tolist(), strict=True))
            lows.append(middle - reach)
            highs.append(middle + reach)
        assert Fraction(least) <= max(lows)
        assert Fraction(most) >= max(highs)
        close += 0 < max(highs) < Fraction(1e-14) * Fraction(float((np.abs(A) @ np.abs(outputs)).max()))
        below += 0 < max(highs) < Fraction(2) ** -1074
        if not errors.any():
            assert most - least <= 1e-13 * float((np.abs(A) @ np.abs(outputs)).max()) + 1e-250
    assert close > 20
    assert below > 20


def test_a_row_is_not_surely_kept_where_only_errors_are_lost():
    unsafe = rs.Polyhedron([[1e-100]], [0.0])
    assert verdicts.surely_in(unsafe, np.zeros((1, 1)), np.zeros((1, 1))).tolist() == [True]
    assert verdicts.surely_in(unsafe, np.zeros((1, 1)), np.full((1, 1), 1e-270)).tolist() == [False]


ABSOLUTE = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((2, 2)), np.array([0.0, 1.0]))])  # |x|, |x| + 1


@pytest.mark.parametrize("is_exact", [True, False])
def test_the_first_point_that_is_unsafe_is_found_among_others(is_exact, monkeypatch):
    """Of |x| and |x| + 1: beyond rounding with floats alone, at equality with fractions."""
    monkeypatch.setattr(verdicts, "MAX_MULTIPLICATIONS", 500_000 if is_exact else 0)
    near = rs.Polyhedron([[-1.0, 0.0], [0.0, 1.0]], [-0.25, 1.375])  # |x| between 1/4 and 3/8
    far = rs.Polyhedron([[-1.0, 0.0]], [-0.75])
    cases = [rs.verification.Case([-1.0], [1.0], [near, far]), rs.verification.Case([2.0], [3.0], [far])]
    replays = verdicts.Replays(ABSOLUTE, rs.verification.Property(cases))
    for points, expected in (
        ([0.0, 0.3125, 0.5, -0.875], [0.3125, -0.875]),
        ([0.5, -0.875, 0.0], [-0.875]),
        ([0.0, 0.5, 1.5], []),
        ([0.0, 2.5, 1.5], [2.5]),
        ([0.5, 0.25], [0.25] * is_exact),
        ([0.5, -0.375, 0.0], [-0.375] * is_exact),
        ([0.0, 0.75], [0.75] * is_exact),
    ):
        for ask in (replays.first, replays.likely):
            found = ask(np.array(points)[:, None])
            assert (found is None) == (not expected)
            if found is not None:
                assert found.point.tolist()[0] in expected
                assert found.case == (found.point[0] >= 2)
                assert found.outputs == pytest.approx([abs(found.point[0]), abs(found.point[0]) + 1])


def test_what_fractions_found_holds_with_all_rows_and_equations():
    unsafe = rs.Polyhedron([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [[1.0, 1.0], [1.0, -1.0]], [1.5, 0.5])
    third = Fraction(1, 3)
    for values, is_in in (
        ((1, Fraction(1, 2)), True),
        ((1 + third, Fraction(1, 2) - third), False),
        ((1, Fraction(1, 2) + third), False),
        ((1 - third, Fraction(1, 2) + third), False),
    ):
        assert verdicts.holds_at(unsafe, [Fraction(value) for value in values]) == is_in
    rows = rs.Polyhedron([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0])
    for values, is_in in (((1, 2), True), ((1, 3), False), ((2, 2), False), ((0, 0), True)):
        assert verdicts.holds_at(rows, [Fraction(value) for value in values]) == is_in
    # Fractions that are a float64 are given as one, others beside it.
    safe = rs.verification.Property([rs.verification.Case([-1.0], [1.0], [rs.Polyhedron([[-1.0, 0.0]], [-0.25])])])
    replays = verdicts.Replays(ABSOLUTE, safe)
    for point in (Fraction(1, 2), third):
        found = replays.exactly([point], [point, point + 1], 0, 0)
        assert (found.point.tolist(), found.exact) == ([float(point)], None if point == Fraction(1, 2) else (point,))
        assert found.errors.tolist() == [np.spacing(float(point)), np.spacing(float(point + 1))]
    assert replays.exactly([Fraction(1, 8)], [Fraction(1, 8), Fraction(9, 8)], 0, 0) is None


def test_a_point_of_which_some_entries_are_floats_is_given_in_fractions():
    net = rs.load([(np.eye(2), np.zeros(2))])
    safe = rs.verification.Property([rs.verification.Case([0, 0], [1, 1], [rs.Polyhedron([[-1.0, 0.0]], [-0.25])])])
    point = [Fraction(1, 2), Fraction(1, 3)]
    found = verdicts.Replays(net, safe).exactly(point, point, 0, 0)
    assert found.exact == tuple(point)
    assert found.point.tolist() == [0.5, 1 / 3]
