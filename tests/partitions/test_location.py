"""Point location: the lowest row whose closure holds a point, whatever other points are asked about."""

from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import default_network


@pytest.fixture(scope="module")
def quadrants():
    return rs.partition(from_arrays([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), [0.0])]), rs.Box(-1, 1, 2))


def test_corners_and_sides_belong_to_the_lowest_row(quadrants):
    rows = {tuple(witness): row for row, witness in enumerate(quadrants.witnesses.tolist())}
    assert quadrants.locate([[0.0, 0.0]]).tolist() == [0]
    for x, y, beside in ((0.0, 0.5, [(0.5, 0.5), (-0.5, 0.5)]), (-0.5, 0.0, [(-0.5, 0.5), (-0.5, -0.5)])):
        assert quadrants.locate([x, y]).tolist() == [min(rows[point] for point in beside)]
    assert (quadrants.locate(quadrants.vertices) >= 0).all()


def test_points_outside_are_nowhere(quadrants):
    assert quadrants.locate([[1.5, 0], [0, -1.5], [1 + 1e-9, 0.5], [-3, -3]]).tolist() == [-1] * 4
    assert quadrants.locate([[1.0, 1.0]])[0] >= 0


def test_shapes(quadrants):
    assert quadrants.locate([0.5, 0.5]).shape == (1,)
    assert quadrants.locate(np.zeros((0, 2))).shape == (0,)
    assert quadrants.locate(np.full((2, 2), 0.5, dtype=np.float32)).shape == (2,)
    with pytest.raises(ShapeError, match="2 coordinates"):
        quadrants.locate([[0.0, 0.0, 0.0]])


def test_a_line():
    part = rs.partition(
        from_arrays([(np.array([[1.0], [1.0]]), [0.0, -0.5]), (np.ones((1, 2)), [0.0])]), rs.Box(-1, 1, 1)
    )
    order = np.argsort(part.witnesses[:, 0])
    assert part.locate([[-0.5], [0.25], [0.75], [1.5]]).tolist() == [*order, -1]
    assert part.locate([[0.5]]).tolist() == [min(order[1:])]


@pytest.mark.parametrize("block", [1, 100, 2**22])
def test_blocks_of_points_do_not_matter(block, monkeypatch):
    net = from_arrays(default_network([2, 16, 16, 1], seed=3))
    part = rs.partition(net, rs.Box(-2, 2, 2))
    points = np.random.default_rng(0).uniform(-2, 2, (200, 2))
    expected = [int(np.flatnonzero((part.codes.words == code).all(axis=1))[0]) for code in net.codes(points).words]
    monkeypatch.setattr(import_module("reluscope.partitions.table.location"), "BLOCK", block)
    assert part.locate(points).tolist() == expected


OUTLIERS = [
    1e15,
    1e20,
    np.inf,
]


@pytest.mark.parametrize("outlier", OUTLIERS)
def test_an_outlier_does_not_disturb_other_points(quadrants, outlier):
    points = np.array([[0.5, 0.5], [-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5], [5.0, 5.0]])
    alone = quadrants.locate(points)
    together = quadrants.locate(np.vstack([points, [[outlier, 0.0]]]))
    assert together.tolist() == [*alone, -1]


def test_what_is_no_point_is_refused(quadrants):
    with pytest.raises(InputError, match="points must be finite, got 1 NaN"):
        quadrants.locate([[np.nan, 0.0]])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("aspect", [1e6, 1e12, 1e18, 1e60])
def test_a_strip_however_long(aspect, turned):
    # Kinks at -1, 1 and 3 widths across a domain as long as the aspect says.
    weight = np.array([[1.0, 0.0]] * 3)[:, :: -1 if turned else 1]
    net = from_arrays([(weight, [1.0, -1.0, -3.0]), (np.array([[1.0, -2.0, 1.0]]), [0.0])])
    far = np.array([4.0, aspect])[:: -1 if turned else 1]
    part = rs.partition(net, rs.Box(-far, far))
    inside = np.array([-2.0, 0.0, 2.0, 3.5])[:, None] * far / 4
    inside[:, turned * 1] = [-2.0, 0.0, 2.0, 3.5]
    inside[:, 1 - turned * 1] = [0.5 * aspect, -0.25 * aspect, 0.0, 0.75 * aspect]
    assert (part.locate(part.witnesses) == np.arange(4)).all()
    rows = part.locate(inside)
    assert (net.codes(inside).words == part.codes.words[rows]).all()
    np.testing.assert_allclose(part.volumes()[rows], np.array([3.0, 2.0, 2.0, 1.0]) * 2 * aspect)
    for row in rows.tolist():
        corners = part[row].vertices
        after = np.roll(corners, -1, axis=0)
        # Every corner turns left.
        middle = corners - part.witnesses[row]
        following = after - part.witnesses[row]
        assert (middle[:, 0] * following[:, 1] - middle[:, 1] * following[:, 0] > 0).all()
