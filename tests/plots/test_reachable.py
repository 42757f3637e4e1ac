"""Pictures of images and of closed loops: every piece is drawn as what it is, and counts are those of the image."""

from dataclasses import replace

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


def test_steps_are_polygons_then_boxes():
    plant = rs.reachability.Plant(np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]]) / 2)
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    runs = np.ones((3, 2, 2)) * [[[1.0]], [[1.5]], [[2.25]]]
    exact = rs.reach(net, plant, SQUARE, 2)
    (axes,) = rs.plots.reach(exact, runs=runs).axes
    assert len(collections(axes, PolyCollection)) == sum(int((one.dims == 2).sum()) for one in exact.sets)
    assert [line.get_xydata()[-1].tolist() for line in axes.lines if len(line.get_xydata()) == 3] == [[2.25, 2.25]] * 2
    rough = rs.reach(net, plant, SQUARE, 2, budget=rs.Budget(regions=0))
    (axes,) = rs.plots.reach(rough).axes
    assert rough.num_exact == 0
    assert len(collections(axes, PolyCollection)) == sum(len(one) + 1 for one in rough.sets)
    with pytest.raises(InputError, match="two different"):
        rs.plots.reach(exact, states=(1, 1))


def test_few_steps_are_all_named():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    found = rs.reach(net, rs.reachability.Plant(np.eye(2) / 2, np.eye(2) / 4), SQUARE, 9)

    def named(steps):
        (axes,) = rs.plots.reach(replace(found, sets=found.sets[: steps + 1])).axes
        return [text.get_text() for text in axes.get_legend().get_texts()]

    assert named(0) == ["first states"]
    assert named(3) == ["first states", "after 1 step", "after 2 steps", "after 3 steps"]
    assert named(9) == ["first states", "after 4 steps", "after 9 steps"]


def test_one_state_is_drawn_over_steps():
    net = rs.load([(np.array([[1.0]]), np.zeros(1)), (np.array([[-0.5]]), np.zeros(1))])
    found = rs.reach(net, rs.reachability.Plant([[1.0]], [[1.0]]), rs.Box(-1, 1, 1), 2)
    (axes,) = rs.plots.reach(found, runs=np.zeros((3, 4, 1))).axes
    assert [line.get_ydata().tolist() for line in axes.lines[:3]] == [[-1.0, 1.0], [-1.0, 0.5], [-1.0, 0.25]]
    assert len(axes.lines) == 3 + 4
