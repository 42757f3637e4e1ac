"""Inputs with the same features against scipy's programs over the same rows, and forward passes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

import reluscope as rs
from networks.models import branched, layers
from reluscope.testing import networks


def box_of(net):
    return rs.Box(-2, 2, net.num_inputs)


def drawn(net, seed):
    return np.random.default_rng(seed).integers(-7, 8, (2, net.num_inputs)) / 4


def best_by_linprog(weight, bias, y, target, box):
    """Appendix A7, row by row."""
    active = y > 0
    solved = linprog(
        -target,
        weight[~active] if (~active).any() else None,
        -bias[~active] if (~active).any() else None,
        weight[active] if active.any() else None,
        (y - bias)[active] if active.any() else None,
        bounds=list(zip(box.lo, box.hi, strict=True)),
    )
    return -solved.fun


@settings(max_examples=40)
@given(networks(num_inputs=st.integers(1, 4), max_width=5), st.integers(0, 2**16))
def test_the_inner_product_is_the_one_of_the_program_in_the_paper(parameters, seed):
    net = rs.load(parameters)
    x, target = drawn(net, seed)
    weight, bias = parameters[0]
    y = np.maximum(weight @ x + bias, 0)
    found = rs.preimages.invariant(net, x, target=target, domain=box_of(net))
    assert found.objective.value == pytest.approx(best_by_linprog(weight, bias, y, target, box_of(net)), abs=1e-6)
    assert found.objective.claim == "EXACT"
    check(found, net, y, 0)


@settings(max_examples=30)
@given(networks(num_inputs=st.integers(1, 3), max_width=4), st.integers(0, 2**16))
def test_the_nearest_point_is_nearer_than_all_others(parameters, seed):
    net = rs.load(parameters)
    x, target = drawn(net, seed)
    found = rs.preimages.invariant(net, x, target=target, domain=box_of(net), norm="l2")
    y = np.maximum(parameters[0][0] @ x + parameters[0][1], 0)
    check(found, net, y, 0)
    P = found.set.polyhedron
    rivals = [x, *(found.set.maximize(way).point for way in np.random.default_rng(seed).normal(size=(6, len(x))))]
    # Wolfe's condition: no point of the set lies ahead of the nearest one.
    assert all((target - found.found) @ (rival - found.found) <= 1e-6 for rival in rivals)
    solved = minimize(
        lambda z: ((z - target) ** 2).sum(),
        x,
        jac=lambda z: 2 * (z - target),
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda z: P.b - P.A @ z},
            *([{"type": "eq", "fun": lambda z: P.C @ z - P.d}] if len(P.C) else []),
        ],
    )
    assert found.objective.value <= np.sqrt(max(solved.fun, 0.0)) + 1e-5 or not P.contains(solved.x, 1e-7)


def check(found, net, y, gate):
    assert np.allclose(found.before, y, atol=1e-9)
    assert found.difference <= found.proved_within <= 1e-7
    assert found.set.polyhedron.contains(found.found, 1e-7)
    assert np.allclose(found.after, y, atol=1e-7)
    assert str(len(found.before)) in found.describe()


@pytest.mark.parametrize("make", [lambda: rs.load(layers([6, 5, 4, 2])), branched])
@pytest.mark.parametrize("norm", ["linear", "l2"])
def test_within_the_region_all_codes_and_outputs_are_kept(make, norm):
    net = make()
    x, target = np.random.default_rng(5).uniform(-1, 1, (2, net.num_inputs))
    found = rs.preimages.invariant(net, x, target=target, domain=box_of(net), within="region", norm=norm)
    # A hair towards x nothing lies on a kink.
    inside = found.found + 1e-6 * (x - found.found)
    assert np.array_equal(net.codes(inside).words, net.codes(x).words)
    assert np.allclose(net(found.found), net(x), atol=1e-9)
    assert found.change > 1e-3
    assert found.objective.claim == "EXACT"


def test_gates_in_the_middle_are_held_with_the_codes_before_them():
    net = rs.load(layers([7, 4, 3, 6, 2]))
    x, target = np.random.default_rng(6).uniform(-1, 1, (2, 7))
    found = rs.preimages.invariant(net, x, target=target, gate=1, domain=box_of(net), within="region")
    inside = found.found + 1e-6 * (x - found.found)
    for gate in net.gates[:2]:
        assert np.array_equal(net.codes(inside).by_gate()[gate.name].words, net.codes(x).by_gate()[gate.name].words)
    assert len(found.before) == 3
    assert found.difference < 1e-12


def test_dimension_and_widths_of_a_set_known_by_hand():
    # Held: x_0 = 0.5 and x_1 <= 0, within [-1, 1]^3.
    net = rs.load([(np.eye(3)[:2], np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    around = rs.preimages.invariant_set(net, [0.5, -0.25, 0.5], domain=rs.Box(-1, 1, 3))
    assert around.dimension == 2
    assert [round(around.width(way), 9) for way in np.eye(3)] == [0.0, 1.0, 2.0]
    assert around.reach([0.0, 0.0, 2.0]) == (1.5, 0.5)
    assert around.reach([1.0, 0.0, 0.0]) == (0.0, 0.0)
    nearest, way = around.nearest_end()
    assert nearest.value == pytest.approx(0.25)
    assert np.allclose(way, [0, 1, 0])
    thin, way = around.least_width()
    assert (str(thin), np.abs(way).round(9).tolist()) == ("1 (EXACT)", [0.0, 1.0, 0.0])
    farthest, point = around.farthest()
    assert farthest.value == pytest.approx(np.hypot(0.75, 1.5))
    assert np.allclose(point, [0.5, -1.0, -1.0])
    assert farthest.claim == "LOWER"
    assert farthest.interval[1] >= farthest.value
    without = rs.preimages.invariant(net, [0.5, -0.25, 0.5], domain=rs.Box(-1, 1, 3))
    assert without.change == pytest.approx(farthest.value)
    # An equation hidden in two inequalities: x_2 <= 0 and -x_2 <= 0.
    rows = np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, -1]])
    net = rs.load([(rows, np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    assert rs.preimages.invariant_set(net, [0.5, 0.0, 0.0]).dimension == 1
    single = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    assert rs.preimages.invariant_set(single, [0.5]).least_width()[0].value == 0
    assert rs.preimages.invariant_set(single, [0.5]).nearest_end()[0].value == 0


def test_injective_gates_leave_the_null_space():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.LeakyReLU(0.1), torch.nn.Linear(2, 1)).double()
    net = rs.load(model, input_shape=(4,))
    x, target = np.random.default_rng(0).uniform(-1, 1, (2, 4))
    found = rs.preimages.invariant(net, x, target=target, domain=rs.Box(-1, 1, 4))
    assert found.set.dimension == 2
    assert found.difference < 1e-14
    assert not len(found.set.bounds)


def test_bad_input_is_refused():
    net = rs.load(layers([3, 2, 2, 1]))
    x = np.zeros(3)
    with pytest.raises(rs.errors.InputError, match="give a domain"):
        rs.preimages.invariant(net, x, target=[1.0, 2.0, 3.0])
    with pytest.raises(rs.errors.InputError, match="give a domain"):
        rs.preimages.invariant(net, x)
    with pytest.raises(rs.errors.InputError, match="'linear' or 'l2'"):
        rs.preimages.invariant(net, x, target=x, norm="l1")
    with pytest.raises(rs.errors.InputError, match="'layer' or 'region'"):
        rs.preimages.invariant(net, x, target=x, within="gate")
    with pytest.raises(rs.errors.InputError, match='take within="region"'):
        rs.preimages.invariant(net, x, target=x, gate=1)
    with pytest.raises(rs.errors.InputError, match="enlarge the domain"):
        rs.preimages.invariant(net, x, target=x, domain=rs.Box(1, 2, 3))
    with pytest.raises(rs.errors.ShapeError, match="as many as inputs"):
        rs.preimages.invariant(net, x, target=x, domain=rs.Box(-1, 2, 2))
    with pytest.raises(rs.errors.ShapeError, match="one target"):
        rs.preimages.invariant(net, x, target=np.zeros((2, 3)))
    with pytest.raises(rs.errors.ShapeError, match="one point"):
        rs.preimages.invariant(net, np.zeros((2, 3)), target=x)
    with pytest.raises(rs.errors.ShapeError, match="3 entries"):
        rs.preimages.invariant_set(net, x).width([1.0])
    with pytest.raises(rs.errors.InputError, match="zero vector"):
        rs.preimages.invariant_set(net, x).width(x)
