"""Entropy and information against dictionaries of counts; occupancy of degenerate samples."""

from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.codespace import SampleCodes, correctly_classified, distinct_codes, occupancy, sample_codes

LAYOUT = rs.CodeLayout((rs.GateLayout("relu", 3), rs.GateLayout("clamp", 1, 3)))


def sampled_codes(pieces):
    return SampleCodes(
        rs.Codes.from_pieces([pieces[:, :3], pieces[:, 3:]], LAYOUT), np.zeros((len(pieces), 2), dtype=bool), 0.0
    )


def entropy_of(keys):
    return -sum(n / len(keys) * log2(n / len(keys)) for n in Counter(keys).values())


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_entropy_and_information_against_counters(seed, size):
    generator = np.random.default_rng(seed)
    pieces = np.c_[generator.integers(0, 2, (size, 3)), generator.integers(0, 3, (size, 1))]
    classes = generator.integers(0, 3, size)
    found = occupancy(sampled_codes(pieces), classes)
    whole = [tuple(row) for row in pieces.tolist()]
    parts = [whole, [row[:3] for row in whole], [row[3:] for row in whole]]
    entropies = [*found.summary["code_entropy"].value, *found["code_entropy"].value]
    informations = [*found.summary["information_on_class"].value, *found["information_on_class"].value]
    for keys, entropy, information in zip(parts, entropies, informations, strict=True):
        assert float(entropy) == pytest.approx(entropy_of(keys), abs=1e-9)
        conditional = sum(
            (classes == kind).mean() * entropy_of([key for key, own in zip(keys, classes, strict=True) if own == kind])
            for kind in set(classes.tolist())
        )
        assert float(information) == pytest.approx(entropy_of(keys) - conditional, abs=1e-9)
    sizes = sorted(Counter(whole).values(), reverse=True)
    assert found.summary.details["sizes"][0].tolist() == sizes
    assert float(found.summary.finding("share_alone_in_cell")) == pytest.approx(sizes.count(1) / size)
    assert all(table[name].is_exact.all() for table in (found, found.summary) for name in found)


def test_identical_codes_hold_no_information():
    found = occupancy(sampled_codes(np.zeros((9, 4), dtype=int)), np.arange(9) % 2).summary
    for name in ("code_entropy", "information_on_class", "share_alone_in_cell"):
        assert float(found.finding(name)) == 0.0
    assert "information_on_class" not in occupancy(sampled_codes(np.zeros((1, 4), dtype=int)))


def test_doubt_makes_estimates():
    net = rs.load([(np.array([[0.1, 0.2]]), np.array([-0.3])), (np.eye(1), np.zeros(1))])
    found = occupancy(sample_codes(net, [[1.0, 1.0], [0.0, 0.0]]), np.array([0, 1]))
    assert found.summary is not None
    for table in (found, found.summary):
        assert not any(table[name].is_exact.any() for name in table)


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(0, 8))
def test_ends_hold_whatever_doubtful_samples_do(seed, size, num_doubtful):
    generator = np.random.default_rng(seed)
    pieces = np.c_[generator.integers(0, 2, (size, 3)), generator.integers(0, 3, (size, 1))]
    classes, doubtful = generator.integers(0, 3, size), np.zeros((size, 2), dtype=bool)
    doubtful[:num_doubtful] = True
    sampled = replace(sampled_codes(pieces), doubtful=doubtful)
    found = (occupancy(sampled, classes), distinct_codes(sampled))
    for _ in range(4):
        changed = np.c_[generator.integers(0, 2, (size, 3)), generator.integers(0, 3, (size, 1))]
        changed[num_doubtful:] = pieces[num_doubtful:]
        truth = (occupancy(sampled_codes(changed), classes), distinct_codes(sampled_codes(changed)))
        for table, true in zip(found, truth, strict=True):
            assert table.summary is not None
            for own, other in ((table, true), (table.summary, true.summary)):
                for name in own:
                    assert (own[name].lower <= other[name].value + 1e-9).all()
                    assert (other[name].value <= own[name].upper + 1e-9).all()


def test_no_samples_and_wrong_classes_are_refused():
    with pytest.raises(rs.errors.ShapeError, match="no samples"):
        occupancy(sampled_codes(np.zeros((0, 4), dtype=int)))
    with pytest.raises(rs.errors.ShapeError, match="one label per sample"):
        occupancy(sampled_codes(np.zeros((2, 4), dtype=int)), np.zeros(3, dtype=int))


def test_cells_of_correctly_classified_points_by_gate_and_group():
    generator = np.random.default_rng(0)
    net = rs.load(
        [(generator.normal(size=shape), generator.normal(size=shape[0])) for shape in ((6, 2), (5, 6), (3, 5))]
    )
    x, labels = generator.normal(size=(200, 2)), generator.integers(0, 3, 200)
    sampled = sample_codes(net, x)
    right = net(x).numpy().argmax(axis=1) == labels
    chosen = correctly_classified(net, sampled, x, labels)
    pieces = net.codes(x).to_array()
    found = distinct_codes(chosen)
    whole = found.summary.finding("num_distinct_codes")
    assert int(whole) == len({row.tobytes() for row in pieces[right]})
    assert "correctly classified" in whole.domain
    last = distinct_codes(chosen.of_gates("relu 1")).summary
    assert int(last.finding("num_distinct_codes")) == int(found.finding("num_distinct_codes", 1))
    assert chosen.of_gates("relu 1", "relu 0").codes == chosen.codes
    with pytest.raises(rs.errors.InputError, match="'relu 7' came"):
        chosen.of_gates("relu 7")
    with pytest.raises(rs.errors.ShapeError, match="one label per sample"):
        correctly_classified(net, sampled, x, labels[:3])


def test_nothing_is_classified_correctly():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    x = [[2.0, 1.0]]
    chosen = correctly_classified(net, sample_codes(net, x), x, np.array([1]))
    assert int(distinct_codes(chosen).summary.finding("num_distinct_codes")) == 0
