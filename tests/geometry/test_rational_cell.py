"""Cells in rational arithmetic against linear programs in floats, and against elimination of coordinates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import reluscope as rs
from reluscope.geometry.polyhedra.rational_cell import RationalCell
from reluscope.geometry.programs.rational_program import CONSTANT, highest, value_at, whole_form

entries = st.integers(-2, 2)


@settings(max_examples=200)
@given(st.data())
def test_largest_values_are_those_of_a_solver_in_floats(data):
    dim = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(entries, min_size=dim, max_size=dim), min_size=1, max_size=9))
    start = data.draw(st.lists(entries, min_size=dim, max_size=dim))
    room = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    gain = data.draw(st.lists(entries, min_size=dim, max_size=dim))
    A, x = np.array(rows), np.array(start)
    b = np.array(room) - A @ x  # A x + b >= 0
    forms = [whole_form([Fraction(int(entry)) for entry in (*row, side)]) for row, side in zip(A, b, strict=True)]
    gains = whole_form([*map(Fraction, gain), Fraction(0)])
    found = highest(gains, forms, tuple(map(Fraction, start)))
    assert all(value_at(form, found.point) >= 0 for form in forms)
    answer = linprog(-np.array(gain), A_ub=-A, b_ub=b, bounds=[(None, None)] * dim)
    assert found.is_bounded == (answer.status == 0)
    if found.is_bounded:
        assert np.array(gain) @ np.array(found.point, dtype=float) == pytest.approx(-answer.fun, abs=1e-7)
    else:
        assert value_at(gains, found.point) > 0


def test_a_cycle_ends():
    """Beale's example, on which the rule of the largest coefficient goes round for ever."""
    rows = [
        {0: -25, 1: 6000, 2: 4, 3: -900},
        {0: -50, 1: 9000, 2: 2, 3: -300},
        {2: -1, CONSTANT: 1},
        *({axis: 1} for axis in range(4)),
    ]
    found = highest({0: 75, 1: -15000, 2: 2, 3: -600}, rows, (Fraction(0),) * 4)
    assert found.point == (Fraction(1, 25), 0, 1, 0)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e155])
def test_rows_of_any_scale(scale):
    square = rs.Polyhedron([[scale, 0], [-1, 0], [0, 1], [0, -1]], [scale, 1, 1, 1])
    cell = RationalCell.of(square)
    assert cell.where_weak({0: 1, CONSTANT: -1}).point[0] == 1
    assert cell.where_strict({0: 1, CONSTANT: -1}) is None


def test_domains_without_interior_are_no_cells():
    thin = np.nextafter(1.0, 2.0)
    assert RationalCell.of(rs.Polyhedron([[1.0], [-1.0]], [thin, -1.0])) is not None
    assert RationalCell.of(rs.Polyhedron([[1.0], [-1.0]], [1.0, -1.0])) is None
    assert RationalCell.of(rs.Polyhedron([[1.0, 1.0], [0.0, 0.0]], [1.0, -1.0])) is None
    assert RationalCell.of(rs.Polyhedron([[1.0, 1.0]], [1.0], [[1.0, 0.0]], [0.0])) is None
    assert RationalCell.of(rs.Space(2)).strict == ()


def test_a_face_that_a_strict_inequality_forbids():
    cell = RationalCell.of(rs.Box(0, 1, 2)).where_strict({0: 1})
    assert cell.where_weak({0: -1}) is None
    edge = cell.where_weak({0: 1, CONSTANT: -1})
    assert edge.point[0] == 1
    assert edge.where_strict({1: 1}).where_weak({1: -1, CONSTANT: 0}) is None
