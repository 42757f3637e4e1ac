"""Local complexity in the records of a tracker: the means of the analyses at the samples of the Jacobians."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from analyses.tracking.runs import POINTS, make_model, step, track
from reluscope.analyses.tracking import complexity
from reluscope.errors import InputError

NAMES = ("crossing_units", "square_regions", "kink_density")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    model, networks = make_model(), []
    with track(model, tmp_path_factory.mktemp("run") / "run.parquet", complexity_radius=0.7) as tracker:
        for epoch in range(2):
            step(model, epoch)
            tracker.record(epoch=epoch)
            networks.append(rs.load(model.eval()))
    return rs.tracking.read_records(tracker.records.path), networks


@pytest.mark.slow
def test_records_hold_means_of_the_analyses(run):
    records, networks = run
    rows = np.array(records.settings["samples"])[records.settings["jacobians"]]
    for place, network in enumerate(networks):
        crossing = rs.sensitivity.local_complexity(network, POINTS[rows], 0.7, definition="cross_polytope")
        assert records["crossing_units"][place] == pytest.approx(float(crossing.mean("cross_polytope_complexity")))
        density = rs.sensitivity.local_complexity(network, POINTS[rows], definition="kink_density")
        assert records["kink_density"][place] == pytest.approx(float(density.mean("kink_density")))
        generator, counts = np.random.default_rng(0), []
        for point in POINTS[rows]:
            basis = np.linalg.qr(generator.normal(size=(4, 2)))[0].T
            counts.append(len(rs.partition(network, rs.Slice(point, basis, rs.Box(-0.7, 0.7, 2)))))
        assert records["square_regions"][place] == pytest.approx(np.mean(counts))
    assert {str(records.findings(name)[-1].claim) for name in NAMES} == {"EXACT"}
    assert records.findings("crossing_units")[-1].num_samples == len(rows) == 5


def test_a_panel_shows_it(run):
    titles = [axes.get_title(loc="left") for axes in rs.plots.tracking(run[0]).axes]
    assert {"local complexity: units", "local complexity: density of bends"} <= set(titles)


def test_without_a_radius_nothing_of_it_is_there(tmp_path):
    with track(make_model(), tmp_path / "run.parquet") as tracker:
        tracker.record()
    records = rs.tracking.read_records(tmp_path / "run.parquet")
    assert not {*NAMES} & {*records.to_table().column_names}
    assert records.findings("kink_density") == (None,)
    assert np.isnan(records["crossing_units"]).all()


def test_another_radius_is_refused(run):
    records, _ = run
    for radius in (None, 0.6):
        with pytest.raises(InputError, match="expected the complexity_radius that"):
            track(make_model(), records.path, complexity_radius=radius)
    track(make_model(), records.path, complexity_radius=0.7).close()


def test_a_square_that_does_not_end_is_a_lower_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(complexity, "MOST_REGIONS", 3)
    monkeypatch.setattr(complexity, "FEWEST_REGIONS", 3)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 30), nn.ReLU(), nn.Linear(30, 30), nn.ReLU(), nn.Linear(30, 3))
    with track(model, tmp_path / "run.parquet", complexity_radius=2.0) as tracker:
        tracker.record()
        assert tracker.records.findings("square_regions")[0].claim == "LOWER"
        assert tracker.records.findings("crossing_units")[0].claim == "EXACT"


def test_networks_of_one_input_and_large_ones(tmp_path, monkeypatch):
    model = nn.Sequential(nn.Linear(1, 6), nn.ReLU(), nn.Linear(6, 2))
    points = np.linspace(-1, 1, 12)[:, None]
    with rs.Tracker(model, points, tmp_path / "one.parquet", complexity_radius=0.5) as tracker:
        tracker.record()
    assert tracker.records["square_regions"][0] >= 1
    monkeypatch.setattr(complexity, "MOST_DERIVATIVES", 1)
    with rs.Tracker(model, points, tmp_path / "large.parquet", complexity_radius=0.5) as tracker:
        tracker.record()
    assert tracker.records.findings("kink_density")[0].claim == "ESTIMATE"


def test_squares_of_large_networks_are_fewer(tmp_path, monkeypatch):
    monkeypatch.setattr(complexity, "UNITS_IN_SQUARES", 1)
    monkeypatch.setattr(complexity, "FEWEST_SQUARES", 2)
    model = make_model()
    with track(model, tmp_path / "run.parquet", complexity_radius=0.7) as tracker:
        tracker.record()
    records = tracker.records
    rows = np.array(records.settings["samples"])[records.settings["jacobians"]]
    generator, counts = np.random.default_rng(0), []
    for point in POINTS[rows[:2]]:
        basis = np.linalg.qr(generator.normal(size=(4, 2)))[0].T
        counts.append(len(rs.partition(rs.load(model.eval()), rs.Slice(point, basis, rs.Box(-0.7, 0.7, 2)))))
    assert records["square_regions"][0] == np.mean(counts)
    assert records.findings("square_regions")[0].num_samples == 2
    assert records.findings("crossing_units")[0].num_samples == 5


def test_without_samples_for_jacobians_a_note_says_so(tmp_path):
    with (
        track(make_model(), tmp_path / "run.parquet", complexity_radius=0.5, jacobians=0) as tracker,
        pytest.warns(UserWarning, match=r"local complexity could not be measured \(there are no samples"),
    ):
        tracker.record()
