"""Figures 6.1, 6.7 and 6.12: segments against signs of a grid, and the compared points against the labelling."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.sattelberg2026_ch6 import illustrations as study
from reluscope_studies.sattelberg2026_ch6._labelling import _label_row

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_units_are_zero_on_their_segments_and_change_sign_across(layer):
    """By the weights alone, without partitions: values at points of the segments and beside them."""

    def unit_values(points, unit):
        for number, (weight, bias) in enumerate(study.LAYERS[:layer], start=1):
            points = points @ weight.T + bias
            if number < layer:
                points = np.maximum(points, 0)
        return points[:, unit]

    segments, _ = study.bends_of(layer)
    line = np.linspace(-study.REACH + 0.0137, study.REACH - 0.0171, 61)  # through no corner
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    for unit, own in enumerate(segments):
        shares = np.linspace(0, 1, 7)[:, None, None]
        on = ((1 - shares) * own[:, 0] + shares * own[:, 1]).reshape(-1, 2)
        assert np.abs(unit_values(on, unit)).max() < 1e-12
        # Along every line of the grid, signs change as often as segments are crossed.
        signs = unit_values(grid, unit).reshape(61, 61) > 0
        for index in range(0, 61, 7):
            changes = int((signs[index][1:] != signs[index][:-1]).sum())
            across = (own[:, 0, 0] - line[index]) * (own[:, 1, 0] - line[index]) < 0
            assert changes <= int(across.sum())
            assert (changes - int(across.sum())) % 2 == 0


def test_compared_points_are_those_of_the_labelling():
    """A point takes a label of the row above only from a place that is drawn as compared."""
    rows, columns = study.GRID
    row, column = study.LOOKED_AT
    kinds = study.kinds_of_points(study.GRID, study.LOOKED_AT)
    for other in range(columns):
        labels, above = np.arange(columns), 100 + np.arange(columns)
        up = np.full((columns, columns), 5.0)
        up[column, other] = 0.0
        _label_row(labels, above, np.zeros(columns, dtype=bool), up, 1e-9, 200)
        assert (labels[column] == above[other]) == (kinds[row - 1][other] == "compared")
    assert kinds[row][column - 1] == "compared"
    assert len(kinds) == rows


def test_the_study():
    outcome = study.protocol(Setting("full"))
    (verdict,) = outcome.verdicts
    assert verdict.word == "confirmed"
    assert [row[1:3] for row in outcome.tables[0].rows] == [("1", "1"), ("3", "2"), ("5", "5")]
    regions = [int(one) for one in outcome.findings]
    assert regions[0] == 4  # two lines that cross
    assert regions[-1] == int(rs.partition(study._up_to(3), rs.Box(-study.REACH, study.REACH, 2)).finding())
    assert [len(picture.figure.axes) for picture in outcome.pictures] == [2, 3, 1]
