"""Steps that make bounds larger: their ways against loops over entries, and differences of bounds."""

import math

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.networks.bounds import best_multipliers
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import maximized, raised
from reluscope.testing import default_network


def absolute_value():
    """Return bounds of |x| on [-1, 1] with both units held to x >= 0, and both pulled a little."""
    bounds = BackwardBounds(rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]), -np.ones(1), np.ones(1))
    held = bounds.unheld(1)
    held.first[0][0, 0], held.last[0][0, 1] = 1, 0
    held.multipliers[0][0] = torch.tensor([-0.125, 0.125])
    return bounds, torch.ones(1, 1).double(), held


def deep(seed):
    """Return bounds of a network of three layers, and rows with holdings of their own, some slopes at their ends."""
    draw = np.random.default_rng(seed)
    bounds = BackwardBounds(rs.load(default_network([2, 6, 5, 3], seed)), -2 * np.ones(2), np.ones(2), steps=0)
    rows = torch.from_numpy(draw.normal(size=(4, 3)))
    held = bounds.unheld(4)
    held = type(held)(*([one.expand(4, -1).clone() for one in table] for table in held))
    for gate in range(2):
        shape = held.slopes[gate].shape
        held.slopes[gate][:] = torch.from_numpy(draw.choice([0.0, 0.25, 0.625, 1.0], shape))
        chosen = torch.from_numpy(draw.random(shape) < 0.3)
        held.last[gate][chosen] = 0
        held.multipliers[gate][:] = torch.where(chosen, torch.from_numpy(0.1 * draw.normal(size=shape)), 0.0)
    return bounds, rows, held


def value_at(bounds, rows, held, tables):
    number = len(held.slopes)
    tried = held._replace(slopes=tables[:number], multipliers=tables[number:])
    return bounds.lower_bounds(rows, tried, is_sure=False).values


@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_differences_where_slopes_and_multipliers_may_move(seed):
    bounds, rows, held = deep(seed)
    tables = [one.clone() for one in (*held.slopes, *held.multipliers)]
    values = value_at(bounds, rows, held, tables)
    aim = values + torch.tensor([1.0, 1.0, 0.0, -1.0])  # the last one is there already
    found, slopes = best_multipliers._with_gradient(bounds, rows, held, tables, aim)
    assert torch.equal(found.values, values)
    assert not found.values.requires_grad
    for place, table in enumerate(tables):
        for unit in range(table.shape[1]):
            for row in range(4):
                ends = []
                for step in (1e-6, -1e-6):
                    moved = [one.clone() for one in tables]
                    moved[place][row, unit] += step
                    ends.append((value_at(bounds, rows, held, moved)[row] - values[row]).item() / step)
                seen = slopes[place][row, unit].item()
                is_slope = place < len(held.slopes)
                at = table[row, unit].item()
                is_held = is_slope or held.last[place - 2][row, unit] == 0
                if row == 3 or not is_held or (is_slope and (at, math.copysign(1, sum(ends))) in ((0, -1), (1, 1))):
                    assert seen == 0
                elif ends[0] == pytest.approx(ends[1], abs=1e-6):
                    assert seen == pytest.approx(ends[0], abs=1e-6)


def test_of_no_gates_nothing_rises():
    bounds = BackwardBounds(rs.load([(np.ones((2, 2)), np.zeros(2))]), -np.ones(2), np.ones(2))
    rows, held = torch.eye(2).double(), bounds.unheld(2)
    for found, _ in (
        raised(bounds, rows, held, aim=torch.ones(2).double(), steps=3),
        maximized(bounds, rows, held, steps=3),
    ):
        assert found.values.tolist() == pytest.approx([-2.0, -2.0])


def test_smooth_ways_are_means_in_units_of_spread():
    draw, ways = np.random.default_rng(0), best_multipliers._SmoothWays()
    squares, means = {}, {}
    for step in range(4):
        gradients = [draw.normal(size=(3, width)) * 10.0 ** draw.integers(-3, 3, (3, width)) for width in (2, 3)]
        for one in gradients:
            one[2] = 0.0
        found, climb = ways.next([torch.from_numpy(one) for one in gradients])
        for row in range(3):
            places = [(table, k) for table in (0, 1) for k in range(gradients[table].shape[1])]
            for table, k in places:
                new = gradients[table][row, k] ** 2
                squares[table, row, k] = 0.9 * squares[table, row, k] + 0.1 * new if step else new
            mean = sum(squares[table, row, k] for table, k in places) / 5
            total = 0.0
            for table, k in places:
                way = gradients[table][row, k] / (math.sqrt(squares[table, row, k]) + 0.1 * math.sqrt(mean) + 1e-12)
                means[table, row, k] = 0.5 * (means[table, row, k] + way) if step else way
                assert found[table][row, k].item() == pytest.approx(means[table, row, k])
                total += means[table, row, k] * gradients[table][row, k]
            assert climb[row].item() == pytest.approx(total)


def test_steps_are_those_of_adam():
    """Kingma and Ba, algorithm 1, entry by entry; of a table that nothing depends on there are none."""
    draw = np.random.default_rng(1)
    own = [torch.from_numpy(draw.normal(size=(2, width))).requires_grad_() for width in (3, 4)]
    unused = torch.zeros(2, 2, requires_grad=True)
    ways, known = best_multipliers._Adam([*own, unused]), {}
    for count in range(1, 6):
        slopes = [-2 * (one.detach() - 0.25) + one.detach() ** 2 for one in own]
        moves = ways.moves(sum(-((one - 0.25) ** 2).sum() + (one**3).sum() / 3 for one in own))
        assert not moves[2].any()
        for table, (slope, move) in enumerate(zip(slopes, moves, strict=False)):
            for place, (gradient, step) in enumerate(
                zip(slope.flatten().tolist(), move.flatten().tolist(), strict=True)
            ):
                mean, square = known.get((table, place), (0.0, 0.0))
                mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
                known[table, place] = mean, square
                spread = math.sqrt(square / (1 - 0.999**count)) + 1e-12
                assert step == pytest.approx(mean / (1 - 0.9**count) / spread)
        own = [(one.detach() + 0.1 * move).requires_grad_() for one, move in zip(own, moves, strict=False)]
        ways.begin([*own, unused])


@pytest.mark.parametrize(
    ("aim", "steps", "reached"), [(-0.5, 1, -0.5), (-0.25, 1, -0.25), (-2.0, 3, -0.75), (0.0, 1, 0.0)]
)
def test_one_step_goes_as_far_as_the_tangent_meets_the_aim(aim, steps, reached):
    """The bound is -1 plus what both multipliers pull, up to 0."""
    bounds, row, held = absolute_value()
    assert bounds.lower_bounds(row, held).values.item() == pytest.approx(-0.75)
    found, chosen = raised(bounds, row, held, aim=torch.tensor([aim]).double(), steps=steps)
    assert found.values.item() == pytest.approx(reached, abs=1e-6)
    assert bounds.lower_bounds(row, chosen).values.item() == found.values.item()


@pytest.mark.parametrize(("steps", "reached"), [(0, -0.75), (1, -0.55), (2, -0.356)])
def test_pulls_move_by_half_a_step_in_units_of_weights(steps, reached):
    """Steps of 0.1 and of 0.097, of two pulls."""
    bounds, row, held = absolute_value()
    found, _ = maximized(bounds, row, held, steps=steps)
    assert found.values.item() == pytest.approx(reached, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_never_fall_and_those_at_their_aim_stay(seed):
    bounds, rows, held = deep(seed)
    before = bounds.lower_bounds(rows, held).values
    aim = before + torch.tensor([9.0, 9.0, -9.0, -9.0])
    for found, chosen in (
        raised(bounds, rows, held, aim=aim, steps=5),
        maximized(bounds, rows, held, steps=5, enough=aim),
    ):
        assert (found.values >= before - 1e-9).all()
        assert (found.values[:2] > before[:2] + 1e-3).any() or before[:2].isinf().any()
        for one, other in zip((*chosen.slopes, *chosen.multipliers), (*held.slopes, *held.multipliers), strict=True):
            assert torch.equal(one[2:], other[2:])
        assert torch.equal(bounds.lower_bounds(rows, chosen).values, found.values)
