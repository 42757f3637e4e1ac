"""Derivatives along directions against rationals, and what is found by them for units of any scale."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

import reluscope as rs
from oracles.rational_steps import affine, network_of
from reluscope.analyses.counting.exact_complex import ExactComplex
from reluscope.analyses.counting.lower_faces import face_codes
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.pieces_across import pieces_across
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.maps import AffineValue, RoundedMaps, along_directions, flat_entries, slopes_of_units
from reluscope.regions.neighbors import _reach
from reluscope.testing import default_network

UNIT = 16 * np.finfo(float).eps
SCALES = [-300, -100, 40, 100, 300]


def scaled(parameters, power, unit=0):
    """The same function: a hidden unit of every layer times a power of two, and what reads it divided by that."""
    layers = [(np.array(weight, dtype=float), np.array(bias, dtype=float)) for weight, bias in parameters]
    for (weight, bias), (following, _) in pairwise(layers):
        weight[unit] *= 2.0**power
        bias[unit] *= 2.0**power
        following[:, unit] *= 2.0**-power
    return from_arrays(layers)


def along_all(net, pieces, directions):
    carrier, found = RoundedMaps(UNIT, has_constant=False), []
    walk = carry(net, carrier, along_directions(net, directions))
    for stage, held in zip(net.stages, pieces, strict=True):
        found.append(slopes_of_units(stage.gate, next(walk)))
        carrier.hold(torch.tensor(held))
    return found


@pytest.mark.parametrize("power", [0, *SCALES])
def test_errors_hold_and_are_small(power):
    net = scaled(default_network([3, 6, 5, 4, 2], seed=1), power)
    points, directions = np.random.default_rng(0).uniform(-1, 1, (2, 8, 3))
    pieces = [piece.astype(np.int64) for piece in pieces_of(net.codes(points))]
    exact = RationalNetwork(net)
    for row, direction in enumerate(directions):
        held = [piece[row].tolist() for piece in pieces]
        start, stop = (
            exact.held(held, [Fraction(float(entry)) for entry in point]) for point in (np.zeros(3), direction)
        )
        for stage, (values, errors) in enumerate(along_all(net, pieces, directions)):
            for unit, (value, error) in enumerate(zip(values[row], errors[row], strict=True)):
                truth = stop[stage][unit] - start[stage][unit]
                assert abs(Fraction(float(value)) - truth) <= Fraction(float(error))
                assert error <= 1e-11 * 2.0 ** (power if unit == 0 else 0)


def test_rounding_of_earlier_derivatives_decides():
    """(1/3 + 1/3) - 2/3 along (1, 1): the sum of two derivatives that cancel is their rounding."""
    third = 1.0 / 3.0
    net = from_arrays(
        [([[third, third * 7], [third * 2, third * 6]], [1.0, 1.0]), ([[1.0, -1.0]], [1.0]), ([[1.0]], [0.0])]
    )
    values, errors = along_all(
        net, [np.ones((1, 2), dtype=np.int64), np.ones((1, 1), dtype=np.int64)], np.ones((1, 2))
    )[1]
    assert abs(values[0, 0]) <= errors[0, 0] < 1e-13


@pytest.mark.few(1)
@pytest.mark.parametrize("power", SCALES)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_beyond_facets_does_not_depend_on_scales(seed, power):
    parameters = default_network([2, 6, 5, 4, 2], seed)
    net, other = scaled(parameters, 0), scaled(parameters, power)
    points = np.random.default_rng(seed).uniform(-1, 1, (6, 2))
    for point in points:
        around = rs.neighbors(net, point, domain=rs.Box(-2, 2, 2))
        crossed = [around.region.sources[rows] for rows in around.rows]
        normals = around.region.polyhedron.A[[rows[0] for rows in around.rows]]
        normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        pieces = [piece[0] for piece in pieces_of(around.region.code)]
        beyond, same = (pieces_across(one, pieces, crossed, normals, rounding=UNIT) for one in (net, other))
        for table, twin in zip(beyond, same, strict=True):
            np.testing.assert_array_equal(table, twin)
        reach, twin = (_reach(one, beyond, around.on_facets, normals, UNIT) for one in (net, other))
        np.testing.assert_allclose(twin, reach, rtol=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize("power", SCALES)
def test_adjacency_of_the_tree_does_not_depend_on_scales(power):
    parameters = default_network([2, 6, 5, 4, 2], seed=0)
    found = [
        rs.partition(scaled(parameters, k), rs.Box(-2, 2, 2), method="tree").adjacency_finding() for k in (0, power)
    ]
    assert (found[0].claim, int(found[0])) == (found[1].claim, int(found[1]))
    assert found[0].claim == "EXACT"


@pytest.mark.parametrize("power", SCALES)
def test_codes_of_faces_ask_for_no_more_fractions_at_other_scales(power):
    parameters = default_network([2, 6, 5, 4, 2], seed=0)
    parts = [rs.certify(rs.partition(scaled(parameters, k), rs.Box(-2, 2, 2))) for k in (0, power)]
    plain, other = (face_codes(ExactComplex(part)) for part in parts)
    assert (len(other.codes), other.num_undecided) == (len(plain.codes), 0)
    assert other.num_exact <= plain.num_exact + 2


def test_constants_are_carried_with_their_rounding():
    """``2 (x / 3 + 1/7) + 1/5``, and a unit with an intercept of its own; with a coarse unit of rounding."""
    unit, third, seventh, fifth = 2.0**-6, 1.0 / 3.0, 1.0 / 7.0, 0.2
    kink = ("pointwise", [0.0, 1.0], [0.0, 1.0, 3.0], [0.0, 0.0, -2.0])
    net = network_of([affine([[third]], [seventh]), kink, affine([[2.0]], [fifth])], 1)
    start = AffineValue(torch.tensor([[[1.0], [0.0]]]).double(), torch.zeros(1, 2, 1, dtype=torch.float64))
    for piece, slope, intercept in ((1, 1.0, 0.0), (2, 3.0, -2.0)):
        carrier = RoundedMaps(unit, has_constant=True)
        walk = carry(net, carrier, start)
        arrived = next(walk)
        assert arrived.coefficients.flatten().tolist() == [third, seventh]
        before = [unit * third, unit * seventh]
        assert arrived.errors.flatten().tolist() == pytest.approx(before, rel=1e-14, abs=0)
        carrier.hold(torch.tensor([[piece]]))
        left = next(walk)
        values = [slope * third, slope * seventh + intercept]
        own = [0.0, 0.0] if piece == 1 else [unit * slope * third, unit * (slope * seventh + abs(intercept))]
        errors = [slope * error + more for error, more in zip(before, own, strict=True)]
        expected = [2 * (errors[0] + unit * values[0]), 2 * (errors[1] + unit * abs(values[1])) + unit * fifth]
        assert left.coefficients.flatten().tolist() == pytest.approx([2 * values[0], 2 * values[1] + fifth])
        assert left.errors.flatten().tolist() == pytest.approx(expected, rel=1e-12, abs=0)


def test_values_without_a_shape_have_one_entry():
    assert flat_entries(torch.zeros(3, 2)).shape == (3, 2, 1)
    assert flat_entries(torch.zeros(3, 2, 5)).shape == (3, 2, 5)
    assert flat_entries(torch.zeros(3, 2, 5, 4)).shape == (3, 2, 20)
