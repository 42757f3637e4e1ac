"""Pictures of regions at given points: sizes at several places, what lies around, and likeliest points of classes."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope.plots.points.likeliest_images import OTHER, OWN

RNG = np.random.default_rng(0)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()] if figure.legends else []


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def shares(axes):
    return [np.sum(patch.get_data().values) for patch in axes.patches]


def test_sizes_at_places():
    sizes = {
        "manifold": {"vanilla": RNG.lognormal(size=90), "dropout": RNG.lognormal(size=40)},
        "decision": {"vanilla": np.r_[0.0, np.inf, np.nan, 0.5], "batch norm": np.array([2.0])},
    }
    figure = rs.plots.size_distributions(sizes, label="inradius")
    assert [axes.get_title() for axes in figure.axes] == ["manifold", "decision"]
    assert legend(figure) == ["vanilla", "dropout", "batch norm"]
    assert shares(figure.axes[0]) == pytest.approx([100.0, 100.0])
    assert shares(figure.axes[1]) == pytest.approx([100.0, 100.0])
    assert texts(figure) == ["3 not shown"]
    assert figure.axes[0].get_xscale() == figure.axes[1].get_xscale() == "log"
    # A triangle stands at the median, in the colour of its outline.
    (mark,) = (line for line in figure.axes[0].lines if line.get_xdata()[0] == np.median(sizes["manifold"]["vanilla"]))
    assert mark.get_color() == rs.plots.style.category(0)
    rs.plots.to_svg(figure)


@pytest.mark.parametrize(
    "sizes", [{}, {"manifold": {}}, {"manifold": {"a": np.zeros(0)}}, {"manifold": {"a": np.array([0.0, np.inf])}}]
)
def test_no_sizes(sizes):
    figure = rs.plots.size_distributions(sizes)
    assert set(texts(figure)) == {"no size is finite and positive"}
    rs.plots.to_svg(figure)


@pytest.mark.slow
def test_what_lies_around():
    numbers = {
        "rate 1e-3": {"vanilla": np.array([3, 5, 9]), "dropout": np.array([1])},
        "rate 1e-4": {"vanilla": np.array([30, 50])},
    }
    cosines = {
        "rate 1e-3": {"vanilla": np.r_[0.2, np.nan, 1.0 + 1e-15], "dropout": np.ones(4)},
        "rate 1e-4": {"vanilla": np.zeros(0)},
    }
    figure = rs.plots.surrounding_regions(numbers, cosines)
    boxes, first, second = figure.axes
    assert [label.get_text() for label in boxes.get_xticklabels()] == ["vanilla", "dropout"]
    assert len(boxes.patches) == 3
    assert [axes.get_title() for axes in (first, second)] == ["rate 1e-3", "rate 1e-4"]
    assert shares(first) == pytest.approx([100.0, 100.0])
    assert shares(second) == []
    assert first.get_ylim() == second.get_ylim()
    assert legend(figure) == ["rate 1e-3", "rate 1e-4", "vanilla", "dropout"]
    rs.plots.to_svg(figure)
    alone = rs.plots.surrounding_regions({"": {"a": np.array([4])}}, {"": {"a": np.array([0.99])}})
    assert legend(alone) == []
    rs.plots.to_svg(alone)


def test_nothing_lies_around():
    for numbers, cosines, said in (
        ({}, {}, ["there are no points"]),
        (
            {"": {"a": np.zeros(0, dtype=int)}},
            {"": {"a": np.array([np.nan])}},
            ["there are no points", "no region lies around"],
        ),
    ):
        figure = rs.plots.surrounding_regions(numbers, cosines)
        assert texts(figure) == said
        rs.plots.to_svg(figure)


def test_likeliest_points():
    points = RNG.normal(size=(2, 3, 12))
    points[1, 2] = np.nan
    figure = rs.plots.likeliest(
        points, np.array([[0, 1, 0], [2, 1, -1]]), np.array([0, 0]), shape=(3, 2, 2), rows=["vanilla", "dropout"]
    )
    (axes,) = figure.axes
    own, other = (rs.plots.style.to_rgb(color) for color in (OWN, OTHER))
    assert [frame.get_edgecolor()[:3] for frame in axes.patches] == [own, other, own, other, other]
    assert sum(line.get_marker() == "X" for line in axes.lines) == 3
    # Below one image the class is named that is neither the point's nor the one that is likeliest there: 2 in column 0.
    assert texts(figure) == ["0", "1", "2", "vanilla", "dropout", "2", "–"]
    np.testing.assert_allclose(np.diff([image.get_extent()[0] for image in axes.images[:3]]), 1.1)
    assert len(legend(figure)) == 2
    rs.plots.to_svg(figure)


def test_likeliest_points_beside_the_points_themselves():
    points = RNG.normal(size=(1, 2, 4))
    figure = rs.plots.likeliest(
        points, np.array([[1, 0]]), np.array([0]), x=points[:, 1], shape=(2, 2), rows=["a"], columns=["cat", "dog"]
    )
    assert texts(figure) == ["the point", "cat", "dog", "a", "dog"]
    first, _, last = figure.axes[0].images
    np.testing.assert_array_equal(first.get_array(), last.get_array())


def test_no_likeliest_points():
    for shape in ((0, 3, 4), (2, 0, 4)):
        figure = rs.plots.likeliest(
            np.zeros(shape),
            np.zeros(shape[:2], dtype=int),
            np.zeros(shape[0], dtype=int),
            shape=(2, 2),
            rows=["a", "b"],
        )
        assert texts(figure) == ["there are no regions"]
        rs.plots.to_svg(figure)
    with pytest.raises(InputError, match="choose some"):
        rs.plots.likeliest(
            np.zeros((13, 1, 4)),
            np.zeros((13, 1), dtype=int),
            np.zeros(13, dtype=int),
            shape=(2, 2),
            rows=[str(row) for row in range(13)],
        )
    with pytest.raises(InputError, match="one or three channels"):
        rs.plots.likeliest(
            np.zeros((1, 1, 5)), np.zeros((1, 1), dtype=int), np.zeros(1, dtype=int), shape=(5,), rows=["a"]
        )


def test_sizes_at_places_of_each_sample():
    radii = np.array([[0.1, 0.2], [0.3, np.nan], [0.0, 0.4]])
    figure = rs.plots.radii_by_location(radii, ["here", "there"])
    (axes,) = figure.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["here (2)", "there (2)"]
    medians = [line.get_ydata()[0] for line in axes.lines if line.get_linewidth() > 2]
    assert medians == pytest.approx([0.2, 0.3])
    rs.plots.to_svg(figure)
    assert texts(rs.plots.radii_by_location(np.zeros((2, 1)), ["here"])) == ["no size is finite and positive"]


def test_numbers_of_classes():
    net = rs.load([([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])])
    box = rs.Box(0, 1, 1)
    figure = rs.plots.class_numbers(rs.local.region_classes(net, [[0.5]], domain=box))
    # Two classes live in the region, and one has its own likeliest point.
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0, 1, 1, 0]
    rs.plots.to_svg(figure)
    relu = rs.load([([[1.0]], [0.0]), ([[0.0], [0.0]], [0.0, 0.0])])
    nothing = rs.local.region_classes(relu, [[0.0]], domain=rs.Box(0, 1, 1))
    assert texts(rs.plots.class_numbers(nothing)) == ["no region has an interior"]


def test_distances_to_changes():
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0]]), np.array([-2.0]))])
    x = np.array([[0.5], [-0.25]])
    facets = rs.robustness.boundary_distance(net, x, norm="l2")
    within = rs.robustness.decision_distance_within(net, x, norm="l2")
    whole = rs.robustness.decision_distance(net, x, norm="l2")
    # As a search leaves it that has found a change and not yet proved that none is nearer.
    distance = whole["decision_distance"]
    half = replace(distance, value=distance.value / 2, lower=distance.value / 2)
    part = replace(whole, columns={"decision_distance": half}, details={"stopped": np.array(["budget", "budget"])})
    figure = rs.plots.robustness([facets, facets], [within, within], [whole, part], ["a", "b"])
    marks = [[(line.get_marker(), *np.ravel(line.get_xdata())) for line in axes.lines] for axes in figure.axes]
    assert ("o", 1.5) in marks[0]
    assert ("|", 0.5) in marks[0]
    assert not any(mark[0] == "o" for mark in marks[1])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b"]
    assert "the class changes" in legend(figure)
    rs.plots.to_svg(figure)
    assert texts(rs.plots.robustness([], [], [], [])) == ["there are no samples"]


def test_distances_that_are_nowhere_have_no_mark():
    """What is proved to be very far away would leave no room for the others."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0]))])
    x = np.array([[0.5, 1.0]])
    found = [
        ask(net, x, norm="l2")
        for ask in (
            rs.robustness.boundary_distance,
            rs.robustness.decision_distance_within,
            rs.robustness.decision_distance,
        )
    ]
    far = replace(found[2]["decision_distance"], value=np.array([1e13]), lower=np.array([1e13]))
    for whole in (found[2], replace(found[2], columns={"decision_distance": far})):
        (axes,) = rs.plots.robustness(found[:1], found[1:2], [whole], ["a"]).axes
        assert [line.get_marker() for line in axes.lines] == ["|"]
        assert axes.get_xlim()[1] < 10
