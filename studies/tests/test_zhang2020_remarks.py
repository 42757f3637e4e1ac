"""Proposition 1 and the remark on orthogonal first weights."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.fitting import Fit
from reluscope_studies.zhang2020 import faces, orthogonal
from reluscope_studies.zhang2020._networks import Architecture
from reluscope_studies.zhang2020._questions import PLACES
from reluscope_studies.zhang2020._statements import verdicts

pytestmark = pytest.mark.slow


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(40, 1, 3, 3))
    labels = (points.reshape(40, -1) @ rng.normal(size=(9, 3))).argmax(axis=1)
    data = rs.datasets.Dataset(points, labels=labels, name="drawn")
    return Setting("small", data, data)


def test_independent_gradients_leave_no_inner_point():
    """Of three classes in the plane; on a line two differences depend on each other, and an inner point exists."""
    assert faces.independent_differences(np.eye(3)[:, :2])
    assert not faces.independent_differences(np.array([[0.0, 0.0], [1.0, 0.0], [-2.0, 0.0]]))
    line = rs.load([(np.array([[0.0], [0.6], [-10.0]]), np.array([0.0, -0.1, -0.1]))])
    box, x = rs.Box(0, 1, 1), np.array([0.5])
    found = rs.local.likeliest_in_regions(line, x[None], domain=box)
    assert faces._near_walls(line, box, x, found.points[0]) == [False, True, True]


def test_likeliest_points_of_trained_networks(setting, monkeypatch):
    plan = faces.Plan(Architecture((6, 6)), Fit(1e-2, batch=8, most_epochs=2), 4)
    monkeypatch.setitem(faces.PLANS, "small", plan)
    outcome = faces.protocol(setting)
    (verdict,) = outcome.verdicts
    assert verdict.word == "confirmed"
    (table,) = outcome.tables
    assert [row[0] for row in table.rows] == ["vanilla", "batch norm", "dropout"]
    kept = dict(setting.records)
    assert faces.protocol(setting).tables == outcome.tables
    assert all(setting.records[name] is record for name, record in kept.items())


def test_orthogonal_first_weights_are_so_and_do_not_stay(setting, monkeypatch):
    monkeypatch.setitem(orthogonal.PLANS, "small", orthogonal.Plan((5, 5), Fit(1e-1, batch=8, most_epochs=8)))
    outcome = orthogonal.protocol(setting)
    (table,) = outcome.tables
    assert len(table.rows) == 2 * 3 * 2
    first = {row[0]: float(row[4]) for row in table.rows}
    assert first["orthogonal"] == 0
    assert first["Glorot"] > 0.05
    after = [float(one) for one in outcome.findings if "after training" in one.name and "orthogonal" in one.name]
    assert min(after) > 1e-4


def test_statements_hold_for_all_rates_for_none_or_for_some():
    def numbers(radii, more):
        named = {
            f"median inradius, {place} regions": value
            for place, value in zip(PLACES, (radii, [0.5 * one for one in radii], radii), strict=True)
        } | more
        return [
            rs.Finding.of(float(value), name=f"{measure}: {kind}, rate {rate:g}")
            for measure, values in named.items()
            for rate, factor in ((1e-3, 1.0), (1e-4, 2.0))
            for kind, value in zip(("vanilla", "batch norm", "dropout"), [factor * one for one in values], strict=True)
        ]

    found = verdicts(numbers([3.0, 1.0, 2.0], {"distortion": [5.0, 4.0, 6.0]}), (1e-3, 1e-4))
    assert [one.word for one in found] == ["confirmed", "contradicted", "confirmed", "confirmed"]
    assert "rate 0.001: 3, 1, 2" in found[0].found
    mixed = [one for one in numbers([3.0, 1.0, 2.0], {}) if "0.0001" not in one.name]
    mixed += [one for one in numbers([1.0, 3.0, 2.0], {}) if "0.0001" in one.name]
    assert verdicts(mixed, (1e-3, 1e-4))[0].word == "not confirmed"
    assert verdicts([], (1e-3,)) == ()
