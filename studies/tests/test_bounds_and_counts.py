"""Pictures of counts under bounds, and of errors over counts: what is drawn is what was given."""

import pytest

import reluscope as rs
from reluscope_studies import plots


def exact(value):
    return rs.Finding(value, rs.Claim.EXACT)


def upper(value):
    return rs.Finding(value, rs.Claim.UPPER)


def test_heights_are_powers_of_ten():
    bounds = {"a": [upper(10), upper(1000)], "b": [None, upper(10**400)]}
    (axes,) = plots.bounds_and_counts([1, 2], bounds, xlabel="x").axes
    heights = [line.get_ydata().tolist() for line in axes.lines]
    assert heights[0] == pytest.approx([1, 3])
    assert heights[1][1] == pytest.approx(400)
    assert axes.get_ylim()[1] > 400
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_means_and_ranges():
    lower = rs.Finding(1000, rs.Claim.LOWER)
    counts = {"regions": [[exact(10), exact(30)], [lower], []]}
    (axes,) = plots.bounds_and_counts([1, 2, 3], {}, counts, xlabel="x").axes
    bars = [line for line in axes.lines if len(line.get_xdata()) == 2]
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert 10 ** bars[0].get_ydata() == pytest.approx([10, 30])
    assert 10 ** marks[0].get_ydata() == pytest.approx([20])
    assert [mark.get_markerfacecolor() for mark in marks] == [marks[0].get_color(), "none"]
    assert axes.get_legend().get_texts()[0].get_text() == "regions: mean and range"


def test_one_number_each_is_no_range():
    (axes,) = plots.bounds_and_counts([1], {}, {"regions": [[exact(5)]]}, xlabel="x").axes
    assert axes.get_legend().get_texts()[0].get_text() == "regions"


def test_nothing_to_draw():
    assert "no numbers yet" in rs.plots.to_svg(plots.bounds_and_counts([], {}, xlabel="x"))
    assert "no numbers yet" in rs.plots.to_svg(plots.bounds_and_counts([1], {"a": [None]}, {"b": [[]]}, xlabel="x"))
    assert "no numbers yet" in rs.plots.to_svg(plots.errors_and_counts([], {"error": []}, [], label="units"))


def test_errors_over_counts():
    counts = [exact(10), exact(100), rs.Finding(1000, rs.Claim.LOWER)]
    errors = {"loss": [1.0, 0.5, 0.2], "error": [0.3, 0.2, 0.1]}
    figure = plots.errors_and_counts(counts, errors, [1, 2, 3], label="units")
    first, second, *_ = figure.axes
    for axes, heights in ((first, errors["loss"]), (second, errors["error"])):
        filled, hollow = (points.get_offsets().tolist() for points in axes.collections)
        assert filled == [[10, heights[0]], [100, heights[1]]]
        assert hollow == [[1000, heights[2]]]
        assert axes.get_xscale() == "log"
    svg = rs.plots.to_svg(figure, ink="currentColor")
    assert "units" in svg
    assert "#1b1f24" not in svg


def test_errors_of_one_split_within_a_decade():
    counts = [exact(455_643), exact(876_183), rs.Finding(500_000, rs.Claim.LOWER)]
    figure = plots.errors_and_counts(counts, {"error": [0.02, 0.05, 0.05]}, [11, 11, 11], label="units")
    (panel,), (below,) = figure.axes, figure.legends
    assert [text.get_text() for text in below.get_texts()] == ["lower bound"]
    figure.canvas.draw()
    low, high = panel.get_xlim()
    labels = [label.get_text() for label in panel.get_xticklabels() if low <= label.get_position()[0] <= high]
    assert labels == ["500,000", "700,000"]
    assert not any(label.get_text() for label in panel.get_xticklabels(minor=True))
    assert panel.get_ylim()[1] > 0.05
    assert not panel.child_axes  # one value needs no scale
