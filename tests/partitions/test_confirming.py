"""Cells of a network too large for exact arithmetic are confirmed as time allows, and all of them when asked for."""

import signal
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

import reluscope as rs
from partitions.in_doubt import in_doubt
from reluscope.errors import InputError
from reluscope.networks.evaluation.rounded_forward import coded_forward
from reluscope.networks.fractions.rational import multiplications
from reluscope.partitions.ask import finishing_windows, region_search
from reluscope.partitions.doubts import shown_regions
from reluscope.stopping import INTERRUPTED, Stop, StopReason
from reluscope.testing import default_network

SQUARE = rs.Box(-2, 2, 2)


@pytest.fixture(scope="module")
def whole() -> rs.Partition:
    return rs.partition(rs.load(default_network([2, 12, 12, 2], 0)), SQUARE)


@pytest.fixture
def unsure(whole, monkeypatch) -> rs.Partition:
    """A partition of which rounding bounds prove nothing, of a network too large for fractions."""
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 0)
    return shown_regions.shown(in_doubt(whole, tolerance=rs.Tolerance(rounding=1e17)))


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
    geometry = unsure.geometry.recoded(np.arange(len(rows)), words)
    swapped = replace(unsure, codes=whole.codes[rows], geometry=geometry, confirmed=None)
    found = rs.confirm(swapped)
    assert {*map(bytes, found.codes.words)} == {*map(bytes, whole.codes.words)}


def test_as_many_as_there_is_time_for_and_none_twice(unsure, whole, monkeypatch, tmp_path):
    """Without time one cell is looked at: every call proves one more, also of a partition that was saved meanwhile."""
    clean = replace(unsure, work={}, confirmed=None)
    found = rs.confirm(clean, budget=rs.Budget(seconds=0))
    assert found.work["cells_confirmed"] == 1
    monkeypatch.setattr(shown_regions, "coded_forward", None)  # what all cells show was seen already
    for number in range(2, 6):
        found = rs.confirm(found, budget=rs.Budget(seconds=0))
        assert found.confirmed.sum() == found.work["cells_confirmed"] == number
        assert found.work["cells_unconfirmed"] == len(whole) - number
        found.save(tmp_path / "part")
        found = rs.Partition.load(tmp_path / "part", whole.network)
    asked = []
    found = rs.confirm(found, progress=asked.append)
    assert found.confirmed.all()
    assert len(asked) <= len(whole) - 5
    assert rs.confirm(found) is found


def test_a_file_that_says_otherwise_is_refused(unsure, tmp_path):
    wrong = ~unsure.confirmed
    replace(unsure, confirmed=wrong).save(tmp_path / "part")
    with pytest.raises(InputError, match="part"):
        rs.Partition.load(tmp_path / "part")


def test_deep_networks_of_some_size_do_not_take_wide_numbers_for_every_cell(whole, monkeypatch):
    """Fractions would do for one point, and numbers of a hundred bits take minutes for all: a share is confirmed."""
    monkeypatch.setattr(shown_regions, "DEEP", 1)
    doubtful = in_doubt(whole, tolerance=rs.Tolerance(rounding=1e17))
    assert "cells_unconfirmed" not in shown_regions.shown(doubtful).work
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 5 * multiplications(whole.network))
    found = shown_regions.shown(doubtful)
    assert 0 < found.work["cells_confirmed"] < len(whole) / 8
    assert "cells_unconfirmed" not in rs.confirm(found).work


def test_windows_keep_to_their_seconds(whole, monkeypatch):
    """A fifth is for confirming what the largest window has; it ends when the seconds do."""
    given, ended = [], []
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(
        finishing_windows,
        "cells_found",
        lambda network, domain, effort=None, asked=None: (
            given.append(effort and effort.budget) or region_search.cells_found(network, domain, None, asked)
        ),
    )
    monkeypatch.setattr(finishing_windows, "shown", lambda part, until, **_: ended.append(until) or part)
    began = time.time()
    rs.window_within(whole.network, SQUARE, rs.Budget(seconds=1000))
    assert len(given) > 1
    assert all(limit.seconds <= 800 for limit in given[1:])
    assert began + 1000 <= ended[0] <= time.time() + 1000
    rs.window_within(whole.network, SQUARE, rs.Budget(regions=5))
    assert ended[1:] == [None]


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_keeps_what_was_confirmed(unsure, whole):
    shares = []

    def strike(share):
        shares.append(share)
        if len(shares) == 4:
            signal.raise_signal(signal.SIGINT)

    found = rs.confirm(replace(unsure, work={}, confirmed=None), progress=strike)
    assert len(shares) == 4
    assert found.work["cells_confirmed"] == 1 + 2 + 4 + 8
    assert len(found) == len(whole)


def test_what_ctrl_c_left_unconfirmed_is_confirmed_later_on(unsure, whole):
    struck = replace(unsure, work={}, confirmed=None, num_open=1, stop=INTERRUPTED)
    found = shown_regions.shown(struck)
    assert (found.work["cells_confirmed"], found.work["cells_unconfirmed"]) == (0, len(whole))
    again = rs.confirm(found)
    assert "cells_unconfirmed" not in again.work
    assert (again.claim, again.note, words_of(again)) == ("LOWER", "interrupted", words_of(whole))


def test_partitions_keep_seconds_for_it(unsure, whole, monkeypatch):
    """A fifth of the seconds, and what is left of the others."""
    asked = []

    def found(*arguments):
        asked.append(arguments[2].budget)
        return replace(unsure, work={}, num_open=1, stop=Stop(StopReason.SECONDS, 48.0))

    monkeypatch.setattr(region_search, "cells_found", found)
    part = rs.partition(whole.network, SQUARE, budget=rs.Budget(seconds=60))
    assert asked == [rs.Budget(seconds=48)]
    assert part.note == "budget of 60 s"
    assert "cells_unconfirmed" not in part.work
    rs.partition(whole.network, SQUARE, budget=rs.Budget(regions=60))
    assert asked[1:] == [rs.Budget(regions=60)]


def test_regions_of_networks_that_jump_are_confirmed(monkeypatch):
    torch.manual_seed(0)
    steps = torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.Threshold(0.25, -1.0), torch.nn.Linear(5, 1)).double()
    truth = rs.partition(rs.load(steps), SQUARE)
    assert (truth.claim, len(truth) > 3) == ("EXACT", True)
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 0)
    part = shown_regions.shown(in_doubt(truth, tolerance=rs.Tolerance(rounding=1e17)))
    assert part.claim == "ESTIMATE"
    found = rs.confirm(part)
    assert (found.claim, words_of(found)) == ("LOWER", words_of(truth))


def test_what_cannot_be_confirmed(whole, tmp_path):
    assert rs.confirm(whole) is whole
    whole.save(tmp_path / "part")
    with pytest.raises(InputError, match="needs the network"):
        rs.confirm(rs.Partition.load(tmp_path / "part"))


@cache
def palindromes() -> tuple[rs.Network, rs.Slice]:
    """Return a network and a plane of pictures that are their own mirror images.

    In the middle a pooling compares sums of the same products in another order: a tie everywhere, and not in floats.
    """
    draw = np.random.default_rng(0)
    torch.manual_seed(0)
    convolution = torch.nn.Conv2d(1, 6, (1, 3), dtype=torch.float64)
    with torch.no_grad():
        convolution.weight[..., 2] = convolution.weight[..., 0]
    model = torch.nn.Sequential(
        convolution,
        torch.nn.MaxPool2d((1, 2)),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(18, 2, dtype=torch.float64),
    )
    images = draw.normal(size=(3, 1, 1, 8))
    return rs.load(model, input_shape=(1, 1, 8)), rs.Plane(*(images + images[..., ::-1]), margin=0.5)


def words_of(part: rs.Partition) -> set[bytes]:
    return set(map(bytes, part.codes.words))


def test_ties_in_every_cell_are_read_as_ties_where_fractions_are_too_slow_for_all(monkeypatch):
    network, plane = palindromes()
    truth = rs.certify(rs.partition(network, plane))
    assert truth.claim == "EXACT"
    assert len(truth) > 40
    rounded, _ = coded_forward(network.restrict(plane), truth.witnesses)
    assert rounded.doubtful.any(axis=1).mean() > 0.5  # how products are summed decides of how many
    doubtful = in_doubt(rs.partition(network, plane))
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", multiplications(network))  # for one region
    found = shown_regions.shown(doubtful)
    assert (words_of(found), found.claim, found.work["cells_left_out"]) == (words_of(truth), "LOWER", 0)
    assert "cells_unconfirmed" not in found.work
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 3 * multiplications(network))
    found = shown_regions.shown(doubtful)
    assert (words_of(found), found.claim) == (words_of(truth), "ESTIMATE")
    assert found.finding().interval[0] == found.work["cells_confirmed"] < len(found)
    found = rs.confirm(found)
    assert (words_of(found), found.claim) == (words_of(truth), "LOWER")
