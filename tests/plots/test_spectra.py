"""Pictures of singular values: the curves are the medians, marks say the kind of layer, nothing known is said."""

import numpy as np
import pytest

import reluscope as rs
from reluscope import plots
from reluscope.testing import default_network
from reluscope_studies import lemmas, pictures

POINTS = np.random.default_rng(0).normal(size=(5, 6))


@pytest.fixture(scope="module")
def found():
    return rs.stability.spectra(rs.load(default_network([6, 8, 5, 3], seed=0)), POINTS)


def test_curves_are_medians_of_nonzero_values(found):
    axes = plots.spectra(found).axes[0]
    gates = found.where(sample=0).rows(found.where(sample=0).details["kind"] == "gate").keys["layer"].tolist()
    assert len(axes.lines) == len(gates)
    for line, layer in zip(axes.lines, gates, strict=True):
        there = found.where(layer=layer).details
        expected = np.median(np.stack(list(there["singular_values"])), axis=0)
        shown = np.asarray(line.get_ydata())
        assert shown == pytest.approx(expected[: len(shown)])
        assert (expected[len(shown) :] <= there["nonzero"][0] * expected[0]).all()
    assert axes.get_yscale() == "log"
    assert len(plots.spectra(found, layers=[0, 1], band=None).axes[0].lines) == 2


def test_layers_are_rows_of_three_numbers(found):
    figure = plots.spectra_by_layer({"a": found, "b": found})
    sizes, numbers, conditions = figure.axes
    assert np.asarray(sizes.lines[0].get_ydata()).tolist() == found.where(sample=0).details["size"].tolist()
    layers = found.where(sample=0).keys["layer"].tolist()
    median = [float(found.where(layer=layer).median("num_nonzero_singular_values")) for layer in layers]
    assert np.asarray(numbers.lines[0].get_ydata()).tolist() == median
    assert conditions.get_yscale() == "log"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_counts_of_rows_have_their_limit():
    matrix = np.random.default_rng(1).normal(size=(40, 4))
    counts = lemmas.correlation_counts(matrix, np.arange(20), np.linspace(0, 12, 30))
    axes = pictures.correlation_counts(counts).axes[0]
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == counts.counts.tolist()
    assert "rows left: 20" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_without_complete_layers_it_says_so(found):
    lanczos = rs.stability.extremes(rs.load(default_network([6, 8, 5, 3], seed=0)), POINTS[:1])
    figure = plots.spectra(lanczos)
    assert "no layer" in figure.axes[0].texts[0].get_text()
    plots.to_svg(figure, name="empty")
    plots.to_svg(plots.spectra_by_layer({"only": lanczos}), name="extremes")
