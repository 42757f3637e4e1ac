"""Pictures of accuracy curves and of merged regions: what is drawn is what was given."""

import numpy as np
import pytest

import reluscope as rs
from reluscope import plots
from reluscope.errors import InputError


@pytest.fixture(scope="module")
def network():
    return rs.load([([[1.0, 0], [-1, 0], [0, 1]], np.zeros(3)), ([[1.0, 1.0, 0.25]], [-1.0])])


def test_accuracies_over_numbers_of_maps(network):
    x = np.random.default_rng(0).normal(size=(50, 2))
    matrices = rs.coefficients.matrix(network, x)
    curve = rs.compression.accuracy_curve(matrices, matrices, (network(x).numpy()[:, 0] > 0).astype(int), (1, 2, 4))
    (axes,) = plots.accuracy_curve(curve).axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == 3]
    for line, rule in zip(lines, ("own_map", "mean_input", "nearest_sample"), strict=True):
        assert line.get_xdata().tolist() == [1, 2, 4]
        assert line.get_ydata() == pytest.approx(100 * curve.where(rule=rule)["accuracy"].value)
    assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == [
        "the network, 100.0%",
        "nearest map (needs the Jacobian)",
    ]


def test_pieces_over_regions(network):
    part = rs.partition(network, rs.Box(-1, 1, dim=2))
    merged = rs.compression.merge_regions(part, 0.2)
    assert (len(part), len(merged)) == (4, 2)
    figure = plots.merged_regions(merged)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["2 pieces", "4 regions"]
    with pytest.raises(InputError, match="of a plane"):
        plots.merged_regions(rs.compression.merge_regions(rs.partition(network, rs.Segment([-1.0, 0], [1.0, 0])), 0.1))
