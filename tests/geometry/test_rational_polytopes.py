"""Rational polytopes against known face numbers and against vertices in floats."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import reluscope as rs
from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.rational_cones import CompactPolyhedron, edges
from reluscope.geometry.polyhedra.rational_polytopes import (
    RationalPolytope,
    between,
    half_spaces,
    integer_row,
    primitive,
)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_cubes_and_cross_polytopes(dim):
    cube = RationalPolytope.of(rs.Box(-1, 1, dim))
    assert sorted(cube.vertices) == sorted((*signs, 1) for signs in product((-1, 1), repeat=dim))
    assert [len(facet) for facet in cube.facets().values()] == [2 ** (dim - 1)] * (2 * dim)
    cross = cube.cut([(*signs, 1) for signs in product((-1, 1), repeat=dim)])
    assert len(cross.vertices) == 2 * dim
    assert [len(facet) for facet in cross.facets().values()] == [dim] * (2**dim if dim > 1 else 2)


def test_the_middle_slab_of_a_cube():
    # The hypersimplex: more than d facets meet at each vertex, so that no vertex is simple.
    dim = 5
    slab = RationalPolytope.of(rs.Box(0, 1, dim)).cut([(*[1] * dim, -2), (*[-1] * dim, 2 + 1)])
    assert sorted(slab.vertices) == sorted((*bits, 1) for bits in product((0, 1), repeat=dim) if sum(bits) in (2, 3))
    assert len(slab.vertices) == comb(dim, 2) + comb(dim, 3)
    assert len(slab.facets()) == 2 * dim + 2


def test_what_has_no_interior():
    square = RationalPolytope.of(rs.Box(0, 1, 2))
    assert square.cut([(1, 1, 0)]).vertices == square.vertices
    assert square.cut([(-1, -1, 0)]) is None
    assert square.cut([(1, 0, -2)]) is None
    assert RationalPolytope.of(rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [1.0, -0.5, 1, 1]))


def test_what_is_not_bounded():
    with pytest.raises(DegenerateGeometryError, match="must be bounded"):
        RationalPolytope.of(rs.Polyhedron(np.eye(2), [1.0, 1.0]))


@pytest.mark.parametrize("dim", [2, 3, 4])
def test_random_polyhedra_far_from_the_origin(dim):
    generator = np.random.default_rng(dim)
    normals = np.concatenate([generator.normal(size=(4 * dim, dim)), np.eye(dim), -np.eye(dim)])
    center = 1000.0 * generator.normal(size=dim)
    window = rs.Polyhedron(normals, normals @ center + generator.uniform(0.5, 2, len(normals)))
    exact = RationalPolytope.of(window)
    found = np.array([[entry / vertex[-1] for entry in vertex[:-1]] for vertex in exact.vertices])
    known = window.vertices()
    assert len(found) == len(known)
    distances = np.linalg.norm(found[:, None] - known, axis=2)
    assert distances.min(axis=0).max() < 1e-6
    assert exact.facets().keys() <= {integer_row(side) for side in half_spaces(window)}
    assert len(exact.facets()) == len(window.facets())


@pytest.mark.parametrize("seed", range(12))
def test_volumes_against_the_convex_hull(seed: int) -> None:
    generator = np.random.default_rng(seed)
    dim = 2 + seed % 3
    polytope = RationalPolytope.of(rs.Box(-1, 1, dim))
    rows = [tuple(row) for row in generator.integers(-3, 4, (dim + 2, dim + 1)).tolist()]
    cut = polytope.cut([(*row[:-1], abs(row[-1]) + 1) for row in rows if any(row[:-1])])
    points = np.array([[float(x) for x in point] for point in cut.points()])
    assert float(cut.volume()) == pytest.approx(ConvexHull(points).volume, rel=1e-12)


@settings(max_examples=100)
@given(data=st.data(), dim=st.integers(1, 4))
def test_edges_of_cones_are_vertices_of_polyhedra(data, dim):
    numbers = st.lists(st.integers(-2, 3), min_size=dim + 1, max_size=dim + 1)
    rows = [primitive(row) for row in data.draw(st.lists(numbers, max_size=7)) if any(row[:-1])]
    compact, (lines, whole) = CompactPolyhedron.of(dim, rows), between(dim, rows)
    assert (compact is None) == (whole is None)
    if compact is not None and compact.is_cone:
        assert sorted(edges(compact.polytope)) == ([] if lines else sorted(whole.vertices))
