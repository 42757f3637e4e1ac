"""The tracker as a bystander: nothing of the training changes, and no misfortune loses records."""

import copy
import os
import resource
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch import nn

import reluscope as rs
from analyses.tracking.runs import LABELS, POINTS, make_model, step, track, without_times
from reluscope.analyses.tracking import lock
from reluscope.analyses.tracking import tracker as module
from reluscope.errors import InputError, ShapeError
from reluscope.stopping import INTERRUPTED


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.parquet"


@pytest.fixture
def model():
    """The smallest model that has codes."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3))


def quick(model, file, **options):
    return track(model, file, **{"segments": 0, "jacobians": 0, "labels": None, **options})


@pytest.mark.slow
def test_a_resumed_run_is_as_an_unbroken_one(file, tmp_path):
    models = make_model(), make_model()
    with track(models[0], tmp_path / "whole.parquet") as tracker:
        for epoch in range(4):
            step(models[0], epoch)
            tracker.record(epoch=epoch, loss=1.0)
    whole = rs.tracking.read_records(tmp_path / "whole.parquet")
    for part in (range(2), range(2, 4)):
        with track(models[1], file) as tracker:
            for epoch in part:
                step(models[1], epoch)
                tracker.record(epoch=epoch, loss=1.0)
    broken = rs.tracking.read_records(file)
    assert str(without_times(broken)) == str(without_times(whole))  # NaN is NaN
    assert broken.settings == whole.settings
    assert np.isfinite(broken["changed_units"][1:]).all()


def test_training_goes_on_as_if_nobody_looked(file):
    alone, watched = make_model(), make_model()
    for epoch in range(2):
        step(alone, epoch)
    with track(watched, file) as tracker:
        step(watched, 0)
        mode = [part.training for part in watched.modules()]
        gradients = [copy.deepcopy(value.grad) for value in watched.parameters()]
        state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        tracker.record()
        assert torch.equal(state[0], torch.get_rng_state())
        assert np.array_equal(state[1], np.random.get_state()[1])  # noqa: NPY002
        assert mode == [part.training for part in watched.modules()]
        assert all(torch.equal(then, now.grad) for then, now in zip(gradients, watched.parameters(), strict=True))
        step(watched, 1)
        tracker.record()
    for name, value in alone.state_dict().items():
        assert torch.equal(value, watched.state_dict()[name])


@pytest.mark.parametrize("convert", [nn.Module.bfloat16, nn.Module.double])
def test_parameters_of_any_type(file, model, convert):
    with quick(model, file) as tracker:
        tracker.record()
        convert(model)
        tracker.record()
        twin = copy.deepcopy(model).double()
        codes = twin[0](torch.tensor(POINTS[tracker.records.settings["samples"]])) > 0
        assert tracker.records["activation_rate"][1] == pytest.approx(codes.double().mean().item())


def test_flat_points_integers_and_compiled_models(tmp_path):
    inner = nn.Sequential(nn.Conv2d(1, 2, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))
    images = np.random.default_rng(0).integers(0, 9, size=(7, 9))
    with rs.Tracker(
        torch.compile(inner, backend="eager"), images, tmp_path / "a.parquet", input_shape=(1, 3, 3)
    ) as tracker:
        tracker.record()
    with rs.Tracker(inner, torch.tensor(images).reshape(7, 1, 3, 3), tmp_path / "b.parquet") as other:
        other.record()
    assert str(without_times(other.records)) == str(without_times(tracker.records))


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("points", "labels"),
    [
        (POINTS[:1], None),  # one sample
        (POINTS[0], None),
        (POINTS[:1], [1]),
        (POINTS[:9], np.zeros(9, dtype=int)),  # one class
        (POINTS[:9], torch.arange(9) % 2),
        (np.repeat(POINTS[:1], 5, axis=0), np.arange(5) % 2),  # identical codes everywhere
    ],
)
def test_degenerate_data(file, model, points, labels):
    with rs.Tracker(model, points, file, labels=labels) as tracker:
        tracker.record()
        tracker.record()
    records = rs.tracking.read_records(file)
    assert records["changed_samples"][1] == 0
    assert records["distinct_codes"][0] >= 1
    assert np.isfinite(records["spectral_norm"]).all()
    assert np.isnan(records["accuracy"]).all() == (labels is None)
    assert records.notes == ()


def test_a_network_without_gates(file):
    with rs.Tracker(nn.Linear(4, 2), POINTS, file) as tracker:
        tracker.record()
        tracker.record()
    records = rs.tracking.read_records(file)
    assert records["distinct_codes"].tolist() == [1, 1]
    assert records["changed_units"][1] == 0
    assert set(records["segment_regions"].ravel()) == {1}
    assert records["dead_units_by_gate"].shape == (2, 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"labels": [0, 1]}, "one label per sample, got 2 labels for 60 samples"),
        ({"labels": LABELS + 0.5}, "whole numbers from 0 up, got"),
        ({"labels": LABELS - 1}, "whole numbers from 0 up, got -1"),
        ({"labels": LABELS + 1}, "class numbers from 0 to 2"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
        ({"segment_share": 0.0}, "segment_share in"),
        ({"plane": (0, 1, 60)}, "three rows of the data, each from 0 to 59"),
        ({"plane": rs.Segment(POINTS[0], POINTS[1])}, "a plane of two dimensions, got segment"),
        ({"plane": rs.Box(0, 1, dim=2)}, "the network's 4 inputs, got one in 2"),
    ],
)
def test_bad_arguments(file, model, options, sentence):
    with pytest.raises(InputError, match=sentence):
        quick(model, file, **options)
    assert list(file.parent.iterdir()) == []


def test_no_data_and_no_folder(file, model):
    with pytest.raises(InputError, match="needs at least one sample"):
        rs.Tracker(model, POINTS[:0], file)
    with pytest.raises(InputError, match="could not lock"):
        rs.Tracker(model, POINTS, file.parent / "nowhere" / "run.parquet")


def test_a_model_that_changed_its_shape(file, model):
    with quick(model, file) as tracker:
        tracker.record()
        model[0] = nn.Linear(4, 5)
        with pytest.raises(ShapeError, match=r"0.weight of shape \(3, 4\), got \(5, 4\): name another file"):
            tracker.record()
        model[1] = nn.PReLU()
        with pytest.raises(ShapeError, match=r"but 1\.weight is new or gone"):
            tracker.record()
    assert len(rs.tracking.read_records(file)) == 1


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda weight: weight[0].fill_(torch.nan), "the weights in 2.weight are not finite"),
        (lambda weight: weight.fill_(1e308), "the outputs are not finite"),
    ],
)
def test_a_training_that_diverged(file, model, change, note):
    model.double()
    with quick(model, file) as tracker:
        tracker.record()
        kept = copy.deepcopy(model.state_dict())
        with torch.no_grad():
            change(model[2].weight)
            model[2].bias.fill_(1e308)
        with pytest.warns(UserWarning, match=note):
            tracker.record()
        model.load_state_dict(kept)
        tracker.record()
        tracker.record()
    records = rs.tracking.read_records(file)
    assert [record for record, _ in records.notes] == [1]
    assert np.isfinite(records["distinct_codes"]).tolist() == [True, False, True, True]
    assert np.isfinite(records["changed_samples"]).tolist() == [False, False, False, True]


def test_one_tracker_for_one_file(file, model):
    first = quick(model, file)
    with pytest.raises(InputError, match="another tracker is open on it"):
        quick(model, file)
    first.close()
    first.close()
    with quick(model, file) as second, pytest.raises(InputError, match="another tracker is open on it"):
        quick(model, file)
    del second
    quick(model, file)  # never closed: the lock goes with it
    quick(model, file).close()
    assert sorted(path.name for path in file.parent.iterdir()) == ["run.parquet"]


def test_the_lock_dies_with_its_process(file, model):
    # Without the package, whose imports take seconds.
    script = f"""
        import importlib.util, pathlib, time
        spec = importlib.util.spec_from_file_location("lock", {lock.__file__!r})
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        held = module.Lock(pathlib.Path({str(file)!r}))
        print("held", flush=True)
        time.sleep(60)
    """
    holder = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match="here or in another process"):
            quick(model, file)
        holder.kill()
        holder.wait()
    finally:
        holder.kill()
        holder.communicate()
    quick(model, file).close()


def test_a_record_after_close(file, model):
    tracker = quick(model, file)
    tracker.close()
    with pytest.raises(InputError, match="is closed: open it again"):
        tracker.record()


@pytest.fixture
def full_disk():
    """Let no file grow beyond some bytes, as a full disk does, until called."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(is_full=True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]) if is_full else before)

    yield fill
    fill(False)


def test_a_full_disk_loses_nothing(file, model, full_disk):
    with quick(model, file, plane=(0, 1, 2)) as tracker:
        tracker.record()
        full_disk()
        with pytest.warns(UserWarning, match="the record is kept, and written with the next one"):
            tracker.record()
        with pytest.warns(UserWarning, match="the record is kept"):
            tracker.record()
        full_disk(False)
        assert len(rs.tracking.read_records(file)) == 1
        assert len(tracker.records) == 3
        tracker.record()
        records = rs.tracking.read_records(file)
        assert [row["record"] for row in records.rows] == [0, 1, 2, 3]
        assert len(records.partition_files) == 4


def test_a_disk_that_stays_full_is_an_error_at_last(file, model, full_disk):
    tracker = quick(model, file)
    full_disk()
    with pytest.warns(UserWarning, match="the record is kept"):
        tracker.record()
    with pytest.raises(InputError, match=r"could not write .*run.parquet"):
        tracker.close()
    full_disk(False)
    tracker.close()
    assert len(rs.tracking.read_records(file)) == 1


def test_a_full_disk_does_not_hide_why_training_failed(file, model, full_disk):
    def fail():
        with quick(model, file) as tracker:
            full_disk()
            tracker.record()
            raise ZeroDivisionError

    with pytest.warns(UserWarning, match="could not write"), pytest.raises(ZeroDivisionError):
        fail()
    full_disk(False)
    quick(model, file).close()  # and the lock is free


@pytest.mark.usefixtures("hears_ctrl_c")
@pytest.mark.parametrize("moment", ["measure", "write_rows"])
def test_control_c_leaves_a_whole_file(file, model, monkeypatch, moment):
    tracker = quick(model, file, segments=2, jacobians=3)
    tracker.record()
    before = file.read_bytes()
    real = getattr(module, moment)

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(module, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        tracker.record()
    monkeypatch.undo()
    if moment == "measure":
        assert file.read_bytes() == before
        tracker.record()
    # A record that is being written is written whole before Ctrl-C is answered.
    assert rs.tracking.read_records(file)["changed_samples"].tolist()[1:] == [0.0]
    tracker.close()


@pytest.mark.parametrize("work", ["partition", "count_along_segments", "local_norms"])
def test_control_c_within_work_that_keeps_what_it_has(file, model, monkeypatch, work):
    from dataclasses import replace

    from reluscope.analyses.tracking import measurement

    real = getattr(measurement, work)

    def interrupted(*arguments, **options):
        return replace(real(*arguments, **options), stop=INTERRUPTED)

    with quick(model, file, segments=2, jacobians=3, plane=(0, 1, 2)) as tracker:
        monkeypatch.setattr(measurement, work, interrupted)
        with pytest.raises(KeyboardInterrupt):
            tracker.record()
    assert len(rs.tracking.read_records(file)) == 0


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"samples": 30}, "choice of samples"),
        ({"labels": LABELS}, "labels"),
        ({"segments": 3}, "segments"),
        ({"segment_share": 0.5}, "segment_share"),
        ({"plane": (3, 4, 5)}, "plane"),
        ({"plane": (0, 1, 2), "budget": rs.Budget(regions=9)}, "budget of the plane"),
    ],
)
def test_other_settings_are_refused(file, model, options, what):
    common = {"segments": 2, "plane": (0, 1, 2)}
    if not file.exists():
        quick(model, file, **common).close()
    with pytest.raises(InputError, match=f"expected the {what} that .*run.parquet was begun with, got another"):
        quick(model, file, **{**common, **options})


def test_other_data_and_models_are_refused(file, model):
    with quick(model, file) as tracker:
        tracker.record()
    with pytest.raises(InputError, match="expected the data that"):
        rs.Tracker(model, POINTS + 1, file, samples=40, segments=0, jacobians=0)
    with pytest.raises(InputError, match="expected the gates that"):
        quick(nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 3)), file)
    assert len(rs.tracking.read_records(file)) == 1


def test_overwriting_is_asked_for(file, model):
    with quick(model, file, plane=(0, 1, 2)) as tracker:
        tracker.record(epoch=5)
    (file.parent / "run.partitions" / "mine.txt").write_text("mine", encoding="utf-8")
    with quick(model, file, samples=10, overwrite=True) as tracker:
        assert len(rs.tracking.read_records(file)) == 0
        tracker.record()
    assert rs.tracking.read_records(file).epochs.tolist() == [0.0]
    assert [path.name for path in (file.parent / "run.partitions").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_foreign_files_stay(file, model, overwrite):
    for content in (b"", b"no parquet", None):
        if content is None:
            pq.write_table(pa.table({"x": [1]}), file)
        else:
            file.write_bytes(content)
        before = file.read_bytes()
        with pytest.raises(InputError, match=r"is not a file of a Tracker's records .* or it is damaged"):
            quick(model, file, overwrite=overwrite)
        assert file.read_bytes() == before
    with pytest.raises(InputError, match="there is no file"):
        rs.tracking.read_records(file.parent / "nothing.parquet")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"epoch": "one"}, "epoch must be a finite number, got 'one'"),
        ({"epoch": np.nan}, "epoch must be a finite number, got nan"),
        ({"step": 0.5}, "step must be a whole number of at least 0, got 0.5"),
        ({"loss": [1, 2]}, "loss cannot be recorded: got a list"),
        ({"loss": torch.ones(2)}, "loss cannot be recorded: got a Tensor"),
        ({"loss": "high"}, "loss cannot be recorded: got float and str"),
    ],
)
def test_what_cannot_be_recorded(file, model, given, sentence):
    with quick(model, file) as tracker:
        tracker.record(loss=0.5)
        with pytest.raises(InputError, match=sentence):
            tracker.record(**given)
        assert len(tracker.records) == 1


def test_what_is_logged_may_come_and_go(file, model):
    with quick(model, file) as tracker:
        tracker.record(loss=1, ok=True)
        tracker.record(loss=np.float32(0.5), accuracy=0.25)  # a name of ours, too
        tracker.record(epoch=1)
    records = rs.tracking.read_records(file)
    assert records.logged == {"loss": [1.0, 0.5, None], "ok": [True, None, None], "accuracy": [None, 0.25, None]}
    assert records.epochs.tolist() == [0, 1, 1]
    assert records.notes == ((2, "this epoch was recorded before"),)


def test_the_file_is_plain_parquet(file, model):
    with quick(model, file, labels=LABELS) as tracker:
        tracker.record()
        tracker.record()
    table = pq.read_table(file)
    assert table.column("accuracy_claim").to_pylist() == ["EXACT", "EXACT"]
    assert table.column("distinct_codes").type == pa.int64()
    assert [value is None for value in table.column("codes").to_pylist()] == [True, False]
    assert table.column("distinct_codes_by_gate").to_pylist()[0] == [tracker.records["distinct_codes_by_gate"][0, 0]]


def test_overhead_is_time_over_time(file, model, monkeypatch):
    with quick(model, file) as tracker:
        assert tracker.overhead is None
        tracker.record()
        tracker.record()
        rows = tracker.records.rows
        spent = sum(row["seconds"] + row["seconds_writing"] for row in rows)
        assert float(tracker.overhead) == pytest.approx(spent / sum(row["seconds_between"] for row in rows))
    stored = rs.tracking.read_records(file).rows
    assert stored[0]["seconds_writing"] == rows[0]["seconds_writing"]
    assert stored[1]["seconds_writing"] is None
