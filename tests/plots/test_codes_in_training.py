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
