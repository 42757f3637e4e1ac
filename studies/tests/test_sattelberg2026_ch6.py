"""The studies of sattelberg2026, chapter 6: gradients against autograd, hexagons, films, work that goes on."""

from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import sattelberg2026_runs as runs
from reluscope_studies.sattelberg2026_ch6_training import three_by_eight, three_units, xor
from reluscope_studies.sattelberg2026_descent import descend, gradients
from reluscope_studies.sattelberg2026_runs import Plan, attempt, trained

TINY = Plan("three-units", rs.datasets.circle_annulus, (3,), 4, 4)
DEEP = Plan("three-by-eight", rs.datasets.circle_annulus, (4, 4, 4), 2, 3)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(runs, "POINTS", 60)
    monkeypatch.setattr(runs, "MAX_ATTEMPTS", 2)
    monkeypatch.setitem(three_units.PLANS, "small", TINY)
    monkeypatch.setitem(three_units.ATTEMPTS, "small", 3)
    monkeypatch.setitem(three_by_eight.PLANS, "small", DEEP)


def test_gradients_are_those_of_autograd():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(7, 2)), rng.integers(0, 2, size=7)
    layers = next(descend(points, labels, (5, 4), epochs=1, rate=0.1, batch=3, seed=1))
    tensors = [torch.tensor(one, requires_grad=True) for layer in layers for one in layer]
    x = torch.tensor(points)
    for index in range(0, len(tensors), 2):
        x = x @ tensors[index].T + tensors[index + 1]
        x = torch.relu(x) if index + 2 < len(tensors) else x
    binary_cross_entropy_with_logits(x[:, 0], torch.tensor(labels, dtype=torch.float64)).backward()
    found = [one for layer in gradients(layers, points, labels) for one in layer]
    for own, tensor in zip(found, tensors, strict=True):
        assert np.allclose(own, tensor.grad.numpy(), atol=1e-14)


def test_descent_goes_over_all_points_and_by_its_seed():
    data = rs.datasets.circle_annulus(25)

    def steps(seed):
        way = descend(data.points, data.labels, (3,), epochs=2, rate=0.1, batch=10, seed=seed)
        return [layers[0][0].copy() for layers in way]

    assert len(steps(0)) == 1 + 2 * 3
    assert np.array_equal(steps(0), steps(0))
    assert not np.array_equal(steps(0), steps(1))


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
        run = attempt(setting, TINY, number)
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
    monkeypatch.setattr(runs, "descend", None)
    again = three_units.protocol(setting)
    assert [one.to_dict() | {"work": 0} for one in again.findings] == [
        one.to_dict() | {"work": 0} for one in first.findings
    ]
    assert again.tables == first.tables


def test_an_interruption_keeps_finished_runs(monkeypatch):
    setting, calls, original = Setting("small"), [], descend

    def struck(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            return islice(_interrupting(), 1)
        return original(*arguments, **options)

    monkeypatch.setattr(runs, "descend", struck)
    outcome = three_units.protocol(setting)
    assert outcome.interrupted
    assert list(setting.records) == ["three-units-0"]
    rest = three_units.protocol(setting)
    assert not rest.interrupted
    assert len(calls) == 4


def _interrupting():
    raise KeyboardInterrupt
    yield


def test_unsolved_problems_are_said_to_be_so():
    setting = Setting("small")
    outcome = three_by_eight.protocol(setting)
    assert len(setting.records) == 2
    assert any("No first weights led to" in said for said in outcome.sentences)
    run = trained(replace(setting), DEEP)
    assert not run.is_solved
