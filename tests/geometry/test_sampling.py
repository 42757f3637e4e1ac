"""Hit-and-run against exact moments and volumes: chains do not know of one another, so their spread is the error."""

import numpy as np
import pytest

import reluscope as rs
from reluscope import _kernels
from reluscope.geometry.polyhedra.sampling import Walk
from reluscope.time_limits import OutOfTime, driven, time_limit


def check_mean(values: np.ndarray, truth: float, chains: int) -> None:
    """Check that a mean is within five standard errors, which the means of chains show."""
    means = values.reshape(-1, chains).mean(axis=0)
    error = means.std(ddof=1) / np.sqrt(chains)
    assert abs(means.mean() - truth) < 5 * error


@pytest.mark.parametrize("dim", [1, 2, 5, 20])
@pytest.mark.parametrize("thin", [1.0, 1e-4], ids=["cube", "needle"])
def test_boxes(dim: int, thin: float) -> None:
    sides = np.r_[np.ones(dim - 1), thin]
    rotation = np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, dim)))[0]
    P = rs.Polyhedron(np.r_[rotation, -rotation], np.r_[sides, np.zeros(dim)])
    points = P.sample(6400, seed=1, chains=32, thinning=4 * dim)
    assert P.contains(points, 1e-12).all()
    for value, side in zip((points @ rotation.T).T, sides, strict=True):
        check_mean(value / side, 1 / 2, 32)
        check_mean((value / side) ** 2, 1 / 3, 32)


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_simplices(dim: int) -> None:
    P = rs.Polyhedron(np.r_[-np.eye(dim), np.ones((1, dim))], np.r_[np.zeros(dim), 1.0])
    points = P.sample(6400, seed=2, chains=32)
    # Coordinates of uniform points of a simplex have the distribution Beta(1, n).
    for value in points.T:
        check_mean(value, 1 / (dim + 1), 32)
        check_mean(value**2, 2 / ((dim + 1) * (dim + 2)), 32)
        check_mean(value < 0.1, 1 - 0.9**dim, 32)


def test_shares_of_a_plane_polygon() -> None:
    draw = np.random.default_rng(3)
    A = draw.standard_normal((7, 2))
    P = rs.Polyhedron(np.r_[A, np.eye(2), -np.eye(2)], np.r_[draw.uniform(0.5, 1.5, 7), np.full(4, 2.0)])
    half = rs.Polyhedron([[1.0, 0.3]], [0.1])
    points = P.sample(6400, seed=4, chains=32)
    check_mean(half.contains(points), P.intersect(half).volume() / P.volume(), 32)


def test_seeds_chains_and_equations() -> None:
    P = rs.Box(0, 1, 3).polyhedron
    assert np.array_equal(P.sample(7, seed=5), P.sample(7, seed=5))
    assert not np.array_equal(P.sample(7, seed=5), P.sample(7, seed=6))
    assert len(np.unique(P.sample(7, seed=5), axis=0)) == 7
    # Point i is of chain i % chains, and chains do not depend on how many points are asked for.
    assert np.array_equal(P.sample(7, chains=2)[:4], P.sample(4, chains=2))
    flat = rs.Polyhedron(P.A, P.b, [[1.0, 1.0, 1.0]], [1.0])
    assert np.allclose(flat.sample(20).sum(axis=1), 1.0)


def test_what_cannot_be_sampled() -> None:
    with pytest.raises(rs.errors.InputError, match="bounded"):
        rs.Polyhedron([[1, 0], [-1, 0]], [1, 1]).sample(2)
    with pytest.raises(rs.errors.InputError, match="at least 1, got 0"):
        rs.Box(0, 1, 2).polyhedron.sample(0)


def walk(columns, room, draws, burn_in, thinning, refresh, draw):
    """The walk one step at a time, in the same order of sums."""
    place, slack, steps, found = np.zeros(len(columns)), room.copy(), 0, []
    for number in [burn_in] + [thinning] * (draws - 1):
        for _ in range(number):
            axis = int(draw.random() * len(columns))
            speed = columns[axis]
            ahead = min(slack[speed > 0] / speed[speed > 0], default=np.inf)
            back = min(-slack[speed < 0] / speed[speed < 0], default=np.inf)
            step = draw.random() * (ahead + back) - back
            place[axis] += step
            slack = np.maximum(slack - step * speed, 0.0)
            steps += 1
            if steps % refresh == 0:
                slack = room.copy()
                for other, column in zip(place, columns, strict=True):
                    slack -= other * column
                slack = np.maximum(slack, 0.0)
        found.append(place.copy())
    return np.array(found)


def points_of(walk: Walk, draws: int, burn_in: int, thinning: int) -> np.ndarray:
    found = []
    for draw in range(draws):
        walk.go(thinning if draw else burn_in)
        found.append(walk.place.copy())
    return np.array(found)


@pytest.mark.parametrize("height", [0, 1, 2, 3, 6])  # rows are read four at a time
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_steps_of_a_walk(dim: int, height: int) -> None:
    draw = np.random.default_rng([dim, height])
    columns = np.concatenate([draw.normal(size=(dim, height)), -np.eye(dim), np.eye(dim)], axis=1)
    columns[:, :1] = 0.0 if height else columns[:, :1]
    room = draw.exponential(size=columns.shape[1])
    for burn_in, thinning, refresh in ((7, 3, 1000), (40, 11, 10), (0, 90, 1)):
        mine, other = (np.random.default_rng(3) for _ in range(2))
        found = points_of(Walk(columns, room, mine, refresh), 4, burn_in, thinning)
        np.testing.assert_array_equal(found, walk(columns, room, 4, burn_in, thinning, refresh, other))
        assert mine.random() == other.random()


def test_slacks_that_rounding_takes_are_none() -> None:
    """A slack below zero would let the next chord end before it begins; numbers this small are rounded often."""
    draw = np.random.default_rng(0)
    columns = np.concatenate([10.0 * draw.normal(size=(3, 4)), -np.eye(3), np.eye(3)], axis=1)
    room = np.full(10, 2e-323)
    mine, other = (np.random.default_rng(1) for _ in range(2))
    found = points_of(Walk(columns, room, mine, 1000), 200, 50, 1)
    np.testing.assert_array_equal(found, walk(columns, room, 200, 50, 1, 1000, other))


def test_walks_read_no_more_than_there_is() -> None:
    bits = np.random.default_rng(0).bit_generator.capsule
    for columns, place, slack in (((0, 3), 0, 3), ((2, 3), 2, 4), ((2, 3), 1, 3)):
        with pytest.raises(ValueError, match="a place on every axis, and a slack of every row"):
            _kernels.walk(np.zeros(columns), np.zeros(place), np.zeros(slack), 1, bits)


def test_a_long_walk_comes_back_soon() -> None:
    """What is asked for is as long as a budget, or Ctrl-C, must not wait."""
    columns = np.concatenate([-np.eye(2), np.eye(2)], axis=1)
    bits = np.random.default_rng(0).bit_generator.capsule
    assert 0 < _kernels.walk(columns, np.zeros(2), np.ones(4), 2**40, bits) < 2**24


def test_a_chain_ends_with_the_time_that_it_has():
    """However many steps are left; seen red: a body of 4,096 rows in 259 dimensions took minutes for 5 s."""
    body = rs.Box(-1, 1, 3).polyhedron
    with pytest.raises(OutOfTime), time_limit(0.0, spent=1.0), driven():
        body.sample(10, thinning=10**9)
