"""The largest value over a domain against all regions of partitions, and against linear programs over all codes."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import reluscope as rs
from networks.models import layers
from reluscope.testing import networks


def ends_of(finding):
    return finding.interval or (finding.value - (finding.tolerance or 0.0), finding.value + (finding.tolerance or 0.0))


def largest_of_all_codes(parameters, row, low, high, normals, offsets):
    """Return the largest value of a row over all codes of one hidden layer, by linear programs."""
    (first, bias), (last, shift) = parameters
    best = -np.inf
    for code in product([0.0, 1.0], repeat=len(first)):
        on = np.array(code)
        signs = 1 - 2 * on  # on: w x + b >= 0
        gain = row @ (last * on) @ first
        found = linprog(
            -gain,
            A_ub=np.concatenate([signs[:, None] * first, normals]),
            b_ub=np.concatenate([-signs * bias, offsets]),
            bounds=list(zip(low, high, strict=True)),
        )
        if found.status == 0:
            best = max(best, -found.fun + row @ (last * on) @ bias + row @ shift)
    return best


@settings(max_examples=20)
@given(networks(max_layers=2, max_width=5, num_outputs=2), st.integers(0, 2**16))
def test_it_is_that_of_the_corners_of_all_regions(parameters, seed):
    row = np.random.default_rng(seed).integers(-4, 5, 2).astype(float)
    row[0] += not row.any()
    net, box = rs.load(parameters), rs.Box(-2, 2, 2)
    found = rs.maximize(net, box, row)
    truth = float((rs.partition(net, box).outputs @ row).max())
    low, high = ends_of(found.value)
    assert low - 1e-9 * abs(truth) <= truth <= high + 1e-9 * abs(truth)
    assert str(found.value.claim) == "EXACT" or truth == 0  # where no scale says what little is
    assert box.contains(found.point)
    np.testing.assert_allclose(float(net(found.point[None])[0].numpy() @ row), found.value.value, rtol=1e-9, atol=1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dim", [3, 12])
def test_linear_constraints_between_inputs_hold(seed, dim):
    rng = np.random.default_rng(seed)
    parameters = [(rng.normal(size=(6, dim)), rng.normal(size=6)), (rng.normal(size=(2, 6)), rng.normal(size=2))]
    normals, offsets, row = rng.normal(size=(2, dim)), np.array([0.1, 0.2]), rng.normal(size=2)
    low, high = -np.ones(dim), np.ones(dim)
    every = np.eye(dim)
    domain = rs.Polyhedron(np.concatenate([every, -every, normals]), np.concatenate([high, -low, offsets]))
    found = rs.maximize(rs.load(parameters), domain, row)
    truth = largest_of_all_codes(parameters, row, low, high, normals, offsets)
    assert abs(found.value.value - truth) <= 2e-6 * max(1.0, abs(truth))
    assert str(found.value.claim) == "EXACT"
    assert domain.contains(found.point, 1e-9)


def test_the_smallest_value_on_a_slice():
    net = rs.load(layers([5, 8, 8, 1]))
    plane = rs.Plane(np.zeros(5), np.ones(5), np.arange(5.0))
    found = rs.maximize(net, plane, [-1.0])
    truth = float(rs.partition(net, plane).outputs.min())
    assert abs(-found.value.value - truth) <= 1e-6 * max(1.0, abs(truth))
    np.testing.assert_allclose(net(found.point[None]).item(), truth, rtol=1e-6)


@pytest.mark.parametrize("dim", [4, 14])
def test_a_budget_leaves_an_interval(dim):
    net, box = rs.load(layers([dim, 24, 24, 1])), rs.Box(-0.3, 0.3, dim)
    cut = rs.maximize(net, box, budget=rs.Budget(regions=1))
    low, high = ends_of(cut.value)
    seen = float(net(np.random.default_rng(0).uniform(-0.3, 0.3, (5000, dim))).max())
    assert seen <= low + 1e-9 * abs(low)
    assert low <= high < np.inf
    assert cut.value.stop is not None or str(cut.value.claim) == "EXACT"


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("number", [1, 3])
def test_constraints_and_a_budget_leave_an_interval_that_holds_the_truth(seed, number):
    """Seen red on a strip: bounds of mixed rows, taken for those of the value, ended at 6.7 where 22.7 is taken."""
    rng = np.random.default_rng(seed)
    net = rs.load(layers([3, 8, 8, 1], seed=seed))
    every, normals = np.eye(3), rng.normal(size=(2, 3))
    normals[1] = 0.1 * normals[1] - normals[0]
    domain = rs.Polyhedron(np.concatenate([every, -every, normals]), np.concatenate([np.full(6, 2.0), [0.1, 0.2]]))
    truth = float(rs.partition(net, domain).outputs.max())
    low, high = ends_of(rs.maximize(net, domain, budget=rs.Budget(regions=number)).value)
    assert low - 1e-9 * abs(truth) <= truth <= high + 1e-9 * abs(truth)


def test_values_far_from_zero_and_steps_that_are_none():
    net = rs.load([(np.array([[1.0]]), np.array([1e9]))])
    assert rs.maximize(net, rs.Box([0.0], [1.0])).value.value == 1e9 + 1
    constant = rs.load([(np.zeros((1, 3)), np.array([-2.5]))])
    found = rs.maximize(constant, rs.Box(-1, 1, 3))
    assert str(found.value) == "-2.5 (EXACT)"


def test_bad_input_is_refused():
    net, box = rs.load(layers([2, 4, 2])), rs.Box(-1, 1, 2)
    with pytest.raises(rs.errors.InputError, match="direction must be given for 2 outputs"):
        rs.maximize(net, box)
    with pytest.raises(rs.errors.ShapeError, match="direction must have 2 entries"):
        rs.maximize(net, box, [1.0, 0.0, 0.0])
    with pytest.raises(rs.errors.InputError, match="must not be zero"):
        rs.maximize(net, box, [0.0, 0.0])
    with pytest.raises(rs.errors.InputError, match="domain must be bounded"):
        rs.maximize(net, rs.Space(2), [1.0, 0.0])
    with pytest.raises(rs.errors.InputError, match=r"must not be empty|must have an interior"):
        rs.maximize(net, rs.Polyhedron([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [0, -1, 1, 1]), [1.0, 0.0])
    with pytest.raises(rs.errors.InputError, match="must have an interior"):
        rs.maximize(net, rs.Polyhedron([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]], [0, 0, 1, 1]), [1.0, 0.0])
    with pytest.raises(rs.errors.ShapeError, match="3 dimensions"):
        rs.maximize(net, rs.Box(-1, 1, 3), [1.0, 0.0])


def test_without_time_the_middle_is_known():
    net, box = rs.load(layers([4, 12, 12, 1])), rs.Box([-1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 2.0, 1.0])
    found = rs.maximize(net, box, budget=rs.Budget(seconds=0.0))
    assert found.value.claim == "LOWER"
    assert float(found) >= net(box.center[None]).item() - 1e-9
    assert box.contains(found.point)
