"""Max gates on a few cells: dominated candidates go, the others are paired, the lowest of the largest names a cell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reluscope.partitions.complexes.candidates import find_rivals, settle, winners

ROUNDING = 1e-12


def rivals_of(table):
    """Candidates of one unit: a row per vertex."""
    pre = np.array(table, dtype=float)[:, None, :]
    bound = np.full(pre.shape[1:], ROUNDING)
    return find_rivals(pre, bound, bound)


def pairs_of(table):
    return rivals_of(table).pairs[:, 1:].tolist()


def test_a_dominated_candidate_is_dropped():
    found = rivals_of([[1, 0, -5], [0, 1, -6], [2, 2, -7]])
    assert found.pairs.tolist() == [[0, 0, 1]]
    assert found.heights.ravel().tolist() == [1, -1, 0]
    assert found.open_units.tolist() == [0]


def test_one_winner_needs_no_cut():
    found = rivals_of([[0, 5, 1], [0, 6, 1]])
    assert (found.pairs.tolist(), found.winner.tolist(), found.open_units.tolist()) == ([], [1], [])


def test_of_equal_candidates_the_first_stays():
    assert pairs_of([[3, 1, 1], [0, 2, 2]]) == [[0, 1]]
    found = rivals_of([[2, 2], [3, 3]])
    assert (found.pairs.tolist(), found.winner.tolist(), found.open_units.tolist()) == ([], [0], [])


def test_what_is_not_clearly_behind_is_a_rival():
    assert pairs_of([[1, 1 + 1e-13], [2 + 1e-13, 2]]) == [[0, 1]]
    assert pairs_of([[1, 1 + 1e-13], [2, 2 + 1e-13]]) == [[0, 1]]
    assert pairs_of([[1, 1 + 1e-11], [2, 2 + 1e-11]]) == []


def test_equal_floats_may_be_unequal_numbers():
    pre = np.array([[[3.0, 1, 1]], [[0, 2, 2]]])
    bound = np.full((1, 3), ROUNDING)
    assert find_rivals(pre, bound, bound, ties=False).pairs[:, 1:].tolist() == [[0, 1], [0, 2], [1, 2]]


def test_a_dropped_candidate_that_ties_somewhere_keeps_the_unit_open():
    # Candidate 0 never leads, but on a cell where both tie it is the lower one.
    found = rivals_of([[0, 0], [0, 0], [0, 1]])
    assert (found.pairs.tolist(), found.winner.tolist(), found.open_units.tolist()) == ([], [1], [0])


def test_padding_is_no_candidate():
    found = rivals_of([[-np.inf, 1, 0], [-np.inf, 0, 1]])
    assert found.pairs[:, 1:].tolist() == [[1, 2]]
    assert np.isfinite(found.heights).all()


def test_many_units_are_numbered():
    pre = np.zeros((2, 40, 3))
    pre[0, :, 0], pre[1, :, 2] = 1, 1
    found = find_rivals(pre, np.full((40, 3), ROUNDING), np.full((40, 3), ROUNDING))
    assert found.pairs.tolist() == [[unit, 0, 2] for unit in range(40)]


def names_of(table, cells):
    pre = np.array(table, dtype=float)[:, None, :]
    offsets, ids = np.cumsum([0, *map(len, cells)]), np.concatenate(cells).astype(np.int32)
    return winners(pre, np.array([0]), offsets, ids)[:, 0].tolist()


def test_names_of_cells():
    table = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]]
    assert names_of(table, [[0, 3], [1, 3], [3]]) == [0, 1, 0]
    assert names_of([[0, 1, 1], [0, 2, 2]], [[0, 1]]) == [1]
    assert names_of([[-np.inf, 1, 1], [-np.inf, 2, 2]], [[0, 1]]) == [1]
    assert names_of([[0, 1e-300], [0, 0]], [[0, 1]]) == [1]


def settled(values, *tied):
    pre = np.array(values, dtype=float)[None, None, :]
    pairs = np.array([(0, *pair) for pair in tied])
    settle(pre, pairs, np.zeros((1, len(pairs))))
    return pre[0, 0].tolist()


def test_candidates_that_tie_are_set_equal():
    assert settled([1.0, 1 + 1e-16, 5], (0, 1)) == [1, 1, 5]
    assert settled([2.0, 1 - 1e-15, 2.0, 1.0], (1, 3)) == [2, 1 - 1e-15, 2, 1 - 1e-15]


def test_copies_follow_and_ties_chain():
    assert settled([1e-15, 1.0, 1e-15, 2e-15], (0, 3)) == [1e-15, 1, 1e-15, 1e-15]
    assert settled([1.0, 1 + 4e-15, 1 + 8e-15], (0, 1), (1, 2)) == [1, 1, 1]


def test_what_ties_with_zero_is_zero():
    assert settled([-1e-17, 0.0, -1e-17], (0, 1)) == [0, 0, 0]
    assert settled([0.0, -1e-17], (0, 1)) == [0, 0]


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=2, max_size=5))
def test_no_winner_is_dropped(table):
    """Whoever is largest somewhere between the vertices is in a pair, the winner, or the equal of one of them."""
    found = rivals_of(table)
    kept = {int(found.winner[0]), *found.pairs[:, 1:].ravel().tolist()}
    weights = np.random.default_rng(0).dirichlet(np.ones(len(table)), 50)
    for values in weights @ np.array(table, dtype=float):
        assert values[sorted(kept)].max() >= values.max() - 1e-9
