"""Terms that widen ends and conditions that weaken claims, each where it decides."""

from dataclasses import replace
from fractions import Fraction
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from analyses.topology.test_betti import ball
from analyses.topology.test_persistence import wild
from reluscope.analyses.topology.vertex_values import VertexValues
from reluscope.partitions.faces import face_walk


def nearly_zero(sign):
    """The constant ``sign * (0.1 + 0.2 - 0.3)`` of floats, which is 2.8e-17: zero as far as rounding can tell."""
    constants = [(np.zeros((3, 2)), np.array([0.1, 0.2, 0.3])), (sign * np.array([[1.0, 1.0, -1.0]]), np.zeros(1))]
    return rs.partition(rs.load(constants), rs.Box(-1, 1, 2))


@pytest.mark.parametrize("sign", [1, -1])
def test_what_floats_call_a_plateau_and_is_none_leaves_doubt(sign):
    wrong = "sublevel" if sign > 0 else "superlevel"
    for of in (wrong, "level"):
        found = rs.topology.betti(nearly_zero(sign), of=of)["betti_number"]
        assert rs.Claim.EXACT not in found.claims[:1]
        assert found.lower[0] == 0  # the set is empty


@pytest.mark.parametrize("slope", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("size", [4.0, 5e6])
def test_levels_know_that_vertices_are_rounded(slope, size):
    # Up to 1/3, then down; the kink of relu(3 x - 1) is at no float, and the farther off the farther the corners are.
    net = rs.load([([[1.0], [-1.0], [3.0]], [5.0, -5.0, -1.0]), ([[slope, -slope, -slope]], [0.0])])
    part = rs.partition(net, rs.Box(-size, 1.1 * size, 1))
    found = rs.topology.critical_points(part)
    (row,) = np.flatnonzero(found.keys["index"] == 1)
    column, top = found["critical_level"], Fraction(slope) * (5 + Fraction(1, 3))
    assert Fraction(float(column.lower[row])) <= top <= Fraction(float(column.upper[row]))
    assert column.upper[row] - column.lower[row] < 1e-12 * slope * size
    assert column.upper[row] > column.lower[row]


def test_a_vertex_that_is_off_is_known_to_be_off():
    """Far from where corners are large, values are sharp, and places are not."""
    model = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Hardtanh(0, 1), torch.nn.Linear(2, 1)).double()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[3.0], [3.0]]))
        model[0].bias.copy_(torch.tensor([-1.0, -3.0]))
        model[2].weight.copy_(torch.tensor([[1.0, -1.0]]))
        model[2].bias.fill_(0.0)
    # Zero up to 1/3, one from 2/3 to 1, zero again from 4/3.
    found = rs.topology.critical_points(rs.partition(rs.load(model, input_shape=(1,)), rs.Box(-5e6, 5.5e6, 1)))
    assert found.keys["index"].tolist() == [0, 0, 1]
    column = found["critical_level"]
    for row, truth in enumerate([0.0, 0.0, 1.0]):
        assert column.lower[row] <= truth <= column.upper[row]
    assert column.value[2] != 1.0
    assert (column.upper - column.lower < 1e-5).all()
    assert found.details["num_vertices"].tolist() == [2, 2, 2]


@pytest.mark.parametrize("outputs", [(0,), (1, 0)])
def test_values_are_off_by_the_true_slope_along_a_blur(outputs):
    """Slopes are sums that cancel, and often 0 as floats, beside vertices where values are sharp."""
    hidden, num_sloped, sign = 3, 0, (1, -1)[: len(outputs)]
    for seed in range(60):
        draw = np.random.default_rng(seed)
        slopes = draw.uniform(1, 2, hidden)
        weight = draw.uniform(1, 2, (2, hidden)) / slopes
        weight[:, -1] = -(weight[:, :-1] * slopes[:-1]).sum(axis=1) / slopes[-1]
        net = rs.load([(slopes[:, None], np.zeros(hidden)), (weight, np.zeros(2))])
        vertices = np.array([[2.0**-90], [2.0**-80]])
        blur = np.array([0.0, draw.choice([0.0, 0.25, 1.0])])
        faces = SimpleNamespace(vertices=vertices, blur=blur, words=net.codes(vertices).words)
        known = unwrap(VertexValues.of.__func__)(VertexValues, net, faces, outputs)
        exact = [sum(Fraction(w) * Fraction(s) for w, s in zip(row, slopes, strict=True)) for row in weight]
        true = sum(one * exact[output] for one, output in zip(sign, outputs, strict=True))
        for place, at, value in zip(vertices[:, 0], blur, known.values, strict=True):
            off = abs(true * Fraction(place) - Fraction(float(value))) + abs(true) * Fraction(at)
            assert off <= Fraction(known.error)
        assert known.error <= 1e-9 * (blur[1] + 2.0**-60)
        num_sloped += bool(blur[1]) and true != 0
    assert num_sloped > 10


def test_bars_within_rounding_are_left_out():
    # Two equal valleys, but for 2e-16 of a level of 1e3: nothing that rounding could tell.
    layers = [([[1.0], [1.0], [1.0]], [1.0, 0.0, -1.0]), ([[1e-13, -2e-13, 2e-13]], [1e3])]
    part = rs.partition(rs.load(layers), rs.Box(-2, 3, 1))
    assert len(rs.topology.persistence(part)) == 1
    layers[1][0][0] = [1e-3, -2e-3, 2e-3]
    assert len(rs.topology.persistence(rs.partition(rs.load(layers), rs.Box(-2, 3, 1)))) == 2


def test_faces_in_doubt_leave_everything_open():
    part = rs.partition(rs.load(wild(2, 8, 8, 1, seed=3)), rs.Box(-2, 2, 2))
    part.__dict__["faces"] = replace(part.faces, num_undecided=1)
    for found in (rs.topology.persistence(part), rs.topology.critical_points(part)):
        for name in set(found.columns) - {"multiplicity"}:
            assert set(found[name].claims) <= {rs.Claim.ESTIMATE, rs.Claim.UPPER}
            assert np.isinf(found[name].lower).all()
    assert set(found["multiplicity"].claims) == {rs.Claim.ESTIMATE}


def test_a_box_that_misses_regions_is_noticed(monkeypatch):
    real = face_walk.far_box

    def small(*args):
        found = real(*args)
        return replace(found, window=rs.Box(-0.25, 0.25, 2))

    part = rs.partition(ball(2), rs.Space(2))
    assert rs.topology.betti(part, of="level")["betti_number"].claims[0] is rs.Claim.EXACT
    monkeypatch.setattr(face_walk, "far_box", small)
    for of in ("level", "sublevel"):
        # All four regions are in the small box, and the level is not.
        assert rs.topology.betti(part, of=of)["betti_number"].claims[0] is not rs.Claim.EXACT


def test_a_box_of_doubtful_cells_is_doubtful(monkeypatch):
    real = face_walk.far_box
    monkeypatch.setattr(face_walk, "far_box", lambda *args: replace(real(*args), num_undecided=1))
    found = rs.topology.betti(rs.partition(ball(2), rs.Space(2)), of="level")
    assert found["betti_number"].claims[0] is not rs.Claim.EXACT
