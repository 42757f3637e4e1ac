"""Balls by the interior-point method against known radii, scipy's linear programs and points inside and outside."""

import numpy as np
import pytest
from scipy.optimize import linprog

import reluscope as rs
from reluscope.geometry.barrier import ball_by_barrier


def unit(normals, offsets):
    lengths = np.linalg.norm(normals, axis=1)
    return normals / lengths[:, None], offsets / lengths


def radius_by_scipy(normals, offsets):
    dim = normals.shape[1]
    rows = np.column_stack([normals, np.ones(len(normals))])
    found = linprog(np.append(np.zeros(dim), -1.0), rows, offsets, bounds=(None, None), method="highs")
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize(("dim", "number"), [(1, 2), (2, 5), (5, 40), (30, 200)])
def test_radius_is_that_of_the_linear_program(dim, number):
    generator = np.random.default_rng(dim)
    normals, offsets = unit(generator.normal(size=(number, dim)), generator.uniform(0.1, 2.0, number))
    normals, offsets = np.r_[normals, np.eye(dim), -np.eye(dim)], np.r_[offsets, np.full(2 * dim, 3.0)]
    ball = ball_by_barrier(normals, offsets)
    truth = radius_by_scipy(normals, offsets)
    assert ball.radius == pytest.approx(truth, rel=1e-6)
    assert ball.radius - 1e-12 <= truth <= ball.radius + ball.gap + 1e-9
    assert ball.gap <= 1e-6 * ball.radius
    directions = generator.normal(size=(500, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert (normals @ (ball.center + ball.radius * directions).T <= offsets[:, None] + 1e-12).all()


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_scale_and_place_do_not_matter(size):
    normals = np.r_[np.eye(3), -np.eye(3)]
    place = size * np.array([5.0, -3.0, 100.0])
    offsets = normals @ place + size * np.array([2.0, 1.0, 3.0, 2.0, 1.0, 3.0])
    ball = ball_by_barrier(normals, offsets)
    assert ball.radius == pytest.approx(size, rel=1e-6)
    assert ball.center[1] == pytest.approx(-3.0 * size, rel=1e-5)


def test_repeated_rows_and_columns_of_zeros():
    normals = np.repeat(np.c_[np.r_[np.eye(2), -np.eye(2)], np.zeros((4, 2))], 3, axis=0)
    assert ball_by_barrier(normals, np.ones(12)).radius == pytest.approx(1.0, rel=1e-6)


def test_cones_hold_balls_of_every_size():
    generator = np.random.default_rng(0)
    normals = -np.abs(generator.normal(size=(40, 6)))
    normals, offsets = unit(normals, generator.normal(size=40))
    ball = ball_by_barrier(normals, offsets)
    assert ball.radius == np.inf


@pytest.mark.parametrize("offset", [0.0, -1.0])
def test_flat_and_empty_polyhedra_are_left_to_others(offset):
    assert ball_by_barrier(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, offset])) is None


def test_polyhedra_of_many_rows_go_this_way(monkeypatch):
    generator = np.random.default_rng(3)
    normals, offsets = generator.normal(size=(600, 25)), generator.uniform(0.5, 1.0, 600)
    quick = rs.Polyhedron(normals, offsets).insphere()
    monkeypatch.setattr("reluscope.geometry.interior.MANY_ENTRIES", 10**9)
    slow = rs.Polyhedron(normals, offsets).insphere()
    assert quick.radius == pytest.approx(slow.radius, rel=1e-7)
    assert quick.gap > 0
