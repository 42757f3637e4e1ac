"""Lengths and powers of two for numbers of any size, against rational arithmetic."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reluscope.geometry.numbers.norms import L2, Norm
from reluscope.geometry.numbers.scales import exponents, lengths, times_power, units
from reluscope.geometry.polyhedra.interior import inscribed_ball, unit_rows
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

VECTORS = st.lists(st.tuples(st.integers(-(2**20), 2**20), st.integers(-1000, 1000)), min_size=1, max_size=5)


def exact_length(vector):
    """Return the length of a vector as a float, from the integer square root of a sum of fractions."""
    total = sum(Fraction(float(one)) ** 2 for one in vector)
    shift = 2**3000
    return float(Fraction(isqrt(int(total * shift * shift)), shift))


@given(VECTORS)
@example([(3, -1050), (4, -1050)])
@example([(3, 1000), (4, 1000)])
@example([(1, 600), (1, -600)])
@example([(0, 0), (0, 0)])
def test_lengths_of_vectors_of_any_scale(entries):
    vector = np.array([np.ldexp(float(digits), exponent - 20) for digits, exponent in entries])
    expected = exact_length(vector)
    assert float(lengths(vector)) == pytest.approx(expected, rel=1e-14)
    assert float(L2.size(vector)) == pytest.approx(expected, rel=1e-14)
    found = units(vector)
    assert float(np.linalg.norm(found)) == pytest.approx(1.0 if vector.any() else 0.0)
    assert (np.sign(found) == np.sign(vector))[np.abs(vector) > 1e-15 * expected].all()


def test_lengths_along_any_axis():
    table = np.random.default_rng(0).normal(size=(4, 5)) * 2.0 ** np.array([600, 0, -600, -1060])[:, None]
    for axis in (0, 1, -1):
        expected = [exact_length(vector) for vector in (table.T if axis == 0 else table)]
        np.testing.assert_allclose(lengths(table, axis), expected, rtol=1e-9)
    assert np.isnan(lengths(np.array([np.nan, 1e300])))


@given(st.floats(2.0**-500, 2.0**500), st.integers(-500, 500))
def test_powers_of_two_change_no_digit(value, exponent):
    moved = times_power(np.array([value]), exponent)
    assert Fraction(float(moved[0])) == Fraction(value) * Fraction(2) ** exponent
    assert int(exponents(moved)) == int(exponents(np.array([value]))) + exponent


@pytest.mark.parametrize("exponent", [-900, -300, 300, 900])
def test_questions_of_polyhedra_of_any_scale(exponent):
    generator = np.random.default_rng(3)
    A, b = generator.normal(size=(12, 3)), generator.uniform(0.5, 2.0, 12)
    rows = 2.0 ** generator.integers(-400, 400, 12)
    ball = inscribed_ball(A, b)
    moved = inscribed_ball(A, times_power(b, exponent))
    np.testing.assert_array_equal(moved.center, times_power(ball.center, exponent))
    assert moved.radius == times_power(np.array(ball.radius), exponent)
    np.testing.assert_array_equal(inscribed_ball(A * rows[:, None], b * rows).center, ball.center)
    np.testing.assert_array_equal(unit_rows(A * rows[:, None], b * rows)[0], unit_rows(A, b)[0])
    point, free = np.array([9.0, -7.0, 5.0]), np.full(3, np.inf)
    for norm in ("l1", "l2", "linf"):
        near = nearest_point(A, b, point, norm=Norm(norm), lower=-free, upper=free)
        there = nearest_point(A, times_power(b, exponent), times_power(point, exponent), norm=Norm(norm))
        np.testing.assert_array_equal(there.point, times_power(near.point, exponent))
        assert there.distance == times_power(np.array(near.distance), exponent)
        factor = exponent if norm == "l2" else 0
        np.testing.assert_array_equal(there.multipliers, times_power(near.multipliers, factor))


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1.0, 1e9])
def test_equations_are_consistent_or_not_at_any_scale(scale):
    rows, ends = np.concatenate([np.eye(2), -np.eye(2)]), np.full(4, 4.0 * scale)
    twice, apart = np.array([[1.0, 1.0], [3.0, 3.0]]), np.array([1.0, 3.0]) * scale
    line = Polyhedron(rows, ends, twice, apart)
    assert line.insphere().radius == pytest.approx(3.5 * np.sqrt(2) * scale, rel=1e-6, abs=0)
    assert Polyhedron(rows, ends, twice, apart * [1.0, 1.1]).insphere().radius == -np.inf
    # The row x + y <= c is constant on the line: it leaves all of it, or nothing.
    for offset, radius in ((1.0, 3.5 * np.sqrt(2) * scale), (0.9, -np.inf)):
        cut = Polyhedron(np.concatenate([rows, [[1.0, 1.0]]]), np.append(ends, offset * scale), twice[:1], apart[:1])
        assert (cut.insphere().radius > 0) == (radius > 0)
