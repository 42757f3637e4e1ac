"""Rational evaluation of the graph: exact, and equal to the float network up to rounding."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from oracles import fractions_plane
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.fractions.rational import RationalNetwork, RationalVector, multiplications
from reluscope.networks.fractions.rational_maps import rational_maps
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.models.from_arrays import from_arrays


def test_vectors_are_brought_to_a_common_denominator():
    vector = RationalVector.of([Fraction(1, 6), Fraction(-3, 4)])
    assert vector.denominator == 12
    assert [vector[0], vector[1]] == [Fraction(1, 6), Fraction(-3, 4)]


def test_equals_plain_fractions_through_two_layers():
    rng = np.random.default_rng(0)
    parameters = [(rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(3, 4)), rng.normal(size=3))]
    net = rs.load([*parameters, (np.ones((1, 3)), np.zeros(1))])
    point = [Fraction(1, 3), Fraction(-2, 7)]
    hidden = [
        max(Fraction(0), sum((Fraction(float(w)) * x for w, x in zip(row, point, strict=True)), Fraction(float(b))))
        for row, b in zip(*parameters[0], strict=True)
    ]
    expected = [
        sum((Fraction(float(w)) * h for w, h in zip(row, hidden, strict=True)), Fraction(float(b)))
        for row, b in zip(*parameters[1], strict=True)
    ]
    found = RationalNetwork(net).preactivations(1, point)
    assert [found[i] for i in range(3)] == expected


def test_equals_the_float_network_on_a_graph_with_branches_and_pooling():
    torch.manual_seed(0)

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Conv2d(1, 2, 3, padding=1)
            self.second = torch.nn.Conv2d(2, 2, 3, padding=1)

        def forward(self, x):
            h = torch.nn.functional.leaky_relu(self.first(x))
            h = torch.relu(self.second(h) + h)
            return torch.nn.functional.hardtanh(torch.nn.functional.max_pool2d(h, 2)).flatten(1)

    net = rs.load(Branches(), input_shape=(1, 4, 4))
    x = torch.rand(16, dtype=torch.float64)
    exact = RationalNetwork(net)
    point = [Fraction(entry) for entry in x.tolist()]
    for stage, expected in enumerate(net.preactivations(x)):
        found = exact.preactivations(stage, point)
        values = np.array([float(found[i]) for i in range(len(found.numerators))])
        gate = net.stages[stage].gate
        pre = gate.candidates(torch.from_numpy(values)[None])
        assert torch.allclose(pre, expected, rtol=0, atol=1e-12)


def test_oracle_and_network_agree_on_the_sign_at_an_exact_zero():
    piece = fractions_plane.split([(np.array([[3.0]]), np.array([-1.0])), (np.eye(1), np.zeros(1))], (0.0, 1.0))[0]
    (zero,) = max(piece.vertices)
    net = rs.load([(np.array([[3.0]]), np.array([-1.0])), (np.eye(1), np.zeros(1))])
    assert zero == Fraction(1, 3)
    assert RationalNetwork(net).preactivations(0, [zero])[0] == 0


def test_the_code_beside_a_point():
    # |x| beside 0, then a maximum of x and -x: ties at the point are broken by the direction.
    builder = GraphBuilder()
    both = builder.linear(builder.input((1,)), torch.tensor([[1.0], [-1.0]]).double(), torch.zeros(2).double())
    gate = builder.pointwise(both, "relu", [0.0], [0.0, 1.0], [0.0, 0.0])
    net = RationalNetwork(builder.build(builder.max_of(gate, np.array([[0, 1]]), (1,))))
    zero = [Fraction(0)]
    assert net.pieces(zero) == [[0, 0], [0]]
    assert net.pieces_beside(zero, [Fraction(1)]) == [[1, 0], [0]]
    assert net.pieces_beside(zero, [Fraction(-1, 10**30)]) == [[0, 1], [1]]
    assert net.pieces_beside([Fraction(1)], [Fraction(-5)]) == [[1, 0], [0]]


def test_sums_of_outputs_are_pulled_back_to_the_input():
    torch.manual_seed(1)

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.last = (torch.nn.Linear(a, b) for a, b in ((3, 6), (6, 6), (3, 2)))

        def forward(self, x):
            h = torch.nn.functional.leaky_relu(self.first(x))
            h = torch.nn.functional.hardtanh(self.second(h) + h)
            return self.last(h.reshape(-1, 3, 2).amax(dim=2))

    net = rs.load(Branches().double(), input_shape=(3,))
    exact = RationalNetwork(net)
    point = [Fraction(1, 3), Fraction(-2, 7), Fraction(5, 4)]
    pieces = exact.pieces(point)
    weights = {0: Fraction(2), 1: Fraction(-3, 5)}
    row, constant, cost = exact.pull_back(pieces, weights)
    value = sum(weight * exact.output(point)[entry] for entry, weight in weights.items())
    assert sum(weight * point[entry] for entry, weight in row.items()) + constant == value
    maps = rational_maps(exact, pieces)
    assert [row[axis] for axis in range(3)] == [
        2 * maps.outputs[0][k] - Fraction(3, 5) * maps.outputs[1][k] for k in range(3)
    ]
    assert exact.pull_back(pieces, {0: Fraction(0)}) == ({}, 0, 0)
    assert exact.pull_back(pieces, weights, most=cost) == (row, constant, cost)
    with pytest.raises(TooManyMultiplicationsError):
        exact.pull_back(pieces, weights, most=cost - 1)
    for stage, seen in enumerate(exact.all_preactivations(point)):
        row, constant, cost = exact.pull_back(pieces[:stage], {1: Fraction(1), 2: Fraction(-2)}, stage=stage)
        assert sum(weight * point[entry] for entry, weight in row.items()) + constant == seen[1] - 2 * seen[2]
        assert 0 < cost <= 2 * (3 + 6 * 3 + 6 * 6)


def test_deep_networks_are_asked_with_whole_numbers_and_counted_by_their_length():
    # A thousand layers of weights near one half: numerators and denominators of fifty thousand bits.
    rng = np.random.default_rng(0)
    layers = [(np.eye(3) + 0.1 * rng.normal(size=(3, 3)), 0.1 * rng.normal(size=3)) for _ in range(300)]
    net = from_arrays([*layers, (np.ones((1, 3)), np.zeros(1))])
    exact, point = RationalNetwork(net), [Fraction(1, 3), Fraction(1, 5), Fraction(-1, 7)]
    pieces = exact.pieces(point)
    pulled = exact.pull_back(pieces, {0: Fraction(1, 3)})
    value = sum((pulled.coefficients.get(i, Fraction(0)) * x for i, x in enumerate(point)), Fraction(0))
    assert value + pulled.constant == exact.output(point)[0] / 3
    # Numbers at the end are some thirty words long, and count as such.
    assert multiplications(net) > 10 * 300 * 9
    with pytest.raises(TooManyMultiplicationsError):
        exact.pull_back(pieces, {0: Fraction(1)}, most=300)
