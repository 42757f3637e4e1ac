"""Answers about polyhedra against elimination of coordinates in fractions, where a tolerance of 1e-9 is wrong."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.errors import SolverError
from reluscope.geometry.polyhedra.interior import is_cone_trivial
from reluscope.geometry.programs import proved_programs
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramSolution, ProgramStatus
from reluscope.geometry.programs.proved_programs import ProvedSystem


def without_last(rows):
    """Fourier and Motzkin: rows (a, c) of ``a x + c >= 0`` without the last coordinate."""
    above = [row for row in rows if row[-2] > 0]
    below = [row for row in rows if row[-2] < 0]
    left = [(*row[:-2], row[-1]) for row in rows if row[-2] == 0]
    for high in above:
        for low in below:
            row = [low[-2] * a - high[-2] * b for a, b in zip(high, low, strict=True)]
            left.append((*(-entry for entry in row[:-2]), -row[-1]))
    return left


def ends_by_elimination(rows, dim):
    """Return the ends of the first coordinate, None if there is no point."""
    for _ in range(dim - 1):
        rows = without_last(rows)
    low, high = None, None
    for slope, constant in rows:
        if not slope and constant < 0:
            return None
        if slope > 0 and (low is None or -constant / slope > low):
            low = -constant / slope
        if slope < 0 and (high is None or -constant / slope < high):
            high = -constant / slope
    return None if low is not None and high is not None and low > high else (low, high)


def forms(polyhedron):
    rows = []
    for row, value in zip(polyhedron.A.tolist(), polyhedron.b.tolist(), strict=True):
        rows.append((*(-Fraction(entry) for entry in row), Fraction(value)))
    for row, value in zip(polyhedron.C.tolist(), polyhedron.d.tolist(), strict=True):
        for sign in (1, -1):
            rows.append((*(-sign * Fraction(a) for a in row), sign * Fraction(value)))
    return rows


def near_ties(seed):
    """Rows with small whole entries, some by far larger or smaller, some repeated with a last bit more or less."""
    random = np.random.default_rng(seed)
    dim = int(random.integers(1, 4))
    height = int(random.integers(1, 6))
    A = random.integers(-2, 3, (height, dim)).astype(float)
    b = random.integers(-1, 3, height).astype(float)
    again = random.integers(0, height, 2)
    A, b = np.concatenate([A, random.choice([-1.0, 1.0], (2, 1)) * A[again]]), np.concatenate([b, -b[again]])
    b[height:] += random.choice([0.0, 1e-16, -1e-16, 1e-12, -1e-12, 1e-9], 2)
    A[-1, 0] += random.choice([0.0, 1e-15, -1e-15, 1e-10, -1e-10])
    scales = 10.0 ** random.choice([0, 0, 0, 150, -150], len(A))
    keep = random.random(len(A)) < 0.9
    equations = random.integers(-1, 2, (1, dim)).astype(float) if random.random() < 0.3 else np.zeros((0, dim))
    return rs.Polyhedron(
        (scales[:, None] * A)[keep].reshape(-1, dim), (scales * b)[keep], equations, np.zeros(len(equations))
    )


@settings(max_examples=300)
@given(st.integers(0, 2**32))
def test_polyhedra_are_what_their_rows_are(seed):
    polyhedron = near_ties(seed)
    dim, rows = polyhedron.dim, forms(polyhedron)
    assert polyhedron.is_empty() == (ends_by_elimination(rows, dim) is None)
    is_bounded = True
    for axis in range(dim):
        order = [axis, *(other for other in range(dim) if other != axis)]
        ends = ends_by_elimination([(*(row[place] for place in order), row[-1]) for row in rows], dim)
        found = polyhedron.maximize(np.eye(dim)[axis]).value
        if ends is None:
            assert found == -np.inf
            continue
        is_bounded &= None not in ends
        assert found == (np.inf if ends[1] is None else float(ends[1]))
    assert polyhedron.is_bounded() == is_bounded


def test_what_tolerances_hide():
    """All of these are nothing to a solver that allows rows to be missed by 1e-9."""
    assert rs.Polyhedron([[1.0], [-1.0]], [0.0, -1e-12]).is_empty()
    assert not rs.Polyhedron([[1.0], [-1.0]], [1e-12, 0.0]).is_empty()
    slow = rs.Polyhedron([[1.0, 1e-12], [-1.0, 0.0], [0.0, -1.0]], [1.0, 0.0, 0.0])
    assert slow.is_bounded()
    assert slow.maximize([0.0, 1.0]).value == float(1 / Fraction(1e-12))
    wedge = rs.Polyhedron([[1.0, -1e-13], [-1.0, 0.0], [0.0, -1.0]], [1.0, 0.0, 0.0])
    assert not wedge.is_bounded()
    assert wedge.maximize([1.0, 0.0]).value == np.inf
    third = rs.Polyhedron([[3.0, 0.0], [-3.0, 0.0]], [1.0, -1.0], [[1.0, -1.0]], [0.0])
    assert third.maximize([0.0, 1.0]).value == 1 / 3
    assert third.is_bounded()


def test_cones_between_nearly_dependent_rows():
    assert is_cone_trivial(np.array([[1.0, 1e-13], [-1.0, 1e-13], [0.0, -1.0]]))
    assert not is_cone_trivial(np.array([[1.0, -1e-13], [-1.0, -1e-13], [1.0, 0.0]]))
    assert not is_cone_trivial(np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0]]))
    assert is_cone_trivial(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1e-13, 1.0]]))


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e9])
def test_points_on_a_row_but_for_a_rounding_are_in_or_out(offset):
    told = {True: 0, False: 0}
    for seed in range(60):
        random = np.random.default_rng(seed)
        row, point = random.normal(size=3), [Fraction(entry) for entry in (random.normal(size=3) + offset).tolist()]
        height = sum(Fraction(a) * x for a, x in zip(row.tolist(), point, strict=True))
        ends = np.nextafter(float(height), [-np.inf, np.inf])[[seed % 2]] if seed % 3 else np.array([float(height)])
        truth = height <= Fraction(float(ends[0]))
        assert ProvedSystem(row[None], ends, np.zeros((0, 3)), np.zeros(0)).contains(point) == truth
        assert ProvedSystem(np.zeros((0, 3)), np.zeros(0), row[None], ends).contains(point) == (
            height == Fraction(ends[0])
        )
        told[truth] += 1
    assert min(told.values()) > 10


@pytest.mark.parametrize("dim", [4, 10])
def test_dense_rows_are_proved(dim, monkeypatch):
    """Floats find the rows and fractions check them: the simplex method in fractions would take seconds."""
    monkeypatch.setattr(proved_programs, "highest", None)
    random = np.random.default_rng(dim)
    A, b = random.normal(size=(100, dim)), random.random(100) + 0.1
    system = ProvedSystem(A, b, np.zeros((0, dim)), np.zeros(0))
    gain = [Fraction(entry) for entry in random.normal(size=dim).tolist()]
    found = system.maximum(gain)
    assert found is not None
    assert found.status is ProgramStatus.OPTIMAL
    assert sum(a * x for a, x in zip(gain, found.point, strict=True)) == found.value
    assert system.contains(found.point)
    assert not system.is_empty()
    assert ProvedSystem(A, b - 4.0 * dim, np.zeros((0, dim)), np.zeros(0)).is_empty()
    half = ProvedSystem(A[: dim + 2], b[: dim + 2], np.zeros((0, dim)), np.zeros(0))
    assert half.maximum([-sum(map(Fraction, column)) for column in zip(*A[: dim + 2].tolist(), strict=True)])


@pytest.mark.parametrize("status", list(ProgramStatus))
def test_a_lying_solver_is_found_out(status, monkeypatch):
    """Whatever it says, the square is bounded, has points, and x + y is at most 2."""
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, objective)
        value = {ProgramStatus.OPTIMAL: 7.0, ProgramStatus.INFEASIBLE: -np.inf, ProgramStatus.UNBOUNDED: np.inf}[status]
        nothing = np.nan if status is not ProgramStatus.OPTIMAL else 3.0
        return ProgramSolution(status, value, 0 * told.point + nothing, 0 * told.duals + nothing)

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    square = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 1, 1, 1])
    assert square.maximize([1.0, 1.0]).value == 2.0
    assert not square.is_empty()
    assert square.is_bounded()
    assert not rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, 1]], [1, 1, 1, 1]).is_bounded()
    assert rs.Polyhedron([[1.0], [-1.0]], [0.0, -1.0]).is_empty()


def test_a_solver_that_keeps_multipliers_to_itself_leaves_them_to_fractions(monkeypatch):
    """That ``x + y`` is 1 proves the greatest ``2 x + 2 y``, whatever weights in floats say of it."""
    honest = LinearProgram.maximize
    monkeypatch.setattr(LinearProgram, "maximize", lambda *told: honest(*told)._replace(duals=np.zeros(0)))
    monkeypatch.setattr(proved_programs, "highest", None)
    system = ProvedSystem(np.eye(2), np.array([5.0, 6.0]), np.ones((1, 2)), np.ones(1))
    found = system.maximum([Fraction(2), Fraction(2)])
    assert found is not None
    assert (found.status, found.value) == (ProgramStatus.OPTIMAL, 2)


def test_weights_may_come_out_as_zero():
    """Of ``x <= 1`` and ``y <= 1`` the first alone writes x, though floats gave the second a little weight."""
    system = ProvedSystem(np.eye(2), np.ones(2), np.zeros((0, 2)), np.zeros(0))
    found = system.multipliers([Fraction(1), Fraction(0)], np.array([1.0, 1e-11]))
    assert found == ((1, 0), [0, 1], [])
    assert system.multipliers([Fraction(1), Fraction(-1, 10**9)], np.array([1.0, 1e-11])) is None


@pytest.mark.parametrize(("most", "is_solved"), [(6, True), (5, False)])
def test_numbers_in_fractions_are_those_of_rows_and_of_both_sides_of_equations(monkeypatch, most, is_solved):
    """With two coordinates, a row has two, and an equation four."""
    monkeypatch.setattr(proved_programs, "MAX_NUMBERS", most)
    system = ProvedSystem(np.array([[1.0, 0.0]]), np.ones(1), np.array([[0.0, 1.0]]), np.ones(1))
    found = system._in_fractions([Fraction(1), Fraction(1)])
    assert found is None if not is_solved else found is not None and found.value == 2


def test_numbers_too_small_for_floats_are_asked_in_fractions():
    """Two fifths of the least float are 0 in floats; half of six of them is more than one."""
    assert np.finfo(float).eps == proved_programs.EPSILON
    least, nothing = Fraction(1, 2**1074), (np.zeros((0, 6)), np.zeros(0))
    system = ProvedSystem(np.full((1, 6), 0.5), np.array([float(least)]), *nothing)
    assert not system.contains([Fraction(2, 5) * least] * 6)
    assert system.contains([Fraction(1, 5) * least] * 6)


def test_points_on_a_row_whose_terms_cancel_are_in_or_out():
    """What is left of the sum is its rounding, and so is the offset."""
    told, nothing = {True: 0, False: 0}, (np.zeros((0, 3)), np.zeros(0))
    for seed in range(60):
        random = np.random.default_rng(seed)
        row, x = random.normal(size=3), random.normal(size=3)
        row[2] = -(row[:2] @ x[:2]) / x[2]
        point = [Fraction(entry) for entry in x.tolist()]
        height = sum(Fraction(a) * b for a, b in zip(row.tolist(), point, strict=True))
        end = float(height) + float(random.choice([-1e-18, 1e-18]))
        truth = height <= Fraction(end)
        assert ProvedSystem(row[None], np.array([end]), *nothing).contains(point) == truth
        told[truth] += 1
    assert min(told.values()) > 10


def test_flat_polyhedra_have_a_point_on_all_rows_that_are_tight(monkeypatch):
    """One point, (1/3, 1/3), is on three rows, of which floats miss two."""
    monkeypatch.setattr(ProvedSystem, "_in_fractions", lambda *_: None)
    system = ProvedSystem(
        np.array([[3.0, 0.0], [0.0, 3.0], [-3.0, -3.0]]), np.array([1.0, 1.0, -2.0]), np.zeros((0, 2)), np.zeros(0)
    )
    assert system.is_empty() is False


def test_points_that_are_none_are_not_moved():
    system = ProvedSystem(np.eye(2), np.ones(2), np.zeros((0, 2)), np.zeros(0))
    for wrong in ([np.nan, 0.0], [0.0, np.inf], [np.nan, np.nan]):
        assert system._onto(np.array(wrong), np.zeros(0), is_near=True) is None
    assert system._onto(np.array([0.5, 2.0]), np.zeros(0), is_near=False) == (Fraction(1, 2), 2)


def test_rows_and_equations_of_zeros_are_kept_or_not_by_nobody(monkeypatch):
    monkeypatch.setattr(ProvedSystem, "_in_fractions", lambda *_: None)
    zero, nothing = np.zeros((1, 2)), (np.zeros((0, 2)), np.zeros(0))
    for end, is_empty in ((-1.0, True), (0.0, False), (1.0, False)):
        system = ProvedSystem(np.concatenate([zero, np.eye(2)]), np.array([end, 1.0, 1.0]), *nothing)
        assert system.is_empty() is is_empty
    for value, is_empty in ((-1.0, True), (0.0, False), (1.0, True)):
        system = ProvedSystem(np.eye(2), np.ones(2), zero, np.array([value]))
        assert system.is_empty() is is_empty
        found = system.maximum([Fraction(1), Fraction(1)])
        assert (found.status is ProgramStatus.INFEASIBLE) == is_empty


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equations_contradict_each_other_and_rows_from_either_side(monkeypatch, sign):
    monkeypatch.setattr(ProvedSystem, "_in_fractions", lambda *_: None)
    line, nothing = sign * np.ones((1, 2)), (np.zeros((0, 2)), np.zeros(0))
    for values, is_empty in (([1.0, 3.0], True), ([3.0, 1.0], True), ([1.0, 1.0], False)):
        system = ProvedSystem(*nothing, np.concatenate([line, line]), np.array(values))
        assert system.is_empty() is is_empty
    for end, is_empty in ((0.5, True), (1.0, False), (2.0, False)):
        assert ProvedSystem(line, np.array([end]), line, np.ones(1)).is_empty() is is_empty
        assert ProvedSystem(-line, np.array([-2 + end]), line, np.ones(1)).is_empty() is is_empty


def test_a_solver_that_gives_up_leaves_the_answer_to_fractions(monkeypatch):
    def give_up(self, objective):
        raise SolverError("no answer")

    monkeypatch.setattr(LinearProgram, "maximize", give_up)
    nothing = np.zeros((0, 2)), np.zeros(0)
    square = ProvedSystem(np.concatenate([np.eye(2), -np.eye(2)]), np.ones(4), *nothing)
    assert square.is_empty() is False
    assert square.maximum([Fraction(1), Fraction(2)]).value == 3
    assert ProvedSystem(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, -1.0]), *nothing).is_empty() is True
    corner = ProvedSystem(np.eye(2), np.ones(2), *nothing)
    assert corner.maximum([Fraction(-1), Fraction(0)]).status is ProgramStatus.UNBOUNDED


@pytest.mark.parametrize(("short", "is_asked"), [(0.11, True), (0.125, False)])
def test_rows_are_sure_beyond_the_rounding_of_their_sums(monkeypatch, short, is_asked):
    """In two dimensions 16 epsilons: of ``x <= 1`` at ``1 - s`` and a coarse epsilon of 2^-8, from 2 / 17 on."""
    asked, proper = [], proved_programs._product
    monkeypatch.setattr(proved_programs, "EPSILON", 2.0**-8)
    monkeypatch.setattr(proved_programs, "_product", lambda *given: asked.append(given) or proper(*given))
    system = ProvedSystem(np.array([[1.0, 0.0]]), np.ones(1), np.zeros((0, 2)), np.zeros(0))
    assert system.contains([Fraction(1) - Fraction(short), Fraction(0)])
    assert bool(asked) == is_asked


def test_ways_without_end_may_be_along_an_axis_and_are_made_of_numbers(monkeypatch):
    monkeypatch.setattr(ProvedSystem, "_in_fractions", lambda *_: None)
    strip = ProvedSystem(np.array([[0.0, 1.0], [0.0, -1.0]]), np.ones(2), np.zeros((0, 2)), np.zeros(0))
    assert strip.maximum([Fraction(1), Fraction(0)]).status is ProgramStatus.UNBOUNDED
    for wrong in ([np.nan, 1.0], [np.inf, 0.0], [0.0, 0.0]):
        told = ProgramSolution(ProgramStatus.OPTIMAL, 1.0, np.array(wrong), np.zeros(2))
        monkeypatch.setattr(LinearProgram, "maximize", lambda *_, told=told: told)
        assert not strip._has_ray([Fraction(1), Fraction(0)])


def test_a_cone_that_a_solver_gives_up_on_is_left_to_fractions():
    """Rows that repeat each other but for 1e-10; HiGHS ends without an answer."""
    polyhedron = near_ties(136755)
    assert not polyhedron.is_bounded()
    assert not polyhedron.is_empty()


@pytest.mark.parametrize("seed", range(10))
def test_rays_along_which_nothing_grows_are_none(seed):
    """Bounded gains of polyhedra that are unbounded in other directions."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(-3, 4, (2, 4)).astype(float)
    gain = [Fraction(entry) for entry in rows[0].tolist()]
    system = ProvedSystem(np.r_[rows, -rows[:1]], np.ones(3), np.zeros((0, 4)), np.zeros(0))
    assert not system._has_ray(gain)
    system = ProvedSystem(-rows[:1], np.ones(1), np.zeros((0, 4)), np.zeros(0))
    assert system._has_ray(gain)


def test_directions_that_the_gain_does_not_change_are_no_rays(monkeypatch):
    system = ProvedSystem(np.array([[0.0, 1.0]]), np.ones(1), np.zeros((0, 2)), np.zeros(0))
    answer = ProgramSolution(ProgramStatus.OPTIMAL, 0.0, np.array([1.0, 0.0]), np.zeros(1))
    monkeypatch.setattr(LinearProgram, "maximize", lambda self, gain: answer)
    assert not system._has_ray([Fraction(0), Fraction(1)])
    assert system._has_ray([Fraction(1), Fraction(0)])
