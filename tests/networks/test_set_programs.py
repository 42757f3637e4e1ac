"""Linear programs of sets of regions against samples, and their duals against bounds that count rounding."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from networks.test_backward_bounds import Around, bent_gate, pieces_at
from reluscope.networks.bounds.backward_bounds import BackwardBounds, is_suited
from reluscope.networks.bounds.set_programs import GivenBack, SetProgram, _between, _Units, is_small
from reluscope.testing import default_network, networks


def solved(net, rng, lower, upper, share=0.4):
    """Return a random set around a random point, its program's answer, and the miss that its duals prove."""
    bounds = BackwardBounds(net, lower, upper)
    A, b = torch.as_tensor(rng.normal(size=(2, net.num_outputs))), torch.as_tensor(rng.normal(size=2))
    held = bounds.unheld(1).row(0)
    own = pieces_at(net, rng.uniform(lower, upper, (1, len(lower))))
    for gate, table in enumerate(own):
        chosen = torch.as_tensor(rng.random(len(table[0])) < share)
        held.first[gate][chosen] = held.last[gate][chosen] = table[0][chosen]
    relaxed = SetProgram(bounds, A, b).least_miss(held)
    return bounds, held, (A, b), relaxed, proved(bounds, held, (A, b), relaxed)


def proved(bounds, held, rows, relaxed):
    mix = torch.as_tensor(relaxed.mix)
    duals = [torch.as_tensor(one)[None] for one in relaxed.duals]
    carrier = GivenBack(bounds, held.repeated(1), 1, duals)
    return float(bounds.carried_to_box(carrier, (mix @ rows[0])[None]).values[0] - mix @ rows[1])


@settings(max_examples=40, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_programs_are_missed_by_no_more_than_points_miss(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    assume(is_suited(net) and net.num_units)
    lower = rng.uniform(-2, 0, net.num_inputs)
    upper = lower + rng.uniform(0.1, 3, net.num_inputs)
    assume(is_small(BackwardBounds(net, lower, upper)))
    _, held, (A, b), relaxed, shown = solved(net, rng, lower, upper)
    points = rng.uniform(lower, upper, (4_000, net.num_inputs))
    within = torch.ones(len(points), dtype=torch.bool)
    for gate, table in enumerate(pieces_at(net, points)):
        within &= ((table >= held.first[gate]) & (table <= held.last[gate])).all(dim=1)
    outputs = net(points).reshape(len(points), -1)[within]
    least = float((outputs @ A.T - b).amax(dim=1).min()) if len(outputs) else np.inf
    assert relaxed.miss <= least + 1e-5 * (1 + abs(least))
    assert shown <= least + 1e-9 * (1 + abs(least))


@pytest.mark.parametrize("sizes", [[2, 8, 3], [3, 12, 10, 2], [6, 20, 20, 20, 1]])
@pytest.mark.parametrize("seed", range(4))
def test_duals_prove_what_programs_say(sizes, seed):
    net, rng = rs.load(default_network(sizes, seed=seed)), np.random.default_rng(seed)
    _, _, _, relaxed, shown = solved(net, rng, -np.ones(sizes[0]), np.ones(sizes[0]))
    assert shown == pytest.approx(relaxed.miss, rel=1e-6, abs=1e-6)
    assert relaxed.mix.sum() == pytest.approx(1.0)


def test_duals_prove_that_a_set_is_empty():
    """Of |x| and |x - 3| both units of a kink cannot be off together."""
    net = rs.load([(np.array([[1.0], [-1.0]]), np.array([-0.5, -0.5])), (np.ones((1, 2)), np.zeros(1))])
    bounds = BackwardBounds(net, -np.ones(1), np.ones(1))
    rows = torch.ones((1, 1), dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    both = bounds.unheld(1).row(0).halves(0, 0, 0)[1].halves(0, 1, 0)[1]  # x > 1/2 and x < -1/2
    relaxed = SetProgram(bounds, *rows).least_miss(both)
    assert relaxed.miss == np.inf
    assert proved(bounds, both, rows, relaxed) > 0


def test_sets_are_split_where_units_are_apart_from_their_functions():
    net = rs.load(default_network([3, 10, 8, 2], seed=1))
    bounds = BackwardBounds(net, np.array([-1.0, 0.0, -0.5]), np.array([0.5, 1.5, 1.0]))
    A, b = torch.eye(2, dtype=torch.float64)[:1], torch.zeros(1, dtype=torch.float64)
    program, one = SetProgram(bounds, A, b), bounds.unheld(1).row(0)
    for _ in range(net.num_units + 1):
        relaxed = program.least_miss(one)
        if not relaxed.splits or not np.isfinite(relaxed.miss):
            break
        gate, unit, level, gap = relaxed.splits[0]
        assert gap == max(each.gap for each in relaxed.splits)
        parts = one.halves(gate, unit, level)
        misses = [program.least_miss(part).miss for part in parts]
        assert min(misses) >= relaxed.miss - 1e-7  # halves are known better
        one = parts[int(np.argmin(misses))]
    assert not relaxed.splits  # in the end no unit is open
    assert float(net(relaxed.point[None])[0, 0]) == pytest.approx(relaxed.miss, abs=1e-6)


def test_programs_of_values_that_go_around_a_gate():
    """relu(x) + x on [-1, 1], with the unit held to either piece: -1 to 0, and 0 to 2."""
    net = rs.load(Around().double(), input_shape=(1,))
    bounds = BackwardBounds(net, -np.ones(1), np.ones(1))
    for sign, piece, least in ((1.0, 0, -1.0), (-1.0, 0, 0.0), (1.0, 1, 0.0), (-1.0, 1, -2.0)):
        rows = torch.full((1, 1), sign, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
        held = bounds.unheld(1).row(0).halves(0, 0, 0)[piece]
        relaxed = SetProgram(bounds, *rows).least_miss(held)
        assert relaxed.miss == pytest.approx(least, abs=1e-6)
        assert proved(bounds, held, rows, relaxed) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_slopes_between_what_units_see_and_give_are_those_of_pieces_and_chords(seed):
    """Of pieces on the range of each unit, and of the line between its ends; none where that is level."""
    rng = np.random.default_rng(seed)
    gate = bent_gate(rng, 40, 4)
    low, high = np.sort(rng.integers(-16, 17, (2, 40)) / 4.0, axis=0)
    high = np.where(low == high, low + 1.0, high)
    levels, slopes, starts = (table.numpy() for table in (gate.breakpoints, gate.slopes, gate.intercepts))
    empty = np.zeros(40, dtype=int)
    found = np.array(_between(_Units(empty, empty, low, high, levels, slopes, starts, empty, empty)))
    for unit in range(40):
        ends = low[unit], high[unit]
        pieces = [sum(x > levels[:, unit]) for x in ends]
        values = [slopes[piece, unit] * x + starts[piece, unit] for piece, x in zip(pieces, ends, strict=True)]
        chord = (values[1] - values[0]) / (ends[1] - ends[0])
        expected = [slopes[0, unit], *([0.0] * 3), chord]
        for place, level in enumerate(levels[:, unit]):
            if ends[0] < level < ends[1]:
                expected[place + 1] = slopes[place + 1, unit]
        assert np.nan_to_num(found[:, unit]).tolist() == pytest.approx(expected)


def test_mixtures_of_rows_are_not_negative():
    """What the simplex method finds may be below zero by its tolerance."""
    net = rs.load(default_network([2, 5, 2], seed=0))
    bounds = BackwardBounds(net, -np.ones(2), np.ones(2))
    program = SetProgram(bounds, torch.eye(2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    solve = program._program.maximize
    program._program.maximize = lambda gain: (found := solve(gain))._replace(duals=found.duals - 1e-3)
    mix, plain = program.least_miss(bounds.unheld(1).row(0)).mix, solve(program._objective).duals[:2]
    np.testing.assert_allclose(mix, np.maximum(plain - 1e-3, 0.0))
    assert mix.min() == 0
