"""Distances to images of layers against all codes by SLSQP, dense grids, and networks whose images are known."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import reluscope as rs
from networks.models import layers
from reluscope.geometry.programs.linear_program import LinearProgram
from reluscope.networks.truncation import up_to_gate
from reluscope.testing import default_network, networks


def by_all_codes(weight, bias, y, box=None):
    """Return the least distance over all codes of a ReLU layer, each by a quadratic program of scipy's."""
    best = np.inf
    for code in product((0.0, 1.0), repeat=len(bias)):
        mask = np.array(code)
        sign = 2 * mask - 1
        constraints = [
            {
                "type": "ineq",
                "fun": lambda x, sign=sign: sign * (weight @ x + bias),
                "jac": lambda x, sign=sign: sign[:, None] * weight,
            }
        ]
        solved = minimize(
            lambda x, mask=mask: ((mask * (weight @ x + bias) - y) ** 2).sum(),
            np.zeros(weight.shape[1]),
            jac=lambda x, mask=mask: 2 * (mask[:, None] * weight).T @ (mask * (weight @ x + bias) - y),
            method="SLSQP",
            constraints=constraints,
            bounds=None if box is None else list(zip(box.lo, box.hi, strict=True)),
            options={"ftol": 1e-14, "maxiter": 300},
        )
        if (sign * (weight @ solved.x + bias) >= -1e-7).all():
            best = min(best, np.sqrt(((np.maximum(weight @ solved.x + bias, 0) - y) ** 2).sum()))
    return best


@settings(max_examples=25)
@given(networks(num_inputs=st.integers(1, 3), max_layers=1, max_width=4), st.integers(0, 2**16), st.booleans())
@example(parameters=default_network([3, 4, 1], seed=300), seed=4, with_box=False)  # not EXACT: 5e-7 are not proved
def test_the_distance_is_the_least_over_all_codes(parameters, seed, with_box):
    (weight, bias), rng = parameters[0], np.random.default_rng(seed)
    y = rng.normal(size=len(bias)) * 2 + 0.5
    box = rs.Box(-1, 1, weight.shape[1]) if with_box else None
    found = rs.preimages.distance_to_image((weight, bias), y, domain=box)
    # Without a box, multipliers speak for inputs far away: rounding of theirs may leave everything open, as said.
    distance, (point,), (features,) = found["distance_to_image"], found.details["points"], found.details["features"]
    assert distance.is_exact[0] or box is None
    assert distance.lower[0] <= distance.value[0] <= distance.upper[0]
    assert distance.value[0] == pytest.approx(by_all_codes(weight, bias, y, box), abs=2e-5)
    assert np.allclose(np.maximum(weight @ point + bias, 0), features)
    assert np.linalg.norm(features - y) == pytest.approx(distance.value[0])
    assert box is None or box.contains(point)


@given(networks(num_inputs=3, max_layers=1, max_width=6), st.integers(0, 2**16))
def test_features_of_an_input_are_in_the_image(parameters, seed):
    weight, bias = parameters[0]
    y = np.maximum(weight @ np.random.default_rng(seed).normal(size=3) + bias, 0)
    assert rs.preimages.distance_to_image((weight, bias), y)["distance_to_image"].value[0] < 1e-6


@pytest.mark.slow
def test_many_pieces_and_a_gate_that_is_not_convex():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU6(), torch.nn.Linear(4, 3), torch.nn.Hardtanh())
    net = rs.load(model.double(), input_shape=(2,))
    box = rs.Box(-3, 3, 4)
    y = np.array([0.5, -2.0, 0.75])
    found = rs.preimages.distance_to_image(net, y, gate=1, domain=box).finding("distance_to_image")
    rng = np.random.default_rng(0)
    layer = rs.preimages.read_layer(net, 1)
    sampled = np.linalg.norm(layer(rng.uniform(-3, 3, (200_000, 4))) - y, axis=1).min()
    assert found.claim == "EXACT"
    assert sampled - 0.1 < found.value <= sampled


@pytest.mark.slow
def test_a_budget_gives_both_ends():
    rng = np.random.default_rng(1)
    weight, bias = rng.normal(size=(12, 4)), rng.normal(size=12)
    y = np.abs(rng.normal(size=12)) * 2
    whole, part = (
        rs.preimages.distance_to_image((weight, bias), y, domain=rs.Box(-1, 1, 4), budget=budget)
        for budget in (None, rs.Budget(regions=3))
    )
    assert part.stopped == "budget of 3 regions"
    whole, part = whole["distance_to_image"], part["distance_to_image"]
    assert (part.claims, whole.claims) == (("UPPER",), ("EXACT",))
    assert 0 < part.lower[0] <= whole.value[0] + 1e-6 <= part.value[0] + 2e-6
    assert whole.lower[0] <= whole.value[0]


def test_the_range_of_a_deep_network_against_a_grid():
    net = rs.load(layers([2, 6, 5, 3], seed=2))
    y = np.array([3.0, -2.0, 1.0])
    axis = np.linspace(-1, 1, 201)
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    for gate, goal in ((None, y), (1, np.array([0.3, 2.0, -1.0, 0.5, 1.0]))):
        features = up_to_gate(net, gate)
        sampled = np.linalg.norm(features(points).numpy() - goal, axis=1).min()
        found = rs.preimages.distance_to_range(net, goal, domain=rs.Box(-1, 1, 2), gate=gate)
        distance = found.finding("distance_to_image")
        assert sampled - 0.1 < distance.value <= sampled + 1e-9
        assert np.allclose(features(found.details["points"]).numpy(), found.details["features"], atol=1e-9)
        assert distance.claim == "EXACT"
    part = rs.preimages.distance_to_range(
        rs.load(layers([2, 80, 60, 3])), y, domain=rs.Box(-2, 2, 2), budget=rs.Budget(regions=40)
    )
    assert part["distance_to_image"].claims == ("UPPER",)
    assert part["distance_to_image"].lower == 0


@settings(max_examples=15)
@given(networks(num_inputs=2, num_outputs=2, max_layers=2, max_width=4), st.integers(0, 2**16))
def test_other_regions_reach_the_ball_where_a_grid_says_so(parameters, seed):
    net, rng = rs.load(parameters), np.random.default_rng(seed)
    box, x = rs.Box(-2, 2, 2), rng.uniform(-2, 2, 2)
    axis = np.linspace(-2, 2, 81) * 0.999 + 0.0003
    points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    part = rs.partition(net, box)
    found = rs.preimages.reached_from_elsewhere(net, x, 0.5, domain=part)
    other = part.locate(points) != found.summary.details["own"][0]
    distances = np.linalg.norm((net(points) - net(x)).numpy(), axis=1)[other]
    sampled = distances.min(initial=np.inf)
    distance = found.finding("distance_from_elsewhere")
    assert distance.value <= sampled + 1e-6
    if np.isfinite(distance.value):
        steepest = max(float(np.linalg.norm(one.numpy(), 2)) for one in part.maps.weight)
        assert distance.value >= sampled - 0.06 * steepest - 1e-6
    assert str(found.finding("is_reached_from_elsewhere")) == f"{int(distance.value <= 0.5)} (EXACT)"
    rows = set(part.locate(points)[other][distances < 0.5 - 1e-6].tolist())
    assert rows <= set(found.keys["region"].tolist())
    near = zip(found.keys["region"], found.details["points"], found["distance_from_region"].value, strict=True)
    for row, point, distance in near:
        assert part[int(row)].polyhedron.contains(point, 1e-7)
        assert np.linalg.norm((net(point) - net(x)).numpy()) == pytest.approx(distance, abs=1e-6)


def test_bad_input_is_refused():
    net = rs.load(layers([2, 3, 2]))
    box = rs.Box(-1, 1, 2)
    with pytest.raises(rs.errors.ShapeError, match="3 units"):
        rs.preimages.distance_to_image(net, [1.0, 2.0])
    with pytest.raises(rs.errors.ShapeError, match="domain of 2"):
        rs.preimages.distance_to_image(net, np.ones(3), domain=rs.Box(0, 1, 3))
    with pytest.raises(rs.errors.InputError, match="finite"):
        rs.preimages.distance_to_image(net, [1.0, np.inf, 0.0])
    with pytest.raises(rs.errors.ShapeError, match="2 features"):
        rs.preimages.distance_to_range(net, np.ones(3), domain=box)
    with pytest.raises(rs.errors.InputError, match="at least 0, got"):
        rs.preimages.reached_from_elsewhere(net, [0.0, 0.0], -1.0, domain=box)
    with pytest.raises(rs.errors.InputError, match="got one outside"):
        rs.preimages.reached_from_elsewhere(net, [5.0, 0.0], 1.0, domain=box)
    with pytest.raises(rs.errors.InputError, match="another network"):
        rs.preimages.reached_from_elsewhere(net, [0.0, 0.0], 1.0, domain=rs.partition(net, box), gate=0)


def test_a_lying_solver_weakens_the_claim(monkeypatch):
    """The diagonal is the square root of 2 from (3, 1): a solver that calls its first corner the best is found out."""
    honest = LinearProgram.maximize

    def lie(self, objective):
        told = honest(self, 0 * objective)
        return told._replace(value=float(objective @ told.point))

    monkeypatch.setattr(LinearProgram, "maximize", lie)
    found = rs.preimages.distance_to_image(
        ([[1.0], [1.0]], [0.0, 0.0]), [3.0, 1.0], domain=rs.Box(-4, 4, 1), budget=rs.Budget(regions=20)
    )
    found = found.finding("distance_to_image")
    assert found.claim == "UPPER"
    assert found.interval[0] <= 2**0.5 <= found.value
    net = rs.load([(np.ones((2, 1)), np.zeros(2)), (np.eye(2), np.zeros(2))])
    part = rs.partition(net, rs.Box(-4, 4, 1))
    ranged = rs.preimages.distance_to_range(net, [3.0, 1.0], domain=part)
    ranged = ranged.finding("distance_to_image")
    assert ranged.claim == "UPPER"
    assert ranged.interval[0] <= 2**0.5 <= ranged.value
