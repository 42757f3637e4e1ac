"""Inputs with the same features where rounding decides on which side of a kink the input is: against fractions."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from fuzzer import true_answers as answers

# The weights and offsets of a layer, the input, and the target: EXACT before, by up to all of the distance off.
CASES = [
    (
        [[-7.248161836825524, 1.0907905652030884e-06]],
        [-0.9468841453035391],
        [-0.07342864194230682, 380147.6454558271],
        [1.7566679241765106, 260577.6645768764],
    ),
    (
        [[0.2, 0.2]],
        [0.2722504250417443],
        [-5.4975896853547095, 4.136337560145988],
        [-9.79604003188457, 3.9533991474934704],
    ),
]


def truth_of(W, b, x, goal):
    """Return the square of the least distance of inputs with the features of x, in fractions."""
    rows = []
    for weights, offset in zip(W, b, strict=True):
        slopes = [Fraction(entry) for entry in weights]
        moved = sum(slope * Fraction(entry) for slope, entry in zip(slopes, x, strict=True))
        if moved + Fraction(offset) > 0:
            rows += [(*slopes, -moved), (*(-slope for slope in slopes), moved)]
        else:
            rows.append((*(-slope for slope in slopes), -Fraction(offset)))
    point = [Fraction(entry) for entry in goal]
    inside = all(sum(a * t for a, t in zip(row, point, strict=False)) + row[-1] >= 0 for row in rows)
    return Fraction(0) if inside else answers._square_distance(rows, point)


@pytest.mark.parametrize(("W", "b", "x", "goal"), CASES)
def test_least_distances_hold_where_rounding_decides_about_pieces(W, b, x, goal):
    found = rs.preimages.invariant(
        rs.load([(np.array(W), np.array(b)), (np.ones((1, len(W))), np.zeros(1))]), x, target=goal, norm="l2", gate=0
    )
    truth = float(truth_of(W, b, x, goal)) ** 0.5
    value, off = found.objective.value, found.objective.tolerance or 0.0
    low, high = found.objective.interval or (value - off, value + off)
    assert low <= truth * (1 + 1e-9) + 1e-12
    assert truth <= high * (1 + 1e-9) + 1e-12
