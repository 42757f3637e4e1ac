"""The studies of sattelberg2026, chapter 6: gradients against autograd, hexagons, films, work that goes on."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import sattelberg2026_runs as runs
from reluscope_studies import stacked
from reluscope_studies.sattelberg2026_ch6_training import three_by_eight, three_units, xor
from reluscope_studies.sattelberg2026_runs import Plan, attempts, trained

pytestmark = pytest.mark.slow

TINY = Plan("three-units", rs.datasets.circle_annulus, (3,), 4, 4)
DEEP = Plan("three-by-eight", rs.datasets.circle_annulus, (4, 4, 4), 2, 3)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(runs, "POINTS", 60)
    monkeypatch.setattr(runs, "MAX_ATTEMPTS", 2)
    monkeypatch.setitem(three_units.PLANS, "small", TINY)
    monkeypatch.setitem(three_units.ATTEMPTS, "small", 3)
    monkeypatch.setitem(three_by_eight.PLANS, "small", DEEP)


def test_runs_begin_with_pytorchs_weights_and_follow_their_seed():
    setting = Setting("small")
    one, other = attempts(setting, DEEP, 2)
    torch.manual_seed(setting.records["three-by-eight-1"].plain["seed"])
    for (weight, bias), sizes in zip(other.weights[0], pairwise((2, *DEEP.widths, 1)), strict=True):
        layer = nn.Linear(*sizes)
        assert np.array_equal(weight, layer.weight.detach().numpy())
        assert np.array_equal(bias, layer.bias.detach().numpy())
    (alone,) = attempts(Setting("small"), DEEP, 1)
    for weights, again in zip(one.weights, alone.weights, strict=True):
        for (a, b), (c, d) in zip(weights, again, strict=True):
            assert np.allclose(a, c, rtol=0, atol=1e-12)
            assert np.allclose(b, d, rtol=0, atol=1e-12)
    assert not np.allclose(one.weights[-1][0][0], other.weights[-1][0][0])


def test_the_papers_networks():
    for module, widths, problem in (
        (three_units, (3,), rs.datasets.circle_annulus),
        (three_by_eight, (8, 8, 8), rs.datasets.circle_annulus),
        (xor, (8, 8, 8), rs.datasets.xor_annulus),
    ):
        plan = module.PLANS["full"]
        assert (plan.widths, plan.problem) == (widths, problem)
        assert plan.steps[0] == 0
        assert (np.diff(plan.steps) > 0).all()


def test_a_known_hexagon_is_recognised():
    # The dissertation's solution by hand: three units around a small triangle, at 120 degrees.
    angles = 2 * np.pi * np.arange(3) / 3
    weight = np.column_stack([np.cos(angles), np.sin(angles)])
    layers = [(weight, np.full(3, -0.02)), (np.full((1, 3), 10.0), np.full(1, -5.5))]
    data = rs.datasets.circle_annulus(200)
    run = runs.Run(np.zeros(1), [layers], 0, data, data)
    assert run.is_solved
    assert three_units._end(run) == "hexagon"
    verdicts = three_units._verdicts(run, ["hexagon", "quadrilateral", three_units.UNSOLVED])
    assert [one.word for one in verdicts] == ["confirmed"] * 3
    verdicts = three_units._verdicts(run, ["an open curve", three_units.UNSOLVED])
    assert [one.word for one in verdicts] == ["confirmed", "contradicted", "confirmed"]
    verdicts = three_units._verdicts(run, [three_units.UNSOLVED])
    assert [one.word for one in verdicts] == ["not confirmed"] * 3
    found = {one.name: one.value for one in three_units._hexagon(run).findings}
    assert found["unbounded regions"] == 6
    assert found["bounded regions"] == 1
    assert found["slope on the triangle"] == 0
    assert found["corners of the outer regions' coefficients"] == 6


def test_a_study_reports_exact_numbers_and_a_film():
    setting = Setting("small")
    outcome = three_units.protocol(setting)
    assert len(setting.records) == 3
    assert [picture.name for picture in outcome.pictures][:3] == [
        "three-units-training", "three-units-end", "three-units-counts"
    ]  # fmt: skip
    (film,) = outcome.films
    assert rs.plots.to_gif(film.animation)[:3] == b"GIF"
    way = outcome.tables[-1]
    assert len(way.rows) == TINY.moments
    for number in range(3):
        run = attempts(setting, TINY, 3)[number]
        last = rs.partition(run.networks[-1], rs.Box(-1.25, 1.25, 2))
        if str(len(last)) == way.rows[-1][1]:
            break
    else:
        pytest.fail("the table's last row is of none of the runs")
    regions = next(one for one in outcome.findings if one.name == "regions")
    assert int(regions) == len(last)
    assert "EXACT" in str(regions)
    ends = {row[0]: int(row[1]) for row in outcome.tables[0].rows}
    assert sum(ends.values()) == 3


def test_layers_move_as_codes_do(monkeypatch):
    plan = replace(DEEP, epochs=10, moments=12)
    monkeypatch.setitem(three_by_eight.PLANS, "small", plan)
    setting = Setting("small")
    outcome = three_by_eight.protocol(setting)
    run = trained(setting, plan)
    codes = [network.codes(run.training.points).to_array() for network in run.networks]
    found = {one.name: one.value for one in outcome.findings}
    for when, first, last in (("first 10% of the epochs", 0.0, 1.0), ("later", 1.0, 10.0)):
        inside = [(before, after) for (before, after), epoch in zip(pairwise(codes), run.epochs[1:], strict=True)
                  if first < epoch <= last]  # fmt: skip
        assert len(inside) >= 2
        for layer in range(3):
            units = slice(4 * layer, 4 * layer + 4)
            changes = sum((before[:, units] != after[:, units]).mean() for before, after in inside)
            assert found[f"changes of pieces in layer {layer + 1}, {when}"] == pytest.approx(changes)


def test_finished_runs_are_taken_from_the_records(monkeypatch):
    setting = Setting("small")
    first = three_units.protocol(setting)
    monkeypatch.setattr(stacked, "train", None)
    again = three_units.protocol(setting)
    assert [one.to_dict() | {"work": 0} for one in again.findings] == [
        one.to_dict() | {"work": 0} for one in first.findings
    ]
    assert again.tables == first.tables


def test_an_interruption_keeps_finished_runs(monkeypatch):
    setting = Setting("small")
    attempts(setting, TINY, 1)

    def struck(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stacked, "train", struck)
        outcome = three_units.protocol(setting)
    assert outcome.interrupted
    assert list(setting.records) == ["three-units-0"]
    attempts(setting, TINY, 3)
    assert list(setting.records) == [f"three-units-{number}" for number in range(3)]


def test_unsolved_problems_are_said_to_be_so():
    setting = Setting("small")
    outcome = three_by_eight.protocol(setting)
    assert len(setting.records) == 2
    assert any("No first weights led to" in said for said in outcome.sentences)
    run = trained(replace(setting), DEEP)
    assert not run.is_solved
