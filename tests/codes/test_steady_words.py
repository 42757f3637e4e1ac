"""Words that are written out late are those of all pieces packed at once."""

import pickle

import numpy as np
import pytest

from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.codes.packing import pack_pieces
from reluscope.codes.steady_words import SteadyWords


@pytest.mark.parametrize(("num_units", "num_pieces"), [(1, 2), (64, 2), (130, 3), (200, 9)])
def test_words_are_those_of_the_pieces_of_all_units(num_units, num_pieces):
    draw, layout = np.random.default_rng(num_units), CodeLayout([GateLayout("gate", num_units, num_pieces)])
    steady = draw.integers(num_pieces, size=num_units).astype(np.uint8)
    units = np.flatnonzero(draw.random(num_units) < 0.3)
    pieces = draw.integers(num_pieces, size=(7, len(units))).astype(np.uint8)
    pieces[:, :1] = 0  # the same in all codes, and not that of the row
    full = np.tile(steady, (7, 1))
    full[:, units] = pieces
    words = pickle.loads(pickle.dumps(SteadyWords.of(layout, steady, units, pieces)))
    assert words.pieces.shape[1] < max(1, len(units))
    np.testing.assert_array_equal(words, pack_pieces([full], layout))
    rows = np.array([3, 0, 3])
    both = np.concatenate([words.take(rows, axis=0), np.zeros((3, 0), dtype=np.uint64)], axis=1)
    assert both.dtype == np.uint64
    np.testing.assert_array_equal(both, pack_pieces([full[rows]], layout))
