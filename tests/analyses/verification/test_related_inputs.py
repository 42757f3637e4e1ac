"""Conditions that relate inputs to each other or to outputs, against linear programs of all patterns and polygons."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import nn

import reluscope as rs
from reluscope.analyses.verification.vnnlib import parse_property
from reluscope.errors import CertificateError, InputError, ShapeError
from reluscope.testing import default_network

Case, Property = rs.verification.Case, rs.verification.Property
HEAD = "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)\n"
BOX = "(assert (and (>= X_0 -1) (<= X_0 1) (>= X_1 -1) (<= X_1 1)))\n"
# Unsafe at y <= x_0 - level, on the half of the square where x_0 + x_1 <= 0.5.
ROWS = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]])


def below_first(level):
    return Property([Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron(ROWS, [-level, 0.5])])], relates_inputs=True)


def least(layers):
    """Return the least y - x_0 where x_0 + x_1 <= 0.5: the best of a linear program for every pattern of one layer."""
    (weight, bias), (last, end) = layers
    found = np.inf
    for pattern in product((0.0, 1.0), repeat=len(bias)):
        active = np.array(pattern)
        side = (1 - 2 * active)[:, None]
        row = (last * active) @ weight
        program = linprog(
            (row - [[1.0, 0.0]])[0],
            np.vstack([side * weight, [[1.0, 1.0]]]),
            np.append(-side[:, 0] * bias, 0.5),
            bounds=[(-1, 1)] * 2,
        )
        if program.success:
            found = min(found, program.fun + ((last * active) @ bias + end).item())
    return found


def test_what_is_read():
    text = HEAD + BOX + "(assert (<= Y_0 (- X_0 0.25)))\n(assert (<= (+ X_0 X_1) 0.5))"
    safe = parse_property(text)
    assert safe.relates_inputs
    assert (safe.num_inputs, safe.num_outputs) == (2, 1)
    (unsafe,) = safe.cases[0].unsafe
    np.testing.assert_array_equal(unsafe.A, ROWS)
    np.testing.assert_array_equal(unsafe.b, [-0.25, 0.5])
    assert not parse_property(HEAD + BOX + "(assert (<= Y_0 (+ X_0 (- X_0) 1)))").relates_inputs
    # One condition that relates them makes all sets of outputs and inputs.
    either = parse_property(HEAD + BOX + "(assert (or (<= Y_0 0) (and (= X_0 X_1) (>= Y_0 3))))")
    assert [one.A.tolist() for one in either.cases[0].unsafe] == [
        [[1.0, 0.0, 0.0]],
        [[0.0, 1.0, -1.0], [0.0, -1.0, 1.0], [-1.0, 0.0, 0.0]],
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(5))
def test_linear_programs_of_all_patterns_decide_the_same(seed):
    layers = default_network([2, 6, 1], seed=seed)
    net, level = rs.load(layers), -least(layers)
    for certify in (False, True):
        holds = rs.verify(net, below_first(level + 1e-5), certify=certify)
        assert holds.verdict == "HOLDS"
        assert certify == (holds.proof is not None)
    found = rs.verify(net, below_first(level - 1e-5))
    assert found.verdict == "VIOLATED"
    one = found.counterexample
    assert len(one.outputs) == len(one.errors) == 1
    np.testing.assert_allclose(one.outputs, net(one.point[None])[0])
    assert one.outputs[0] <= one.point[0] - level + 2e-5
    assert one.point.sum() <= 0.5
    again = rs.verification.replay(net, below_first(level - 1e-5), [[9.0, 9.0], one.point])
    np.testing.assert_array_equal(again.point, one.point)


def test_all_violations_are_those_of_polygons():
    net = rs.load(default_network([2, 9, 1], seed=3))
    part, level = rs.partition(net, rs.Box(-1, 1, 2)), 0.1
    expected = 0.0
    for region in part:
        weight, bias = (np.asarray(one).ravel() for one in (region.map.weight, region.map.bias))
        corners = np.asarray(region.vertices)
        for row, end in (([weight[0] - 1, weight[1]], -level - bias[0]), ([1.0, 1.0], 0.5)):
            corners = clipped(corners, np.array(row), end)
        expected += area(corners)
    found = rs.violations(net, below_first(level))
    assert 0.01 < expected < 3.9
    assert found.volume().value == pytest.approx(expected, abs=1e-9)
    assert found.fingerprint == net.fingerprint


def clipped(corners, row, end):
    """Return the corners of a polygon where a linear function is at most a number, in order."""
    kept = []
    for start, stop in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        first, second = start @ row - end, stop @ row - end
        if first <= 0:
            kept.append(start)
        if (first > 0) != (second > 0):
            kept.append(start + (stop - start) * first / (first - second))
    return np.array(kept).reshape(-1, 2)


def area(corners):
    x, y = corners.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def test_a_proof_is_of_the_relations_that_it_was_made_for():
    net = rs.load(default_network([2, 6, 1], seed=0))
    level = -least(default_network([2, 6, 1], seed=0)) + 0.01
    proof = rs.verify(net, below_first(level), certify=True).proof
    assert rs.testing.check_proof(proof, net, below_first(level)) > 0
    with pytest.raises(CertificateError):
        rs.testing.check_proof(proof, net, below_first(level - 0.5))
    outputs_alone = Property([Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron([[1.0]], [-level])])])
    with pytest.raises(CertificateError, match="another network"):
        rs.testing.check_proof(proof, net, outputs_alone)


def test_gates_that_jump_are_searched(tmp_path):
    class Switched(nn.Module):
        def forward(self, x):
            leads = x[:, :1] - x[:, 1:]
            return x[:, :1] + torch.sign(leads)

    net = rs.load(Switched(), input_shape=(2,))
    both = rs.Polyhedron([[-1.0, 1.0, 0.0], [0.0, -1.0, -1.0], [-1.0, 0.0, 0.0]], [0.0, -1.5, -0.1])
    safe = Property([Case([0.0, 0.0], [1.0, 1.0], [both])], relates_inputs=True)
    one = rs.verify(net, safe).counterexample
    assert one.point[0] > one.point[1]
    assert one.point.sum() >= 1.5
    table = rs.verification.verify_each(net, [safe], tmp_path)
    assert table["verdict"].to_pylist() == ["VIOLATED"]
    assert [len(outputs) for outputs in table["outputs"].to_pylist()] == [1]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match="2 inputs behind them, got 2 coordinates"):
        Property([Case([0.0, 0.0], [1.0, 1.0], [rs.Polyhedron([[1.0, 1.0]], [0.0])])], relates_inputs=True)
    net = rs.load(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()))
    with pytest.raises(InputError, match="a condition that relates inputs is about the outputs of the file"):
        rs.verify(net, below_first(0.0))
    with pytest.raises(ShapeError, match="2 and 3, got 2 and 1"):
        rs.verify(rs.load(default_network([2, 6, 3], seed=0)), below_first(0.0))
