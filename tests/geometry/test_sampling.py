"""Hit-and-run against exact moments and volumes: chains do not know of one another, so their spread is the error."""

import numpy as np
import pytest

import reluscope as rs


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
