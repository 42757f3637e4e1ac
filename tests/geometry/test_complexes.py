"""Complexes by explicit incidences: what is on the boundary of what, in one, two and three dimensions."""

from itertools import pairwise

import numpy as np
import pytest

from reluscope.geometry.cutting.complexes import Complex, from_polygon, from_segments


def cube() -> tuple[Complex, np.ndarray]:
    """The cube [-1, 1]^3 as one cell with 6 faces, 12 edges and 8 corners."""
    points = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    edges = [(i, j) for i in range(8) for j in range(i) if (points[i] != points[j]).sum() == 1]
    sides = [(axis, value) for axis in range(3) for value in (-1.0, 1.0)]
    on_side = [[e for e, (i, j) in enumerate(edges) if (points[[i, j], axis] == value).all()] for axis, value in sides]
    lists = [edges, on_side, [range(6)]]
    pool = [child for faces in lists for face in faces for child in face]
    start, count = np.zeros((4, 12), dtype=np.int32), np.zeros((4, 12), dtype=np.int32)
    where = 0
    for dim, faces in enumerate(lists, start=1):
        for number, face in enumerate(faces):
            start[dim, number], count[dim, number] = where, len(face)
            where += len(face)
    return Complex(start, count, np.array(pool, dtype=np.int32), np.array([8, 12, 6, 1])), points


def lists_of(offsets_and_ids):
    offsets, ids = offsets_and_ids
    return [ids[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("corners", [3, 4, 9])
def test_a_polygon(corners):
    cells = from_polygon(corners)
    assert (cells.dim, cells.num_cells, cells.size.tolist()) == (2, 1, [corners, corners, 1])
    assert lists_of(cells.boundary(1)) == [[i, (i + 1) % corners] for i in range(corners)]
    assert lists_of(cells.boundary(2)) == [list(range(corners))]
    left, right = cells.cofaces()
    assert left.tolist() == [0] * corners
    assert right.tolist() == [-1] * corners
    assert [sorted(ids) for ids in lists_of(cells.cell_vertices())] == [list(range(corners))]
    assert lists_of(cells.vertex_lists()[0]) == lists_of(cells.boundary(1))


def test_segments_share_nothing():
    cells = from_segments(3)
    assert (cells.dim, cells.num_cells, cells.size.tolist()) == (1, 3, [6, 3])
    assert lists_of(cells.cell_vertices()) == [[0, 1], [2, 3], [4, 5]]
    assert lists_of(cells.vertex_lists()[0]) == [[0], [1], [2], [3], [4], [5]]
    left, right = cells.cofaces()
    assert left.tolist() == [0, 0, 1, 1, 2, 2]
    assert (right == -1).all()


def test_a_cube():
    cells, points = cube()
    assert sorted(lists_of(cells.cell_vertices())[0]) == list(range(8))
    for face, corners in enumerate(lists_of(cells.vertex_lists()[0])):
        assert len(corners) == 4
        axis, side = divmod(face, 2)
        assert (points[corners, axis] == 2 * side - 1).all()
    assert np.linalg.matrix_rank(points) == 3


def test_extracting_keeps_what_the_cells_have_and_no_more():
    # Two triangles on the edge 1-2 and a third on the vertex 3.
    pool = np.array([0, 1, 1, 2, 2, 0, 1, 3, 3, 2, 3, 4, 4, 5, 5, 3, 0, 1, 2, 1, 3, 4, 5, 6, 7], dtype=np.int32)
    start, count = np.zeros((3, 8), dtype=np.int32), np.zeros((3, 8), dtype=np.int32)
    start[1], count[1] = np.arange(0, 16, 2), 2
    start[2, :3], count[2, :3] = [16, 19, 22], 3
    cells = Complex(start, count, pool, np.array([6, 8, 3]))
    left, right = cells.cofaces()
    assert np.flatnonzero(right >= 0).tolist() == [1]
    assert (left[1], right[1]) == (0, 1)
    part, vertices, edges, facets = cells.extract(np.array([2, 0]))
    assert part.size.tolist() == [6, 6, 2]
    assert sorted(vertices.tolist()) == [0, 1, 2, 3, 4, 5]
    assert sorted(facets.tolist()) == [0, 1, 2, 5, 6, 7]
    assert edges.tolist() == facets.tolist()
    assert [sorted(vertices[ids].tolist()) for ids in lists_of(part.cell_vertices())] == [[3, 4, 5], [0, 1, 2]]
    assert [sorted(vertices[ids].tolist()) for ids in lists_of(part.vertex_lists()[0])] == [
        sorted(lists_of(cells.vertex_lists()[0])[facet]) for facet in facets
    ]
    alone, vertices, _, _ = cells.extract(np.array([1]))
    assert alone.size.tolist() == [3, 3, 1]
    assert sorted(vertices.tolist()) == [1, 2, 3]
