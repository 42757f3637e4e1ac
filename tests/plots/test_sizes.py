"""Pictures of units, code distances, norms and sizes of regions: what they show, and that nothing breaks them."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.codespace import class_distances, pair_distances, sample_codes, unit_usage
from reluscope.analyses.coefficients import local_norms
from reluscope.analyses.samples.data_box import data_box
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.datasets.image_shapes import is_image
from reluscope.errors import InputError

DATA = digits("test").limited(60)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))
POINTS = DATA.points.reshape(60, -1)
SAMPLED = sample_codes(NET, DATA.points)
CONSTANT = rs.load([(np.zeros((2, 3)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2))])


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def labels(figure):
    legend = figure.axes[0].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_units_of_each_gate():
    usage = unit_usage(NET, SAMPLED)
    figure = rs.plots.unit_usage(usage)
    assert labels(figure) == ["changing", "always on", "dead"]
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["relu", "pool", "relu_1"]
    assert f"{usage['num_changing_units'].value[0]:.0f}" in texts(figure)
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert np.reshape(widths, (3, 3)).sum(axis=1) == pytest.approx([1.0, 1.0, 1.0])


def test_table_of_classes():
    found = class_distances(SAMPLED, DATA.labels)
    figure = rs.plots.class_distances(found)
    assert len(texts(figure)) == 100
    assert f"{found['mean_code_distance'].value[1]:.1f}" in texts(figure)
    alone = class_distances(SAMPLED, np.r_[7, np.zeros(59, dtype=int)])
    assert texts(rs.plots.class_distances(alone)).count("–") == 1
    names = [f"kind {kind}" for kind in np.unique(alone.keys["class"])]
    ticks = rs.plots.class_distances(alone, names=names).axes[0].get_xticklabels()
    assert [tick.get_text() for tick in ticks] == names
    rs.plots.to_svg(
        rs.plots.class_distances(class_distances(sample_codes(CONSTANT, np.eye(3)), np.zeros(3, dtype=int)))
    )


@pytest.mark.parametrize("grouped", [True, False])
def test_histogram_of_pairs(grouped):
    found = pair_distances(SAMPLED, DATA.labels)
    figure = rs.plots.distance_histogram(found, grouped=grouped)
    shown = labels(figure)
    assert shown[0].startswith("within a class" if grouped else "all pairs")
    assert len(shown) == 1 + grouped
    heights = [sum(patch.get_data().values) for patch in figure.axes[0].patches]
    assert heights == pytest.approx([100.0] * len(heights))


def test_histograms_of_few_samples():
    for rows in (1, 2):
        few = sample_codes(NET, DATA.points[:rows])
        figure = rs.plots.distance_histogram(pair_distances(few, np.zeros(rows, dtype=int)))
        assert bool(texts(figure)) == (rows == 1)
        rs.plots.to_svg(figure)


def test_sizes_of_regions():
    facets = rs.robustness.boundary_distance(NET, DATA.points, norm="l2")
    balls = rs.inscribed_balls(NET, DATA.points[:5], domain=data_box(POINTS))
    figure = rs.plots.radii(facets, [gate.name for gate in NET.gates], balls=balls)
    shown = sum(len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "o")
    distances = facets["boundary_distance"].value
    assert shown == (np.isfinite(distances) & (distances > 0)).sum()
    assert any(label.startswith("relu bends first") for label in labels(figure))
    assert "radius of inscribed ball" in labels(figure)
    assert figure.axes[0].get_yscale() == "log"
    nothing = rs.plots.radii(rs.robustness.boundary_distance(CONSTANT, np.eye(3), norm="l2"), ["relu"])
    assert texts(nothing) == ["no distance is finite and positive"]


def test_norms():
    found = local_norms(NET, DATA.points, margins=True)
    figure = rs.plots.norms(found)
    assert [label.split("\n")[0] for label in labels(figure)] == [
        "spectral norm",
        "Frobenius norm",
        "slope of the margin",
    ]
    heights = [patch.get_data().values.sum() for patch in figure.axes[0].patches]
    assert heights == [60, 60, 60]
    assert texts(rs.plots.norms(local_norms(CONSTANT, np.eye(3)))) == ["all maps are constant"]
    rs.plots.to_svg(rs.plots.norms(local_norms(NET, DATA.points[:1])))


def test_samples_are_images():
    figure = rs.plots.samples(POINTS[:3], shape=(1, 8, 8), names=["a", "b", "c"])
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c"]
    picture = figure.axes[1].images[0].get_array()
    assert np.allclose(picture, DATA.points[1, 0], atol=1e-12)
    colours = rs.plots.samples(np.random.default_rng(0).normal(size=(1, 27)), shape=(3, 3, 3))
    assert colours.axes[0].images[0].get_array().shape == (3, 3, 3)
    rs.plots.to_svg(rs.plots.samples(np.zeros((2, 4)), shape=(2, 2)))
    with pytest.raises(InputError, match="one or three channels"):
        rs.plots.samples(np.zeros((2, 5)), shape=(5,))
    with pytest.raises(InputError, match="at most 12"):
        rs.plots.samples(np.zeros((13, 4)), shape=(2, 2))
    assert not is_image((1, 1, 8))
