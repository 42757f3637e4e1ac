"""The oracle's cones: known polyhedra, and volumes by another formula."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from fuzzer import true_cones as cones


def box(dimension, half=1):
    rows = []
    for axis in range(dimension):
        for sign in (1, -1):
            row = [Fraction(0)] * (dimension + 1)
            row[axis], row[-1] = Fraction(sign), Fraction(half)
            rows.append(tuple(row))
    return rows


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_boxes(dimension):
    cube = cones.polyhedron(dimension, box(dimension, 2))
    assert len(cube.vertices) == 2**dimension
    assert len(cones.facets(cube)) == 2 * dimension
    assert len(list(cones.faces(cube))) == 3**dimension
    assert cones.volume(cube) == 4**dimension
    assert cube.is_bounded
    assert not cube.lines


def test_a_strip_a_wedge_nothing_and_a_point():
    strip = cones.polyhedron(2, [(1, 0, 0), (-1, 0, 1)])
    assert len(strip.lines) == 1
    assert not strip.is_bounded
    assert strip.rank == 3
    wedge = cones.polyhedron(2, [(1, 0, 0), (0, 1, 0), (1, 1, 0)])
    assert wedge.vertices == [(0, 0)]
    assert len(cones.facets(wedge)) == 2
    assert cones.polyhedron(2, [(1, 0, 0), (-1, 0, -1)]).is_empty
    corner = cones.polyhedron(2, [(1, 0, 0), (0, 1, 0), (-1, -1, 0)])
    assert corner.vertices == [(0, 0)]
    assert corner.rank == 1


@pytest.mark.parametrize("seed", range(8))
def test_volumes_of_cut_cubes_as_qhull_has_them(seed):
    generator = np.random.default_rng(seed)
    dimension = int(generator.integers(2, 5))
    whole = cones.polyhedron(dimension, box(dimension))
    rows = [cones.integers([Fraction(int(k)) for k in generator.integers(-3, 4, dimension + 1)]) for _ in range(2)]
    parts = [whole]
    for row in rows:
        if not any(row[:-1]):
            continue
        parts = [half for part in parts for half in (cones.below(part, row), cones.above(part, row))]
        parts = [part for part in parts if part.rank == dimension + 1]
    volumes = [cones.volume(part) for part in parts]
    assert sum(volumes) == 2**dimension
    for part, volume in zip(parts, volumes, strict=True):
        hull = ConvexHull([[float(entry) for entry in vertex] for vertex in part.vertices])
        assert float(volume) == pytest.approx(hull.volume)
        assert len(part.vertices) == len(hull.vertices)


def test_two_points_do_not_meet_and_a_point_meets_itself():
    line = cones.polyhedron(1, [(1, 1), (-1, 1)])
    first, second = (cones.on(line, row) for row in ((2, -1), (4, -1)))
    for one, other in ((first, second), (second, first)):
        assert cones.intersection(one, other).is_empty
    assert cones.intersection(first, first).vertices == first.vertices
