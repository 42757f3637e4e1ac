"""Kernels that compare units by their hyperplanes against ranks of the functions, pair by pair."""

from itertools import combinations

import numpy as np
import pytest

from reluscope import _kernels

PROPORTIONAL = 1e-9


def packed(pieces, num_planes, width):
    """Pieces (code, unit) as words, plane after plane."""
    words = np.zeros((len(pieces), num_planes, width), dtype=np.uint64)
    for (code, unit), piece in np.ndenumerate(pieces):
        for plane in range(num_planes):
            words[code, plane, unit // 64] |= np.uint64(piece >> plane & 1) << np.uint64(unit % 64)
    return words.reshape(len(pieces), -1)


def gate(seed, *, is_max):
    """A gate whose units flip on few hyperplanes, and codes in three groups that differ in few units."""
    draw = np.random.default_rng(seed)
    num_planes, units = int(draw.integers(1, 4)), int(draw.choice([3, 64, 70]))
    width, number = -(-units // 64), 24
    most = int(draw.integers(2, 2**num_planes + 1))
    pieces = np.repeat(draw.integers(0, most, size=(3, units)), number // 3, axis=0)
    pieces = np.where(draw.random(pieces.shape) < 2 / units, draw.integers(0, most, size=pieces.shape), pieces)
    candidates = most if is_max else 1
    # Multiples of three functions, so that sums and differences of candidates are proportional or clearly not.
    functions = draw.normal(size=(3, 4))
    values = functions[draw.integers(0, 3, size=(3, units, 1))] * draw.choice(
        [-2.0, 1.0, 3.0], (3, units, candidates, 1)
    )
    values[:, draw.random(units) < 0.1] = 0.5
    thresholds = np.zeros((units, 0)) if is_max else draw.choice([0.0, 0.0, 0.0, 0.5], size=(units, most - 1))
    noise = np.full((3, units), 1e-13)
    slot = np.repeat([0, 1, 2], number // 3)
    slot[::5] = -1
    return pieces, (packed(pieces, num_planes, width), num_planes, width, values, noise, thresholds, slot)


def crossed(pieces, table, group, first, second):
    """The functions that vanish where one code goes over into the other."""
    _, _, _, values, _, thresholds, _ = table
    for unit in np.flatnonzero(pieces[first] != pieces[second]):
        own, other = sorted((pieces[first, unit], pieces[second, unit]))
        if thresholds.shape[1] == 0:
            yield values[group, unit, other] - values[group, unit, own]
        else:
            yield from (values[group, unit, 0] - thresholds[unit, step] for step in range(own, other))


def is_possible(functions, line=None):
    """Return whether there is one hyperplane for all functions that are not zero, and whether it is known."""
    functions = [one for one in functions if np.abs(one).max() > 1e-12]
    known = [] if line is None or not line.any() else [line]
    if not known and functions and all(np.ptp(one) <= 1e-12 for one in functions):
        return False, False  # a constant has no zeros
    table = np.array([one / np.linalg.norm(one) for one in functions + known]).reshape(-1, 4)
    possible = len(table) == 0 or np.linalg.matrix_rank(table, tol=1e-8) == 1
    return possible, len(table) > 0


@pytest.mark.few(1)
@pytest.mark.parametrize("is_max", [False, True])
def test_pairs_of_one_hyperplane(is_max):
    num_found = num_unclear = num_later = num_stay = 0
    for seed in range(40):
        pieces, table = gate(seed, is_max=is_max)
        slot, width = table[-1], table[2]
        members = np.flatnonzero(slot >= 0)
        nobody = np.zeros((3, width), dtype=np.uint64)
        pairs, lines, is_clear, end = _kernels.search_pairs(*table, members, nobody, PROPORTIONAL, 0)
        assert end == len(members)
        expected = []
        for first, second in combinations(members, 2):
            if slot[first] != slot[second] or not (pieces[first] != pieces[second]).any():
                continue
            possible, known = is_possible(crossed(pieces, table, slot[first], first, second))
            if possible:
                expected.append((first, second, known))
        assert [(*pair, known) for pair, known in zip(pairs.tolist(), is_clear, strict=True)] == expected
        np.testing.assert_allclose(np.linalg.norm(lines, axis=1), is_clear, atol=1e-12)
        num_found, num_unclear = num_found + len(pairs), num_unclear + (~is_clear).sum()
        # Units that share their hyperplanes with no other rule out what differs in two of them, and nothing else.
        units = np.array([[2**64 - 1] * width] * 3, dtype=np.uint64)
        kept = [(pieces[first] != pieces[second]).sum() == 1 for first, second in pairs]
        np.testing.assert_array_equal(
            _kernels.search_pairs(*table, members, units, PROPORTIONAL, 0)[0], pairs[np.array(kept, dtype=bool)]
        )
        # A later gate has to stay on a hyperplane that is known.
        draw = np.random.default_rng(seed)
        later = np.array([pair for pair in combinations(members, 2) if slot[pair[0]] == slot[pair[1]]])
        line = np.array([next(crossed(pieces, table, slot[a], a, b), np.zeros(4)) for a, b in later])
        line = np.where(draw.random((len(line), 1)) < 0.2, np.roll(line, 1, axis=0), line)
        line /= np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-300)
        stays = _kernels.stays(*table, later, line, PROPORTIONAL)
        truth = [
            is_possible(crossed(pieces, table, slot[a], a, b), one)[0] for (a, b), one in zip(later, line, strict=True)
        ]
        assert stays.tolist() == truth
        num_later, num_stay = num_later + len(later), num_stay + stays.sum()
    assert num_found > 500
    assert num_unclear > 10
    assert 100 < num_stay < num_later - 100


def test_codes_of_pieces_and_units_that_are_not_there_are_refused():
    _, table = gate(0, is_max=False)
    members, nobody = np.flatnonzero(table[-1] >= 0), np.zeros((3, table[2]), dtype=np.uint64)
    random = np.random.default_rng(0).integers(0, 2**64, table[0].shape, dtype=np.uint64)
    with pytest.raises(ValueError, match="expected codes of units and pieces that there are"):
        _kernels.search_pairs(random, *table[1:], members, nobody, PROPORTIONAL, 0)


def test_a_search_of_many_pairs_comes_back_in_between():
    """All codes but the last few are of one group: 18 million pairs, of which none is on one hyperplane."""
    number, words = 6000, np.zeros((6000, 1), dtype=np.uint64)
    words[:, 0] = np.random.default_rng(0).integers(0, 2**64, number, dtype=np.uint64)
    values = np.random.default_rng(1).normal(size=(1, 64, 1, 4))
    table = (words, 1, 1, values, np.full((1, 64), 1e-14), np.zeros((64, 1)), np.zeros(number, dtype=np.int64))
    alone = np.full((1, 1), 2**64 - 1, dtype=np.uint64)
    ends = [0]
    while ends[-1] < number:
        pairs, _, _, end = _kernels.search_pairs(*table, np.arange(number), alone, PROPORTIONAL, ends[-1])
        assert len(pairs) == 0
        ends.append(end)
    assert len(ends) == 3


def test_shapes_that_do_not_belong_together():
    _, table = gate(0, is_max=False)
    members, nobody = np.arange(24), np.zeros((3, table[2]), dtype=np.uint64)
    for place, wrong in ((0, table[0][1:]), (1, 9), (3, table[3][1:]), (4, table[4][:, 1:]), (5, table[5][1:])):
        with pytest.raises(ValueError, match=r"expected .* (all units|every unit)"):
            _kernels.search_pairs(*table[:place], wrong, *table[place + 1 :], members, nobody, PROPORTIONAL, 0)
    with pytest.raises(ValueError, match="expected a bit of every unit and group"):
        _kernels.search_pairs(*table, members, nobody[1:], PROPORTIONAL, 0)
    with pytest.raises(ValueError, match="expected a line of every pair"):
        _kernels.stays(*table, np.zeros((2, 2), dtype=np.int64), np.zeros((2, 3)), PROPORTIONAL)
