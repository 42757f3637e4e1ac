"""Local inverses against numpy's pseudo-inverse, forward passes, and least changes against all directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import reluscope as rs
from networks.models import branched, layers
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.truncation import up_to_gate
from reluscope.testing import networks


@settings(max_examples=30)
@given(networks(num_inputs=st.integers(1, 3), max_layers=2, num_outputs=3), st.integers(0, 2**16))
def test_the_inverse_returns_inputs_with_the_features(parameters, seed):
    net, rng = rs.load(parameters), np.random.default_rng(seed)
    x = rng.uniform(-1, 1, net.num_inputs)
    inverse = rs.preimages.local_inverse(net, x)
    weight = net.linearize(x).weight[0].numpy()
    assert np.allclose(inverse.weight, np.linalg.pinv(weight, rcond=1e-9), atol=1e-9)
    values = np.linalg.svd(weight, compute_uv=False)
    kept = values[values > 1e-9 * values[0]] if values[0] > 0 else values[:0]
    assert inverse.rank == len(kept)
    if inverse.rank:
        assert inverse.condition == pytest.approx(np.linalg.cond(np.diag(kept)))
        assert inverse.norm == pytest.approx(np.linalg.norm(inverse.weight, 2))
    step = 0.3 * rng.normal(size=(40, net.num_inputs)) @ weight.T
    for y in inverse.features + step:
        z = inverse(y)
        back = net(z).numpy().ravel()
        if inverse.validity.contains(y, 1e-10):
            assert np.allclose(back, y, atol=1e-7)
        assert bool(inverse.region.contains(z, 1e-9)) == bool(inverse.validity.contains(y, 1e-9)) or near(inverse, z)


def near(inverse, z):
    lengths = np.linalg.norm(inverse.region.A, axis=1)
    return (np.abs(inverse.region.A @ z - inverse.region.b) <= 1e-6 * lengths).any()


def farthest_by_linprog(inverse, way):
    """Return how far the features of x can go along a direction while the region answers."""
    size = len(inverse.point)
    A = np.column_stack([inverse.region.A, np.zeros(len(inverse.region.b))])
    C = np.column_stack([inverse.forward, -way])
    solved = linprog(
        np.append(np.zeros(size), -1.0),
        A,
        inverse.region.b,
        C,
        inverse.forward @ inverse.point,
        bounds=[(None, None)] * size + [(0, 50)],
    )
    return solved.x[-1] if solved.status == 0 else 0.0


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.integers(1, 3), st.sampled_from([1, 2, 4]))
def test_the_least_change_of_features_is_below_all_ways_out(seed, size, num_outputs):
    net, rng = rs.load(layers([size, 5, num_outputs], seed=seed)), np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size)
    inverse = rs.preimages.local_inverse(net, x, domain=rs.Box(-2, 2, size))
    if not inverse.rank:
        return
    ways = rng.normal(size=(30, size)) @ inverse.forward.T
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    shortest = min(farthest_by_linprog(inverse, way) for way in ways)
    margin = inverse.margin
    assert margin.value <= shortest + 1e-6
    if inverse.rank == 1:  # thirty directions are two
        top = margin.value if margin.interval is None else margin.interval[1]
        assert top == pytest.approx(shortest, rel=1e-6, abs=1e-7)
    if inverse.is_injective:
        assert margin.claim == "EXACT"
        rows = np.linalg.norm(inverse.region.A @ np.linalg.pinv(inverse.forward), axis=1)
        assert margin.value == pytest.approx(((inverse.region.b - inverse.region.A @ x) / rows).min())


def test_gates_slices_and_large_inputs():
    net = branched()
    x = np.random.default_rng(3).uniform(-1, 1, 72)
    inverse = rs.preimages.local_inverse(net, x, gate=1)
    assert not inverse.is_injective
    assert inverse.margin.value >= 0
    y = up_to_gate(net, 1)(x).numpy().ravel()
    assert np.allclose(inverse.features, y)
    assert np.allclose(inverse(y), x)
    plane = rs.Plane(x, x + np.eye(72)[0], x + np.eye(72)[5])
    flat = rs.preimages.local_inverse(net, [0.1, 0.2], gate=0, domain=plane)
    assert flat.weight.shape[0] == 2
    still = rs.preimages.local_inverse(rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]), [-1.0])
    assert still.rank == 0
    assert np.isnan(still.condition)
    assert still.margin.value == np.inf


def test_bad_input_is_refused():
    net = rs.load(layers([2, 3, 2]))
    with pytest.raises(rs.errors.ShapeError, match="one point"):
        rs.preimages.local_inverse(net, np.zeros((2, 2)))
    with pytest.raises(rs.errors.ShapeError, match="2 features"):
        rs.preimages.local_inverse(net, [0.3, 0.1])([1.0])
    with pytest.raises(rs.errors.InputError, match="rank_tolerance"):
        rs.preimages.local_inverse(net, [0.3, 0.1], rank_tolerance=2.0)


@pytest.mark.parametrize("lie", ["UNBOUNDED", "twice", "half"])
def test_margins_do_not_rest_on_what_a_solver_says(lie, monkeypatch):
    """On x + y with |x|, |y| <= 2 the features of the origin can be moved by 4, and by no more."""
    net = rs.load([(np.ones((1, 2)), np.full(1, 9.0)), (np.ones((1, 1)), np.zeros(1))])
    inverse = rs.preimages.local_inverse(net, [0.0, 0.0], gate=0, domain=rs.Box(-2, 2, 2))
    honest = LinearProgram.maximize

    def told(self, objective):
        found = honest(self, objective)
        if lie == "UNBOUNDED":
            return found._replace(status=ProgramStatus.UNBOUNDED, value=np.inf, point=np.nan * found.point)
        factor = {"twice": 2.0, "half": 0.5}[lie]
        return found._replace(value=factor * found.value, point=factor * found.point, duals=factor * found.duals)

    assert inverse.margin.value == pytest.approx(4.0)
    fresh = rs.preimages.local_inverse(net, [0.0, 0.0], gate=0, domain=rs.Box(-2, 2, 2))
    monkeypatch.setattr(LinearProgram, "maximize", told)
    margin = fresh.margin
    low, high = margin.interval or (margin.value, margin.value)
    assert low <= 4.0 + 1e-7 <= high + 1e-6
