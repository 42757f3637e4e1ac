"""Units that are constant on a region, and so near a breakpoint there that rounding hides their sign.

Clamped units are saturated at 0 or 1 far out, where the next layer adds up tenths: in floats their sums are zero or a
few 1e-17, and the truth, of the floats taken as numbers, may be either or the other sign.
"""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.networks.fractions.rational import RationalNetwork


def linear(weight, bias):
    layer = nn.Linear(np.shape(weight)[1], len(weight), dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight, dtype=torch.float64))
        layer.bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return layer


def saturated_sums(seed, dim):
    generator = np.random.default_rng(seed)
    num_clamped = 3 + dim
    first = linear(generator.integers(-3, 4, size=(num_clamped, dim)) + 0.5, generator.integers(-4, 5, num_clamped))
    tenths = generator.integers(-3, 4, size=(3, num_clamped)) / 10
    # A sum of tenths that some pattern of ones reaches, up to rounding.
    ones = generator.integers(0, 2, size=(3, num_clamped))
    bias = [-sum(float(a) for a in row[one == 1]) for row, one in zip(tenths, ones, strict=True)]
    clamp = nn.Hardtanh(0.0, 1.0) if seed % 2 else nn.Hardsigmoid()
    return rs.load(nn.Sequential(first, clamp, linear(tenths, bias), nn.ReLU(), linear([[1.0, 1.0, 1.0]], [0.0])))


def true_codes(net, points):
    exact = RationalNetwork(net)
    gates = (exact.pieces([Fraction(x) for x in point]) for point in points.tolist())
    return [[piece for gate in pieces for piece in gate] for pieces in gates]


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_regions_have_the_codes_of_their_witnesses(method, dim):
    """Seen red on cells cut one by one, and on cones of the tree."""
    num_hidden = 0
    for seed in range(6):
        net = saturated_sums(seed, dim)
        domains = [rs.Box(-9, 9, dim)] if method == "incidence" else [rs.Box(-9, 9, dim), rs.Space(dim)]
        for domain in domains:
            part = rs.partition(net, domain, method=method)
            truth = true_codes(net, part.witnesses)
            assert part.codes.to_array().tolist() == truth
            num_hidden += sum(code != row for code, row in zip(truth, floats(net, part.witnesses), strict=True))
    assert num_hidden > 0


def floats(net, points):
    return net.codes(points).to_array().tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("dim", [1, 2, 4])
def test_single_regions_have_the_codes_of_their_points(dim):
    generator, num_hidden = np.random.default_rng(7), 0
    for seed in range(6):
        net = saturated_sums(seed, dim)
        points = generator.uniform(-20, 20, size=(30, dim))
        found = rs.regions(net, points)
        truth = true_codes(net, points)
        assert [region.code.to_array()[0].tolist() for region in found] == truth
        num_hidden += sum(code != row for code, row in zip(truth, floats(net, points), strict=True))
    assert num_hidden > 0


def test_on_a_breakpoint_beside_a_hidden_sign():
    """The region's code is checked at its centre in the same arithmetic as at the point."""
    net = saturated_sums(1, 1)
    part = rs.partition(net, rs.Space(1))
    hidden = [i for i, row in enumerate(floats(net, part.witnesses)) if row != part.codes.to_array()[i].tolist()]
    assert hidden
    for row in hidden:
        for corner in rs.region(net, part.witnesses[row]).polyhedron.vertices().ravel():
            try:
                region = rs.region(net, [corner])
            except rs.errors.DegenerateGeometryError:
                continue  # by the tie rule the point belongs to nobody
            assert region.code.to_array().tolist() == true_codes(net, region.witness[None])


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
@pytest.mark.parametrize("exponent", [20, 44, 47, 48, 50, 60])
def test_values_within_rounding_of_two_breakpoints_are_put_at_neither(method, exponent):
    """Seen red on errors passed by the pieces of cells alone: a dead unit gave 6 on the kink of the one before it."""
    scale = 2.0**exponent
    net = rs.load(
        nn.Sequential(
            linear([[scale, -scale]], [scale]),
            nn.ReLU(),
            linear([[-3.0]], [0.0]),
            nn.ReLU6(),
            linear([[2.0]], [-1.0]),
            nn.ReLU6(),
        )
    )
    part = rs.partition(net, rs.Box([-1.0, -1.0], [-0.5, 0.5]), method=method)
    assert part.codes.to_array().tolist() == true_codes(net, part.witnesses)
    assert sorted(part.codes.to_array()[:, 0].tolist()) == [0, 1]
    assert exponent > 20 or part.claim == "EXACT"
