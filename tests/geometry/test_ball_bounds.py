"""Bounds of inscribed balls against linear programs in fractions with lengths of fifty digits."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.programs import ball_bounds
from reluscope.geometry.programs.ball_bounds import radius_bound
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramSolution, ProgramStatus
from reluscope.geometry.programs.rational_program import highest, whole_form


def root(square):
    return Fraction(isqrt(square.numerator * square.denominator * 10**100), square.denominator * 10**50)


def largest_radius(A, b):
    """Return the inradius, None if there is no largest one."""
    rows, lowest = [], Fraction(0)
    for row, end in zip(A.tolist(), b.tolist(), strict=True):
        exact = [Fraction(entry) for entry in row]
        length = root(sum(entry * entry for entry in exact))
        rows.append(whole_form([*(-entry for entry in exact), -length, Fraction(end)]))
        lowest = min(lowest, Fraction(end) / length)
    dim = A.shape[1]
    found = highest({dim: 1}, rows, (*[Fraction(0)] * dim, lowest))
    return found.point[-1] if found.is_bounded else None


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 1e3, 1e9]))
def test_no_ball_is_larger(seed, offset):
    random = np.random.default_rng(seed)
    dim = int(random.integers(1, 4))
    A = random.normal(size=(int(random.integers(1, 8)), dim))
    if random.random() < 0.3:
        A = np.concatenate([A, -A])
    b = random.normal(size=len(A)) + 1.0 + offset * (A @ random.normal(size=dim))
    ball, truth = rs.Polyhedron(A, b).insphere(), largest_radius(A, b)
    if truth is None:
        assert ball.radius == np.inf or ball.gap == np.inf
        return
    assert Fraction(ball.radius) <= truth + Fraction(1e-14 * (1 + 10 * offset))
    if np.isfinite(ball.gap):
        assert truth <= Fraction(ball.radius) + Fraction(ball.gap)
    assert ball.gap <= 1e-8 + 1e-12 * offset or not rs.Polyhedron(A, b).is_bounded()


def test_the_rounding_of_distances_decides():
    """Strips are some 2 wide, and far out their sides are floats that lose a tenth of that."""
    num_short = 0
    for angle in range(1, 30):
        way = np.array([np.cos(angle), np.sin(angle)])
        turned = np.array([-way[1], way[0]])
        A, b = np.stack([way, -way, turned, -turned]), np.array([1e15 + 1, -1e15 + 1, 8.0, 8.0])
        truth, weights = largest_radius(A, b), np.array([0.5, 0.5, 0.0, 0.0])
        normals, offsets, _ = unit_rows(A, b)
        center = 1e15 * way
        num_short += Fraction(float(weights @ (offsets - normals @ center))) < truth
        assert truth <= Fraction(radius_bound(A, b, center, weights))
    assert num_short


def test_endless_strips_have_proved_balls():
    strip = rs.Polyhedron([[3.0, 1.0, 7.0], [-3.0, -1.0, -7.0], [1.0, 0.0, 0.0]], [1.0, 1.0, 5.0])
    ball = strip.insphere()
    assert 0 <= ball.gap < 1e-12
    assert not strip.is_bounded()


def test_rows_whose_weights_cancel_to_nothing_leave_the_others_their_proof():
    """A half-strip: its end has a weight that is rounding, and exact weights have none for it."""
    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    bound = radius_bound(rows, np.array([3.0, 1.0, 5.0]), np.array([1.0, 0.0]), np.array([0.5, 0.5, 1e-11]))
    assert 2.0 <= bound < 2.0 + 1e-12


def test_multipliers_of_nothing_prove_nothing():
    rows = np.concatenate([np.eye(2), -np.eye(2)])
    for wrong in (np.zeros(4), np.full(4, np.nan), np.array([1.0, 0.0, 0.0, 0.0])):
        assert radius_bound(rows, np.ones(4), np.zeros(2), wrong) >= 1.0
    assert radius_bound(np.eye(2), np.ones(2), np.zeros(2), np.ones(2)) == np.inf


@pytest.mark.parametrize("status", [ProgramStatus.OPTIMAL, ProgramStatus.UNBOUNDED])
def test_a_lying_solver_makes_no_claim(status, monkeypatch):
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, objective)
        if told.status is not ProgramStatus.OPTIMAL or self.num_variables < 3:
            return told
        return ProgramSolution(status, told.value / 2, 0.5 * told.point, 0 * told.duals)

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    square = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [1.5, 0.5, 1.5, 0.5])
    ball = square.insphere()
    assert ball.radius <= 1.0 <= ball.radius + ball.gap


@pytest.mark.parametrize("is_boxed", [False, True])
def test_terms_of_rounding_are_those_of_their_derivation(monkeypatch, is_boxed):
    """With a coarse epsilon every term shows."""
    assert np.finfo(float).eps == ball_bounds.EPSILON
    eps = 2.0**-16
    monkeypatch.setattr(ball_bounds, "EPSILON", eps)
    finite = 0
    for seed in range(12):
        generator = np.random.default_rng(seed)
        A = np.concatenate([np.eye(2), -np.eye(2)]) if is_boxed else generator.normal(size=(5, 2))
        b, center = generator.uniform(0.5, 2.0, len(A)), 0.2 * generator.normal(size=2) + (seed % 2)
        multipliers = generator.uniform(0.5, 1.0, len(A)) * (np.arange(len(A)) > 0)
        if seed % 3 == 0 and not is_boxed:  # what cancels leaves little
            A[4] = -A[1:4].sum(axis=0)
            multipliers = np.append(0.0, np.linalg.norm(A[1:], axis=1))
        found = radius_bound(A, b, center, multipliers)
        normals, offsets, _ = unit_rows(A, b)
        share = multipliers[1:] / multipliers[1:].sum()
        size, rows = len(share), normals[1:]
        doubt = 2 * 10 * eps * (np.abs(offsets) + np.hypot(*center))
        slack = offsets - normals @ center
        room = share @ (slack + doubt)[1:] + (size + 4) * eps * (share @ np.abs(slack[1:]))
        rest = np.hypot(*(rows.T @ share)) + 10 * eps + (size + 4) * eps
        outwards = max(0.0, -(slack + doubt).min())
        singular = np.linalg.svd(rows, compute_uv=False)
        least = singular[-1] - 8 * max(rows.shape) * eps * singular[0]
        steep = share.min() * least - rest
        far = 2 * (share @ (slack + doubt + outwards)[1:]) * (1 + 1e-9) / steep
        far = far if steep > 1e-3 * share.min() * least else np.inf
        if is_boxed:
            ends = offsets + outwards
            far = min(far, np.hypot(*np.maximum(ends[:2] - center, center + ends[2:])) * (1 + 1e-9))
        if np.isfinite(far):
            finite += 1
            bound = room + rest * far
            assert found == pytest.approx(bound + 8 * (size + 4) * eps * (abs(bound) + rest * far), rel=1e-12, abs=0)
    assert finite > 3


@pytest.mark.parametrize("width", [3.0, -3.0])
def test_lengths_are_rounded_where_weights_cancel_in_truth(monkeypatch, width):
    """In an empty strip the bound is below zero, and longer rows bring it nearer to that."""
    eps = 2.0**-16
    monkeypatch.setattr(ball_bounds, "EPSILON", eps)
    A = np.array([[3.0, 1.0, 7.0], [-3.0, -1.0, -7.0], [1.0, 0.0, 0.0]])
    found = radius_bound(A, np.array([width, 0.0, 5.0]), np.zeros(3), np.array([0.5, 0.5, 0.0]))
    share = 1 - 7 * eps if width > 0 else 1 + 7 * eps
    assert found == pytest.approx(width / 2 / np.sqrt(59.0) / share, rel=1e-12)


def test_balls_as_small_as_floats_are_bounded_too():
    least = 2.0**-1074  # half of which is 0 in floats
    rows = np.concatenate([np.eye(2), -np.eye(2)])
    assert radius_bound(rows, np.full(4, least), np.zeros(2), np.array([0.5, 0.0, 0.5, 0.0])) >= least
