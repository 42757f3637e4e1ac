"""Units that agree on samples, against comparisons of columns one by one."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.codespace import SampleCodes, duplicate_units

LAYOUT = rs.CodeLayout((rs.GateLayout("relu", 6), rs.GateLayout("clamp", 4, 3), rs.GateLayout("pool", 3, 5)))
SPLITS = np.array([6, 10])


def duplicates_of(pieces):
    parts = np.split(pieces, SPLITS, axis=1)
    return duplicate_units(
        SampleCodes(rs.Codes.from_pieces(parts, LAYOUT), np.zeros((len(pieces), 3), dtype=bool), 0.0)
    )


def pairs_of(found):
    """Return the pairs of units that agree with one first unit."""
    first = found.summary.details["first"][0]
    return {(a, b) for a, b in itertools.combinations(range(len(first)), 2) if first[a] == first[b] >= 0}


def agree(a, b, binary):
    return np.array_equal(a, b) or (binary and np.array_equal(a, 1 - b))


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3, 63, 64, 65]))
def test_groups_are_those_of_all_pairs(seed, size):
    generator = np.random.default_rng(seed)
    # Few different columns, so that many agree; now and then one unit of three pieces uses two only.
    base = generator.integers(0, 2, (size, 3))
    columns = [
        base[:, k] ^ flip for k, flip in zip(generator.integers(0, 3, 6), generator.integers(0, 2, 6), strict=True)
    ]
    columns += [
        base[:, k] * step for k, step in zip(generator.integers(0, 3, 4), generator.integers(0, 3, 4), strict=True)
    ]
    columns += [generator.integers(0, 5, size) for _ in range(3)]
    pieces = np.stack(columns, axis=1)
    changing = [unit for unit in range(13) if len(set(pieces[:, unit])) > 1]
    found = duplicates_of(pieces)
    together = pairs_of(found)
    expected = {
        (a, b)
        for a, b in itertools.combinations(changing, 2)
        if (a < 6) == (b < 6) and agree(pieces[:, a], pieces[:, b], b < 6)
    }
    assert together == expected
    first = {max(pair) for pair in expected}
    assert int(found.summary.finding("num_duplicate_units")) == len(first)
    within = {max(pair) for pair in expected if max(pair) < 6}
    assert int(found.finding("num_duplicate_units", 0)) == len(within)


def test_units_that_never_change_are_no_duplicates():
    found = duplicates_of(np.tile(np.arange(13) % 2, (7, 1)))
    assert pairs_of(found) == set()
    assert int(found.summary.finding("num_duplicate_units")) == 0


def test_a_network_with_copied_units():
    weight = np.array([[1.0, 2.0], [0.5, 1.0], [-1.0, -2.0], [1.0, 0.0]])
    net = rs.load([(weight, np.zeros(4)), (np.ones((1, 4)), np.zeros(1))])
    x = np.random.default_rng(0).normal(size=(100, 2))
    found = duplicate_units(rs.codespace.sample_codes(net, x))
    assert found.details["first"][0].tolist() == [0, 0, 0, 3]
    assert str(found.finding("num_duplicate_units")) == "2 (EXACT)"
