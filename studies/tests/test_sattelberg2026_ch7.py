"""The studies of chapter 7: compression and similarity against each other, groups, records, printed cells, toys."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from torch import nn

import reluscope as rs
from reluscope.citations import bibliography
from reluscope.studies import Record, Setting
from reluscope_studies import sattelberg2026_runs as runs
from reluscope_studies import stacked
from reluscope_studies.labelled import labelled_data
from reluscope_studies.sattelberg2026_ch7 import (
    _compression,
    _plan,
    _protocol,
    _similarity,
    cifar10,
    circle_annulus,
    xor,
)
from reluscope_studies.sattelberg2026_ch7._comparison import groups_of, joined
from reluscope_studies.sattelberg2026_ch7._printed import MAPPED
from reluscope_studies.sattelberg2026_images import drawn
from reluscope_studies.sattelberg2026_networks import ACCURACIES, OPTIMIZERS, models

pytestmark = pytest.mark.slow


class Kept(dict):
    """Records that go through JSON, as those on disk do."""

    def __setitem__(self, name, record):
        super().__setitem__(name, Record(json.loads(json.dumps(record.plain)), record.arrays))


def blobs(number, seed, shape=(1, 8, 8)):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 3
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(3, *shape))
    return rs.datasets.dataset_of(centers[labels] + rng.normal(0, 0.3, size=(number, *shape)), labels, name="blobs")


@pytest.fixture(scope="module")
def tiny():
    """Plans and networks that train in no time, a setting, and what the study says of it."""
    plan = _plan.ComparisonPlan(1, 4, 2, 4, 60, 2, (1, 2), 4, 2**30)
    chosen = [model for model in models(4, 2) if model.row in ("linear", "dense 1", "simple 1")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(_plan.PLANS, "small", plan)
        patch.setattr(_protocol, "models", lambda hidden, filters: chosen)
        setting = Setting("small", blobs(90, 1), blobs(40, 2), records=Kept())
        yield setting, cifar10.protocol(setting)


def column(outcome, start, name):
    """Return one column of the table whose caption begins so, by its first column."""
    (table, *_) = [one for one in outcome.tables if one.caption.startswith(start)]
    place = table.columns.index(name)
    return {row[0]: row[place] for row in table.rows}


def test_the_dissertations_protocol():
    plan = _plan.PLANS["full"]
    assert (plan.epochs, plan.hidden, plan.filters) == (15, 128, 32)
    assert plan.training is plan.testing is None
    assert plan.shape(labelled_data(Setting("full", blobs(3, 0), blobs(3, 0)))[0]) == (3, 32, 32)
    assert _plan.PLANS["small"].shape(labelled_data(Setting("full", blobs(3, 0), blobs(3, 0)))[0]) == (1, 8, 8)
    assert circle_annulus.PLANS["full"].widths == (8, 8, 8)


@pytest.mark.parametrize("size", ["medium", "full"])
def test_sums_of_a_group_fit_the_memory(size):
    """Coefficients of a linear network have 10 directions, of a dense one 128, others all inputs; with a constant."""
    plan = _plan.PLANS[size]
    most = 3 * (plan.side or 32) ** 2 + 1
    columns = {"linear": 11, "dense": 129, "simple": most, "complex": most}
    every = sorted(models(plan.hidden, plan.filters), key=lambda model: OPTIMIZERS.index(model.optimizer))
    kinds = {model.name: model.kind for model in every}
    for group in groups_of(tuple(kinds), plan.at_once):
        number = sum(columns[kinds[name]] for name in group)
        assert 8 * 8 * number**2 <= 3 * plan.memory


def test_every_two_networks_meet_in_a_group():
    for number, at_once in ((14, 8), (14, 14), (5, 4), (3, 2)):
        names = tuple(map(str, range(number)))
        groups = groups_of(names, at_once)
        assert all(len(group) <= at_once and len(set(group)) == len(group) for group in groups)
        met = {pair for group in groups for pair in combinations(sorted(group), 2)}
        assert met == set(combinations(sorted(names), 2))


def test_groups_give_what_all_at_once_give():
    networks = {f"{k}": rs.load(rs.testing.default_network([3, 4 + k, 2], seed=k)) for k in range(4)}
    x = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.arange(40) % 2

    def found(names):
        chosen = {name: networks[name] for name in names}
        return rs.similarity.compare(chosen, x, labels, metrics=["map_residual", "cka", "output_cross_entropy"])

    whole = found(networks)
    groups = groups_of(tuple(networks), 2)
    assert len(groups) == 6
    parts = [rs.Findings.from_dict(json.loads(json.dumps(found(group).to_dict()))) for group in groups]
    again = joined(tuple(networks), parts)
    assert rs.similarity.compared_networks(again) == tuple(networks)
    assert list(again) == list(whole)
    for name, column in whole.columns.items():
        assert np.allclose(again[name].value, column.value, rtol=1e-6, atol=1e-8, equal_nan=True), name
        assert again[name].claims == column.claims


def test_findings_are_means_over_kinds_of_pairs():
    every = [one for one in models(4, 2) if one.row in ("dense 1", "dense 2", "simple 1") and one.optimizer == "SGD"]
    networks = {one.name: rs.load(rs.testing.default_network([3, 4 + k, 2], seed=k)) for k, one in enumerate(every)}
    x = np.random.default_rng(0).normal(size=(30, 3))
    found = rs.similarity.compare(networks, x, np.arange(30) % 2, metrics=["cka", "output_cross_entropy"])
    means = {one.name: one for one in _similarity.findings(found, every)}
    cka, entropy = (rs.similarity.pair_matrix(found, name) for name in ("cka", "output_cross_entropy"))
    # The networks are dense 1, dense 2 and simple 1; what is symmetric is said once, of dense to convolutional.
    assert {name: round(float(one), 12) for name, one in means.items() if "debiased" not in name} == {
        "linear CKA of coefficients, dense to dense, SGD": round(cka[0, 1], 12),
        "linear CKA of coefficients, dense to convolutional, SGD": round((cka[0, 2] + cka[1, 2]) / 2, 12),
        "cross-entropy of outputs, dense to dense, SGD": round((entropy[0, 1] + entropy[1, 0]) / 2, 12),
        "cross-entropy of outputs, dense to convolutional, SGD": round((entropy[0, 2] + entropy[1, 2]) / 2, 12),
        "cross-entropy of outputs, convolutional to dense, SGD": round((entropy[2, 0] + entropy[2, 1]) / 2, 12),
    }
    mean = means["cross-entropy of outputs, dense to dense, SGD"]
    assert mean.claim is rs.Claim.EXACT
    assert mean.domain == "2 pairs of networks, 30 samples"


@pytest.mark.slow
def test_maps_from_a_linear_network_give_the_mean_map(tiny):
    # Two ways to one number: k-means with one centre, and least squares from equal rows.
    _, outcome = tiny
    single = column(outcome, "Accuracies on test images in %, with k affine functions per output that are", "k = 1")
    (to_sgd, to_adamw) = [one for one in outcome.tables if "after mapping" in one.caption]
    for table in (to_sgd, to_adamw):
        rows = {row[0]: row for row in table.rows}
        for place, target in enumerate(table.columns[1:], 1):
            target = target.removeprefix("to ")
            for source in ("linear SGD", "linear AdamW"):
                if source != target:
                    assert rows[source][place].split()[0] == single[target]
    # A linear network is its own mean map, whatever k is; its training images lie in one region.
    for rule in _compression.RULES.values():
        table = next(one for one in outcome.tables if f"chosen {rule}" in one.caption)
        for row in table.rows[:: len(table.rows) // 2]:
            assert row[0].startswith("linear")
            assert len(set(row[1:])) == 1
    regions = column(outcome, "How many functions", "regions of training images")
    assert regions["linear SGD"] == regions["linear AdamW"] == "1 EXACT"
    said = [one.name for one in outcome.findings]
    assert len(said) == len(set(said))
    assert len(bibliography({one.source for one in outcome.findings if one.source})) >= 2


@pytest.mark.slow
def test_the_study_goes_on_from_its_records(tiny, monkeypatch):
    setting, first = tiny
    compared = [name for name in setting.records if name.startswith("compared")]
    assert len(compared) == 3
    del setting.records[compared[1]]
    calls, original = [], rs.similarity.compare

    def counted(networks, *arguments, **options):
        calls.append(tuple(networks))
        return original(networks, *arguments, **options)

    monkeypatch.setattr(rs.similarity, "compare", counted)
    monkeypatch.setattr(_similarity, "pictures", lambda *_, **__: [])
    monkeypatch.setattr(rs.compression, "accuracy_curve", None)
    monkeypatch.setattr(rs.similarity, "coefficient_maps", None)
    again = cifar10.protocol(setting)
    assert len(calls) == 1
    assert again.tables == first.tables
    assert [one.to_dict() for one in again.findings] == [one.to_dict() for one in first.findings]
    assert [one.name for one in first.pictures] == [
        "cifar10-compression", "cifar10-mapped-accuracy", "cifar10-drop", "cifar10-scaled-distance",
        "cifar10-scaled-distance-absolute", "cifar10-cka", "cifar10-output-cross-entropy",
        "cifar10-output-cross-entropy-capped", "cifar10-mapped-coefficients",
    ]  # fmt: skip


def test_images_are_drawn_at_random_and_keep_their_classes():
    part = labelled_data(Setting("small", blobs(50, 1), blobs(3, 2)))[0]
    few = drawn(part, 20, 0)
    assert len(few) == len(few.labels) == 20
    assert np.array_equal(few.points, drawn(part, 20, 0).points)
    assert not np.array_equal(few.points, part.points[:20])
    places = [int((part.points == row).all(axis=1).nonzero()[0][0]) for row in few.points]
    assert places == sorted(places)
    assert np.array_equal(part.labels[places], few.labels)
    assert drawn(part, None, 0) is part


def test_printed_cells_are_those_of_the_reference():
    names = {model.name for model in models(1, 1)}
    assert {name for pair in MAPPED for name in pair} == names
    assert MAPPED["simple 2 SGD", "simple 1 SGD"] == 63.02
    assert MAPPED["complex 1 SGD", "complex 2 SGD"] == 60.40
    assert MAPPED["dense 1 SGD", "linear SGD"] == MAPPED["dense 2 SGD", "linear SGD"] == 25.43
    # Rows that are printed alike several times are no numbers.
    assert not {"dense 1 AdamW", "complex 2 AdamW", "simple 2 AdamW"} & {first for first, _ in MAPPED}
    for (_, second), value in MAPPED.items():
        row, optimizer = second.rsplit(" ", 1)
        assert 10 < value <= float(ACCURACIES["cifar10"][row][OPTIMIZERS.index(optimizer)])


def test_blocks_are_pairs_of_the_table():
    every = models(1, 1)
    sizes = {block.name: len(block.pairs(every)) for block in _similarity.BLOCKS}
    assert sizes["dense to dense, SGD"] == 2
    assert sizes["convolutional to convolutional, AdamW"] == 12
    assert sizes["dense to convolutional, SGD"] == sizes["convolutional to dense, AdamW"] == 8
    assert sizes["convolutional, SGD to AdamW"] == 16


def test_a_network_for_larger_images_is_compared_as_the_docs_say():
    backbone = nn.Sequential(nn.Conv2d(3, 2, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    scaled = nn.Sequential(nn.Upsample(size=(16, 16), mode="bilinear"), backbone, nn.Linear(2, 3))
    networks = {
        "pretrained": rs.load(scaled.eval(), input_shape=(3, 4, 4)),
        "dense 1 SGD": rs.load(models(5, 2)[2].build((3, 4, 4), 3, seed=0).eval(), input_shape=(3, 4, 4)),
    }
    x = np.random.default_rng(0).normal(size=(60, 48))
    found = rs.similarity.compare(networks, x[:10], fit_on=x[10:], metrics=["map_residual", "cka"])
    assert 0 < rs.similarity.pair_matrix(found, "cka")[0, 1] < 1


def test_two_units_solve_xor_on_two_regions(monkeypatch):
    monkeypatch.setitem(xor.EPOCHS, "small", 100)
    monkeypatch.setattr(xor, "GRID", 11)
    few = {name: (units // 5, number) for name, (units, number) in xor.TRAINED.items()}
    monkeypatch.setattr(xor, "TRAINED", few)
    network = rs.load(xor.TWO)
    assert network(xor.CORNERS).ravel().tolist() == [-1, 1, 1, -1]
    assert len(rs.partition(network, xor.WINDOW)) == 2
    assert len(rs.partition(network, rs.Box(-1.5, 1.5, 2))) == 3
    setting = Setting("small", records=Kept())
    outcome = xor.protocol(setting)
    assert set(setting.records) == set(xor.TRAINED)
    assert outcome.tables[0].rows[0] == ("2 units", "100 %", "2 EXACT", "3", "3")
    assert len(outcome.tables[1].rows) == 12
    assert [one.name for one in outcome.pictures] == [
        "xor-2", "xor-20", "xor-100", "xor-surfaces", "xor-mapped", "xor-mapped-surfaces"
    ]  # fmt: skip
    monkeypatch.setattr(stacked, "train", None)
    assert xor.protocol(setting).tables == outcome.tables


def test_maps_between_networks_of_two_inputs_are_least_squares():
    line = np.linspace(-1, 1, xor.GRID)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    one, other = (
        rs.load(rs.testing.default_network([2, 5, 1], seed=0)),
        rs.load(rs.testing.default_network([2, 4, 1], seed=1)),
    )
    rows, wanted = (rs.coefficients.matrix(network, points).output(0) for network in (one, other))
    solution = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    mapped = xor._mapped(one, other, points)
    assert np.allclose(mapped.slopes, (rows @ solution)[:, :2], atol=1e-7)
    values = np.einsum("sd,sd->s", rows @ solution, np.column_stack([points, np.ones(len(points))]))
    assert np.allclose(mapped.values.ravel(), values, atol=1e-7)


def test_few_maps_of_circle_and_annulus(monkeypatch):
    monkeypatch.setattr(runs, "POINTS", 80)
    monkeypatch.setattr(runs, "MAX_ATTEMPTS", 1)
    plan = replace(circle_annulus.PLANS["small"], widths=(4, 4), epochs=30)
    monkeypatch.setitem(circle_annulus.PLANS, "small", plan)
    monkeypatch.setattr(circle_annulus, "GRID", 15)
    monkeypatch.setattr(circle_annulus, "NUMBERS", (1, 10, 10**3))
    outcome = circle_annulus.protocol(Setting("small"))
    accuracies, pieces = outcome.tables
    found = {one.name: one for one in outcome.findings}
    # As many functions as the grid sees: the network itself, wherever a test point lies in a region of the grid.
    assert int(found["regions of the grid"]) <= int(found["regions"])
    assert accuracies.rows[-1][0] == "1,000"
    counts = [int(row[1].split()[0]) for row in pieces.rows]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] <= int(found["regions"])
    assert "EXACT" in pieces.rows[0][1]
    assert [one.name for one in outcome.pictures] == [
        "circle-regions", "circle-clusters", "circle-compression", "circle-merged",
    ]  # fmt: skip
