"""The memo of a batch of points: the same as asking for each thing by itself, and one pass for all of them."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import branched, layers
from reluscope.networks.evaluation import unit_half_spaces
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.point_evaluation import BUDGET, Evaluation, PointStatus
from reluscope.testing import default_network

NET = rs.load(default_network([3, 8, 6, 4], seed=2))
X = np.random.default_rng(0).normal(size=(11, 3))
POOL = branched()
IMAGES = np.random.default_rng(1).normal(size=(5, *POOL.input_shape))
CASES = [(NET, X), (POOL, IMAGES), (rs.load(layers([3, 2])), X)]


@pytest.mark.parametrize(("net", "x"), CASES, ids=["layers", "branches and pools", "affine"])
@pytest.mark.parametrize("order", ["gates first", "codes first", "half-spaces first"])
def test_everything_is_as_by_itself(net, x, order):
    at = net.at(x)
    if order == "gates first":
        at.with_gates()
    elif order == "codes first":
        assert len(at.codes) == len(x)
    else:
        assert len(at.half_spaces) == len(net.stages)
    assert len(at) == len(x)
    assert np.array_equal(at.codes.words, net.codes(x).words)
    alone = rounded_forward(net, x)
    for name in ("outputs", "errors", "doubtful"):
        assert np.array_equal(getattr(at.forward, name), getattr(alone, name))
    for gate, pre in zip(at.gates, net.preactivations(x), strict=True):
        assert torch.equal(gate.preactivations, pre)
    maps = net.linearize(x)
    torch.testing.assert_close(at.maps.weight, maps.weight, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(at.maps.bias, maps.bias, rtol=1e-12, atol=1e-12)
    assert at.map_errors.shape == at.outputs.shape
    assert all(len(gate.pieces) == len(x) for gate in at.gates)


@pytest.mark.parametrize(("net", "x"), CASES, ids=["layers", "branches and pools", "affine"])
def test_parts_know_what_the_whole_knows(net, x):
    at = net.at(x).with_gates()
    whole = at.forward, at.codes, at.maps
    for rows, part in at.blocks(1, 2):
        assert len(part) <= 2
        assert part.codes is not None
        assert np.array_equal(part.outputs, whole[0].outputs[rows])
        assert np.array_equal(part.codes.words, whole[1].words[rows])
        assert torch.equal(part.maps.weight, whole[2].weight[rows])
        assert {"codes", "maps", "forward", "_passed"} <= vars(part).keys()
    ((rows, same),) = at.blocks(1, BUDGET)
    assert same is at


@pytest.mark.parametrize(("net", "x"), CASES, ids=["layers", "branches and pools", "affine"])
def test_errors_of_maps_do_not_depend_on_the_memory(net, x, monkeypatch):
    whole = net.at(x)
    expected = whole.map_errors, whole.constant_errors
    monkeypatch.setattr("reluscope.networks.point_evaluation.BUDGET", 8 * net.bytes_per_point)  # two points at once
    at = net.at(x)
    np.testing.assert_allclose(at.map_errors, expected[0], rtol=1e-12)
    np.testing.assert_allclose(at.constant_errors, expected[1], rtol=1e-12)


def test_nothing_is_computed_twice(monkeypatch):
    passes, apply = [], Linear.apply

    def counted(self, *values):
        passes.append(self.name)
        return apply(self, *values)

    monkeypatch.setattr(Linear, "apply", counted)
    at = NET.at(X)
    assert not passes
    for _ in range(2):
        assert len(at.with_gates().codes) == len(at.outputs) == len(at.status) == len(at.errors) == len(X)
    assert len(passes) == 3  # one for each layer
    assert len(at.half_spaces) == 2
    assert len(at.maps) == len(X)
    assert len(passes) == 6  # and the constants of the maps


def test_points_have_a_status():
    net = rs.load([([[1.0, -1.0], [1.0, 1.0]], [0.0, 0.0]), ([[2.0, 1.0]], [1.0])])
    at = net.at([[3.0, 1.0], [1.0, 1.0], [1.0, 1.0 + 2**-52], [0.0, 0.0]])
    assert at.status == (PointStatus.CERTAIN, PointStatus.TIED, PointStatus.IN_DOUBT, PointStatus.TIED)
    assert at.is_in_doubt.tolist() == [False, False, True, False]
    pool = rs.load(torch.nn.Sequential(torch.nn.Unflatten(1, (1, 4)), torch.nn.MaxPool1d(2)), (4,))
    assert [one.name for one in pool.at([[1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0]]).status] == ["TIED", "CERTAIN"]


def test_regions_of_points_without_one_are_left_out_with_a_reason():
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = rs.regions(net, [[1.0], [0.0], [-2.0]], missing="return")
    assert [isinstance(one, rs.Region) for one in found] == [True, False, True]
    assert isinstance(found[1], rs.errors.DegenerateGeometryError)
    assert str(found[1]).startswith("point 1 lies on a kink")
    with pytest.raises(rs.errors.DegenerateGeometryError, match="point 1 lies on a kink"):
        rs.regions(net, [[1.0], [0.0], [-2.0]])
    assert isinstance(net.at([1.0]), Evaluation)


def test_rounding_is_that_of_the_tolerance():
    wide = NET.at(X, tolerance=rs.Tolerance(rounding=1600.0))
    assert (wide.errors > 50 * NET.at(X).errors).all()


def test_maps_are_within_their_errors():
    exact = RationalNetwork(NET)
    at = NET.at(X)
    pieces = [piece.numpy() for piece in at.pieces]
    units = [np.zeros(3), *np.eye(3)]
    for row, (weight, errors) in enumerate(zip(at.maps.weight.numpy(), at.map_errors, strict=True)):
        held = [piece[row].tolist() for piece in pieces]
        start, *ends = (exact.held(held, [Fraction(x) for x in unit.tolist()])[-1] for unit in units)
        for output, error in enumerate(errors.tolist()):
            for column, end in enumerate(ends):
                truth = end[output] - start[output]
                assert abs(Fraction(float(weight[output, column])) - truth) <= Fraction(error)
    assert (at.map_errors < 1e-12).all()
    np.testing.assert_allclose(NET.at(X)[3:7].map_errors, at.map_errors[3:7], rtol=1e-9)


def test_largest_entries_are_those_of_either_sign():
    table = np.array([[[1.0, -3.0], [2.0, 1.0]], [[-1.0, -0.5], [0.0, 0.0]]])
    assert unit_half_spaces.largest_entries(table, -1).tolist() == [[3.0, 2.0], [1.0, 0.0]]
    assert unit_half_spaces.largest_entries(table[..., :0], -1).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_one_gate_in_doubt_is_enough():
    """``0.1 * 3 - 0.3`` is 0 but for rounding; the second gate is far from its kink."""
    net = rs.load([(np.array([[0.1, 0.3]]), np.zeros(1)), (np.ones((1, 1)), np.array([5.0])), (np.ones((1, 1)), [0.0])])
    assert net.at([[3.0, -1.0], [1.0, 1.0]]).is_in_doubt.tolist() == [True, False]
