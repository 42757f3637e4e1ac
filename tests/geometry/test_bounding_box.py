"""Boxes around polyhedra against the simplex method in fractions, whatever is degenerate."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import SolverError
from reluscope.geometry.polyhedra import bounding_box as module
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.programs.linear_program import LinearProgram


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(0, 8), st.booleans())
def test_boxes_are_those_found_in_fractions(seed, dim, height, has_equation):
    draw = np.random.default_rng(seed)
    # Small integers: rows that are multiples of each other, nothing inside, rays, single points.
    A, b = draw.integers(-2, 3, size=(height, dim)).astype(float), draw.integers(-1, 4, size=height).astype(float)
    C, d = A[:1] @ np.roll(np.eye(dim), 1, axis=1), b[:1]
    polyhedron = rs.Polyhedron(A, b, C, d) if has_equation and height else rs.Polyhedron(A, b)
    expected, found = module._in_fractions(polyhedron), module._by_proofs(polyhedron)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert np.array_equal(found, expected)


def test_general_ends_are_rounded_outwards():
    A, b = np.array([[3.0, 1.0], [-3.0, 1.0], [0.0, -7.0]]), np.array([1.0, 1.0, 1.0])
    lower, upper = bounding_box(rs.Polyhedron(A, b))
    reach = (1 + Fraction(1, 7)) / 3
    for end, true in ((upper[0], reach), (-lower[0], reach), (-lower[1], Fraction(1, 7))):
        assert Fraction(np.nextafter(end, 0)) < true < Fraction(end)
    assert upper[1] == 1.0


@pytest.mark.slow
def test_no_fractions_where_floats_and_proofs_do(monkeypatch):
    draw = np.random.default_rng(0)
    polyhedron = rs.Polyhedron(draw.normal(size=(40, 10)), np.ones(40))
    monkeypatch.setattr(module, "deepest", lambda *_: pytest.fail("solved in fractions"))
    lower, upper = bounding_box(polyhedron)
    for axis in range(10):
        ends = [polyhedron.maximize(sign * np.eye(10)[axis]).value for sign in (-1, 1)]
        assert [-lower[axis], upper[axis]] == pytest.approx(ends, rel=1e-12)


def test_numbers_that_solvers_take_for_infinite():
    """Equations of 2e20 were left out of a program, whose multipliers were then too few."""
    polyhedron = rs.Polyhedron([[1, 1], [-1, -1], [1, 2]], [1, 1, 5], [[1, -1]], [-2e20])
    assert np.array_equal(bounding_box(polyhedron), module._in_fractions(polyhedron))
    with pytest.raises(SolverError, match="finite ends below 1e20"):
        LinearProgram(1).add_rows(np.array([[1.0]]), np.array([2e20]), np.array([2e20]))
    with pytest.raises(SolverError, match="entries below 1e15"):
        LinearProgram(1).add_rows(np.array([[1e16]]), np.array([1.0]))
