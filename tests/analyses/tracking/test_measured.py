"""What a tracker records, against hooks on the model itself, plain autograd, and bisection along segments."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from analyses.tracking.runs import LABELS, POINTS, make_model, step, track
from oracles.segment_bisection import num_regions
from reluscope.errors import InputError

PLANE = (0, 1, 2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of three records, and float64 copies of the model at each."""
    file = tmp_path_factory.mktemp("run") / "run.parquet"
    model, copies = make_model(), []
    with track(model, file, plane=PLANE) as tracker:
        for epoch in range(3):
            step(model, epoch)
            tracker.record(epoch=epoch, step=3 * epoch, loss=torch.tensor(0.5), name="a")
            copies.append(copy.deepcopy(model).eval().double())
    return rs.tracking.read_records(file), copies


def hooked(model, x):
    """Return the boolean activations of the two ReLU gates and the places of the maxima, by forward hooks."""
    seen = {}
    for place in (2, 5, 8):
        model[place].register_forward_hook(lambda _, given, got, place=place: seen.update({place: (given[0], got)}))
    with torch.no_grad():
        outputs = model(x)
    first, last = (seen[place][0].flatten(1) > 0 for place in (2, 8))
    pooled = seen[5][0].reshape(len(x), 3, 4).argmax(2)  # the first of equal ones
    return [np.asarray(part).astype(int) for part in (first, pooled, last)], outputs


@pytest.fixture(scope="module")
def by_hooks(run):
    records, copies = run
    x = torch.tensor(POINTS[records.settings["samples"]])
    return [hooked(model, x) for model in copies]


def test_distinct_codes_are_distinct_rows(run, by_hooks):
    records, _ = run
    labels = LABELS[records.settings["samples"]]
    for row, (parts, outputs) in enumerate(by_hooks):
        whole = np.concatenate(parts, axis=1)
        right = outputs.argmax(1).numpy() == labels
        assert records["distinct_codes"][row] == len(np.unique(whole, axis=0))
        assert records["distinct_codes_correct"][row] == len(np.unique(whole[right], axis=0))
        assert records["distinct_codes_by_gate"][row].tolist() == [len(np.unique(part, axis=0)) for part in parts]
        assert records["accuracy"][row] == right.mean()
        loss = nn.functional.cross_entropy(outputs, torch.tensor(labels))
        assert records["cross_entropy"][row] == pytest.approx(float(loss))


def test_changes_are_differences_of_rows(run, by_hooks):
    records, _ = run
    assert np.isnan(records["changed_samples"][0])
    for row in (1, 2):
        differ = [now != then for now, then in zip(by_hooks[row][0], by_hooks[row - 1][0], strict=True)]
        assert records["changed_units_by_gate"][row] == pytest.approx([part.sum(1).mean() for part in differ])
        assert records["changed_samples_by_gate"][row] == pytest.approx([part.any(1).mean() for part in differ])
        whole = np.concatenate(differ, axis=1)
        assert records["changed_units"][row] == pytest.approx(whole.sum(1).mean())
        assert records["changed_samples"][row] == pytest.approx(whole.any(1).mean())
    assert records["changed_units"][1:].min() > 0


def test_rates_and_still_units(run, by_hooks):
    records, _ = run
    for row, (parts, _) in enumerate(by_hooks):
        first, _, last = parts
        rates = records["activation_rate_by_gate"][row]
        assert rates[[0, 2]] == pytest.approx([first.mean(), last.mean()])
        dead = [(part == 0).all(0).sum() for part in (first, last)]
        assert records["dead_units_by_gate"][row].tolist() == [dead[0], 0, dead[1]]
        assert records["always_on_units_by_gate"][row, 0] == (first == 1).all(0).sum()


@pytest.mark.slow
def test_segments_by_bisection(run):
    records, copies = run
    rows = np.array(records.settings["samples"])
    assert records.settings["segment_share"] == 1.0
    for place, model in list(enumerate(copies))[::2]:
        network = rs.load(model)
        for index, (first, second) in enumerate(records.settings["segments"][:2]):
            start, end = POINTS[rows[first]], POINTS[rows[second]]

            def codes(t, start=start, end=end, network=network):
                return network.codes(start + t[:, None] * (end - start)).to_array()

            assert records["segment_regions"][place, index] == num_regions(codes, 0.0, 1.0, grid=200)
    assert records["median_segment_regions"] == pytest.approx(np.median(records["segment_regions"], axis=1))


def test_jacobians_by_autograd(run):
    records, copies = run
    rows = np.array(records.settings["samples"])[records.settings["jacobians"]]
    for place, model in enumerate(copies):
        found = [
            torch.autograd.functional.jacobian(lambda x, model=model: model(x[None])[0], x)
            for x in torch.tensor(POINTS[rows])
        ]
        spectral = np.median([np.linalg.norm(np.asarray(one), 2) for one in found])
        assert records["spectral_norm"][place] == pytest.approx(spectral)
        assert records["frobenius_norm"][place] == pytest.approx(np.median([float(one.norm()) for one in found]))


def test_partitions_of_the_plane_are_kept(run):
    records, copies = run
    assert [epoch for epoch, _ in records.partition_files] == [0.0, 1.0, 2.0]
    for (_, path), model, count in zip(records.partition_files, copies, records["plane_regions"], strict=True):
        network = rs.load(model)
        part = rs.Partition.load(path)
        assert len(part) == count == len(rs.partition(network, rs.Plane(*POINTS[list(PLANE)], margin=0.25)))
        assert (part.codes.unique().words == network.codes(part.domain.lift(part.witnesses)).words).all()


def test_every_number_has_its_claim(run):
    records, _ = run
    for name in ("accuracy", "distinct_codes", "changed_samples", "plane_regions", "spectral_norm"):
        assert records.findings(name)[-1].claim == "EXACT"
        assert records.findings(name)[-1].definition
    assert {found.claim for found in records.findings("segment_regions")[-1]} == {"EXACT"}
    assert records.findings("changed_samples")[0] is None
    assert records.findings("activation_rate_by_gate")[0][1] is None  # a max gate has no upper piece
    assert records.overhead().claim == "ESTIMATE"
    with pytest.raises(InputError, match=r"expected one of accuracy, .*got 'acuracy'"):
        records["acuracy"]


def test_what_was_logged(run):
    records, _ = run
    assert records.logged == {"loss": [0.5] * 3, "name": ["a"] * 3}
    assert [row["step"] for row in records.rows] == [0, 3, 6]
    assert records.to_table().column("logged_loss").to_pylist() == [0.5] * 3


def test_a_budget_makes_lower_bounds(tmp_path):
    budget = rs.Budget(seconds=0.0)
    with track(make_model(), tmp_path / "run.parquet", plane=PLANE, budget=budget, segments=0, jacobians=0) as tracker:
        tracker.record()
    (found,) = tracker.records.findings("plane_regions")
    assert found.claim == "LOWER"
    assert found.interval[1] == np.inf
    assert tracker.records.findings("segment_regions") == ((),)


def test_doubt_is_an_estimate(tmp_path):
    model = nn.Sequential(nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 2))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[0.1, 0.2]]))
        model[0].bias.copy_(torch.tensor([-0.3]))
    weight, bias = (value.double().numpy() for value in (model[0].weight.detach()[0], model[0].bias.detach()))
    edge = np.array([1.0, (-bias[0] - weight[0]) / weight[1]])  # as near to zero as rounding lets it be
    points = np.array([edge, edge * (1 + 2e-16), [5.0, 5.0]])
    with rs.Tracker(model, points, tmp_path / "run.parquet", segments=0) as tracker:
        tracker.record()
        tracker.record()
    found = tracker.records.findings("changed_samples")[1]
    assert tracker.records.findings("distinct_codes")[0].claim == "LOWER"
    assert found.value == 0
    assert found.interval[0] == 0
    assert found.interval[1] > 0.3
