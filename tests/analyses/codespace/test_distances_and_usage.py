"""Distances within and between classes against loops over pairs; units in use against plain arrays."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses.codespace import (
    SampleCodes,
    class_distances,
    distinct_codes,
    mean_code_distances,
    occupancy,
    pair_distances,
    sample_codes,
    unit_usage,
)
from reluscope.analyses.codespace.sampled import piece_counts

GATES = (rs.GateLayout("relu", 70), rs.GateLayout("pool", 5, num_pieces=6), rs.GateLayout("clamp", 3, 3))
LAYOUT = rs.CodeLayout(GATES)


def codes_of(pieces, doubtful=None):
    doubt = np.zeros((len(pieces), 3), dtype=bool) if doubtful is None else doubtful
    split = [pieces[:, :70], pieces[:, 70:75], pieces[:, 75:]]
    return SampleCodes(rs.Codes.from_pieces(split, LAYOUT), doubt, 0.0)


def draw(seed, size=40):
    generator = np.random.default_rng(seed)
    return np.c_[
        generator.integers(0, 2, (size, 70)), generator.integers(0, 6, (size, 5)), generator.integers(0, 3, (size, 3))
    ]


def mean_by_pairs(pieces, pairs):
    found = [int((pieces[a] != pieces[b]).sum()) for a, b in pairs]
    return np.mean(found) if found else np.nan


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 25))
def test_means_are_those_of_all_pairs(seed, num_classes, size):
    pieces = draw(seed, size)
    classes = np.random.default_rng(seed).integers(0, num_classes, size) * 3
    found, table = mean_code_distances(codes_of(pieces), classes), class_distances(codes_of(pieces), classes)
    every = list(itertools.combinations(range(size), 2))
    within = [(a, b) for a, b in every if classes[a] == classes[b]]
    between = [(a, b) for a, b in every if classes[a] != classes[b]]
    for kind, pairs in (("within classes", within), ("between classes", between), ("all pairs", every)):
        own = found.where(pairs=kind)
        assert own.is_done.all() == bool(pairs)
        if pairs:
            parts = [slice(None), slice(70), slice(70, 75), slice(75, 78)]
            means = [mean_by_pairs(pieces[:, columns], pairs) for columns in parts]
            assert own["mean_code_distance"].value == pytest.approx(means, abs=1e-9)
            assert own["mean_code_distance"].is_exact.all()
    assert sorted(set(table.keys["class"].tolist())) == sorted(set(classes.tolist()))
    for row, (c, d) in enumerate(zip(table.keys["class"], table.keys["other"], strict=True)):
        pairs = within if c == d else between
        chosen = [pair for pair in pairs if {classes[pair[0]], classes[pair[1]]} == {c, d}]
        mean = table["mean_code_distance"].value[row]
        assert mean == pytest.approx(mean_by_pairs(pieces, chosen), abs=1e-9, nan_ok=True)
        assert table.is_done[row] == bool(chosen)


def test_the_largest_classes_are_shown_and_all_count():
    pieces = draw(0, 60)
    classes = np.repeat([4, 7, 9], [10, 20, 30])
    few = class_distances(codes_of(pieces), classes, num_classes=2)
    assert few.keys["class"].tolist() == [7, 7, 9, 9]
    assert few.keys["other"].tolist() == [7, 9, 7, 9]


def test_doubtful_samples_widen_means_as_far_as_they_could():
    pieces, classes = draw(1, 12), np.repeat([0, 1], 6)
    doubtful = np.zeros((12, 3), dtype=bool)
    doubtful[[2, 7], 1] = True
    asked = codes_of(pieces, doubtful)
    found, table = (ask(asked, classes)["mean_code_distance"] for ask in (mean_code_distances, class_distances))
    assert {str(claim) for claim in (*found.claims, *table.claims)} == {"ESTIMATE"}
    for moved in (draw(2, 12), draw(3, 12)):
        changed = pieces.copy()
        changed[[2, 7]] = moved[[2, 7]]
        for ask, column in ((mean_code_distances, found), (class_distances, table)):
            truth = ask(codes_of(changed), classes)["mean_code_distance"].value
            assert ((column.lower <= truth) & (truth <= column.upper)).all()


@pytest.mark.parametrize("size", [1, 2, 7, 300, 600])
def test_histogram_of_pairs(size):
    pieces, classes = draw(size, size), np.random.default_rng(size).integers(0, 3, size)
    found = pair_distances(codes_of(pieces), classes)
    within, between = np.zeros(79, dtype=int), np.zeros(79, dtype=int)
    for a in range(size):
        distances = (pieces[a] != pieces[a + 1 :]).sum(axis=1)
        np.add.at(within, distances[classes[a + 1 :] == classes[a]], 1)
        np.add.at(between, distances[classes[a + 1 :] != classes[a]], 1)
    assert np.array_equal(found.details["histogram"], [within, between, within + between])
    assert found["num_pairs"].value.tolist() == [within.sum(), between.sum(), size * (size - 1) // 2]
    if size > 1:
        everything = np.repeat(np.arange(79), within + between)
        median = found.where(pairs="all pairs").finding("median_code_distance")
        assert median.value == np.median(everything)
        assert median.claim == "EXACT"


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 3))
def test_doubtful_samples_widen_medians_as_far_as_they_could(seed, size, num_doubtful):
    pieces, classes = draw(seed, size), np.arange(size) % 2
    doubtful = np.zeros((size, 3), dtype=bool)
    doubtful[:num_doubtful, 0] = True
    column = pair_distances(codes_of(pieces, doubtful), classes)["median_code_distance"]
    for other in range(4):
        changed = draw(seed + 1 + other, size) if other < 2 else np.repeat(draw(seed, size)[-1:] * (3 - other), size, 0)
        changed[num_doubtful:] = pieces[num_doubtful:]
        truth = pair_distances(codes_of(changed), classes)["median_code_distance"].value
        known = ~np.isnan(truth)
        assert ((column.lower <= truth) & (truth <= column.upper))[known].all()


def test_some_samples_give_an_estimate():
    pieces = draw(0, 300)
    found = pair_distances(codes_of(pieces), np.zeros(300, dtype=int), num_samples=100, seed=3)
    assert found["num_pairs"].value.tolist() == [100 * 99 // 2, 0, 100 * 99 // 2]
    median = found.where(pairs="within classes").finding("median_code_distance")
    assert median.claim == "ESTIMATE"
    assert "100 of 300 samples" in median.domain
    again = pair_distances(codes_of(pieces), np.zeros(300, dtype=int), num_samples=100, seed=3)
    assert np.array_equal(found.details["histogram"], again.details["histogram"])


def test_pieces_are_counted(monkeypatch):
    pieces = draw(5, 90)
    tables = piece_counts(codes_of(pieces).codes)
    assert [table.shape for table in tables] == [(2, 70), (6, 5), (3, 3)]
    for table, columns in zip(tables, (pieces[:, :70], pieces[:, 70:75], pieces[:, 75:]), strict=True):
        assert np.array_equal(table, [(columns == piece).sum(axis=0) for piece in range(len(table))])
    assert [table.sum() for table in piece_counts(codes_of(pieces[:0]).codes)] == [0, 0, 0]


NETWORKS = {
    "dense": lambda: rs.load(layers([3, 20, 9, 2])),
    "branched": branched,
    "leaky": lambda: rs.load(nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(), nn.Linear(8, 2))),
    "clamped": lambda: rs.load(nn.Sequential(nn.Linear(3, 30), nn.Hardtanh(), nn.Linear(30, 2))),
    "pool": lambda: rs.load(nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2)), input_shape=(1, 6, 6)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_units_in_use_by_outputs_and_arrays(name):
    net = NETWORKS[name]()
    points = 0.7 * np.random.default_rng(0).normal(size=(15, net.num_inputs))
    sampled = sample_codes(net, points)
    usage = unit_usage(net, sampled)
    pieces = [part.to_array() for part in sampled.codes.by_gate().values()]
    assert usage.keys["gate"].tolist() == [gate.name for gate in net.gates]
    assert usage.keys["units"].tolist() == [gate.num_units for gate in net.gates]
    dead = 0
    for row, (pre, stage, table) in enumerate(zip(net.preactivations(points), net.stages, pieces, strict=True)):
        still = (table == table[0]).all(axis=0)
        values = stage.gate.apply(pre).reshape(len(points), -1).numpy()
        constant = still & (values == values[0]).all(axis=0) & (pre.ndim == 2)
        assert usage["num_dead_units"].value[row] == constant.sum()
        assert usage["num_always_on_units"].value[row] == (still & ~constant).sum()
        assert usage["num_changing_units"].value[row] == (~still).sum()
        assert usage["pieces_used"].value[row] == pytest.approx(np.mean([len(set(column)) for column in table.T]))
        dead += int(constant.sum())
    whole = usage.summary
    kinds = ("num_dead_units", "num_always_on_units", "num_changing_units")
    assert int(whole.finding("num_dead_units")) == dead
    assert sum(int(whole.finding(kind)) for kind in kinds) == net.num_units


def test_doubt_about_units_is_bounded():
    net = rs.load([(np.array([[0.1, 0.2], [1.0, 0.0]]), np.array([-0.3, 0.0])), (np.ones((1, 2)), np.zeros(1))])
    sampled = sample_codes(net, [[1.0, 2.0], [1.0, 1.0], [0.5, 0.5]])  # the first one is a hair from zero
    assert sampled.in_doubt.tolist()[1:] != [True, True]
    usage = unit_usage(net, sampled).summary
    if sampled.in_doubt.any():
        assert usage.finding("pieces_used").claim == "LOWER"
        assert usage["num_dead_units"].lower[0] == 0
    assert int(usage.finding("num_always_on_units")) >= 1


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 4))
def test_ends_of_usage_hold_whatever_doubtful_samples_do(seed, size, num_doubtful):
    net = rs.load(nn.Sequential(nn.Linear(2, 3), nn.Hardtanh(), nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)))
    generator = np.random.default_rng(seed)

    def usage_of(pieces, doubtful):
        codes = rs.Codes.from_pieces([pieces[:, :3], pieces[:, 3:]], net.layout)
        return unit_usage(net, SampleCodes(codes, doubtful, 0.0))

    def drawn():
        return np.c_[generator.integers(0, 3, (size, 3)), generator.integers(0, 2, (size, 2))]

    pieces, doubtful = drawn(), np.zeros((size, 2), dtype=bool)
    doubtful[:num_doubtful] = True
    found = usage_of(pieces, doubtful)
    for _ in range(4):
        changed = drawn()
        changed[num_doubtful:] = pieces[num_doubtful:]
        truth = usage_of(changed, np.zeros((size, 2), dtype=bool))
        assert found.summary is not None
        assert truth.summary is not None
        for table, true in ((found, truth), (found.summary, truth.summary)):
            for name in table:
                assert (table[name].lower <= true[name].value + 1e-12).all()
                assert (true[name].value <= table[name].upper + 1e-12).all()


def test_classes_and_codes_they_share():
    pieces = draw(9, 30) * 0
    pieces[::3, 0] = 1
    classes = np.arange(30) % 2
    found = distinct_codes(codes_of(pieces), classes)
    assert found.keys["class"].tolist() == [0, 1]
    assert found["num_samples"].value.tolist() == [15, 15]
    assert found["num_distinct_codes"].value.tolist() == [2, 2]
    mixed = [occupancy(codes_of(pieces), own)["num_codes_of_several_classes"] for own in (classes, pieces[:, 0])]
    assert [column.value.tolist() for column in mixed] == [[2, 1, 1], [0, 1, 1]]


def test_many_samples_take_bounded_memory():
    layout = rs.CodeLayout((rs.GateLayout("relu", 3072),))
    words = np.random.default_rng(0).integers(0, 2**63, (4_000, 48), dtype=np.uint64)
    sampled = SampleCodes(rs.Codes(words, layout), np.zeros((4_000, 1), dtype=bool), 0.0)
    found = mean_code_distances(sampled, np.arange(4_000) % 10).where(pairs="within classes", gate="all gates")
    assert found.finding("mean_code_distance").value == pytest.approx(3072 / 2, rel=0.1)


def test_units_of_one_piece_have_two_rows_all_the_same():
    layout = rs.CodeLayout((rs.GateLayout("straight", 3, num_pieces=1), rs.GateLayout("pool", 2, num_pieces=3)))
    codes = rs.Codes.from_pieces([np.zeros((2, 3), int), np.array([[0, 2], [1, 2]])], layout)
    first, second = piece_counts(codes)
    assert first.tolist() == [[2, 2, 2], [0, 0, 0]]
    assert second.tolist() == [[1, 0], [1, 0], [0, 2]]
