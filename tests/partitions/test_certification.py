"""Certified partitions: the rational count, slivers that float64 cannot show included."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles import fractions_plane
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packing import pack_pieces
from reluscope.findings import Claim
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.graph.choosing_gates import Max
from reluscope.partitions.complexes import certification, exact_signs
from reluscope.partitions.corner_errors import corner_errors
from reluscope.testing import default_network
from reluscope.testing.strategies import boxes, degenerate_networks

ANGLE = 0.3
ROTATION = np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])


def rotated(parameters):
    """The same network up to a rotation, which in floats breaks coincident cuts into slivers."""
    (weight, bias), *others = parameters
    return [(weight @ ROTATION, bias), *others]


def truth_of(parameters, box):
    pieces = fractions_plane.split(parameters, fractions_plane.rectangle(tuple(box.lo), tuple(box.hi)))
    return {tuple(piece.code): float(piece.measure) for piece in pieces}


def found_in(part):
    codes = part.codes.to_array()
    return {tuple(codes[row].tolist()): volume for row, volume in enumerate(part.volumes())}


@settings(max_examples=60)
@given(parameters=degenerate_networks(max_width=4), box=boxes(2), turn=st.booleans())
def test_equals_the_rational_oracle(parameters, box, turn):
    parameters = rotated(parameters) if turn else parameters
    part = rs.certify(rs.partition(rs.load(parameters), box))
    truth, found = truth_of(parameters, box), found_in(part)
    assert part.claim is Claim.EXACT
    assert len(found) == len(part)
    assert found.keys() == truth.keys()
    assert all(abs(found[code] - area) < 1e-9 for code, area in truth.items())


def sliver_network():
    """Three lines through one point before the rotation, three lines that form a tiny triangle after it."""
    first = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
    return rotated([(first, np.array([0.1, 0.2, 0.3, -0.1, 0.4])), (np.ones((1, 5)), np.zeros(1))])


def test_counts_slivers_that_floats_do_not_separate():
    box = rs.Box(-1, 1, 2)
    parameters = sliver_network()
    truth = truth_of(parameters, box)
    coarse = rs.partition(rs.load(parameters), box)
    certified = rs.certify(rs.partition(rs.load(parameters), box))
    assert len(certified) == len(truth) > len(coarse)
    assert min(truth.values()) < 1e-24
    assert certified.tolerance.resolution == 0
    assert coarse.finding().tolerance == 1e-12


def test_max_gates_are_labelled_exactly():
    # Candidates 0 and 1 are the same function written differently: equal in floats, not as rationals.
    weight = np.array([[0.1, 0.2], [0.1 * 3 / 3, 0.2], [-0.3, 0.1]])
    builder = GraphBuilder()
    x = builder.input((2,))
    import torch

    layer = builder.linear(x, torch.tensor(weight), torch.tensor([0.0, 0.0, 0.1]))
    net = builder.build(builder.max_of(layer, np.array([[0, 1, 2]]), (1,)))
    layers = [("affine", weight, [0.0, 0.0, 0.1]), ("max", [[0, 1, 2]])]
    part = rs.certify(rs.partition(net, rs.Box(-1, 1, 2)))
    truth = fractions_plane.split(layers, fractions_plane.rectangle(-1, 1))
    assert sorted(map(tuple, part.codes.to_array().tolist())) == sorted(piece.code for piece in truth)


def test_on_a_segment_of_a_slice():
    parameters = rotated([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    part = rs.certify(rs.partition(rs.load(parameters), rs.Segment([-1.0, 0.0], [1.0, 0.5])))
    assert part.claim is Claim.EXACT
    assert len(part) == 3


@pytest.mark.parametrize("offset", [0.0, 1e-15, 1e-13, 3e-13])
def test_a_thin_strip_is_separated_or_not_by_resolution(offset):
    net = rs.load([(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, offset])), (np.ones((1, 2)), np.zeros(1))])
    box = rs.Box(-1, 1, 2)
    assert len(rs.partition(net, box)) == 2
    assert len(rs.certify(rs.partition(net, box))) == (3 if offset else 2)


def test_large_networks_are_not_made_rational(monkeypatch):
    """Their weights alone would take longer than the answers may."""
    net = rs.load(
        [(np.ones((2, 2)), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1)), (np.ones((1, 1)), np.ones(1))]
    )
    corners, words = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([3], dtype=np.uint64)
    asked = 0, corners, words, [certification.CutFunction(1, 0)]
    assert exact_signs.ExactSigns(net, [rs.Box(0, 1, 2)]).signs(*asked) == [0]
    monkeypatch.setattr(exact_signs, "MULTIPLICATIONS", exact_signs.multiplications(net) - 1)
    monkeypatch.setattr(exact_signs, "RationalNetwork", None)
    assert exact_signs.ExactSigns(net, [rs.Box(0, 1, 2)]).signs(*asked) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("activation", [nn.ReLU(), nn.LeakyReLU(0.5), nn.Hardtanh(-1.0, 1.0), nn.Hardtanh(0.0, 1.0)])
def test_functions_of_constant_zeros_are_found_without_fractions(activation):
    """Seen red with units that are constant, but not zero, and with constants of the layers between left out."""
    torch.manual_seed(0)
    pooled = nn.Sequential(nn.Conv2d(1, 2, 2), activation, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 1))
    # What the second layer makes of zeros is its bias; unit 0 has none, and unit 1 reads nothing.
    flat = nn.Sequential(nn.Flatten(), nn.Linear(9, 3), activation, nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        flat[3].bias[0] = 0.0
        flat[3].weight[1] = 0.0
    found = []
    for module in (pooled, flat):
        net = rs.load(module.double(), input_shape=(1, 3, 3))
        gate = net.stages[1].gate
        if isinstance(gate, Max):
            cuts = [certification.CutFunction(1, row[0], other) for row in gate.index.tolist() for other in row[1:]]
        else:
            cuts = [certification.CutFunction(1, unit, breakpoint=at) for unit in range(3) for at in (0.0, 0.25)]
        pieces = net.codes(np.random.default_rng(1).normal(size=(40, 9)) - 0.5).to_array()
        pieces = pieces[:, : net.stages[0].gate.num_units]
        codes = pack_pieces([pieces], CodeLayout(net.layout.gates[:1]))
        box = [rs.Box(-9, 9, 9)]
        vanish = exact_signs.ExactSigns(net, box).vanish(codes, cuts)
        for words, row in zip(codes, vanish, strict=True):
            signs = exact_signs.ExactSigns(net, box).signs(0, np.ones((1, 10)), words, cuts)
            assert all(sign == 0 for sign, is_zero in zip(signs, row, strict=True) if is_zero)
        found.append(int(vanish.sum()))
    assert [number > 0 for number in found] == 2 * [float(activation(torch.tensor(-9.0))) == 0.0]


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_blur_of_certified_vertices_holds_the_exact_ones(shift):
    net = rs.load(
        [(np.array([[3.0], [7.0]]), -np.array([3.0, 7.0]) * shift + [1.0, -1.0]), (np.ones((1, 2)), np.zeros(1))]
    )
    part = rs.certify(rs.partition(net, rs.Box([shift - 1], [shift + 1])))
    errors = corner_errors(part)
    for vertex in part.certificate.vertices:
        near = np.abs(part.vertices[:, 0] - float(vertex[0])).argmin()
        assert abs(Fraction(part.vertices[near, 0]) - vertex[0]) <= Fraction(errors[near])


def test_a_certified_partition_has_no_doubts_left():
    net = rs.load(default_network([3, 6, 4, 1], seed=0))
    part = rs.partition(net, rs.Box(-1, 1, 3))
    doubtful = replace(
        part, num_undecided=3, work={"cells_unconfirmed": 9, "cells_left_out": 2}, confirmed=np.zeros(len(part), bool)
    )
    found = rs.certify(doubtful)
    assert (int(found.finding()), found.finding().claim, found.confirmed) == (len(part), "EXACT", None)
    assert set(found.work) == {"seconds"}
