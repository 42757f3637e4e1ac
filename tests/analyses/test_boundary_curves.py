"""Decision boundaries as curves: polygons built on purpose, and what holds for any network."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.planes import boundary_curves
from reluscope.partitions.decisions.decision_boundary import DecisionBoundary
from reluscope.testing import default_network

BOX = rs.Box(-2, 2, 2)


def ball(normals, offset=1.0):
    """Return a network that is negative where the sum of active hinges is below an offset."""
    return rs.load([(np.asarray(normals), np.zeros(len(normals))), (np.ones((1, len(normals))), -np.full(1, offset))])


def curves_of(net, domain=BOX):
    return boundary_curves(rs.decision_boundary(rs.partition(net, domain)))


def of_pieces(*pieces):
    ends = np.array(pieces, dtype=float).reshape(-1, 2, 2)
    return boundary_curves(DecisionBoundary(np.zeros(len(ends), int), np.tile([0, 1], (len(ends), 1)), ends))


def test_hexagon_and_square_have_their_corners():
    angles = 2 * np.pi * np.arange(3) / 3 + 0.1
    (hexagon,) = curves_of(ball(np.column_stack([np.cos(angles), np.sin(angles)])))
    assert (hexagon.is_closed, hexagon.num_corners) == (True, 6)
    # Corners of the expanded triangle lie on the lines where a unit is zero.
    assert np.abs(hexagon.points @ [np.cos(angles), np.sin(angles)]).min(axis=1).max() < 1e-12
    (square,) = curves_of(ball(np.r_[np.eye(2), -np.eye(2)]))
    assert (square.is_closed, square.num_corners) == (True, 4)


def test_cut_by_the_window_a_curve_is_open():
    (curve,) = curves_of(ball(np.r_[np.eye(2), -np.eye(2)]), rs.Box([-2, -2], [0.5, 2]))
    assert not curve.is_closed
    assert np.allclose(np.sort(curve.points[[0, -1], 0]), 0.5)
    assert curve.num_corners == 3


def test_corners_that_do_not_turn_are_none():
    # Units that are zero on lines across a straight boundary, and bend nothing.
    net = rs.load([(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(4)),
                   (np.array([[1.0, -1.0, 0.0, 0.0]]), np.array([-0.5]))])  # fmt: skip
    (curve,) = curves_of(net)
    assert len(curve.points) == 3
    assert curve.num_corners == 0


def test_pieces_in_any_order_two_loops_and_a_crossing():
    square = [[(0, 0), (1, 0)], [(1, 1), (0, 1)], [(1, 0), (1, 1)], [(0, 1), (0, 0)]]
    far = [[(x + 5, y) for x, y in piece] for piece in square[:3]]
    found = of_pieces(*square, *far)
    assert sorted((curve.is_closed, len(curve.points)) for curve in found) == [(False, 4), (True, 4)]
    # Four pieces that meet at one point: none is continued there.
    cross = of_pieces(*([end, (0, 0)] for end in ((1, 0), (-1, 0), (0, 1), (0, -1))))
    assert [(curve.is_closed, len(curve.points)) for curve in cross] == [(False, 2)] * 4
    assert boundary_curves(rs.decision_boundary(rs.partition(ball(np.eye(2), -5.0), BOX))) == ()


@pytest.mark.parametrize("seed", range(4))
def test_curves_use_every_piece_once(seed):
    net = rs.load(default_network([2, 12, 12, 3], seed=seed))
    boundary = rs.decision_boundary(rs.partition(net, BOX))
    total = 0.0
    for curve in boundary_curves(boundary):
        points = np.r_[curve.points, curve.points[:1]] if curve.is_closed else curve.points
        total += np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        on_border = np.isclose(np.abs(curve.points[[0, -1]]).max(axis=1), 2.0)
        outputs = np.sort(net(curve.points[[0, -1]]).numpy(), axis=1)
        is_triple = np.isclose(outputs[:, 0], outputs[:, 2])
        assert curve.is_closed or (on_border | is_triple).all()
    assert total == pytest.approx(boundary.length)


def test_curves_are_of_planes():
    line = rs.partition(ball(np.eye(2)), rs.Segment([-1.0, 0.0], [1.0, 0.0]))
    with pytest.raises(rs.errors.InputError, match="plane"):
        boundary_curves(rs.decision_boundary(line))
