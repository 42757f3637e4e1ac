"""The studies of sattelberg2026, chapter 5: printed numbers put right, restarts that are exact, work that goes on."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import stacked
from reluscope_studies.sattelberg2026_ch5 import _restarts, interpolants, one_code, sine, xor
from reluscope_studies.sattelberg2026_ch5._restarts import Cell, cell, seeds_of
from reluscope_studies.sattelberg2026_ch5._sine import X, Y

pytestmark = pytest.mark.slow


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(_restarts, "MORE_EPOCHS", 20)
    monkeypatch.setitem(sine.PLANS, "small", sine.Plan((1, 4), (1, 5), 6))


def found(outcome):
    return {one.name: one for one in outcome.findings}


def test_the_printed_code_has_another_map_and_no_input():
    weight, bias = one_code.map_of_code(one_code.CODE)
    assert weight.tolist() == [[189, 27, 90], [0, 0, 0], [63, 9, 30]]
    assert bias.tolist() == [374, 5, 125]
    # Another code, against the network itself.
    x = np.array([1.0, 1.0, 1.0])
    slope, shift = one_code.map_of_code(((1, 1, 1), (1, 1, 1)))
    value = x
    for layer, (matrix, constant) in enumerate(one_code.LAYERS):
        value = matrix @ value + constant
        value = np.maximum(value, 0) if layer < 2 else value
    assert np.array_equal(slope @ x + shift, value)
    numbers = found(one_code.protocol(Setting("small")))
    assert int(numbers["regions with the printed code"]) == 0
    assert int(numbers["regions"]) == int(numbers["regions where all units of the second layer are active"]) == 8


def test_xor_is_solved_by_the_other_bias():
    outcome = xor.protocol(Setting("small"))
    rows = {row[0]: row for row in outcome.tables[0].rows}
    assert rows["as printed"][2:4] == ("-1, 0, 0, -2", "2")
    assert rows["put right"][2:4] == ("-1, 1, 1, -1", "4")
    assert rows["put right"][4].startswith("-x1 - x2 + 1 (x1 + x2 >= 0); x1 + x2 + 1 (-2 <= x1 + x2 <= 0); -1 (")
    assert rows["put right"][5] == "max(-1, x1 + x2 + 1) - max(0, 2*x1 + 2*x2)"
    proofs = [one for one in outcome.findings if "differ" in one.name]
    assert [(one.value, one.claim) for one in proofs] == [(0, rs.Claim.EXACT)] * 2


def test_interpolants_have_their_pieces_and_errors():
    outcome = interpolants.protocol(Setting("small"))
    for row, number in zip(outcome.tables[0].rows, (1, 3, 9), strict=True):
        knots = np.linspace(-np.pi, np.pi, number + 1)
        error = np.mean((np.interp(X, knots, np.sin(knots)) - Y) ** 2)
        assert float(row[1]) == pytest.approx(error, rel=1e-3)
        assert float(row[3]) <= float(row[1])
        assert float(row[2]) <= float(row[5])
    assert [picture.name for picture in outcome.pictures] == ["interpolants", "interpolants-coefficients"]


def test_the_papers_table():
    assert [len(row) for row in sine.PAPER] == [10] * 10
    assert sine.PAPER[9] == (1, 1, 1, 1, 1, 1, 1, 5, 91, 171)
    assert sine.PLANS["full"] == sine.Plan(tuple(range(1, 11)), tuple(range(1, 11)), 1000)
    assert (_restarts.GOAL, _restarts.FIRST_EPOCHS, _restarts.MORE_EPOCHS, _restarts.RATE) == (0.45, 200, 1000, 0.1)
    assert float(np.mean(Y**2)) == pytest.approx(0.495)


def test_the_first_success_is_that_of_trials_one_by_one(monkeypatch):
    monkeypatch.setattr(_restarts, "MORE_EPOCHS", 30)
    setting = Setting("small")
    one = cell(setting, 2, 3, 6)
    assert one.first is not None
    module: nn.Module = nn.Identity()
    x, y = (torch.tensor(values[:, None], dtype=torch.float32) for values in (X, Y))
    losses = []
    for seed in seeds_of(setting, 2, 3, 6)[: one.first + 1]:
        torch.manual_seed(int(seed))
        module = nn.Sequential(
            nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)
        )
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for epoch in range(230):
            if epoch == 200:
                losses.append(nn.functional.mse_loss(module(x), y).item())
            optimizer.zero_grad()
            nn.functional.mse_loss(module(x), y).backward()
            optimizer.step()
    assert np.allclose(one.losses[: one.first + 1], losses, atol=1e-4)
    assert (np.array(losses) < 0.45).tolist() == [False] * one.first + [True]
    assert float(one.error) == pytest.approx(nn.functional.mse_loss(module(x), y).item(), rel=1e-3)
    assert int(one.tries()) == one.first + 1
    assert np.array_equal(seeds_of(setting, 2, 3, 4), seeds_of(setting, 2, 3, 6)[:4])


def test_claims_of_restarts():
    none = Cell(3, 3, np.full(400, 0.495, np.float32), None)
    assert (none.tries().value, none.tries().claim) == (401, rs.Claim.LOWER)
    assert none.tries(0.5).value == 1
    assert none.rate.interval[0] == 0
    assert none.agrees(None, 1000)
    assert none.agrees(30, 1000)
    assert not none.agrees(1, 1000)
    half = Cell(3, 3, np.tile(np.float32([0.1, np.nan]), 20), None)
    assert (half.tries().value, half.tries().claim) == (1, rs.Claim.EXACT)
    assert half.agrees(1, 1000)
    assert not half.agrees(60, 1000)
    assert not half.agrees(None, 1000)


@pytest.mark.usefixtures("quick")
def test_finished_trials_are_taken_from_the_records(monkeypatch):
    setting = Setting("small")
    original, calls = stacked.train, []

    def struck(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(stacked, "train", struck)
    outcome = sine.protocol(setting)
    assert outcome.interrupted
    assert 1 <= len(setting.records) < 4
    first = sine.protocol(setting)
    assert len(setting.records) == 4
    monkeypatch.setattr(stacked, "train", None)
    again = sine.protocol(replace(setting))
    assert again.tables == first.tables
    assert [len(table.rows) for table in first.tables] == [2] * 4
    assert {picture.name for picture in first.pictures} >= {"sine", "sine-coefficients"}
    for row, width in zip(first.tables[2].rows, (1, 4), strict=True):
        for entry, depth in zip(row[1:], (1, 5), strict=True):
            part = cell(setting, width, depth, 6).partition
            assert entry.split(",")[0] == ("" if part is None else str(len(part)))
