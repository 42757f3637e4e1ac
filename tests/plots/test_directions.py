"""The picture of angles between hyperplanes: what it shows, and that nothing breaks it."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.local import directions as angles_at
from reluscope.plots import directions as draw
from reluscope.plots import to_svg
from reluscope.testing import default_network

NET = rs.load(default_network([6, 30, 20, 3], seed=0))
X = np.linspace(-1.0, 1.0, 6)


def test_the_image_and_its_gates():
    (found,) = angles_at(NET, X, pixels=25)
    figure = draw(found)
    image = figure.axes[0].images[0].get_array()
    np.testing.assert_array_equal(image, found.image)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [f"{gate.name} ({gate.num_units})" for gate in NET.gates]
    assert "mean over up to 2 × 2 pairs" in figure.axes[0].get_xlabel()
    # The line between the gates is where the first row of the second gate begins.
    line = figure.axes[0].lines[0].get_ydata()[0] + 0.5
    assert found.pixels[int(line)] == 30
    assert len(figure.axes[1].get_legend().get_texts()) == 3
    assert f"{found.mean:.1f}" in figure.axes[1].get_title()
    to_svg(figure)


@pytest.mark.slow
def test_many_gates_few_rows_and_none():
    deep = rs.load(default_network([6, *[5] * 9, 3], seed=0))
    legend = draw(angles_at(deep, X)[0]).axes[1].get_legend().get_texts()
    assert len(legend) == 8
    for net in (
        rs.load([(np.zeros((2, 6)), np.ones(2)), (np.ones((1, 2)), np.zeros(1))]),
        rs.load([(np.ones((2, 6)), np.ones(2))]),
        rs.load([(np.ones((1, 6)), np.ones(1)), (np.ones((1, 1)), np.zeros(1))]),
    ):
        figure = draw(angles_at(net, X)[0])
        assert "there are no pairs" in figure.axes[1].texts[0].get_text()
        to_svg(figure)
    without = draw(angles_at(NET, X, pixels=0)[0])
    assert without.axes[0].texts[0].get_text() == "there is no image"
    constant = rs.load([(np.array([[1.0] * 6, [0.0] * 6, [2.0] * 6]), np.ones(3)), (np.ones((1, 3)), np.zeros(1))])
    assert "1 constant row" in draw(angles_at(constant, X)[0]).axes[0].get_xlabel()


def test_colours_reach_as_far_as_nearly_all_cells():
    wide = rs.load(default_network([200, 300, 3], seed=0))
    (found,) = angles_at(wide, np.ones(200), pixels=20)
    away = np.abs(found.image - 90.0)[~np.eye(20, dtype=bool)]
    low, high = draw(found).axes[0].images[0].get_clim()
    assert 1.0 <= high - 90.0 == 90.0 - low <= max(1.0, away.max()) < 3.0
    opposite = rs.load([(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    assert draw(angles_at(opposite, np.zeros(2))[0]).axes[0].images[0].get_clim() == (0.0, 180.0)
