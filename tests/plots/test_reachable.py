"""Pictures of images: every piece is drawn as what it is, and counts are those of the image."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

import reluscope as rs
from reluscope.errors import InputError

RELU = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.zeros(3))])
SQUARE = rs.Box(-1, 1, 2)


def collections(axes, kind):
    return [path for one in axes.collections if isinstance(one, kind) for path in one.get_paths()]


def test_two_outputs_show_polygons_segments_and_points():
    (axes,) = rs.plots.image(rs.image(RELU, SQUARE, outputs=[0, 1])).axes
    (square,) = collections(axes, PolyCollection)
    assert square.get_extents().bounds == pytest.approx((0, 0, 1, 1))
    assert len(collections(axes, LineCollection)) == 2
    assert [len(line.get_xdata()) for line in axes.lines] == [1]


def test_one_output_shows_how_many_regions_reach_it():
    found = rs.image(RELU, SQUARE, outputs=[2])  # [0, 2], twice [0, 1], and a point
    (axes,) = rs.plots.image(found).axes
    (steps,) = axes.patches
    values, edges, _ = steps.get_data()
    assert (values.tolist(), edges.tolist()) == ([3, 1], pytest.approx([0, 1, 2]))
    assert found.count([[0.5], [1.5]]).tolist() == [3, 1]
    assert axes.lines[0].get_xydata().tolist() == [[0.0, 1.0]]


def test_three_outputs_are_seen_in_space():
    figure = rs.plots.image(rs.image(RELU, SQUARE), view=rs.plots.View())
    assert len(figure.axes[0].images) == 1


def test_nothing_found_and_too_much_asked_are_told():
    figure = rs.plots.image(rs.image(RELU, SQUARE, outputs=[0, 1], budget=rs.Budget(regions=0)))
    assert "stopped" in figure.axes[0].texts[0].get_text()
    for chosen in ([0], [0, 1, 2]):
        rs.plots.image(rs.image(RELU, SQUARE, outputs=chosen, budget=rs.Budget(regions=0)))
    with pytest.raises(InputError, match="three outputs"):
        rs.plots.image(rs.image(rs.load([(np.eye(4), np.zeros(4))]), rs.Box(0, 1, 4)))
