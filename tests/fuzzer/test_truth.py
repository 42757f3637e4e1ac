"""The oracle against published counts under the six definitions, and against arrangements counted by formula."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from fuzzer import true_cones as cones
from fuzzer.heights import largest_share_squared, smallest_height_squared
from fuzzer.true_layers import Dense, TrueLargest, TruePointwise
from fuzzer.truth import TooLargeError, TrueDomain, Truth


def dense(weight, bias):
    return Dense(tuple(tuple(map(Fraction, row)) for row in weight), tuple(map(Fraction, bias)))


def relu(units):
    zero, one = Fraction(0), Fraction(1)
    return TruePointwise(((zero,),) * units, (((zero, zero), (one, zero)),) * units)


EVERYWHERE = {n: TrueDomain(n, ()) for n in (1, 2, 3)}

# reference.md, section 1: R1, R2, R4, R5, R6; None where it does not say.
MINIMUM = [
    dense([[1, 0], [0, 1], [0, -1]], [0, 0, 0]),
    relu(3),
    dense([[-1, 1, -1], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
    relu(3),
    dense([[1, -1, 1]], [0]),
]
TOUCHING = [
    dense([[-1, 0], [0, -1], [1, 0], [0, 1]], [0] * 4),
    TrueLargest(((0, 1), (2, 3))),
    dense([[-1, 0], [0, -1]], [0, 0]),
    relu(2),
    dense([[1, -1]], [0]),
]
CLAMPED = [
    dense([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4),
    relu(4),
    dense([[-1, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [2, 0, 0]),
    relu(3),
    dense([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 1, -1]], [0] * 4),
    relu(4),
    dense([[1, 1, -1, -1], [1, 0, 0, 0]], [0, 0]),
    relu(2),
    dense([[1, -1]], [0]),
]
EXAMPLES = {
    "min and max": (2, MINIMUM, (7, 5, 3, 3, 3)),
    "absolute value": (1, [dense([[1], [-1]], [0, 0]), relu(2), dense([[1, 1]], [0])], (3, 2, 2, 2, 2)),
    "identity": (1, [dense([[1], [-1]], [0, 0]), relu(2), dense([[1, -1]], [0])], (3, 2, 1, 1, 1)),
    "hat": (1, [dense([[1]] * 3, [0, -1, -2]), relu(3), dense([[1, -2, 1]], [0])], (None, None, 4, 4, 3)),
    "touching quadrants": (2, TOUCHING, (None, None, 6, 3, 3)),
    "clamp between tents": (2, CLAMPED, (None, None, 7, 6, 6)),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_six_definitions(name):
    dimension, layers, expected = EXAMPLES[name]
    truth = Truth(layers, EVERYWHERE[dimension])
    found = (
        len(truth.codes),
        len(truth.regions),
        truth.num_open_connected,
        truth.num_closed_connected,
        len(truth.maps),
    )
    assert [a for a, b in zip(found, expected, strict=True) if b is not None] == [b for b in expected if b is not None]


@pytest.mark.parametrize(("dimension", "units"), [(1, 5), (2, 5), (3, 5)])
def test_hyperplanes_in_general_position(dimension, units):
    generator = np.random.default_rng(dimension)
    weight, bias = generator.normal(size=(units, dimension)), generator.normal(size=units)
    truth = Truth([dense(weight, bias), relu(units), dense(np.ones((1, units)), [0])], EVERYWHERE[dimension])
    assert len(truth.regions) == sum(comb(units, j) for j in range(dimension + 1))
    assert len(truth.codes) == len(truth.regions)
    # Two neighbours differ in one unit, and each pair of codes at distance one shares a facet.
    pairs = {
        (i, j)
        for i, one in enumerate(truth.regions)
        for j, other in enumerate(truth.regions)
        if i < j and sum(a != b for a, b in zip(one.code, other.code, strict=True)) == 1
    }
    assert {tuple(sorted(pair)) for pair in truth.adjacency} == pairs


def test_volumes_fill_the_domain_and_thickness_is_that_of_the_sliver():
    rows = [(Fraction(s) if i == j else Fraction(0)) for i in range(2) for s in (1, -1) for j in range(2)]
    square = TrueDomain(2, tuple((*rows[k : k + 2], Fraction(1)) for k in range(0, 8, 2)))
    sliver = Fraction(1, 10**15)
    truth = Truth([dense([[1, 0], [1, 0]], [0, sliver]), relu(2), dense([[1, 1]], [0])], square)
    assert len(truth.regions) == 3
    assert sum(truth.volumes) == 4
    assert min(truth.thicknesses_squared) == sliver**2
    assert truth.diameter_squared == 8
    assert truth.containing((Fraction(0), Fraction(0))) == [
        i for i, cell in enumerate(truth.regions) if cell.code in ((0, 1), (1, 1))
    ]


def test_equal_candidates_are_one_piece_and_padding_keeps_its_number():
    layers = [dense([[1], [1], [-1]], [0, 0, 0]), TrueLargest(((None, 0, 1), (1, 2, None))), dense([[1, 1]], [0])]
    assert {cell.code for cell in Truth(layers, EVERYWHERE[1]).regions} == {(1, 0), (1, 1)}


def test_a_large_case_is_given_up():
    generator = np.random.default_rng(0)
    layers = [dense(generator.normal(size=(8, 2)), generator.normal(size=8)), relu(8), dense(np.ones((1, 8)), [0])]
    truth = Truth(layers, EVERYWHERE[2], most_cells=10)
    with pytest.raises(TooLargeError):
        len(truth.regions)


def test_the_share_of_a_wedge_is_its_angle_and_that_of_a_slab_goes_with_its_place():
    angle = Fraction(1, 10**6)
    wedge = cones.polyhedron(2, [(0, 1, 0), (angle, -1, 0)])
    assert float(largest_share_squared(wedge)) == pytest.approx(1e-12)
    slab = cones.polyhedron(2, [(1, 0, -1000), (-1, 0, 1001)])
    assert largest_share_squared(slab) == Fraction(1, 1001) ** 2
    assert largest_share_squared(cones.polyhedron(1, [(1, 0), (-1, 1)])) == 1
    assert smallest_height_squared(wedge) is None
    assert smallest_height_squared(slab) == 1
