"""Samples in the colours of their classes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.plots.drawing.marks import SMALLEST
from reluscope.plots.style import category

NET = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 0], [0, 1], [-1, -1]]), np.array([0, 0, 0.5]))])
PART = rs.partition(NET, rs.Box(-1, 1, 2))
X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
Y = rs.classification.predicted_classes(NET, X)


def drawn(figure):
    """Points by colour."""
    lines = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())]
    return {to_hex(line.get_markerfacecolor()): line.get_xydata() for line in lines}, lines


@pytest.mark.parametrize("color", ["class", "activation_rate", None])
@pytest.mark.parametrize("number", [3, 300])
def test_colours_and_sizes(color, number):
    points, lines = drawn(rs.plots.partition(PART, color=color, samples=X[:number], labels=Y[:number]))
    for one in np.unique(Y[:number]):
        np.testing.assert_allclose(points[to_hex(category(int(one)))], X[:number][Y[:number] == one])
    assert {line.get_markersize() for line in lines} == ({8.0} if number == 3 else {SMALLEST})


def test_legend_by_class():
    figure = rs.plots.partition(PART, color="class", samples=X, labels=Y, class_names=["zebra", "ape", "mole"])
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    samples = ["samples of zebra", "samples of ape", "samples of mole"]
    assert words == ["zebra", "ape", "mole", "decision boundary", *samples]


def test_off_the_plane_is_hollow():
    net = rs.load([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))])
    part = rs.partition(net, rs.Plane(np.zeros(3), np.eye(3)[0], np.eye(3)[1]))
    points, _ = drawn(rs.plots.partition(part, samples=[[0.2, 0.2, 0.0], [0.2, 0.5, 1.0]], labels=[1, 1]))
    assert len(points) == 2


def test_refused():
    with pytest.raises(InputError, match="give samples too"):
        rs.plots.partition(PART, labels=Y)
    with pytest.raises((InputError, ShapeError), match="300"):
        rs.plots.partition(PART, samples=X, labels=Y[:5])
    segment = rs.partition(NET, rs.Segment([-1.0, -1.0], [1.0, 1.0]))
    with pytest.raises(InputError, match="labels colour samples on a plane"):
        rs.plots.partition(segment, samples=X[:2], labels=Y[:2])
