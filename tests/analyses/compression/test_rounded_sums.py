"""Sums and products with bounds on their rounding, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from reluscope.analyses.compression import rounded_sums
from reluscope.analyses.compression.rounded_sums import combined, gamma, multiplied, upwards


@pytest.mark.parametrize("seed", range(4))
def test_a_combination_is_the_nearest_float_with_what_is_left(seed):
    generator = np.random.default_rng(seed)
    base, terms = generator.normal(size=6), list(generator.normal(size=(2, 6)))
    terms[0][:2], terms[1][1] = 0.0, 0.0
    factors = [Fraction(1, 3), Fraction(-7, 11)]
    values, errors = combined(base, factors, terms)
    for i, value in enumerate(values.tolist()):
        exact = Fraction(base[i]) + sum(f * Fraction(t[i]) for f, t in zip(factors, terms, strict=True))
        assert value == float(exact)
        assert abs(exact - Fraction(value)) <= Fraction(errors[i]) <= Fraction(2) ** -52 * (abs(exact) + 1)
        assert (errors[i] == 0) == (exact == Fraction(value))
    assert values[1] == base[1]


@pytest.mark.parametrize("most", [0, 10**6])
def test_a_product_and_its_rounding(monkeypatch, most):
    monkeypatch.setattr(rounded_sums, "MAX_FRACTIONS", most)
    off = 0
    for seed in range(5):
        generator = np.random.default_rng(seed)
        left, right = generator.normal(size=(2, 40)), generator.normal(size=(40, 3))
        # What cancels leaves little but rounding.
        left[:, 20:], right[20:] = left[:, :20], -right[:20] * (1 + 1e-15)
        product, errors = multiplied(left, right)
        for i, j in np.ndindex(2, 3):
            exact = sum(Fraction(a) * Fraction(b) for a, b in zip(left[i].tolist(), right[:, j].tolist(), strict=True))
            assert abs(exact - Fraction(product[i, j])) <= Fraction(errors[i, j])
            off += exact != Fraction(product[i, j])
            if not most:
                assert errors[i, j] == pytest.approx(
                    42 * 2.0**-52 * (np.abs(left[i]) @ np.abs(right[:, j])), rel=1e-12, abs=0
                )
    assert off > 5


def test_few_products_are_fractions_and_one_more_is_not(monkeypatch):
    left, right = np.array([[0.5, 0.25]]), np.array([[1.0], [2.0]])
    monkeypatch.setattr(rounded_sums, "MAX_FRACTIONS", 2)
    assert multiplied(left, right)[1].tolist() == [[0.0]]
    monkeypatch.setattr(rounded_sums, "MAX_FRACTIONS", 1)
    assert multiplied(left, right)[1].tolist() == [[gamma(2)]]


def test_upwards_is_the_next_float_that_is_not_below():
    third = upwards(Fraction(1, 3))
    assert Fraction(third) > Fraction(1, 3) > Fraction(float(np.nextafter(third, 0.0)))
    assert Fraction(upwards(Fraction(1, 10))) == Fraction(0.1) > Fraction(1, 10)
    assert upwards(Fraction(1, 2)) == 0.5


def test_sums_of_errors_leave_room_for_their_own_rounding():
    """What is added one by one to a one is lost, all of it."""
    errors = [1.0, *[2.0**-53] * 5000]
    found = 0.0
    for error in errors:
        found += error
    assert found == 1.0
    assert Fraction(float(rounded_sums.summed_errors(np.array([found]))[0])) >= sum(map(Fraction, errors))
