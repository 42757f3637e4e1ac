"""Bars and diagrams: what they show, and of nothing at all."""

import numpy as np
import pytest

import reluscope as rs
from reluscope import plots

RNG = np.random.default_rng(1)
NET = rs.load([(RNG.normal(size=(10, 2)) * 2, RNG.normal(size=10)), (RNG.normal(size=(1, 10)), np.zeros(1))])
FOUND = rs.topology.persistence(rs.partition(NET, rs.Box(-3, 3, 2)))


def test_bars_are_as_long_as_classes_last():
    axes = plots.persistence(FOUND).axes[0]
    drawn = np.concatenate([lines.get_segments() for lines in axes.collections])
    assert len(drawn) == len(FOUND)
    assert np.allclose(drawn[:, 0, 0], FOUND["birth_level"].value)
    ends = FOUND["death_level"].value
    assert np.allclose(drawn[:, 1, 0][np.isfinite(ends)], ends[np.isfinite(ends)])
    assert axes.get_legend() is not None


def test_points_of_a_diagram():
    axes = plots.persistence(FOUND, kind="diagram").axes[0]
    points = [line.get_xydata() for line in axes.lines if line.get_linestyle() == "None"]
    assert np.allclose(np.concatenate(points)[:, 0], FOUND["birth_level"].value)


@pytest.mark.parametrize("kind", ["bars", "diagram"])
def test_nothing_to_show(kind):
    empty = rs.topology.persistence(rs.partition(NET, rs.Box(-3, 3, 2)), budget=rs.Budget(seconds=0.0))
    figure = plots.persistence(empty, kind=kind)
    assert figure.axes[0].texts or len(empty)
