"""The kernels that draw space, against pixels looked at one by one."""

import numpy as np
import pytest

from reluscope import _kernels


def polygons(generator, number, size):
    """Draw convex polygons in planes of their own that reach beyond a picture; no three corners lie on a line."""
    points, counts = [], generator.integers(3, 8, number)
    for count in counts:
        turns = np.sort(generator.random(count)) * 2 * np.pi
        circle = np.column_stack([np.cos(turns), np.sin(turns)])
        flat = circle @ generator.normal(size=(2, 2)) * size / 4 + generator.random(2) * size
        points.append(np.column_stack([flat, flat @ generator.normal(size=2) + generator.normal() * size]))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate(points), offsets, np.arange(offsets[-1], dtype=np.int32)


def layers(points, offsets, ids, height, width):
    """Return for every pixel the polygons that cover its middle, with their depth there, nearest first."""
    found = {}
    for row in range(height):
        for column in range(width):
            place = np.array([column + 0.5, row + 0.5])
            here = []
            for polygon in range(len(offsets) - 1):
                corners = points[ids[offsets[polygon] : offsets[polygon + 1]]]
                along = np.roll(corners, -1, axis=0)[:, :2] - corners[:, :2]
                to = place - corners[:, :2]
                side = along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0]
                if (side > 0).all() or (side < 0).all():
                    slope, *_ = np.linalg.lstsq(np.column_stack([corners[:, :2], np.ones(len(corners))]), corners[:, 2])
                    here.append((float(slope @ [*place, 1.0]), polygon))
            found[row, column] = sorted(here, reverse=True)
    return found


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("threads", [1, 3])
def test_the_nearest_polygon_of_every_pixel(seed, threads):
    arrays = polygons(np.random.default_rng(seed), 12, 24)
    nearest, _ = _kernels.nearest_polygons(*arrays, 24, 31, threads)
    for place, here in layers(*arrays, 24, 31).items():
        assert nearest[place] == (here[0][1] if here else -1)


@pytest.mark.parametrize("seed", range(3))
def test_what_shows_through(seed):
    generator = np.random.default_rng(seed)
    arrays = polygons(generator, 9, 20)
    colors = generator.random((9, 4))
    picture = _kernels.blended_polygons(*arrays, colors, 20, 20, 2)
    for place, here in layers(*arrays, 20, 20).items():
        expected = np.zeros(4)
        for _, polygon in reversed(here):  # from behind, each over what is there
            opacity = colors[polygon, 3]
            expected = np.append(colors[polygon, :3] * opacity, opacity) + (1 - opacity) * expected
        assert np.allclose(picture[place], expected, atol=2e-3)


def test_polygons_that_share_edges_leave_no_gap():
    """Seen red where the last pixel of a row was one too many."""
    generator = np.random.default_rng(0)
    from scipy.spatial import Delaunay

    # Corners in middles of pixels: edges pass through many of them, where rounding decides.
    flat = np.unique(generator.integers(0, 50, (90, 2)), axis=0) + 0.5
    flat = np.concatenate([flat, [[-99.0, -98], [150, -97], [151, 149], [-98, 152]]])
    simplices = Delaunay(flat).simplices
    points = np.column_stack([flat, np.zeros(len(flat))])
    offsets = np.arange(0, 3 * len(simplices) + 1, 3)
    for turn in range(3):
        ids = np.roll(simplices, turn, axis=1)[:, :: 1 if turn else -1].reshape(-1).astype(np.int32)
        nearest, _ = _kernels.nearest_polygons(points, offsets, ids, 50, 50, 1)
        assert (nearest >= 0).all()
        opaque = np.tile([0.5, 0.5, 0.5, 0.5], (len(simplices), 1))
        # One layer everywhere: no pixel belongs to two.
        assert np.allclose(_kernels.blended_polygons(points, offsets, ids, opaque, 50, 50, 1)[..., 3], 0.5)


def test_parts_of_lines_behind_a_square():
    points = np.array([[10.0, 10, 0], [20, 10, 0], [20, 20, 0], [10, 20, 0]])
    nearest, planes = _kernels.nearest_polygons(points, np.array([0, 4]), np.arange(4, dtype=np.int32), 30, 30, 1)
    starts = np.array([[0.0, 15, -1], [0, 15, 1], [0, 10, 0], [-30, 15, -1], [0, 15, -9], [5, 50, 0]])
    ends = np.array([[30.0, 15, -1], [30, 15, 1], [30, 10, 0], [60, 15, -1], [30, 15, 9], [9, 40, 0]])
    pieces, shares = _kernels.visible_parts(starts, ends, nearest, planes, 1e-9)
    of = [shares[pieces == piece] for piece in range(len(starts))]
    assert np.allclose(of[0], [[0, 1 / 3], [2 / 3, 1]], atol=0.06)
    assert np.allclose(of[1], [[0, 1]])
    assert np.allclose(of[2], [[0, 1]])  # the edge of the square itself
    assert np.allclose(of[3], [[1 / 3, 4 / 9], [5 / 9, 2 / 3]], atol=0.03)  # what is outside is not listed
    assert np.allclose(of[4], [[0, 1 / 3], [1 / 2, 1]], atol=0.06)  # comes out through the middle
    assert not len(of[5])


def test_polygons_that_are_no_surface():
    """Seen from the side, without extent, far away, or not finite: drawn as nothing, and no error."""
    points = np.array([[1.0, 1, 0], [5, 5, 0], [3, 3, 9], [np.nan, 1, 1], [1e300, 1e300, 0], [-1e300, 2, 0]])
    ids = np.array([0, 1, 2, 0, 0, 0, 0, 1, 3, 4, 5, 0], dtype=np.int32)
    nearest, _ = _kernels.nearest_polygons(points, np.arange(0, 13, 3), ids, 8, 8, 1)
    assert not np.isin(nearest, [0, 1, 2]).any()
    assert _kernels.nearest_polygons(points, np.zeros(1, dtype=np.int64), ids, 0, 8, 1)[0].shape == (0, 8)
