"""The picture of a network of two inputs seen three ways: what stands in it, empty input, and what does not fit."""

import numpy as np
import pytest

import reluscope as rs
from empty_partitions import empty_partition
from reluscope.errors import ShapeError

NET = rs.load(rs.testing.default_network([2, 3, 2], seed=4))
BOX = rs.Box(-4, 4, 2)


def legends(figure):
    return [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes if axes.get_legend()]


def test_kinds_and_numbers_that_are_missing_are_named():
    part = rs.partition(NET, BOX)
    found = rs.preimages.classify_at(NET, part.witnesses)
    conditions = np.where(np.arange(len(part)) == 0, np.nan, np.arange(len(part)) + 0.5)
    figure = rs.plots.preimages_in_plane(part, found, conditions, samples=[[0.0, 0.0]])
    _, kinds, numbers = legends(figure)
    assert kinds == sorted({found.kind(row).name.lower() for row in range(len(part))})
    assert numbers == ["no value"]
    with pytest.raises(ShapeError, match="for each of"):
        rs.plots.preimages_in_plane(part, found, conditions[1:])


def test_empty_partitions_are_drawn():
    part = empty_partition(NET, BOX)
    nothing = rs.preimages.classify_at(NET, [[0.0, 0.0]]).take(np.zeros(0, dtype=int))
    assert rs.plots.to_png(rs.plots.preimages_in_plane(part, nothing, np.zeros(0)))
