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
    count_distinct_by_class,
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
    found = class_distances(codes_of(pieces), classes)
    every = list(itertools.combinations(range(size), 2))
    within = [(a, b) for a, b in every if classes[a] == classes[b]]
    between = [(a, b) for a, b in every if classes[a] != classes[b]]
    for finding, pairs in ((found.within, within), (found.between, between), (found.overall, every)):
        if pairs:
            assert finding.value == pytest.approx(mean_by_pairs(pieces, pairs), abs=1e-9)
            assert finding.claim == "EXACT"
        else:
            assert finding is None
    assert found.classes.tolist() == sorted(set(classes.tolist()))
    for (i, c), (j, d) in itertools.product(enumerate(found.classes), repeat=2):
        pairs = within if c == d else between
        chosen = [pair for pair in pairs if {classes[pair[0]], classes[pair[1]]} == {c, d}]
        assert found.means[i, j] == pytest.approx(mean_by_pairs(pieces, chosen), abs=1e-9, nan_ok=True)
    if between:
        parts = [mean_by_pairs(pieces[:, columns], between) for columns in (slice(70), slice(70, 75), slice(75, 78))]
        assert [one.value for one in found.between_by_gate] == pytest.approx(parts, abs=1e-9)


def test_the_largest_classes_are_shown_and_all_count():
    pieces = draw(0, 60)
    classes = np.repeat([4, 7, 9], [10, 20, 30])
    few = class_distances(codes_of(pieces), classes, most_classes=2)
    assert few.classes.tolist() == [7, 9]
    assert few.num_left_out == 1
    assert few.means.shape == (2, 2)
    assert few.within.value == class_distances(codes_of(pieces), classes).within.value


def test_doubtful_samples_widen_means_as_far_as_they_could():
    pieces, classes = draw(1, 12), np.repeat([0, 1], 6)
    doubtful = np.zeros((12, 3), dtype=bool)
    doubtful[[2, 7], 1] = True
    found = class_distances(codes_of(pieces, doubtful), classes)
    for moved in (draw(2, 12), draw(3, 12)):
        changed = pieces.copy()
        changed[[2, 7]] = moved[[2, 7]]
        truth = class_distances(codes_of(changed), classes)
        for one, other in ((found.within, truth.within), (found.between, truth.between)):
            assert one.claim == "ESTIMATE"
            assert one.interval[0] <= other.value <= one.interval[1]


@pytest.mark.parametrize("size", [1, 2, 7, 300, 600])
def test_histogram_of_pairs(size):
    pieces, classes = draw(size, size), np.random.default_rng(size).integers(0, 3, size)
    found = pair_distances(codes_of(pieces), classes)
    within, between = np.zeros(79, dtype=int), np.zeros(79, dtype=int)
    for a in range(size):
        distances = (pieces[a] != pieces[a + 1 :]).sum(axis=1)
        np.add.at(within, distances[classes[a + 1 :] == classes[a]], 1)
        np.add.at(between, distances[classes[a + 1 :] != classes[a]], 1)
    assert np.array_equal(found.within, within)
    assert np.array_equal(found.between, between)
    if size > 1:
        everything = np.repeat(np.arange(79), within + between)
        median = found.median(found.within + found.between, "all")
        assert median.value == np.median(everything)
        assert median.claim == "EXACT"


def test_some_samples_give_an_estimate():
    pieces = draw(0, 300)
    found = pair_distances(codes_of(pieces), np.zeros(300, dtype=int), most=100, seed=3)
    assert found.num_samples == 100
    assert found.within.sum() == 100 * 99 // 2
    median = found.median(found.within, "median")
    assert median.claim == "ESTIMATE"
    assert "100 of 300 samples" in median.domain
    again = pair_distances(codes_of(pieces), np.zeros(300, dtype=int), most=100, seed=3)
    assert np.array_equal(found.within, again.within)


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
    dead = 0
    for used, pre, stage, table in zip(usage.by_gate, net.preactivations(points), net.stages, pieces, strict=True):
        still = (table == table[0]).all(axis=0)
        values = stage.gate.apply(pre).reshape(len(points), -1).numpy()
        constant = still & (values == values[0]).all(axis=0) & (pre.ndim == 2)
        assert int(used.dead) == constant.sum()
        assert int(used.always_on) == (still & ~constant).sum()
        assert int(used.changing) == (~still).sum()
        assert used.pieces_used.value == pytest.approx(np.mean([len(set(column)) for column in table.T]))
        dead += int(constant.sum())
    assert int(usage.total.dead) == dead
    assert int(usage.total.dead) + int(usage.total.always_on) + int(usage.total.changing) == net.num_units


def test_doubt_about_units_is_bounded():
    net = rs.load([(np.array([[0.1, 0.2], [1.0, 0.0]]), np.array([-0.3, 0.0])), (np.ones((1, 2)), np.zeros(1))])
    sampled = sample_codes(net, [[1.0, 2.0], [1.0, 1.0], [0.5, 0.5]])  # the first one is a hair from zero
    assert sampled.in_doubt.tolist()[1:] != [True, True]
    usage = unit_usage(net, sampled).total
    if sampled.in_doubt.any():
        assert usage.dead.claim == "ESTIMATE"
        assert usage.dead.interval[1] >= usage.dead.value
    assert int(usage.always_on) >= 1


def test_classes_and_codes_they_share():
    pieces = draw(9, 30) * 0
    pieces[::3, 0] = 1
    classes = np.arange(30) % 2
    found = count_distinct_by_class(codes_of(pieces), classes)
    assert found.classes.tolist() == [0, 1]
    assert found.sizes.tolist() == [15, 15]
    assert [int(count) for count in found.counts] == [2, 2]
    assert int(found.mixed) == 2
    assert int(count_distinct_by_class(codes_of(pieces), pieces[:, 0]).mixed) == 0


def test_many_samples_take_bounded_memory():
    layout = rs.CodeLayout((rs.GateLayout("relu", 3072),))
    words = np.random.default_rng(0).integers(0, 2**63, (4_000, 48), dtype=np.uint64)
    sampled = SampleCodes(rs.Codes(words, layout), np.zeros((4_000, 1), dtype=bool), 0.0)
    found = class_distances(sampled, np.arange(4_000) % 10)
    assert found.within.value == pytest.approx(3072 / 2, rel=0.1)
