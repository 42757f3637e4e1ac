"""Faces of polytopes against their known numbers, and Euler's relation."""

from math import comb

import numpy as np
import pytest

from reluscope.geometry.cutting.face_lattices import from_polytope
from reluscope.geometry.polyhedra.domains import Box


def cube(dim):
    corners = np.array(np.meshgrid(*[[0, 1]] * dim, indexing="ij")).reshape(dim, -1).T
    return np.hstack([corners == 0, corners == 1])


@pytest.mark.parametrize("dim", range(1, 7))
def test_cubes(dim):
    assert from_polytope(cube(dim)).size.tolist() == [comb(dim, k) * 2 ** (dim - k) for k in range(dim + 1)]


@pytest.mark.parametrize("dim", range(1, 7))
def test_simplices(dim):
    assert from_polytope(~np.eye(dim + 1, dtype=bool)).size.tolist() == [comb(dim + 1, k + 1) for k in range(dim + 1)]


@pytest.mark.parametrize("dim", range(1, 6))
def test_cross_polytopes(dim):
    signs = np.array(np.meshgrid(*[[0, 1]] * dim, indexing="ij")).reshape(dim, -1).T
    incidence = np.concatenate([signs.T == 0, signs.T == 1])
    expected = [comb(dim, k + 1) * 2 ** (k + 1) for k in range(dim)]
    assert from_polytope(incidence).size.tolist() == [*expected, 1]


def test_a_pyramid_and_facets_listed_twice():
    base = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    pyramid = np.array([[1, 1, 1, 1, 0], *([*side, 1] for side in base)], dtype=bool).T
    for incidence in (pyramid, np.hstack([pyramid, pyramid[:, :2]])):
        assert from_polytope(incidence).size.tolist() == [5, 8, 5, 1]


def test_vertices_keep_their_order():
    box = Box([0, 0], [1, 2])
    corners = box.corners()
    incidence = np.hstack([corners == box.lo, corners == box.hi])
    cells = from_polytope(incidence)
    offsets, ids = cells.boundary(1)
    assert np.diff(offsets).tolist() == [2] * 4
    assert all((corners[a] == corners[b]).sum() == 1 for a, b in ids.reshape(-1, 2))


def test_what_is_no_polytope():
    with pytest.raises(ValueError, match="not those of a polytope"):
        from_polytope(np.array([[True, False], [True, False], [False, True]]))
