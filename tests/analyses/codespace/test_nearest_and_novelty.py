"""Nearest codes against sorted tables of distances and against SciPy; scores of new samples; AUROC against pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import reluscope as rs
from reluscope.analyses.codespace import SampleCodes, auroc, nearest_codes, novelty

SHORT = rs.CodeLayout((rs.GateLayout("relu", 9), rs.GateLayout("pool", 4, 5)))
LONG = rs.CodeLayout((rs.GateLayout("first", 700), rs.GateLayout("second", 500)))


def codes_of(layout, size, seed, most=2):
    generator = np.random.default_rng(seed)
    pieces = [generator.integers(0, min(most, gate.num_pieces), (size, gate.num_units)) for gate in layout]
    return rs.Codes.from_pieces(pieces, layout)


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 4), st.sampled_from([SHORT, LONG]))
def test_nearest_are_the_first_of_the_sorted_table(seed, size, k, layout):
    codes, queries = codes_of(layout, size, seed), codes_of(layout, 7, seed + 1)
    k = min(k, size - 1)
    table = cdist(queries.to_array(), codes.to_array(), "hamming") * layout.num_units
    table = table.round().astype(np.int64)
    distances, rows = nearest_codes(codes, queries, k=k)
    order = np.argsort(table, axis=1, kind="stable")[:, :k]
    assert np.array_equal(rows, order)
    assert np.array_equal(distances, np.take_along_axis(table, order, axis=1))
    among = cdist(codes.to_array(), codes.to_array(), "hamming") * layout.num_units
    among[np.arange(size), np.arange(size)] = np.inf
    order = np.argsort(among.round(), axis=1, kind="stable")[:, :k]
    assert np.array_equal(nearest_codes(codes, k=k)[1], order)


def test_more_rows_than_a_tile():
    codes = codes_of(LONG, 1100, 0)
    distances, rows = nearest_codes(codes, k=3)
    table = codes.distance().astype(np.int64)
    table[np.arange(1100), np.arange(1100)] = 10**6
    assert np.array_equal(rows, np.argsort(table, axis=1, kind="stable")[:, :3])
    assert np.array_equal(distances, np.sort(table, axis=1)[:, :3])


def test_equal_codes_are_neighbours_at_distance_zero():
    codes = codes_of(SHORT, 1, 0)[[0, 0, 0]]
    distances, rows = nearest_codes(codes, k=2)
    assert not distances.any()
    assert rows.tolist() == [[1, 2], [0, 2], [0, 1]]


def samples_of(codes):
    return SampleCodes(codes, np.zeros((len(codes), len(codes.layout)), dtype=bool), 0.0)


def test_what_cannot_be_asked():
    codes = codes_of(SHORT, 3, 0)
    with pytest.raises(rs.errors.InputError, match="k from 1 to 2"):
        nearest_codes(codes, k=3)
    with pytest.raises(rs.errors.InputError, match="can be compared"):
        nearest_codes(codes, codes_of(LONG, 2, 0))
    with pytest.raises(rs.errors.InputError, match="0 samples"):
        novelty(samples_of(codes), samples_of(codes[:0]))
    with pytest.raises(rs.errors.InputError, match="got 0 and 1"):
        auroc(np.zeros(0), np.zeros(1))


def test_scores_are_means_over_distinct_occupied_codes():
    data = codes_of(SHORT, 30, 0)[np.repeat(np.arange(30), 2)]
    queries = codes_of(SHORT, 20, 1)
    table = np.sort(queries.distance(data.unique()).astype(np.int64), axis=1)
    found = novelty(samples_of(data), samples_of(queries), k=3)
    assert np.allclose(found["novelty"].value, table[:, :3].mean(axis=1))
    assert np.array_equal(found["is_in_unoccupied_cell"].value, table[:, 0] > 0)
    assert float(found.share("is_in_unoccupied_cell")) == pytest.approx((table[:, 0] > 0).mean())
    assert found.share("is_in_unoccupied_cell").claim is rs.Claim.EXACT
    assert not novelty(samples_of(data), samples_of(data))["is_in_unoccupied_cell"].value.any()
    assert np.allclose(
        novelty(samples_of(data[:1]), samples_of(queries), k=5)["novelty"].value, queries.distance(data[:1])[:, 0]
    )


def test_codes_in_doubt_make_estimates():
    net = rs.load([(np.array([[0.1, 0.3]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    data = rs.codespace.sample_codes(net, [[1.0, 1.0]])
    on_a_kink = rs.codespace.sample_codes(net, [[3.0, -1.0], [1.0, 2.0]])
    share = novelty(data, on_a_kink).share("is_in_unoccupied_cell")
    assert (float(share), share.interval) == (0.0, (0.0, 0.5))
    found = novelty(data, on_a_kink)["novelty"]
    assert auroc(np.zeros(1), found).interval == (0.5, 0.75)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_auroc_against_all_pairs(inside, outside):
    pairs = [(b > a) + 0.5 * (b == a) for a in inside for b in outside]
    assert float(auroc(np.array(inside, dtype=float), np.array(outside, dtype=float))) == pytest.approx(np.mean(pairs))


@given(st.integers(0, 10**6), st.sampled_from([SHORT, LONG]), st.sampled_from([None, 0, 1, 2, 5]))
def test_truncated_distance_is_a_metric(seed, layout, threshold):
    codes = codes_of(layout, 12, seed)
    table = codes.distance(threshold=threshold).astype(np.int64)
    exact = (codes.to_array()[:, None] != codes.to_array()).sum(axis=2)
    assert np.array_equal(table, exact if threshold is None else np.minimum(exact, threshold))
    assert np.array_equal(table, table.T)
    assert not table.diagonal().any()
    if threshold != 0:
        assert np.array_equal(table == 0, exact == 0)
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :]).all()
