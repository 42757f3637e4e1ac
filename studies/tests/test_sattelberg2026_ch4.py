"""The studies of sattelberg2026, chapter 4: tables beside the printed ones, records that are taken up, pictures."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies import annulus, pictures, plots
from reluscope_studies.sattelberg2026_ch4 import dimensions, hyperparameters, random_directions, solutions
from reluscope_studies.sattelberg2026_ch4._networks import Networks, Plan, data_of, trained

pytestmark = pytest.mark.slow

PLAN = Plan(2, "bce", 0.0, 50, True, 200, 3, 4, 0.95)


def test_the_printed_table_has_the_printed_averages():
    # Table 4.3 of the dissertation, computed from its Table 4.2.
    printed = [(key, value) for key, pair in hyperparameters.PRINTED.items() for value in pair]
    means = {
        (position, one): np.mean([value for key, value in printed if key[position] == one])
        for position in range(3)
        for one in {key[position] for key, _ in printed}
    }
    expected = {(0, "mse"): 57.4, (0, "bce"): 67.2, (1, 0.0): 48.8, (1, 0.01): 69.8, (1, 0.1): 68.3}
    expected |= {(2, 10): 76.8, (2, 100): 62.1, (2, 1000): 48.0}
    assert {key: round(float(value), 1) for key, value in means.items()} == pytest.approx(expected, abs=0.051)
    columns = np.mean([*hyperparameters.PRINTED.values()], axis=0)
    assert columns == pytest.approx([59.1, 65.6], abs=0.05)


def test_networks_of_a_record_are_taken_up():
    setting = Setting("small")
    first = trained(setting, PLAN)
    assert [*setting.records] == [PLAN.name]
    again = trained(setting, PLAN)
    assert all(np.array_equal(one, other) for one, other in zip(first.weights, again.weights, strict=True))
    fresh = trained(Setting("small"), PLAN)
    assert all(np.array_equal(one, other) for one, other in zip(first.weights, fresh.weights, strict=True))


@pytest.mark.parametrize("loss", ["bce", "mse"])
def test_explicit_networks_succeed(loss):
    plan = Plan(2, loss, 0.0, 50, False, 200, 3, 2, 0.95)
    both = [
        layers(2, radius=0.5 * 2**0.5) for layers in (annulus.cross_polytope_layers, annulus.expanded_simplex_layers)
    ]
    weights = tuple(np.stack([one[layer][part] for one in both]) for layer in (0, 1) for part in (0, 1))
    found = Networks(plan, data_of(plan, 0), weights)
    assert found.solved.all()
    assert [*found.shapes.values()] == [annulus.Shape.QUADRILATERAL, annulus.Shape.HEXAGON]
    assert found.accuracies(data_of(plan, 1, 500)).tolist() == [1.0, 1.0]


def test_the_grid_at_a_tiny_size(monkeypatch):
    for module, name, value in (
        (hyperparameters, "SAMPLES", 100),
        (hyperparameters, "EPOCHS", 12),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(hyperparameters.NETWORKS, "small", 3)
    monkeypatch.setitem(hyperparameters.STEPS, "small", 100)
    outcome = hyperparameters.protocol(Setting("small"))
    assert len(outcome.tables[0].rows) == 36
    assert len(outcome.findings) == 36
    assert len(outcome.tables[1].rows) == 2 + 3 + 3 + 2
    beside, *_ = outcome.pictures
    printed, ours = (np.asarray(line.get_xdata()).tolist() for line in beside.figure.axes[0].lines)
    assert printed == sorted(printed)
    assert sorted(ours) == pytest.approx(sorted(100 * int(one) / 3 for one in outcome.findings))
    assert not outcome.interrupted


def test_shares_of_directions_in_which_regions_are_unbounded():
    # relu(x) + relu(y) <= 1 is open in a quarter of all directions, relu(x) <= 1 in half of them, |x| <= 1 in two of
    # infinitely many, and a triangle in none.
    weights = np.array(
        [[[1, 0], [0, 1], [0, 0]], [[1, 0], [0, 0], [0, 0]], [[1, 0], [-1, 0], [0, 0]], [[1, 0], [-1, 1], [-1, -1]]]
    )
    parts = (weights, np.zeros((4, 3)), np.ones((4, 1, 3)), -np.ones((4, 1)))
    networks = Networks(replace(PLAN, networks=4), data_of(PLAN, 0), tuple(part.astype(np.float32) for part in parts))
    networks.__dict__["solved"] = np.ones(4, bool)
    shares = networks.open_shares
    assert [*shares] == [0, 1, 2]
    assert [*shares.values()] == pytest.approx([0.25, 0.5, 0.0], abs=0.02)
    assert "3 regions of dimension 2 are unbounded, in 25 % of" in dimensions._where_open(networks)


def test_dimensions_at_a_tiny_size(monkeypatch):
    for table, value in ((dimensions.NETWORKS, 2), (dimensions.SAMPLES, 200), (dimensions.EPOCHS, 2)):
        monkeypatch.setitem(table, "small", value)
    monkeypatch.setattr(dimensions, "TESTED", 200)
    monkeypatch.setattr(dimensions, "DIMS", range(2, 5))
    outcome = dimensions.protocol(Setting("small"))
    assert [len(table.rows) for table in outcome.tables] == [6, 6]
    assert len(outcome.findings) == 6 * len(dimensions.THRESHOLDS)
    assert len(outcome.pictures[0].figure.axes) == 2


def test_an_interruption_leaves_what_is_there(monkeypatch):
    def stop(setting, plan):
        raise KeyboardInterrupt

    for module in (hyperparameters, dimensions):
        monkeypatch.setattr(module, "trained", stop)
        assert module.protocol(Setting("small")).interrupted


def test_solutions_and_directions():
    outcome = solutions.protocol(Setting("small"))
    assert [picture.name for picture in outcome.pictures][-3:] == ["solids", "inner-radii", "four-forms"]
    assert outcome.tables[0].rows[1][3] == "0.707107, 14 facets, expanded simplex"
    assert [row[1] for row in outcome.tables[1].rows] == ["cross-polytope", "other", "other", "expanded simplex"]
    directions = random_directions.protocol(Setting("small"))
    assert len(directions.tables[0].rows) == 11


def test_pictures_of_unusual_regions():
    with pytest.raises(rs.errors.InputError, match="in the plane"):
        pictures.decision_polygon(annulus.decision_region(annulus.cross_polytope_layers(3)))
    with pytest.raises(rs.errors.InputError, match="three dimensions"):
        pictures.decision_polytope(annulus.decision_region(annulus.cross_polytope_layers(2)))
    endless = annulus.decision_region([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), -np.ones(1))])
    pictures.decision_polygon(endless, reach=2.0)
    empty = annulus.decision_region([(np.zeros((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.ones(1))])
    assert len(pictures.decision_polygon(empty).axes[0].lines) == 0
    with pytest.raises(rs.errors.InputError, match="one input and two units"):
        pictures.folding(endless.network, np.zeros(1), np.zeros(1, int))
    plots.successes({}, thresholds=[0.5])
    plots.cosines({})
