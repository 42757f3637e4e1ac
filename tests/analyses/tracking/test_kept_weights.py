"""Weights that a tracker keeps: each record can be made a network again."""

import shutil

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.analyses.tracking import read_records
from reluscope.analyses.tracking import records as module
from reluscope.errors import InputError

POINTS = np.random.default_rng(0).normal(size=(20, 3))


def model_of(seed=0, hidden=5):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, 2)).eval()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the file of a run, its model as a network, and the outputs that it had at each record."""
    folder, model, outputs = tmp_path_factory.mktemp("run"), model_of(), []
    network = rs.load(model)
    with rs.Tracker(model, POINTS, folder / "run.parquet", keep_weights=True) as tracker:
        for _ in range(3):
            tracker.record()
            with torch.no_grad():
                outputs.append(model.double()(torch.from_numpy(POINTS)).numpy())
                model.float()
                model[0].weight += 0.1
                model[1].running_mean += 0.1
    return folder, network, outputs


@pytest.fixture
def run(recorded, tmp_path):
    """The network, a copy of the file, and the outputs."""
    folder, network, outputs = recorded
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return network, tmp_path / "run.parquet", outputs


def test_every_record_is_the_network_that_it_was(run):
    network, file, outputs = run
    records = read_records(file)
    assert records.has_weights == (True, True, True)
    for place, expected in enumerate(outputs):
        np.testing.assert_allclose(records.network(place, network)(POINTS).numpy(), expected, rtol=1e-12, atol=1e-12)
    assert np.abs(outputs[0] - outputs[2]).max() > 0.1


def test_a_run_goes_on_with_and_without_weights(run):
    network, file, _ = run
    with rs.Tracker(model_of(), POINTS, file) as tracker:
        tracker.record()
    with rs.Tracker(model_of(), POINTS, file, keep_weights=True) as tracker:
        tracker.record()
        assert tracker.records.has_weights == (True, True, True, False, True)
    with pytest.raises(
        InputError, match=r"record 3 of run\.parquet holds no weights: open the tracker with keep_weights"
    ):
        read_records(file).network(3, network)


def test_beginning_anew_removes_weights(run):
    _, file, _ = run
    with rs.Tracker(model_of(), POINTS, file, overwrite=True):
        pass
    assert not list(file.parent.glob("run.weights/*"))


def test_weights_of_another_model_are_refused(run):
    _, file, _ = run
    records = read_records(file)
    with pytest.raises(InputError, match=r"are not those of this network .*: give the model that was tracked"):
        records.network(0, rs.load(model_of(hidden=4)))
    # Of the same shapes, but another function between them.
    other = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.LeakyReLU(0.5), nn.Linear(5, 2)).eval()
    with pytest.raises(InputError, match="make another network than the one that had them"):
        records.network(0, rs.load(other))


def test_weights_that_are_gone_are_told(run):
    network, file, _ = run
    (file.parent / "run.weights" / "record-00001.arrow").unlink()
    records = read_records(file)
    assert records.has_weights == (True, False, True)
    with pytest.raises(InputError, match="record-00001"):
        records.network(1, network)


def test_half_precision_is_kept(tmp_path):
    model = model_of().half()
    with rs.Tracker(model, POINTS, tmp_path / "run.parquet", keep_weights=True) as tracker:
        tracker.record()
    network = rs.load(model_of())
    found = read_records(tmp_path / "run.parquet").network(0, network)
    assert found.fingerprint == network.with_parameters(model.state_dict()).fingerprint


def test_weights_that_are_not_finite_are_not_kept(tmp_path):
    model = model_of()
    with rs.Tracker(model, POINTS, tmp_path / "run.parquet", keep_weights=True) as tracker:
        model[0].weight.data[0, 0] = float("nan")
        with pytest.warns(UserWarning, match="not finite"):
            tracker.record()
        # Files without weights have no column for them.
        assert tracker.records.has_weights == (False,)
        assert "weights" not in tracker.records.to_table().column_names


@pytest.mark.parametrize("name", ["../elsewhere/record-00000.arrow", "/record-0.arrow", "run.weights/other.arrow"])
def test_a_file_cannot_name_weights_elsewhere(run, name):
    from reluscope.analyses.tracking.record_files import read_rows, write_rows

    _, file, _ = run
    rows, settings = read_rows(file)
    write_rows(file, [{**rows[0], "weights": name}, *rows[1:]], settings)
    with pytest.raises(InputError, match="a file of a Tracker's records"):
        read_records(file)


def test_equal_weights_are_kept_once(tmp_path):
    model, file = model_of(), tmp_path / "run.parquet"
    with rs.Tracker(model, POINTS, file, keep_weights=True) as tracker:
        tracker.record()
        tracker.record()
        model[0].weight.data[0, 0] += 1
        tracker.record()
    # Also by a run that goes on.
    with rs.Tracker(model, POINTS, file, keep_weights=True) as tracker:
        tracker.record()
    folder = tmp_path / "run.weights"
    assert sorted(path.name for path in folder.iterdir()) == ["record-00000.arrow", "record-00002.arrow"]
    records = read_records(file)
    found = [records.network(place, rs.load(model)).fingerprint for place in range(4)]
    assert found == [row["fingerprint"] for row in records.rows]
    assert len(set(found)) == 2
    # What somebody removed is written again.
    (folder / "record-00002.arrow").unlink()
    with rs.Tracker(model, POINTS, file, keep_weights=True) as tracker:
        tracker.record()
    assert read_records(file).has_weights == (True, True, False, False, True)


def test_partitions_of_a_plane_that_nobody_had_thought_of(run, monkeypatch):
    network, file, _ = run
    records = read_records(file)
    plane, told = rs.Plane(*POINTS[:3], margin=0.25), []
    parts = list(records.partitions(plane, network, progress=told.append))
    assert told == pytest.approx([1 / 3, 2 / 3, 1])
    for place, part in enumerate(parts):
        alone = rs.partition(records.network(place, network), plane)
        assert len(part) == len(alone)
        assert (part.codes.words == alone.codes.words).all()
    (file.parent / "run.weights" / "record-00001.arrow").unlink()
    assert len(list(records.partitions(plane, network))) == 2
    budgets = []
    monkeypatch.setattr(module, "partition", lambda *_, budget: budgets.append(budget))
    next(records.partitions(plane, network, budget=rs.Budget(regions=5)))
    assert budgets == [rs.Budget(regions=5)]


def test_damaged_weights_are_one_sentence(run):
    network, file, _ = run
    path = file.parent / "run.weights" / "record-00001.arrow"
    path.write_bytes(path.read_bytes()[:-20])
    records = read_records(file)
    parts = records.partitions(rs.Plane(*POINTS[:3]), network)
    next(parts)
    with pytest.raises(InputError, match="record-00001"):
        next(parts)


def test_partitions_without_weights(tmp_path):
    with rs.Tracker(model_of(), POINTS, tmp_path / "run.parquet") as tracker:
        tracker.record()
    with pytest.raises(
        InputError, match=r"no record of run\.parquet holds weights: open the tracker with keep_weights"
    ):
        tracker.records.partitions(rs.Plane(*POINTS[:3]), rs.load(model_of()))


def test_a_film_of_a_training(run):
    network, file, _ = run
    records = read_records(file)
    film = rs.plots.training_animation(records, rs.Plane(*POINTS[:3], margin=0.25), network, samples=POINTS)
    titles = []
    for frame in film.new_frame_seq():
        film._func(frame)
        titles.append(film._fig.get_suptitle())
    assert [title.split(":")[0] for title in titles] == ["epoch 0", "epoch 1", "epoch 2"]
    counts = [len(part) for part in records.partitions(rs.Plane(*POINTS[:3], margin=0.25), network)]
    assert [int(title.split()[2]) for title in titles] == counts


def test_cost_in_seconds_and_as_a_share_of_long_trainings(run):
    _, file, _ = run
    records = read_records(file)
    (seconds,) = records.cost()
    assert (seconds.name, seconds.value) == ("recording time", records.seconds[0])
    rows = [{**row, "seconds": 0.5, "seconds_writing": 0.0, "seconds_between": 40.0} for row in records.rows]
    long = rs.tracking.Records(records.path, rows, records.settings)
    assert [found.value for found in long.cost()] == [1.5, 1.5 / 120]
    assert rs.plots.tracking(long).get_suptitle().endswith("recording took ≈ 1.5 s, ≈ 1.2 % of the training time")
    short = rs.tracking.Records(records.path, rows[:1], records.settings)
    assert rs.plots.tracking(short).get_suptitle().endswith("recording took ≈ 0.5 s")
    assert rs.tracking.Records(records.path, (), records.settings).cost() == ()
