"""Inner and outer approximations against exact preimages in few dimensions and samples in many."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from reluscope.testing import networks

NEARLY = {"method": "approximate"}


def check_points(found, net, points):
    """Compare what boxes and pieces say with the outputs at points of the box."""
    values = net(points).reshape(len(points), -1).numpy()
    truth = found.target.contains(values)
    sure = np.zeros(len(points), dtype=bool)
    for lower, upper in found.inside:
        sure |= ((points >= lower) & (points <= upper)).all(axis=1)
    may = sure.copy()
    for cell in found.cells:
        may |= ((points >= cell.lower) & (points <= cell.upper)).all(axis=1)
    for piece in found.pieces:
        sure |= piece.contains(points, -1e-9)
    assert truth[sure].all()
    assert not truth[~may].any()


@settings(max_examples=10)
@given(networks(num_outputs=2, max_layers=2), st.integers(0, 2**16))
def test_intervals_hold_the_exact_numbers(parameters, seed):
    net, rng, box = rs.load(parameters), np.random.default_rng(seed), rs.Box(-2, 2, 2)
    target = rs.Polyhedron(rng.normal(size=(2, 2)), rng.uniform(-0.5, 1, 2))
    found = rs.preimages.of(net, target, domain=box, budget=rs.Budget(regions=60), **NEARLY)
    check_points(found, net, rng.uniform(-2, 2, (500, 2)))
    exact = rs.preimages.of(net, target, domain=box)
    volume, c = found.volume(), rng.normal(size=2)
    low, high = volume.interval or (volume.value, volume.value)
    assert low - 1e-7 <= exact.volume().value <= high + 1e-7
    best = max([-np.inf, *(piece.maximize(c).value for piece in exact.pieces)])
    top = found.maximum(c)
    low, high = top.interval or (top.value, top.value)
    assert low - 1e-6 <= best <= high + 1e-6


@pytest.mark.slow
def test_many_inputs_and_all_kinds_of_gates():
    net = branched()
    x = np.random.default_rng(0).uniform(-0.5, 0.5, 72)
    y = net(x).reshape(-1).numpy()
    target = rs.Polyhedron(np.eye(len(y)), y + 0.05)
    box = rs.Box(x - 0.2, x + 0.2)
    found = rs.preimages.of(net, target, domain=box, points=x, budget=rs.Budget(regions=6), **NEARLY)
    check_points(found, net, np.random.default_rng(1).uniform(box.lo, box.hi, (300, 72)))
    top = found.maximum(np.ones(72))
    assert x.sum() - 1e-9 <= top.value <= top.interval[1] <= box.hi.sum() + 1e-9
    assert top.claim == "LOWER"


def test_whole_boxes_empty_ones_and_the_claim():
    net, box = rs.load(layers([3, 4, 2])), rs.Box(-1, 1, 3)
    everything = rs.preimages.of(net, rs.Polyhedron(np.eye(2), [1e3, 1e3]), domain=box, **NEARLY)
    assert str(everything.volume()) == "8 (EXACT)"
    nothing = rs.preimages.of(net, rs.Polyhedron(np.eye(2), [-1e3, -1e3]), domain=box, **NEARLY)
    assert str(nothing.volume()) == "0 (EXACT)"
    assert nothing.maximum(np.ones(3)).value == -np.inf
    y = net([0.1, 0.2, 0.3]).numpy().ravel()
    level = rs.Polyhedron(np.zeros((0, 2)), np.zeros(0), np.eye(2), y)
    found = rs.preimages.of(
        net, level, domain=box, points=[0.1, 0.2, 0.3], budget=rs.Budget(regions=40), method="approximate"
    )
    assert not len(found.inside)
    assert found.maximum([1.0, 0.0, 0.0]).value >= 0.1 - 1e-9


def test_open_boxes_are_cut_by_the_bounds_of_the_outputs():
    # Both units are on in all of the box: x_0 + x_1 <= 0.001 is a corner of it that no random point hits.
    net = rs.load([(np.eye(2), np.ones(2)), (np.ones((1, 2)), [-2.0])])
    found = rs.preimages.of(
        net, rs.Polyhedron([[1.0]], [1e-3]), domain=rs.Box(0, 2, 2), budget=rs.Budget(regions=1), method="approximate"
    )
    top = found.maximum([1.0, 1.0])
    assert top.value == -np.inf
    assert top.interval[1] == pytest.approx(1e-3)
    assert found.volume().interval == (0, 4)


def test_bad_input_is_refused():
    net = rs.load(layers([3, 4, 2]))
    target = rs.Polyhedron(np.eye(2), [0.0, 0.0])
    with pytest.raises(rs.errors.ShapeError, match="as many as inputs"):
        rs.preimages.of(net, target, domain=rs.Box(-1, 1, 2), **NEARLY)
    with pytest.raises(rs.errors.InputError, match="points in the box"):
        rs.preimages.of(net, target, domain=rs.Box(-1, 1, 3), points=[2.0, 0.0, 0.0], **NEARLY)
    with pytest.raises(rs.errors.ShapeError, match="3 coefficients"):
        rs.preimages.of(
            net, target, domain=rs.Box(-1, 1, 3), budget=rs.Budget(regions=1), method="approximate"
        ).maximum([1.0])


@pytest.mark.slow
def test_lower_values_are_those_of_points_in_the_preimage():
    """Where w x + b <= t, in fractions; the solver's corner is beyond by rounding, or by its tolerance."""
    random = np.random.default_rng(0)
    for _ in range(25):
        w, b, t = random.uniform(0.1, 3), random.uniform(1.0, 2.0), random.uniform(2.1, 3.0)
        net = rs.load([(np.array([[w]]), np.array([b])), (np.ones((1, 1)), np.zeros(1))])
        found = rs.preimages.of(
            net, rs.Polyhedron([[1.0]], [t]), domain=rs.Box(0, 20, 1), budget=rs.Budget(regions=1), method="approximate"
        )
        top, truth = found.maximum([1.0]), (Fraction(t) - Fraction(b)) / Fraction(w)
        assert Fraction(top.value) <= truth
        assert top.value == pytest.approx(float(truth), abs=1e-9)
        assert top.interval is None or Fraction(top.interval[1]) >= truth


def test_values_on_equations_are_estimates():
    net = rs.load([(np.eye(2), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    level = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [3.3])
    top = rs.preimages.of(
        net, level, domain=rs.Box(0, 2, 2), points=[[1.0, 0.3]], budget=rs.Budget(regions=3), method="approximate"
    ).maximum([1.0, 0.3])
    assert top.claim != "EXACT"
    assert top.value == pytest.approx(1.3)
    assert top.interval[0] == -np.inf
    assert top.interval[1] >= 1.3 - 1e-12


def test_volumes_of_pieces_far_from_the_origin_are_lower_bounds():
    slope, bias, end = 1.4179707369074197, -455340277.0, 2.0329540117068943
    net = rs.load([(np.array([[slope]]), np.array([bias])), (np.array([[2.0]]), np.array([2.0]))])
    box = rs.Box([321121065.0], [321121068.0])
    kink = ((Fraction(end) - 2) / 2 - Fraction(bias)) / Fraction(slope)
    found = rs.preimages.of(
        net, rs.Polyhedron([[-1.0]], [-end]), domain=box, budget=rs.Budget(regions=20), method="approximate"
    )
    low, high = found.volume().interval
    assert low <= 321121068 - kink <= high
    assert low > 0.29


def test_pieces_that_fulfil_equations_have_no_volume():
    net = rs.load([(np.eye(2), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    level = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [2.5])
    found = rs.preimages.of(
        net, level, domain=rs.Box(0, 1, 2), points=[0.25, 0.25], budget=rs.Budget(regions=4), method="approximate"
    )
    assert len(found.pieces) == 1
    assert found.volume().value == 0.0


@pytest.mark.parametrize("level", [2.24, 1.5, 1.0])
def test_conditions_that_rounding_hides_are_not_taken_for_met(level):
    """Outputs of 1e8 whose difference varies by 9e-9: no row of a piece shows where it passes the level."""
    weights = np.array([[1e8, 3e-9], [1e8, 0.0]])
    net = rs.load([(np.array([[2.0, 1.0], [2.0, 1.0]]), np.zeros(2)), (weights, np.array([0.0, 3e-9 * level]))])
    target, budget = rs.Polyhedron([[1.0, -1.0]], [0.0]), rs.Budget(regions=20)
    found = rs.preimages.of(net, target, domain=rs.Box(-1, 1, 2), method="approximate", budget=budget).volume()
    low = found.value if found.interval is None else found.interval[0]
    assert low <= 4 - (3 - level) ** 2 / 4 + 1e-9


def test_terms_that_cancel_in_a_row_leave_their_rounding():
    features = nn.Sequential(nn.Linear(1, 2), nn.Hardtanh(), nn.Linear(2, 2)).double()
    with torch.no_grad():
        features[0].weight.fill_(1.0)
        features[0].bias.zero_()
        features[2].weight.copy_(torch.tensor([[1e8, 1.177824900337261e-06], [1e8, 0.0]]))
        features[2].bias.copy_(torch.tensor([0.0, 4.2058833444484866e-07]))
    target = rs.Polyhedron([[0.0, 1.0], [-1.0, 1.0]], [-18493744.08740461, 1.5944242473573087e-06])
    net = rs.load(features, input_shape=(1,))
    found = rs.preimages.of(net, target, domain=rs.Box(-1, 1, 1), method="approximate", budget=rs.Budget(regions=20))
    assert found.volume().interval[0] <= 0.8116758185130973 <= found.volume().interval[1]
