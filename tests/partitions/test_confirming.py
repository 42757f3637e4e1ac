"""Cells of a network too large for exact arithmetic are confirmed as time allows, and all of them when asked for."""

import signal
from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError
from reluscope.partitions import dispatch, shown_regions
from reluscope.testing import default_network

SQUARE = rs.Box(-2, 2, 2)


@pytest.fixture(scope="module")
def whole() -> rs.Partition:
    return rs.partition(rs.load(default_network([2, 12, 12, 2], 0)), SQUARE)


@pytest.fixture
def unsure(whole, monkeypatch) -> rs.Partition:
    """A partition of which rounding bounds prove nothing, of a network too large for fractions."""
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    return shown_regions.shown(replace(whole, num_undecided=1, tolerance=rs.Tolerance(rounding=1e17)))


def test_all_cells_are_confirmed(unsure, whole):
    few = unsure.work["cells_confirmed"]
    assert 0 < few < len(whole) / 8
    shares = []
    found = rs.confirm(unsure, progress=shares.append)
    assert shares[-1] == pytest.approx(1)
    assert "cells_unconfirmed" not in found.work
    assert {*map(bytes, found.codes.words)} == {*map(bytes, whole.codes.words)}
    number = found.finding()
    assert (number.claim, number.value) == ("LOWER", len(whole))


def test_wrong_codes_are_found_and_left_out(unsure, whole):
    rows = np.arange(len(whole))
    rows[:4] = [1, 0, 3, 2]
    words = whole.codes[rows].words
    swapped = replace(unsure, codes=whole.codes[rows], geometry=unsure.geometry.recoded(np.arange(len(rows)), words))
    found = rs.confirm(swapped)
    assert {*map(bytes, found.codes.words)} == {*map(bytes, whole.codes.words)}


def test_as_many_as_there_is_time_for_and_never_fewer_than_before(unsure, whole):
    found = rs.confirm(unsure, budget=rs.Budget(seconds=0))
    assert found.work["cells_confirmed"] == unsure.work["cells_confirmed"]
    assert found.work["cells_unconfirmed"] == len(whole) - unsure.work["cells_confirmed"]
    clean = replace(unsure, work={})
    assert rs.confirm(clean, budget=rs.Budget(seconds=0)).work["cells_confirmed"] == 1


def test_ctrl_c_keeps_what_was_confirmed(unsure, whole):
    shares = []

    def strike(share):
        shares.append(share)
        if len(shares) == 4:
            signal.raise_signal(signal.SIGINT)

    found = rs.confirm(replace(unsure, work={}), progress=strike)
    assert len(shares) == 4
    assert found.work["cells_confirmed"] == 1 + 2 + 4 + 8
    assert len(found) == len(whole)


def test_partitions_keep_seconds_for_it(unsure, whole, monkeypatch):
    """A fifth of the seconds, and what is left of the others."""
    asked = []

    def found(*arguments):
        asked.append(arguments[4])
        return replace(unsure, work={}, num_open=1, note="budget of 48 s: about 90 expected in all")

    monkeypatch.setattr(dispatch, "cells_found", found)
    part = rs.partition(whole.network, SQUARE, budget=rs.Budget(seconds=60))
    assert asked == [rs.Budget(seconds=48)]
    assert part.note == "budget of 60 s: about 90 expected in all"
    assert "cells_unconfirmed" not in part.work
    rs.partition(whole.network, SQUARE, budget=rs.Budget(regions=60))
    assert asked[1:] == [rs.Budget(regions=60)]


def test_what_cannot_be_confirmed(whole, tmp_path):
    assert rs.confirm(whole) is whole
    whole.save(tmp_path / "part")
    with pytest.raises(InputError, match="needs the network"):
        rs.confirm(rs.Partition.load(tmp_path / "part"))
