import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from codes.plain import codes, random_codes
from reluscope._kernels import are_rows_equal
from reluscope.codes import CodeLayout, Codes, GateLayout
from reluscope.codes.distinct import group_equal_rows


@given(codes())
def test_distinct_codes_are_those_of_numpy(packed_and_plain):
    packed, plain = packed_and_plain
    distinct, index, inverse, counts = packed.unique(return_index=True, return_inverse=True, return_counts=True)
    if plain.shape[1] == 0:  # numpy has no rows of no columns
        assert len(distinct) == min(1, len(plain))
        assert counts.sum() == len(plain)
        return
    rows, first, expected_counts = np.unique(plain, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)  # numpy sorts by content, we keep the order of appearance
    np.testing.assert_array_equal(distinct.to_array(), rows[order])
    np.testing.assert_array_equal(index, first[order])
    np.testing.assert_array_equal(counts, expected_counts[order])
    assert distinct[inverse] == packed
    assert packed.unique() == distinct


@given(hnp.arrays(np.uint64, st.tuples(st.integers(0, 40), st.integers(1, 3)), elements=st.sampled_from([0, 1, 2**63])))
def test_rows_of_a_few_words(words):
    first, inverse, counts = group_equal_rows(words)
    np.testing.assert_array_equal(words[first][inverse], words)
    assert len(first) == len({tuple(row) for row in words.tolist()})
    np.testing.assert_array_equal(np.bincount(inverse, minlength=len(first)), counts)
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("num_pieces", [2, 3])
def test_many_codes(num_pieces):
    layout = CodeLayout((GateLayout("a", 200, num_pieces), GateLayout("b", 33)))
    packed, _ = random_codes(layout, 5_000)
    picked = np.random.default_rng(1).integers(0, 5_000, 20_000)
    distinct, inverse, counts = packed[picked].unique(return_inverse=True, return_counts=True)
    assert len(distinct) == len(np.unique(picked))
    assert distinct[inverse] == packed[picked]
    np.testing.assert_array_equal(np.sort(counts), np.sort(np.unique(picked, return_counts=True)[1]))


def test_no_codes():
    none = Codes.from_pieces([np.zeros((0, 3), dtype=bool)], CodeLayout((GateLayout("relu", 3),)))
    distinct, counts = none.unique(return_counts=True)
    assert len(distinct) == len(counts) == 0


def test_equal_hashes_are_told_apart():
    def mixed(word):  # the hash after one word, as in the kernel
        key = (0x9E3779B97F4A7C15 ^ word) * 0xD6E8FEB86659FD93 % 2**64
        return key ^ key >> 32

    second = 5
    colliding = np.array([[1, second], [2, second ^ mixed(1) ^ mixed(2)], [1, second]], dtype=np.uint64)
    first, inverse, counts = group_equal_rows(colliding)
    assert (first.tolist(), inverse.tolist(), counts.tolist()) == ([0, 1], [0, 1, 0], [2, 1])


def test_pairs_of_equal_rows():
    words = np.array([[1, 2], [1, 3], [1, 2], [0, 2]], dtype=np.uint64)
    first, second = np.array([0, 0, 0, 1]), np.array([2, 1, 3, 1])
    assert are_rows_equal(words, first, second).tolist() == [True, False, False, True]
