"""Samples are chosen by seed, of different classes, and never degenerate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reluscope.analyses.samples.choosing import choose_pairs, choose_samples, choose_triple
from reluscope.geometry.polyhedra.slices import Plane

X = np.random.default_rng(0).normal(size=(60, 4))
CLASSES = np.arange(60) % 5


@pytest.mark.parametrize("seed", range(5))
def test_three_classes_are_chosen_and_the_seed_decides(seed):
    rows = choose_triple(X, CLASSES, seed=seed)
    assert rows is not None
    assert len({int(CLASSES[row]) for row in rows}) == 3
    assert rows == choose_triple(X.copy(), CLASSES.copy(), seed=seed)


def test_other_seeds_choose_others():
    assert len({choose_triple(X, CLASSES, seed=seed) for seed in range(10)}) > 5


def test_two_classes_or_one_suffice():
    for classes in (CLASSES % 2, CLASSES * 0):
        rows = choose_triple(X, classes)
        assert rows is not None
        assert len(set(rows)) == 3


def test_points_on_a_line_are_skipped():
    line = np.outer(np.arange(50.0), [1.0, 2.0, 3.0])
    assert choose_triple(line, np.arange(50) % 3) is None
    rows = choose_triple(np.r_[line, [[0.0, 0.0, 1.0]]], np.arange(51) % 3)
    assert rows is not None
    assert 50 in rows


@pytest.mark.parametrize("number", [1, 2])
def test_too_few_points(number):
    assert choose_triple(X[:number], CLASSES[:number]) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=8), st.integers(0, 100))
def test_whatever_is_chosen_spans_a_plane(points, seed):
    array = np.array(points, dtype=float)
    rows = choose_triple(array, np.arange(len(array)) % 3, seed=seed)
    rank = np.linalg.matrix_rank(np.unique(array, axis=0) - array[0])
    if rows is None:
        assert rank < 2
    else:
        Plane(*array[list(rows)])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12),
    st.integers(1, 6),
    st.integers(0, 100),
)
def test_pairs_are_different_points_and_as_many_as_there_are(samples, number, seed):
    points = np.array([[value] for value, _ in samples], dtype=float)
    classes = np.array([one for _, one in samples])
    pairs = choose_pairs(points, classes, number, seed=seed)
    found = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(points[a] != points[b] for a, b in found)
    assert (pairs.same == (classes[pairs.first] == classes[pairs.second])).all()
    possible = [classes[a] == classes[b] for a in range(len(points)) for b in range(a) if points[a, 0] != points[b, 0]]
    assert pairs.same.sum() == min(number, sum(possible))
    assert (~pairs.same).sum() == min(number, len(possible) - sum(possible))


def test_pairs_of_many_samples():
    points = np.random.default_rng(0).normal(size=(5000, 2))
    classes = np.arange(5000) % 100
    pairs = choose_pairs(points, classes, 50, seed=1)
    assert pairs.same.sum() == (~pairs.same).sum() == 50
    again = choose_pairs(points, classes, 50, seed=1)
    assert np.array_equal(pairs.first, again.first)


@pytest.mark.parametrize("number", [0, 1, 3, 6, 100])
def test_a_few_samples_are_of_as_many_classes_as_there_are(number):
    classes = np.random.default_rng(0).integers(0, 5, 40) * 2
    chosen = choose_samples(classes, number, seed=3)
    assert len(chosen) == len(set(chosen.tolist())) == min(number, 40)
    assert len(np.unique(classes[chosen])) == min(number, 5)
    assert (np.diff(classes[chosen]) >= 0).all()
    assert np.array_equal(chosen, choose_samples(classes, number, seed=3))
    if 1 <= number < 40:
        assert not np.array_equal(chosen, choose_samples(classes, number, seed=4))


def test_a_few_samples_of_one_class():
    assert sorted(choose_samples(np.zeros(4, dtype=int), 6).tolist()) == [0, 1, 2, 3]
    assert len(choose_samples(np.zeros(0, dtype=int), 6)) == 0
