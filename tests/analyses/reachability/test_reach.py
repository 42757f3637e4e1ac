"""Closed loops against fractions, against simulated states, and exact steps against covers of the same steps."""

import signal

import numpy as np
import pytest
import torch

import reluscope as rs
from oracles import exact_images as exact
from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.analyses.reachability import cover as covering
from reluscope.analyses.reachability.closed_loop import closed_loop
from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.testing import default_network

Plant = rs.reachability.Plant
PLANT = Plant([[1.0, 0.25], [-0.125, 0.875]], [[0.125], [0.5]], [0.0, 0.125])
START = rs.Box([-1.0, -1.0], [1.0, 0.5])
STEPS = 3


def layers():
    rng = np.random.default_rng(5)
    first, second = np.round(rng.normal(size=(3, 2)) * 4) / 4, np.round(rng.normal(size=(1, 3)) * 4) / 2
    return [(first, np.round(rng.normal(size=3) * 4) / 8), (second, np.array([0.25]))]


def hidden(builder, x, factor=1.0):
    """Return the two layers in a graph, the last one's weights multiplied."""
    (W, b), (V, c) = [[torch.tensor(part) for part in layer] for layer in layers()]
    y = builder.relu(builder.add(builder.axis_matrix(x, 0, W), b))
    return builder.add(builder.axis_matrix(y, 0, factor * V), c)


def simulated(net, plant, states, steps):
    """Return the states after 0, 1, 2, ... steps."""
    found = [states]
    for _ in range(steps):
        u = net(found[-1]).numpy().reshape(len(states), -1)
        found.append(found[-1] @ plant.A.T + u @ plant.B.T + plant.c)
    return found


@pytest.fixture(scope="module")
def loop():
    """A loop, its exact sets, and 10^5 runs of it."""
    net = rs.load(layers())
    states = np.random.default_rng(0).uniform(START.lo, START.hi, (100_000, 2))
    return net, rs.reach(net, PLANT, START, STEPS), simulated(net, PLANT, states, STEPS)


@pytest.fixture(scope="module")
def in_fractions():
    """The polygons of states after each step."""
    (W, b), (V, c) = exact.fractions(layers())
    A, B, shift = (exact.fractions(part) for part in (PLANT.A, PLANT.B, PLANT.c))
    x0, y0, x1, y1 = exact.fractions([*START.lo, *START.hi])
    found = [[[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]]]
    for _ in range(STEPS):
        found.append([])
        for polygon in found[-2]:
            for part, controls in exact.images([(W, b), (V, c)], polygon):
                moved = [exact.affine(A, shift, x) for x in part]
                pushed = [
                    [y + row[0] * u[0] for y, row in zip(x, B, strict=True)]
                    for x, u in zip(moved, controls, strict=True)
                ]
                found[-1].append(pushed)
    return found


def test_exact_steps_are_those_of_fractions(loop, in_fractions):
    _, found, _ = loop
    assert (len(found), found.num_exact, found.stopped) == (STEPS + 1, STEPS + 1, "")
    for states, polygons in zip(found.sets[:3], in_fractions, strict=False):
        assert states.volume().value == pytest.approx(float(exact.area_of_union(polygons)), rel=1e-12)
    for ends, polygons in zip(found.ends, in_fractions, strict=True):
        corners = np.array([[float(x) for x in corner] for polygon in polygons for corner in polygon])
        assert ends == pytest.approx(np.stack([corners.min(axis=0), corners.max(axis=0)]), abs=1e-12)


@pytest.mark.few(1)
def test_runs_stay_in_exact_sets_and_in_covers(loop):
    net, found, runs = loop
    for states, points in zip(found.sets, runs, strict=True):
        assert states.contains(points).all()
    enclosed = rs.reach(net, PLANT, START, STEPS, budget=rs.Budget(regions=3))
    exact_steps = enclosed.num_exact
    assert 1 <= exact_steps <= 2
    assert [str(claim) for claim in enclosed.claims] == ["EXACT"] * exact_steps + ["UPPER"] * (4 - exact_steps)
    assert "3 regions" in enclosed.stopped
    finer = [covering.cover(closed_loop(net, PLANT, 3), START, np.stack([START.lo, START.hi])[None], 64, rs.Budget())]
    for states, whole, points in zip(
        [*enclosed.sets, *finer], [*found.sets, found[STEPS]], [*runs, runs[STEPS]], strict=True
    ):
        assert states.contains(points).all()
        assert (states.ends[0] <= whole.ends[0] + 1e-12).all()
        assert (states.ends[1] >= whole.ends[1] - 1e-12).all()
        for direction in ([1.0, -2.0], [0.0, 1.0]):
            most, truth = states.maximum(direction), whole.maximum(direction).value
            low, high = most.interval or (most.value - 1e-9, most.value + 1e-9)
            assert low - 1e-12 <= truth <= high + 1e-12
    assert np.prod(np.diff(finer[0].ends, axis=0)) < np.prod(np.diff(enclosed.ends[STEPS], axis=0))
    assert finer[0][0].contains(finer[0].boxes[0].mean(axis=0))


@pytest.mark.slow
def test_the_runs_would_see_a_cover_that_is_too_small(loop, monkeypatch):
    real = BoxBounds.on
    monkeypatch.setattr(BoxBounds, "on", lambda self, low, high: real(self, low + 0.05 * (high - low), high))
    with pytest.raises(AssertionError):
        test_runs_stay_in_exact_sets_and_in_covers(loop)


def test_targets_are_kept_left_or_open(loop):
    net, found, _ = loop
    top = found.ends[:, 1, 0]
    assert found.within(rs.Polyhedron([[1.0, 0.0]], [top.max() + 1e-6])) == [True] * 4
    assert found.within(rs.Polyhedron([[1.0, 0.0]], [top[2] - 1e-6])) == [bool(one < top[2] - 1e-7) for one in top]
    enclosed = rs.reach(net, PLANT, START, 2, budget=rs.Budget(regions=2))
    between = (found[2].maximum([1.0, 0.0]).value + enclosed[2].maximum([1.0, 0.0]).value) / 2
    assert enclosed.within(rs.Polyhedron([[1.0, 0.0]], [between]))[2] is None
    with pytest.raises(ShapeError):
        found.within(rs.Polyhedron([[1.0]], [0.0]))


def test_first_states_in_a_box_are_within_it(loop):
    _, found, _ = loop
    assert found.within(START)[0] is True  # at a touch, which bounds of maxima leave open
    assert found.within(START.polyhedron)[0] is True
    less = rs.Box(START.lo, np.nextafter(START.hi, -np.inf))
    assert found.within(less)[0] is False
    level = rs.Polyhedron([[1.0, 1.0]], [float(START.hi.sum())], [[0.0, 1.0]], [0.25])
    assert found.within(level)[0] is False


def test_saturation_and_flat_or_cut_first_states():
    builder = GraphBuilder()
    net = builder.build(builder.hardtanh(hidden(builder, builder.input((2,)), 8.0), -0.25, 0.25))
    for start, count in (
        (rs.Segment([-1.0, -1.0], [1.0, 0.5]), 400),
        (rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1.0, 1.0, 1.0]), 400),
    ):
        window = start.window.polyhedron if hasattr(start, "window") else start
        states = window.sample(count, seed=1)
        states = start.lift(states) if hasattr(start, "lift") else states
        runs = simulated(net, PLANT, states, 2)
        for budget in (None, rs.Budget(regions=1)):
            found = rs.reach(net, PLANT, start, 2, budget=budget)
            assert found.claims[2] == ("EXACT" if budget is None else "UPPER")
            assert all(one.contains(points).all() for one, points in zip(found.sets, runs, strict=True))
    assert np.abs(net(runs[0]).numpy()).max() == 0.25
    assert found.to_table().column_names == ["step", "claim", "pieces", "lower_0", "upper_0", "lower_1", "upper_1"]


@pytest.mark.slow
def test_shapes_of_points_do_not_matter(loop):
    _, found, _ = loop
    builder = GraphBuilder()
    x = builder.reshape(builder.input((1, 2)), (2,))
    again = rs.reach(builder.build(builder.reshape(hidden(builder, x), (1, 1))), PLANT, START, 2)
    assert again.ends == pytest.approx(found.ends[:3])


def test_time_and_ctrl_c_leave_what_is_sure(loop, hears_ctrl_c):
    net, found, _ = loop
    told = []
    late = rs.reach(net, PLANT, START, 2, budget=rs.Budget(seconds=0), progress=told.append)
    # How many steps are bounded in the grace after the time depends on the machine.
    assert len(told) == len(late) >= 1
    assert told == pytest.approx([1 / 3, 2 / 3, 1.0][: len(late)])
    assert (late.ends[:, 0] <= found.ends[: len(late), 0] + 1e-12).all()
    assert (late.ends[:, 1] >= found.ends[: len(late), 1] - 1e-12).all()
    assert "budget" in late.stopped
    for budget in (None, rs.Budget(regions=1)):
        struck = rs.reach(
            net,
            PLANT,
            START,
            3,
            budget=budget,
            progress=lambda share: share == 0.5 and signal.raise_signal(signal.SIGINT),
        )
        assert struck.stopped == "interrupted"
        assert len(struck) == 2


def test_what_does_not_fit_is_told(loop):
    net, *_ = loop
    with pytest.raises(ShapeError, match="states and controls, 3 and 1"):
        rs.reach(net, Plant(np.eye(3), np.ones((3, 1))), rs.Box(0, 1, 3), 1)
    with pytest.raises(ShapeError, match="states and controls, 2 and 2"):
        rs.reach(net, Plant(np.eye(2), np.eye(2)), START, 1)
    with pytest.raises(ShapeError, match="must fit A"):
        Plant(np.eye(2), np.ones((3, 1)))
    with pytest.raises(ShapeError):
        rs.reach(net, PLANT, rs.Box(0, 1, 3), 1)
    with pytest.raises(InputError, match="bounded"):
        rs.reach(net, PLANT, rs.Space(2), 1)


def test_corners_of_boxes_that_no_output_reaches_are_cut_off(loop, monkeypatch):
    net, _, runs = loop
    enclosed = rs.reach(net, PLANT, START, STEPS, budget=rs.Budget(regions=1))[STEPS]
    assert enclosed.contains(runs[STEPS]).all()
    corners = np.array(
        [[low[0], high[1]] for low, high in enclosed.boxes] + [[high[0], low[1]] for low, high in enclosed.boxes]
    )
    assert not enclosed.contains(corners).all()
    rng = np.random.default_rng(4)
    for place, (low, high) in enumerate(enclosed.boxes):
        points = rng.uniform(low, high, (200, 2))
        assert (enclosed[place].contains(points) <= enclosed.contains(points)).all()
    # Ends of diagonals that are too near would be seen.
    less = type(enclosed)(
        *(getattr(enclosed, name) for name in ("inputs", "ends", "boxes", "reached", "errors", "forms"))
    )
    less.__dict__["_across"] = 0.3 * enclosed._across + 0.7 * enclosed._across.mean(axis=1, keepdims=True)
    assert not less.contains(runs[STEPS]).all()


def test_states_that_rounding_blurs_are_enclosed():
    """The controller gives the state by way of a number so large that nothing of it is left."""
    for size, claim in ((1e12, rs.Claim.EXACT), (1e35, rs.Claim.UPPER)):
        control = rs.load([(np.eye(1), np.array([size])), (np.eye(1), np.array([-size]))])
        found = rs.reach(control, rs.reachability.Plant([[0.0]], [[1.0]]), rs.Box(0.1, 0.3, 1), 1)
        assert found.claims == [rs.Claim.EXACT, claim]
        assert ("rounding" in found.stopped) == (claim is rs.Claim.UPPER)
        assert found.within(rs.Polyhedron([[1.0]], [0.30001]))[1] is (True if claim is rs.Claim.EXACT else None)


def test_of_a_box_whose_middle_is_outside_another_point_is_known():
    simplex = rs.Polyhedron(np.concatenate([-np.eye(3), np.ones((1, 3))]), [0.0, 0.0, 0.0, 1.0])
    control = rs.load([(np.eye(3), np.full(3, -0.1)), (np.ones((1, 3)), np.zeros(1))])
    plant = rs.reachability.Plant(np.eye(3), np.ones((3, 1)))
    found = rs.reach(control, plant, simplex, 1, budget=rs.Budget(regions=1))
    assert found.claims[1] is rs.Claim.UPPER
    first = np.array([1.0, 0.0, 0.0])
    assert 0.0 < found[1].maximum(first).interval[0] < 1.9 < found[1].maximum(first).value
    assert [found.within(rs.Polyhedron(first[None], [end]))[1] for end in (0.0, 1.85)] == [False, None]


def test_steps_that_are_left_when_time_is_over_are_left_out():
    """A step more takes the bounds of all steps before; seen red: a minute for 1 s with five layers of 50 units."""
    net = rs.load(default_network([2, 24, 24, 24, 1], seed=0))
    found = rs.reach(net, PLANT, START, 400, budget=rs.Budget(seconds=0.0))
    assert 0 < len(found) < 401
    assert "budget" in found.stopped


@pytest.mark.parametrize(("rows", "shift"), [(1, 2), (2, 1), (3, 3)])
def test_plants_have_a_row_of_each_kind_for_every_state(rows, shift):
    Plant(np.eye(2), np.ones((2, 1)), np.zeros(2))
    with pytest.raises((InputError, ShapeError)):
        Plant(np.eye(2), np.ones((rows, 1)), np.zeros(shift))
