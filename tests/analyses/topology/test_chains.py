"""Ranks over two elements: against elimination in dense matrices, whatever the order of faces."""

import itertools

import numpy as np
import pytest

from analyses.topology import dull
from reluscope.analyses.topology.chains import NONE, Chains, betti_numbers, pivots


def chains_of_simplices(simplices, dim):
    """Chains of the closure of simplices."""
    closed = [set() for _ in range(dim + 1)]
    for simplex in simplices:
        for size in range(1, len(simplex) + 1):
            closed[size - 1] |= set(itertools.combinations(sorted(simplex), size))
    faces = [sorted(some) for some in closed]
    offsets, ids = [], []
    for k in range(1, dim + 1):
        place = {face: row for row, face in enumerate(faces[k - 1])}
        offsets.append((k + 1) * np.arange(len(faces[k]) + 1))
        ids.append(np.array([place[part] for face in faces[k] for part in itertools.combinations(face, k)], dtype=int))
    return Chains(tuple(map(len, faces)), tuple(offsets), tuple(ids)), faces


# Seven vertices: the torus of Moebius and Csaszar; six: the projective plane, which has torsion.
TORUS = [(i, (i + 1) % 7, (i + 3) % 7) for i in range(7)] + [(i, (i + 2) % 7, (i + 3) % 7) for i in range(7)]
PROJECTIVE = [
    (0, 1, 4), (0, 1, 5), (0, 2, 3), (0, 2, 5), (0, 3, 4), (1, 2, 3), (1, 2, 4), (1, 3, 5), (2, 4, 5), (3, 4, 5),
]  # fmt: skip


def test_surfaces():
    assert betti_numbers(chains_of_simplices(TORUS, 2)[0]) == [1, 2, 1]
    assert betti_numbers(chains_of_simplices(PROJECTIVE, 2)[0]) == [1, 1, 1]
    assert dull.betti_of_simplices(TORUS, 2) == [1, 2, 1]


@pytest.mark.parametrize("seed", range(20))
def test_random_complexes_in_any_order(seed):
    rng = np.random.default_rng(seed)
    simplices = [tuple(rng.choice(8, size=rng.integers(1, 5), replace=False).tolist()) for _ in range(14)]
    chains, faces = chains_of_simplices(simplices, 3)
    expected = dull.betti_of_simplices(simplices, 3)
    assert betti_numbers(chains) == expected
    heights = rng.integers(0, 4, len(faces[0])).astype(float)
    swept, orders = chains.swept(heights)
    assert betti_numbers(swept) == expected
    # Before any height the faces are a closed subcomplex: what is below it.
    for level in range(4):
        is_below = [
            np.array([max(heights[faces[0].index((v,))] for v in face) <= level for face in some], dtype=bool)
            for some in faces
        ]
        below = [one[order] for one, order in zip(is_below, orders, strict=True)]
        assert all((np.diff(one.astype(int)) <= 0).all() for one in below)
        kept = [face for some, inside in zip(faces, is_below, strict=True) for face in np.array(some, object)[inside]]
        assert betti_numbers(swept.only(below)) == dull.betti_of_simplices([tuple(face) for face in kept], 3)


def test_relative_chains():
    ball = chains_of_simplices([(0, 1, 2, 3)], 3)[0]
    inside = [np.zeros(4, bool), np.zeros(6, bool), np.zeros(4, bool), np.ones(1, bool)]
    assert betti_numbers(ball.only(inside)) == [0, 0, 0, 1]


def test_nothing_at_all():
    nothing = Chains((0, 0), (np.zeros(1, dtype=np.int64),), (np.zeros(0, dtype=np.int64),))
    assert betti_numbers(nothing) == betti_numbers(nothing.swept(np.zeros(0))[0]) == [0, 0]


def test_every_pivot_pairs_a_row_with_one_column():
    for found in pivots(chains_of_simplices(TORUS, 2)[0]):
        used = found[found != NONE]
        assert len(set(used.tolist())) == len(used)
