"""Regions on slices: points of the input space that lie there, and points in the coordinates of the slice."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.errors import ShapeError
from reluscope.testing import default_network

FLAT = rs.Box([-1, -1, 0.5, 0.25], [1, 1, 0.5, 0.25])
POINTS = np.array([[0.1, 0.2, 0.5, 0.25], [-0.4, 0.3, 0.5, 0.25]])


@pytest.fixture(scope="module")
def net():
    return rs.load(default_network([4, 7, 5, 2], seed=3))


@pytest.mark.parametrize("kind", [np.asarray, torch.as_tensor, np.ndarray.tolist])
def test_both_forms_of_points_are_the_same(net, kind):
    by_inputs = rs.regions(net, kind(POINTS), domain=FLAT)
    by_coordinates = rs.regions(net, FLAT.project(POINTS), domain=FLAT)
    for one, two in zip(by_inputs, by_coordinates, strict=True):
        assert np.array_equal(one.polyhedron.A, two.polyhedron.A)
        assert np.array_equal(one.polyhedron.b, two.polyhedron.b)
    around, same = (rs.neighbors(net, x, domain=FLAT) for x in (kind(POINTS[:1]), FLAT.project(POINTS[:1])))
    assert np.array_equal(around.codes.to_array(), same.codes.to_array())


def test_data_in_single_precision_are_on_the_slice(net):
    flat = rs.Box([-1, -1, 0.2, 0.1], [1, 1, 0.2, 0.1])
    assert len(rs.regions(net, np.float32([[0.1, 0.2, 0.2, 0.1]]), domain=flat)) == 1


def test_points_beside_the_slice_are_refused(net):
    with pytest.raises(ShapeError, match=r"must lie on the slice.*domain.project"):
        rs.regions(net, POINTS + np.array([0, 0, 0.01, 0]), domain=FLAT)
    with pytest.raises(ShapeError, match="points of shape"):
        rs.regions(net, POINTS[:, :3], domain=FLAT)
