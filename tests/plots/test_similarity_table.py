"""Heat maps of similarities say every number, and what is not defined."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.testing import default_network

POINTS = np.random.default_rng(0).normal(size=(20, 3))


@pytest.fixture(scope="module")
def found():
    networks = {"one": [3, 5, 2], "other": [3, 4, 4, 2], "affine": [3, 2]}
    loaded = {name: rs.load(default_network(sizes, seed=0)) for name, sizes in networks.items()}
    return rs.similarity.compare(loaded, POINTS, metrics=["cka", "output_cross_entropy", "agreement"])


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_every_number_and_what_is_not_defined(found):
    figure = rs.plots.similarity(found, "cka")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "other", "affine"]
    assert texts(figure).count("–") == 5
    assert f"{rs.similarity.pair_matrix(found, 'cka')[0, 1]:.3g}" in texts(figure)
    assert axes.get_xlabel() == ""


def test_ordered_pairs_and_a_cap(found):
    values = found["output_cross_entropy"].value
    figure = rs.plots.similarity(found, "output_cross_entropy", cap=float(np.median(values)))
    assert figure.axes[0].get_ylabel() == "first network"
    (image,) = figure.axes[0].images
    assert image.norm.vmax == pytest.approx(np.median(values))
    assert len(texts(figure)) == 9
    assert rs.plots.to_png(figure)[:4] == b"\x89PNG"
