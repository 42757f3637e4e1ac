"""Pictures of compressed networks, clusters of regions, and functions that need not be continuous."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError, ShapeError

NET = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.full(1, -0.25))])


@pytest.fixture(scope="module")
def part():
    return rs.partition(NET, rs.Box(-1, 1, 2))


def test_panels_share_their_axes_and_one_legend():
    x = np.random.default_rng(0).normal(size=(30, 2))
    matrices = rs.coefficients.matrix(NET, x)
    curve = rs.compression.accuracy_curve(matrices, matrices, np.arange(30) % 2, (1, 2, 4))
    figure = rs.plots.curves_of_networks({"a": curve, "b": curve, "c": curve}, columns=2)
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]
    assert figure.axes[0].get_ylim() == figure.axes[2].get_ylim()
    assert figure.legends[0].get_texts()[0].get_text() == "the network itself"
    assert len(figure.legends[0].get_texts()) == 4
    assert not rs.plots.curves_of_networks({}, columns=3).axes


def test_bars_of_what_is_open_are_named_where_there_are_any():
    x = np.array([[1.0, -1.0], [0.0, 1.0], [0.5, 0.75]])
    matrices = rs.coefficients.matrix(NET, x)
    sure, tied = (
        rs.compression.accuracy_curve(matrices, part, labels, (1,))
        for part, labels in (
            (matrices, np.ones(3, dtype=int)),
            (rs.coefficients.matrix(NET, [[0.3, 0.075]] * 3), np.arange(3) % 2),
        )
    )
    assert sure["accuracy"].is_exact.all()
    assert not tied["accuracy"].is_exact.any()  # the mean of these maps is zero there, up to rounding
    told = [text.get_text() for text in rs.plots.accuracy_curve(sure).axes[0].get_legend().get_texts()]
    assert not any("left open" in text for text in told)
    figure = rs.plots.curves_of_networks({"open": tied, "sure": sure}, columns=2)
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told[0] == "the network itself"
    assert told.count("left open by rounding or ties") == 1


def test_clusters_say_how_many_they_are(part):
    labels = np.array([0, 1, 1, 0])
    figure = rs.plots.region_clusters(part, labels, np.zeros((2, 3)))
    assert figure.axes[0].get_title() == "4 regions, 2 clusters"
    dots = figure.axes[1].collections[-2]
    assert len({tuple(color) for color in dots.get_facecolors()}) == 2
    assert len(figure.axes[1].collections[-1].get_offsets()) == 2


def test_clusters_that_do_not_fit_are_refused(part):
    with pytest.raises(ShapeError, match="one label per region"):
        rs.plots.region_clusters(part, np.zeros(3, dtype=int), np.zeros((1, 3)))
    with pytest.raises(InputError, match="at most 20 clusters"):
        rs.plots.region_clusters(part, np.zeros(4, dtype=int), np.zeros((21, 3)))
    line = rs.partition(NET, rs.Segment([-1.0, 0.0], [1.0, 0.0]))
    with pytest.raises(InputError, match="needs the partition of a plane"):
        rs.plots.region_clusters(line, np.zeros(len(line), dtype=int), np.zeros((1, 2)))
