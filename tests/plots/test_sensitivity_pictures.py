"""Pictures of sensitivity: what is drawn is what was found, and nothing to draw is said."""

from dataclasses import fields, replace

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope import plots

NET = rs.load(layers([9, 6, 3]))
POINTS = np.random.default_rng(0).normal(size=(30, 9))
DEAD = rs.load([(np.zeros((2, 9)), np.zeros(2)), (np.ones((2, 2)), np.zeros(2))])


def test_eigenvalues_are_shares_up_to_the_rank():
    found = rs.sensitivity.active_subspaces(NET, POINTS)
    figure = plots.gradient_eigenvalues({"a": found, "b": found})
    (line, _) = figure.axes[0].lines
    shares = found.eigenvalues[:, :6] / found.traces[:, None]
    assert np.asarray(line.get_ydata()) == pytest.approx(np.median(shares, axis=0))
    empty = plots.gradient_eigenvalues({"dead": rs.sensitivity.active_subspaces(DEAD, POINTS)})
    assert "beyond rounding" in empty.axes[0].texts[0].get_text()


def test_outputs_along_have_their_dots_and_their_line():
    along = [rs.sensitivity.output_along(NET, POINTS, np.ones(9), output=j) for j in range(3)]
    figure = plots.outputs_along([along, along], rows=["a", "b"], columns=["x", "y", "z"])
    dots, line = figure.axes[4].lines
    assert np.asarray(dots.get_ydata()) == pytest.approx(along[1].values)
    assert np.asarray(line.get_xdata()) == pytest.approx(along[1].line_positions)
    assert figure.axes[0].texts[0].get_text() == f"{100 * along[0].explained().value:.0f} %"
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told == ["samples; variance explained", "the network on the line through their mean"]
    bare = replace(along[0], line_positions=np.zeros(0), line_values=np.zeros(0))
    assert [text.get_text() for text in plots.outputs_along([[bare]]).legends[0].get_texts()] == told[:1]
    assert "no outputs" in plots.outputs_along([]).axes[0].texts[0].get_text()
    dead = rs.sensitivity.output_along(DEAD, POINTS, np.ones(9))
    assert plots.outputs_along([[dead]]).axes[0].texts[0].get_text() == "constant"
    for wrong in ({"rows": ["a"]}, {"columns": ["x"]}):
        with pytest.raises(rs.errors.ShapeError, match="names"):
            plots.outputs_along([along, along], **wrong)
    with pytest.raises(rs.errors.ShapeError, match="different lengths"):
        plots.outputs_along([along, along[:1]])


def test_transitions_end_at_their_number():
    found = rs.sensitivity.transitions(NET, rs.sensitivity.ellipse(*POINTS[:3], num_points=12))
    axes = plots.transitions({"ellipse": found}).axes[0]
    assert np.asarray(axes.lines[0].get_ydata())[-1] == int(found.total("num_transitions"))
    assert np.asarray(axes.lines[0].get_xdata())[-1] == pytest.approx(found.details["lengths"].sum())
    assert "no trajectories" in plots.transitions({}).axes[0].texts[0].get_text()


def test_saliency_has_three_images_per_sample():
    found = rs.sensitivity.saliency(NET, POINTS[:2])
    figure = plots.saliency(found, POINTS[:2], shape=(3, 3), names=["a", "b"])
    assert len(figure.axes) == 6
    shown = np.asarray(figure.axes[5].images[0].get_array())
    assert shown.ravel() == pytest.approx(found.contributions[1])
    none = type(found)(*(getattr(found, one.name)[:0] for one in fields(found)))
    assert "no samples" in plots.saliency(none, POINTS[:0], shape=(3, 3)).axes[0].texts[0].get_text()
    with pytest.raises(rs.errors.ShapeError, match="samples of 9 entries"):
        plots.saliency(found, POINTS[:2], shape=(3, 4))
    with pytest.raises(rs.errors.ShapeError, match="one name"):
        plots.saliency(found, POINTS[:2], shape=(3, 3), names=["a"])
