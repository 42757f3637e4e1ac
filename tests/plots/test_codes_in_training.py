"""Pictures of codes in training: grids of embeddings, curves over epochs, distances to occupied codes."""

import numpy as np
import pytest

from reluscope import plots
from reluscope.errors import ShapeError

LABELS = np.array([4, 9, 9, 4, 4])
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [3.0, 3.0], [5.0, 1.0]])


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_grid_holds_what_was_given():
    grid = [[POINTS, 2 * POINTS], [POINTS + 1, None], [np.zeros((5, 2)), POINTS]]
    figure = plots.embeddings(
        grid, LABELS, rows=["epoch 0", "1", "2"], columns=["fc0", "fc1"], names=list("abcdefghij")
    )
    assert len(figure.axes) == 6
    for axes, points in zip(figure.axes, [one for row in grid for one in row], strict=True):
        assert axes.get_aspect() == 1
        if points is None:
            assert axes.texts[0].get_text() == "nothing\nto draw"
            continue
        drawn = [part.get_offsets() for part in axes.collections]
        assert np.array_equal(drawn[0], points[LABELS == 4])
        assert np.array_equal(drawn[1], points[LABELS == 9])
        shapes = [tuple(part.get_paths()[0].vertices.ravel()) for part in axes.collections]
        assert shapes[0] != shapes[1]
    assert legend(figure) == ["e", "j"]
    assert [axes.get_title() for axes in figure.axes] == ["fc0", "fc1", "", "", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["epoch 0", "1", "2"]
    plots.to_svg(figure)


def test_ten_classes_fit_below_a_narrow_grid():
    figure = plots.embeddings([[np.eye(10)[:, :2]]], np.arange(10), rows=["epoch 1"], columns=["fc0"])
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_grids_that_do_not_fit():
    with pytest.raises(ShapeError, match="1 rows and 2 columns"):
        plots.embeddings([[POINTS]], LABELS, rows=["a"], columns=["b", "c"])
    with pytest.raises(ShapeError, match=r"shape \(5, 2\)"):
        plots.embeddings([[POINTS[:3]]], LABELS, rows=["a"], columns=["b"])
    plots.to_svg(plots.embeddings([], LABELS, rows=[], columns=[]))


def test_curves():
    one = {("small", "training"): ([0, 5], [0.1, 0.9]), ("small", "validation"): ([0, 5], [0.1, np.nan])}
    two = {("large", "training"): ([0, 5], [0.2, 0.8])}
    figure = plots.training_curves({"accuracy": {"rate 1": one, "rate 2": {}}, "codes": {"rate 1": two}})
    assert len(figure.axes) == 4
    lines = [[line.get_ydata().tolist() for line in axes.lines] for axes in figure.axes]
    assert lines[0][0] == [0.1, 0.9]
    assert [len(panel) for panel in lines] == [2, 0, 1, 0]
    first, second = figure.axes[0].lines
    assert first.get_color() == second.get_color() != figure.axes[2].lines[0].get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert legend(figure) == ["small", "large", "training", "validation"]
    plots.to_svg(figure)
    plots.to_svg(plots.training_curves({}))


def test_shares_within_a_distance():
    scores = {"in domain": np.array([2.0, 0.0, 1.0, 1.0]), "noise": np.array([7.0, 5.0])}
    figure = plots.novelty({"dense": {"fc0": scores, "fc1": {}}})
    inside, outside = figure.axes[0].lines

    def share(line, distance):
        reached = line.get_xdata() <= distance
        return line.get_ydata()[reached].max()

    assert [share(inside, distance) for distance in (0, 1, 2)] == [25, 75, 100]
    assert [share(outside, distance) for distance in (4, 5, 7)] == [0, 50, 100]
    assert legend(figure) == ["in domain", "noise"]
    assert inside.get_linestyle() == "-" != outside.get_linestyle()
    plots.to_svg(figure)
    plots.to_svg(plots.novelty({}))
