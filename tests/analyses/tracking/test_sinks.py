"""Sinks of a tracker: the numbers of each record, with the ends of those that are not EXACT, where others look."""

import sys

import numpy as np
import pytest

import reluscope as rs
from analyses.tracking.runs import make_model, step, track
from reluscope.errors import InputError, ReluscopeError


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a sink was told at three records, and the records."""
    heard = []

    def sink(numbers, *, epoch, step):
        heard.append((epoch, step, numbers))

    model = make_model()
    with track(model, tmp_path_factory.mktemp("run") / "run.parquet", sinks=[sink]) as tracker:
        for epoch in range(3):
            step(model, epoch)
            tracker.record(epoch=epoch / 2, step=None if epoch else 70)
        return heard, tracker.records


def test_a_sink_hears_the_numbers_of_every_record(told):
    heard, records = told
    assert [(epoch, number) for epoch, number, _ in heard] == [(0.0, 70), (0.5, 1), (1.0, 2)]
    for place, (_, _, numbers) in enumerate(heard):
        assert numbers["accuracy"] == records["accuracy"][place]
        for index, gate in enumerate(records.gates):
            found = records["dead_units_by_gate"][place, index]
            assert numbers.get(f"dead_units_by_gate/{gate}", np.nan) == pytest.approx(found, nan_ok=True)
        assert not any(name.startswith("segment_regions") for name in numbers)
    assert "changed_samples" not in heard[0][2]
    assert all(np.isfinite(value) for _, _, numbers in heard for value in numbers.values())


def test_a_sink_that_fails_is_a_warning(tmp_path):
    heard = []

    def broken(numbers, **when):
        raise OSError("the board is full")

    with (
        track(
            make_model(), tmp_path / "run.parquet", sinks=[broken, lambda numbers, **when: heard.append(when)]
        ) as one,
        pytest.warns(UserWarning, match=r"a sink could not take record 0 \(the board is full\)"),
    ):
        one.record()
    assert heard == [{"epoch": 0.0, "step": 0}]
    assert len(rs.tracking.read_records(tmp_path / "run.parquet")) == 1


@pytest.mark.slow
def test_the_time_of_sinks_is_that_of_recording(tmp_path):
    import time

    with track(make_model(), tmp_path / "run.parquet", sinks=[lambda numbers, **when: time.sleep(0.5)]) as tracker:
        tracker.record()
        tracker.record()
    first, second = tracker.records.rows
    assert first["seconds_writing"] >= 0.5
    assert second["seconds_between"] < 0.5


def test_what_is_no_sink_is_refused():
    with pytest.raises(InputError, match="expected board as a folder or a SummaryWriter, got a int"):
        rs.tracking.tensorboard_sink(3)
    with pytest.raises(InputError, match=r"expected run as wandb\.init returns it, got a NoneType"):
        rs.tracking.wandb_sink(None)


def test_packages_that_are_missing_are_named(tmp_path, monkeypatch):
    for name in ("torch.utils.tensorboard", "transformers", "lightning", "lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ReluscopeError, match=r'pip install "reluscope\[tensorboard\]"'):
        rs.tracking.tensorboard_sink(tmp_path)
    with track(make_model(), tmp_path / "run.parquet") as tracker:
        with pytest.raises(ReluscopeError, match=r'pip install "reluscope\[transformers\]"'):
            rs.tracking.transformers_callback(tracker)
        with pytest.raises(ReluscopeError, match=r'pip install "reluscope\[lightning\]"'):
            rs.tracking.lightning_callback(tracker)


def test_tensorboard_reads_what_was_written(tmp_path):
    EventAccumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator").EventAccumulator
    model = make_model()
    with track(model, tmp_path / "run.parquet", sinks=[rs.tracking.tensorboard_sink(tmp_path / "board")]) as tracker:
        for epoch in range(3):
            step(model, epoch)
            tracker.record(epoch=epoch, step=10 * epoch)
    board = EventAccumulator(str(tmp_path / "board"))
    board.Reload()
    points = board.Scalars("reluscope/accuracy")
    assert [point.step for point in points] == [0, 10, 20]
    assert [point.value for point in points] == pytest.approx(tracker.records["accuracy"].tolist())


def test_a_run_of_wandb_without_a_network(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    model = make_model()
    with wandb.init(mode="offline", dir=tmp_path, project="reluscope") as run:
        with track(model, tmp_path / "run.parquet", sinks=[rs.tracking.wandb_sink(run)]) as tracker:
            for epoch in range(2):
                step(model, epoch)
                tracker.record(epoch=epoch)
                run.log({"mine": epoch})
        assert run.summary["reluscope/accuracy"] == pytest.approx(tracker.records["accuracy"][-1])
        assert run.summary["reluscope/epoch"] == 1.0
