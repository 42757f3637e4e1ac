"""Widths and diameters against closed forms, dense directions, and what geometry says must hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.geometry.polyhedra import polyhedron
from reluscope.geometry.polyhedra.widths import steinhagen


def cube(dim: int, side: float = 1.0) -> rs.Polyhedron:
    return rs.Box(0, side, dim).polyhedron


def regular_simplex(dim: int) -> rs.Polyhedron:
    """Return the simplex of inradius 1 whose outward normals are the corners of another."""
    corners = np.eye(dim + 1) - 1 / (dim + 1)
    basis = np.linalg.svd(corners)[2][:dim]
    normals = corners @ basis.T
    return rs.Polyhedron(normals / np.linalg.norm(normals, axis=1, keepdims=True), np.ones(dim + 1))


def random_body(dim: int, number: int, seed: int) -> rs.Polyhedron:
    draw = np.random.default_rng(seed)
    A = draw.standard_normal((number, dim))
    return rs.Polyhedron(
        np.r_[A, np.eye(dim), -np.eye(dim)], np.r_[draw.uniform(0.5, 2, number), np.full(2 * dim, 3.0)]
    )


def by_dense_directions(P: rs.Polyhedron, number: int = 20_000) -> tuple[float, float]:
    corners = P.vertices()
    u = np.random.default_rng(0).standard_normal((number, P.dim))
    extents = np.ptp(corners @ (u / np.linalg.norm(u, axis=1, keepdims=True)).T, axis=0)
    return extents.min(), extents.max()


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_closed_forms(dim: int) -> None:
    width, diameter = cube(dim, 2.0).width(), cube(dim, 2.0).diameter()
    assert (width.lower, width.upper) == pytest.approx((2.0, 2.0))
    assert (diameter.lower, diameter.upper) == pytest.approx((2 * np.sqrt(dim),) * 2)
    simplex = regular_simplex(dim)
    assert simplex.insphere().radius == pytest.approx(1.0)
    # Steinhagen's inequality is an equality for regular simplices.
    assert simplex.width().upper == pytest.approx(steinhagen(dim))
    assert simplex.width().lower == pytest.approx(steinhagen(dim))
    edge = np.sqrt(2 * dim * (dim + 1))
    assert simplex.diameter().lower == pytest.approx(edge)


@pytest.mark.parametrize("dim", [2, 3, 4])
def test_vertices_agree_with_dense_directions(dim: int) -> None:
    for seed in range(3):
        P = random_body(dim, 3, seed)
        least, greatest = by_dense_directions(P)
        width, diameter = P.width(), P.diameter()
        assert width.lower == width.upper <= least + 1e-9
        assert least <= 1.05 * width.upper
        assert diameter.lower == diameter.upper >= greatest - 1e-9
        assert diameter.lower <= 1.1 * greatest
        extent = P.maximize(width.direction).value + P.maximize(-width.direction).value
        assert extent == pytest.approx(width.upper)
        assert np.linalg.norm(np.diff(diameter.ends, axis=0)) == pytest.approx(diameter.lower)
        assert P.contains(diameter.ends, 1e-9).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4), st.integers(0, 6), st.integers(0, 99))
def test_bounds_hold_the_truth(dim: int, number: int, seed: int) -> None:
    P = random_body(dim, number, seed)
    width, diameter = P.width(), P.diameter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polyhedron, "MAX_DIFFERENCES", {})
        again = rs.Polyhedron(P.A, P.b)
        rough, far = again.width(), again.diameter()
    assert rough.lower <= width.lower + 1e-7
    assert width.upper <= rough.upper + 1e-7
    assert rough.upper <= steinhagen(dim) * again.insphere().radius * (1 + 1e-6)
    assert far.lower <= diameter.lower + 1e-7
    assert diameter.upper <= far.upper + 1e-7
    assert far.lower >= 0.6 * diameter.lower
    assert again.contains(far.ends, 1e-9).all()
    if not np.isnan(rough.direction).any():
        extent = P.maximize(rough.direction).value + P.maximize(-rough.direction).value
        assert extent <= rough.upper + 1e-7


def test_a_strip_in_many_dimensions_is_as_wide_as_it_is() -> None:
    dim = 12
    direction = np.random.default_rng(0).standard_normal(dim)
    direction /= np.linalg.norm(direction)
    P = rs.Polyhedron(np.r_[[direction, -direction], np.eye(dim), -np.eye(dim)], np.r_[0.1, 0.2, np.ones(2 * dim)])
    width = P.width()
    assert width.lower == pytest.approx(0.3)
    assert width.upper == pytest.approx(0.3, rel=1e-3)
    assert abs(width.direction @ direction) == pytest.approx(1.0, rel=1e-6)
    diameter = P.diameter()
    assert 5.0 < diameter.lower <= diameter.upper == pytest.approx(2 * np.sqrt(dim))


def test_unbounded_flat_and_with_equations() -> None:
    strip = rs.Polyhedron([[1, 0], [-1, 0]], [1, 1])
    assert strip.diameter().lower == strip.diameter().upper == np.inf
    assert strip.width().lower == pytest.approx(2.0)
    assert strip.width().upper == pytest.approx(2.0, rel=1e-3)
    quadrant = rs.Polyhedron(-np.eye(2), np.zeros(2))
    assert quadrant.width().lower == np.inf
    flat = rs.Polyhedron([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 1, 1])
    for size in (flat.width, flat.diameter, lambda: flat.sample(3)):
        with pytest.raises(rs.errors.DegenerateGeometryError):
            size()
    tilted = rs.Polyhedron(np.r_[np.eye(3), -np.eye(3)], np.ones(6), [[1.0, -1.0, 0.0]], [0.0])
    assert tilted.width().upper == pytest.approx(2.0)  # a rectangle of sides 2 sqrt 2 and 2
    assert np.abs(tilted.width().direction).round(6).tolist() == [0.0, 0.0, 1.0]
    assert tilted.diameter().lower == pytest.approx(np.sqrt(12))
    assert np.allclose(np.abs(tilted.diameter().ends), 1.0)
