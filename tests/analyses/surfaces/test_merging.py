"""Coplanar neighbours: faces of bodies, units that f does not see, planes that differ by less than floats say."""

import itertools

import numpy as np
import pytest

import reluscope as rs
from partitions import bodies
from partitions.test_level_sets import AROUND, random_network
from reluscope.errors import InputError


def loop_areas(surface, merged):
    """Return the area of each larger polygon by its loops alone."""
    vectors = np.zeros((len(merged), 3))
    for loop, (start, stop) in enumerate(itertools.pairwise(merged.offsets)):
        corners = surface.vertices[merged.ids[start:stop]]
        vectors[merged.owners[loop]] += np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0) / 2
    return np.linalg.norm(vectors, axis=1)


@pytest.mark.parametrize(("name", "faces", "loops"), [("cube", 6, 6), ("two", 12, 12), ("frame", 10, 12)])
def test_faces_of_bodies(name, faces, loops):
    network = bodies.by_units(bodies.KNOWN[name][0])
    found = rs.level_set(network, AROUND)
    merged = rs.surfaces.merge_coplanar(found, network)
    assert (len(merged), len(merged.owners)) == (faces, loops)
    areas = np.bincount(merged.labels, found.piece_areas)
    assert np.allclose(loop_areas(found, merged), areas, atol=1e-12)
    assert areas.sum() == pytest.approx(bodies.KNOWN[name][1])


def sheets(bend, factor=1.0):
    """Return the network z + bend relu(x), times a factor where x > 0."""
    return rs.load(
        [
            (np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, -1]]), np.zeros(3)),
            (np.array([[bend, factor, -factor]]), np.zeros(1)),
        ]
    )


def test_planes_that_only_fractions_tell_apart():
    for bend, number in ((0.0, 1), (2.0**-40, 2), (0.5, 2)):
        network = sheets(bend)
        found = rs.level_set(network, rs.Box(-1, 1, 3))
        assert len(found) == 2
        merged = rs.surfaces.merge_coplanar(found, network)
        assert len(merged) == number
        assert sorted(merged.owners.tolist()) == list(range(number))


def test_parts_of_one_plane_may_have_different_factors():
    # z + relu(z + x) - relu(-z - x) ... beside z = 0 the slope in z is 1 or 2 by the side of x, and the plane is z = 0.
    network = rs.load(
        [
            (np.array([[1.0, 0, 1], [1.0, 0, 0], [0, 0, 1], [0, 0, -1]]), np.array([0.0, 0, 0, 0])),
            (np.array([[1.0, -1.0, 1.0, -1.0]]), np.zeros(1)),
        ]
    )
    found = rs.level_set(network, rs.Box([-1, -1, -0.5], [1, 1, 0.5]))
    merged = rs.surfaces.merge_coplanar(found, network)
    assert len(found) > len(merged) == 1


def test_generic_surfaces_stay_as_they_are_and_slices_and_nothing():
    network = random_network(3, 9, 7, 1, seed=1)
    found = rs.level_set(network, rs.Box(-1, 1, 3))
    merged = rs.surfaces.merge_coplanar(found, network)
    assert len(merged) == len(found)
    assert np.array_equal(np.diff(merged.offsets), np.diff(found.offsets))
    assert repr(merged).startswith(f"MergedPolygons({len(found):,} of {len(found):,} polygons")
    wide = rs.load([(np.eye(4)[[0, 3]], np.zeros(2)), (np.array([[0.0, 1.0]]), np.array([-0.5]))])
    part = rs.Slice(np.zeros(4), np.eye(4)[[3, 1, 0]], rs.Box(-1, 1, 3))
    cut = rs.level_set(wide, part)
    assert len(rs.surfaces.merge_coplanar(cut, wide)) == 1
    two = rs.load([(np.eye(3), np.zeros(3)), (np.array([[0.0, 0, 1], [0, 1, 0]]), np.zeros(2))])
    tied = rs.level_set(two, rs.Box(-1, 1, 3), output=(0, 1))
    assert len(rs.surfaces.merge_coplanar(tied, two)) < len(tied)
    network_of_maxima = bodies.by_maxima(bodies.CUBE)
    assert len(rs.surfaces.merge_coplanar(rs.level_set(network_of_maxima, AROUND), network_of_maxima)) == 6
    empty = rs.level_set(network, rs.Box(-1, 1, 3), level=1e6)
    assert len(rs.surfaces.merge_coplanar(empty, network)) == 0


def test_refusals():
    network = sheets(0.0)
    found = rs.level_set(network, rs.Box(-1, 1, 3))
    with pytest.raises(InputError, match="another"):
        rs.surfaces.merge_coplanar(found, sheets(0.5))
