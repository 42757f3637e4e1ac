"""By how much outputs are outside what is unsafe, whatever their errors are, against fractions."""

from fractions import Fraction

import numpy as np

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
