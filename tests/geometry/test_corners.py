"""Volumes of hulls where Qhull gives up: closed forms, thin and flat shapes."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull, QhullError

from reluscope.geometry.polyhedra import corners
from reluscope.geometry.polyhedra.corners import hull_volume


@pytest.fixture(params=[1, 4, 100])
def failures(request, monkeypatch):
    """The first hulls that are asked for cannot be made."""
    left = iter(range(request.param))

    def moody(points, qhull_options=None):
        if qhull_options is None and next(left, None) is not None:
            raise QhullError("QH6271 qhull topology error")
        return ConvexHull(points, qhull_options=qhull_options)

    monkeypatch.setattr(corners, "ConvexHull", moody)
    return request.param


def rotated_box(widths, seed=0):
    dim = len(widths)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]
    ends = np.stack(np.meshgrid(*[[-0.5, 0.5]] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    return (ends * widths) @ turn + 7.0


@pytest.mark.parametrize("widths", [(1.0, 1.0), (3.0, 1e-3, 2.0), (1e3, 1.0, 1e-2, 5.0), (1e100, 2e100, 1e98)])
def test_volumes_where_a_hull_is_refused(widths, failures):
    found = hull_volume(rotated_box(widths) / max(widths))
    rounding = 1e-7 if failures > corners.ORDERS else 1e-9  # the last way moves points a little
    assert found == pytest.approx(np.prod(np.array(widths) / max(widths)), rel=rounding, abs=0)


def test_what_is_flat_has_no_volume(failures):
    assert hull_volume(rotated_box((1.0, 2.0, 1e-14))) == 0.0
