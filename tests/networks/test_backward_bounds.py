"""Bounds carried back hold for every input that the held units allow, whatever slopes and multipliers are."""

from fractions import Fraction
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.networks.bounds import backward_bounds, gate_lines
from reluscope.networks.bounds import lines_back as carrying
from reluscope.networks.bounds.backward_bounds import BackwardBounds, is_suited
from reluscope.networks.bounds.best_multipliers import maximized, raised
from reluscope.networks.bounds.gate_lines import bends, lines_around, slopes_of_lines
from reluscope.networks.graph.nodes import Pointwise
from reluscope.testing import default_network, networks


def tables(*arrays):
    return [torch.as_tensor(one, dtype=torch.float64) for one in arrays]


def pieces_at(net, points):
    """Return the pieces of all units at points, gate by gate, by evaluation alone."""
    found, values = [], net.start(net.points(points))
    for stage in net.stages:
        pre, values = stage.advance(values)
        found.append(stage.gate.pieces(pre).long())
        values = stage.close(values, pre)
    return found


def check_held(net, lower, upper, rng, points):
    """Check random holdings with random slopes and multipliers against the samples that they allow."""
    bounds = BackwardBounds(net, lower, upper)
    pieces = pieces_at(net, points)
    rows = torch.as_tensor(rng.normal(size=(8, net.num_outputs)))
    held = bounds.unheld(len(rows))
    own_tables = ([one.expand(len(rows), -1).clone() for one in table] for table in held)
    held = type(held)(*own_tables)
    allowed = torch.ones(len(rows), len(points), dtype=torch.bool)
    for gate, table in enumerate(pieces):
        own = table[rng.integers(0, len(points), len(rows))]  # of points, so that something is allowed
        chosen = torch.as_tensor(rng.random(own.shape) < 0.3)
        held.first[gate][chosen], held.last[gate][chosen] = own[chosen], own[chosen]
        held.slopes[gate][:] = torch.as_tensor(rng.normal(0.5, 1.0, own.shape))
        held.multipliers[gate][:] = torch.as_tensor(rng.normal(size=own.shape) * (rng.random(own.shape) < 0.5))
        inside = (table >= held.first[gate][:, None]) & (table <= held.last[gate][:, None])
        allowed &= inside.all(dim=2)
    values = rows @ net(points).reshape(len(points), -1).T
    least = torch.where(allowed, values, torch.inf).amin(dim=1)
    slack = 1e-9 * (1 + values.abs().amax())
    for gate in range(1, len(net.stages)):
        held = bounds.tightened(held, gate)
    assert (bounds.lower_bounds(rows, held).values <= least + slack).all()
    better, _ = maximized(bounds, rows, held, steps=4)
    assert (better.values <= least + slack).all()
    raised_, _ = raised(bounds, rows, held, aim=least.nan_to_num(posinf=1e3) + 1, steps=4)
    assert (raised_.values <= least + slack).all()
    return bounds


@settings(max_examples=40, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_no_bound_exceeds_an_allowed_value(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    assume(is_suited(net))
    lower = rng.uniform(-2, 0, net.num_inputs)
    upper = lower + rng.uniform(0, 3, net.num_inputs) * (rng.random(net.num_inputs) < 0.8)
    points = np.concatenate([rng.uniform(lower, upper, (2_000, len(lower))), [lower, upper]])
    bounds = check_held(net, lower, upper, rng, points)
    values = net.start(net.points(points))
    for stage, (low, high) in zip(net.stages, bounds.ranges, strict=True):
        pre, values = stage.advance(values)
        slack = 1e-9 * (1 + pre.abs().amax())
        assert (pre >= low - slack).all()
        assert (pre <= high + slack).all()
        values = stage.close(values, pre)


def test_a_multiplier_of_the_wrong_sign_would_be_seen(monkeypatch):
    monkeypatch.setattr(carrying.LinesBack, "gate_back", _wrong_way)
    net, rng = rs.load(default_network([2, 7, 6, 3], seed=0)), np.random.default_rng(0)
    with pytest.raises(AssertionError):
        check_held(net, -np.ones(2), np.ones(2), rng, rng.uniform(-1, 1, (2_000, 2)))


def _wrong_way(self, stage, weights):
    held = self.held
    lines = self.bounds.lines(stage.index, held)
    self.weights[stage.index] = weights.detach()
    plus, minus = weights.clamp(min=0), weights.clamp(max=0)
    self.constants = self.constants + (plus * lines.below_start + minus * lines.above_start).sum(dim=1)
    return plus * lines.below + minus * lines.above + held.multipliers[stage.index]


def test_gradients_reach_what_the_relaxation_has():
    """The bound by the best slopes is what a program of the triangle relaxation gives: relu(x) - relu(x - 0.5)."""
    net = rs.load([([[1.0], [1.0]], [0.0, -0.5]), ([[1.0, -1.0]], [0.0])])
    bounds = BackwardBounds(net, -np.ones(1), np.ones(1))
    (row,) = tables([[1.0]])
    plain = bounds.lower_bounds(row, bounds.unheld(1)).values
    better, chosen = maximized(bounds, row, bounds.unheld(1), steps=60)
    # Best: max over slopes a of min over x of a x - 0.25 (x + 1), at x = -1 or 1.
    assert better.values.item() == pytest.approx(-0.25, abs=0.02)
    assert better.values.item() >= plain.item() - 1e-9
    assert chosen.slopes[0][0, 0].item() == pytest.approx(0.25, abs=0.05)


def test_held_units_are_exact():
    """With all units held the bound is that of a linear program, by the right multipliers."""
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    bounds = BackwardBounds(net, -np.ones(1), np.ones(1))
    held = bounds.unheld(1)
    for unit, piece in enumerate((1, 0)):  # x >= 0
        held.first[0][0, unit] = held.last[0][0, unit] = piece
    (row,) = tables([[1.0]])
    assert not bounds.is_open(0, held).any()
    assert bounds.lower_bounds(row, held).values.item() == pytest.approx(-1.0)  # x on [-1, 1]
    found, _ = maximized(bounds, row, held, steps=60)
    assert found.values.item() == pytest.approx(0.0, abs=0.02)
    held.first[0][0, 1] = held.last[0][0, 1] = 1  # x >= 0 and -x >= 0 may be, at 0
    assert bounds.lower_bounds(row, held).values.item() < np.inf
    far = BackwardBounds(net, 0.5 * np.ones(1), np.ones(1))
    beyond = far.unheld(1)._replace(first=held.first, last=held.last)
    assert far.lower_bounds(row, beyond).values.item() == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_rounding_is_in_the_bound(seed):
    """At a point the bound is not above the value in fractions; the one without rounding is, somewhere."""
    rng = np.random.default_rng(seed)
    net = rs.load([(1e6 * rng.normal(size=(40, 5)), rng.normal(size=40))])
    point = rng.normal(size=5)
    bounds = BackwardBounds(net, point, point)
    rows = torch.eye(40, dtype=torch.float64)
    sure = bounds.lower_bounds(rows, bounds.unheld(40)).values.tolist()
    unsure = bounds.lower_bounds(rows, bounds.unheld(40), is_sure=False).values.tolist()
    exact = exact_outputs(net, point)
    assert all(Fraction(low) <= value for low, value in zip(sure, exact, strict=True))
    assert any(Fraction(low) > value for low, value in zip(unsure, exact, strict=True))


def exact_outputs(net, point):
    (node,) = (node for node in net.nodes if hasattr(node, "weight"))
    point = [Fraction(entry) for entry in point.tolist()]
    return [
        sum((Fraction(a) * x for a, x in zip(row, point, strict=True)), Fraction(b))
        for row, b in zip(node.weight.tolist(), node.bias.tolist(), strict=True)
    ]


def test_lines_enclose_functions_of_several_pieces():
    net = rs.load(torch.nn.Sequential(torch.nn.Linear(1, 3), torch.nn.ReLU6(), torch.nn.Linear(3, 1)))
    gate, rng = net.stages[0].gate, np.random.default_rng(0)
    low = torch.as_tensor(rng.uniform(-9, 9, (50, 3)))
    high = low + torch.as_tensor(rng.uniform(0, 9, (50, 3)))
    slopes = torch.as_tensor(rng.normal(size=(50, 3)))
    lines = lines_around(gate, low, high, slopes)
    for share in np.linspace(0, 1, 41):
        place = low + share * (high - low)
        value = gate.apply(place).reshape(place.shape)
        assert (lines.below * place + lines.below_start <= value + 1e-12).all()
        assert (lines.above * place + lines.above_start >= value - 1e-12).all()
        assert (value - lines.below * place - lines.below_start <= lines.below_gap + 1e-9).all()
        assert (lines.above * place + lines.above_start - value <= lines.above_gap + 1e-9).all()


def bent_gate(rng, units, pieces):
    """Return a continuous gate of so many pieces with intercepts, and units of their own."""
    levels = np.sort(rng.integers(-12, 13, (pieces - 1, units)) / 4.0, axis=0)
    slopes = rng.integers(-8, 9, (pieces, units)) / 4.0
    starts = [rng.integers(-8, 9, units) / 4.0]
    for level, before, behind in zip(levels, slopes, slopes[1:], strict=False):
        starts.append(starts[-1] + (before - behind) * level)
    return Pointwise(
        name="bent",
        shape=(units,),
        kind="bent",
        **dict(zip(("breakpoints", "slopes", "intercepts"), tables(levels, slopes, np.array(starts)), strict=True)),
    )


def one_unit_around(gate, unit, low, high, slope, rounding):
    """Return the lines around one unit as `Lines` has them, one place after the other."""
    levels, steep, starts = (
        [row[unit] for row in table.tolist()] for table in (gate.breakpoints, gate.slopes, gate.intercepts)
    )
    places = [low, high, *(min(max(level, low), high) for level in levels)]
    terms = [
        (steep[sum(level < x for level in levels)] * x, starts[sum(level < x for level in levels)]) for x in places
    ]
    values = [term + start for term, start in terms]
    is_open = any(low < level < high for level in levels)
    own = steep[sum(level < (low + high) / 2 for level in levels)]
    below, above = (slope, (values[1] - values[0]) / (high - low)) if is_open else (own, own)
    ends = {}
    for steepness, sign in ((below, -1), (above, 1)):
        # Of each term so much may be lost, to the wrong side.
        rests = [value - steepness * x for value, x in zip(values, places, strict=True)]
        lost = [rounding * (abs(a) + abs(b) + abs(steepness * x)) for (a, b), x in zip(terms, places, strict=True)]
        end = sign * max(sign * rest + loss for rest, loss in zip(rests, lost, strict=True))
        ends[sign] = end, max(sign * (end - rest) for rest in rests) if is_open else 0.0
    return below, ends[-1][0], above, ends[1][0], ends[-1][1], ends[1][1]


@pytest.mark.parametrize("seed", range(4))
def test_lines_leave_room_for_the_rounding_of_every_term(monkeypatch, seed):
    """With a coarse unit every term decides somewhere; ranges end at breakpoints, and are single points."""
    monkeypatch.setattr(gate_lines, "ANY_ORDER", 0.125)
    rng = np.random.default_rng(seed)
    gate = bent_gate(rng, 5, 4)
    ends = np.sort(rng.integers(-16, 17, (2, 40, 5)) / 4.0, axis=0)
    low, high, slopes = tables(*ends, rng.integers(-8, 9, (40, 5)) / 4.0)
    lines = lines_around(gate, low, high, slopes)
    ways = slopes_of_lines(gate, bends(gate, low, high), slopes)
    for row in range(40):
        for unit in range(5):
            seen = [float(table[row, unit]) for table in lines]
            expected = one_unit_around(
                gate, unit, *(float(one[row, unit]) for one in (low, high, slopes)), rounding=0.125
            )
            assert seen == pytest.approx(expected, abs=1e-12)
            assert [float(way[row, unit]) for way in ways] == pytest.approx(expected[:4:2], abs=1e-12)


def matrices_of(net):
    """Return the matrix and the constant of every affine node of a sequence of layers."""
    found = []
    for node in net.nodes[1:]:
        if not isinstance(node, Pointwise):
            constant = 0.0 if node.constant is None else node.constant.expand(node.shape).flatten().numpy()
            found.append((node.matrix()[0].toarray(), constant + np.zeros(node.size)))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_values_and_sizes_leave_room_for_the_rounding_of_every_term(monkeypatch, seed):
    """With a coarse unit and much that is lost below all floats, layer by layer."""
    rounding, lost, rng = 0.125, 0.5, np.random.default_rng(seed)
    monkeypatch.setattr(backward_bounds, "ANY_ORDER", rounding)
    monkeypatch.setattr(backward_bounds, "underflow", lambda *_: lost)
    torch.manual_seed(seed)
    parts = [torch.nn.Linear(2, 4), torch.nn.Hardtanh(-0.25, 1.0), torch.nn.Linear(4, 3), torch.nn.ReLU6()]
    net = rs.load(torch.nn.Sequential(*parts, torch.nn.Linear(3, 2)).double(), input_shape=(2,))
    lower = rng.uniform(-3, 1, 2)
    upper = lower + rng.uniform(0, 3, 2)
    bounds = BackwardBounds(net, lower, upper)
    low, high, size = lower, upper, np.maximum(np.abs(lower), np.abs(upper))
    affine = iter(matrices_of(net))
    gates = iter(zip(bounds.gates, bounds.ranges, strict=True))
    for place, node in enumerate(net.nodes[1:], start=1):
        if isinstance(node, Pointwise):
            gate, seen = next(gates)
            np.testing.assert_allclose(
                bounds._sizes[place - 1], np.minimum(size, np.maximum(*(abs(end.numpy()) for end in seen)))
            )
            assert (seen[0].numpy() >= low - 1e-12).all()
            assert (seen[1].numpy() <= high + 1e-12).all()
            levels = [level.clamp(*seen) for level in gate.breakpoints.expand(-1, node.size)]
            values = np.array([gate.apply(one[None])[0].tolist() for one in (*seen, *levels)])
            size = np.abs(values).max(axis=0) * (1 + rounding)
            noise = 2 * rounding * (size + np.abs(gate.intercepts.numpy()).max(axis=0))
            low, high = np.maximum(values.min(axis=0) - noise, -size), np.minimum(values.max(axis=0) + noise, size)
        else:
            weight, constant = next(affine)
            size = (np.abs(weight) @ size + np.abs(constant)) * (1 + rounding)
            middle, half = weight @ (low + high) / 2 + constant, np.abs(weight) @ (high - low) / 2
            half = half + 4 * rounding * size + lost
            low, high = np.maximum(middle - half, -size), np.minimum(middle + half, size)
            np.testing.assert_allclose(bounds.reach(node), size)
        np.testing.assert_allclose(bounds._ends[place], (low, high))
        if place + 1 == len(net.nodes):
            np.testing.assert_allclose(bounds.output_size, size)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_sum_leaves_room_for_the_rounding_of_every_term(monkeypatch, seed):
    rounding, lost, rng = 0.125, 0.5, np.random.default_rng(seed)
    monkeypatch.setattr(backward_bounds, "ANY_ORDER", rounding)
    monkeypatch.setattr(backward_bounds, "underflow", lambda *_: lost)
    weight, constant = rng.normal(size=(3, 2)), 10.0 ** rng.uniform(-2, 2, 3)
    lower = rng.uniform(-3, 1, 2)
    upper = lower + rng.uniform(0, 3, 2)
    bounds = BackwardBounds(rs.load([(weight, constant)]), lower, upper)
    rows = rng.normal(size=(4, 3))
    (table,) = tables(rows)
    carrier = carrying.LinesBack(bounds, bounds.unheld(4), 4, is_sure=True)
    found = bounds.carried_to_box(carrier, table)
    slopes, start, middle, half = rows @ weight, rows @ constant, (lower + upper) / 2, (upper - lower) / 2
    sizes = np.abs(slopes) @ (np.abs(middle) + 2 * half) + np.abs(start)
    expected = slopes @ middle - np.abs(slopes) @ half + start
    expected -= 2 * (carrier.rounding.numpy() + rounding * sizes) + lost * (1 + np.abs(rows).sum(axis=1))
    np.testing.assert_allclose(found.values, expected)
    np.testing.assert_allclose(found.corners, np.where(slopes > 0, lower, upper))
    assert (carrier.rounding > 0).all()


def three_layers(seed):
    """Return bounds of a network whose units have three pieces, and four holdings of random pieces."""
    torch.manual_seed(seed)
    parts = [torch.nn.Linear(2, 5), torch.nn.ReLU6(), torch.nn.Linear(5, 4), torch.nn.Hardtanh(-0.5, 0.5)]
    net = rs.load(torch.nn.Sequential(*parts, torch.nn.Linear(4, 2)).double(), input_shape=(2,))
    bounds, rng = BackwardBounds(net, -9 * np.ones(2), 9 * np.ones(2), steps=0), np.random.default_rng(seed)
    held = bounds.unheld(4)
    held = type(held)(*([one.expand(4, -1).clone() for one in table] for table in held))
    for gate in range(2):
        ends = np.sort(rng.integers(0, 3, (2, *held.first[gate].shape)), axis=0)
        is_free = torch.from_numpy(rng.random(ends.shape[1:]) < 0.4)
        first, last = torch.from_numpy(ends)
        held.first[gate][:], held.last[gate][:] = first.masked_fill(is_free, 0), last.masked_fill(is_free, 2)
    return bounds, held, rng


@pytest.mark.parametrize("seed", range(4))
def test_what_units_are_held_to_by_loops(seed):
    """Between which breakpoints, whether they may bend there, and which piece is in the middle."""
    bounds, held, rng = three_layers(seed)
    for gate, levels in enumerate(([0.0, 6.0], [-0.5, 0.5])):
        held.low[gate][:, 0], held.high[gate][:, 0] = levels[0], levels[1]  # ranges that end at breakpoints
        (bottom, top), (low, high) = bounds.ends(gate, held), bounds.cut(gate, held)
        is_open, is_held, middle = (
            find(gate, held).tolist() for find in (bounds.is_open, bounds.is_held, bounds.middle_piece)
        )
        for row in range(4):
            for unit in range(held.low[gate].shape[1]):
                first, last = int(held.first[gate][row, unit]), int(held.last[gate][row, unit])
                ends = -np.inf if first == 0 else levels[first - 1], np.inf if last == 2 else levels[last]
                assert (bottom[row, unit].item(), top[row, unit].item()) == ends
                at_least = max(ends[0], held.low[gate][row, unit].item())
                at_most = min(ends[1], held.high[gate][row, unit].item())
                assert (low[row, unit].item(), high[row, unit].item()) == (at_least, at_most)
                inside = sum(at_least < level < at_most for level in levels)
                assert is_open[row][unit] == (inside > 0)
                assert is_held[row][unit] == (first > 0 or last < 2)
                begin = sum(level <= at_least for level in levels)
                assert middle[row][unit] == begin + max(inside - 1, 0) // 2
        slopes = torch.from_numpy(rng.normal(0.5, 2, (4, 3)))
        assert bounds.clamp_slopes(gate, slopes).tolist() == [
            [min(max(x, 0.0), 1.0) for x in one] for one in slopes.tolist()
        ]
        free = bounds.unheld(3)
        seen = [[end.tolist() for end in side] for side in (free.low[gate], free.high[gate])]
        assert seen == [[end.tolist()] for end in bounds.ranges[gate]]
        centers = [(one + other) / 2 for one, other in zip(seen[0][0], seen[1][0], strict=True)]
        assert free.slopes[gate].tolist() == [[float(levels[0] < x <= levels[1]) for x in centers]] * 3


@pytest.mark.parametrize("seed", range(4))
def test_ranges_are_narrowed_behind_what_was_split_and_where_units_may_bend(seed):
    bounds, held, _ = three_layers(seed)
    is_open = bounds.is_open(1, held)
    found = bounds.tightened(held, 1)
    rows = torch.eye(4).double()
    for row in range(4):
        known = held.picked(torch.full((4,), row))
        known = type(held)(*(table[:1] for table in known))
        target = bounds.network.stages[1].leg.target
        low = bounds.lower_bounds(rows, known, position=target).values
        high = -bounds.lower_bounds(-rows, known, position=target).values
        for unit in range(4):
            expected = (held.low[1][row, unit].item(), held.high[1][row, unit].item())
            if is_open[row, unit]:
                expected = (max(expected[0], low[unit].item()), min(expected[1], high[unit].item()))
            assert (found.low[1][row, unit].item(), found.high[1][row, unit].item()) == pytest.approx(expected)
    assert not torch.equal(found.low[1], held.low[1])
    narrowed = bounds.narrowed(held, [-1, 0, 1, 0])
    for row, is_split in enumerate((False, True, False, True)):
        for name in ("low", "high"):
            assert torch.equal(getattr(narrowed, name)[0][row], getattr(held, name)[0][row])
            expected = getattr(found if is_split else held, name)[1][row]
            torch.testing.assert_close(getattr(narrowed, name)[1][row], expected)


def test_ranges_that_overflow_are_as_wide_as_sizes():
    nan, inf = float("nan"), float("inf")
    low, high, size = tables([nan, -9.0, -1.0, -inf], [1.0, nan, 9.0, inf], [2.0, 3.0, 4.0, 5.0])
    found = backward_bounds._no_wider(low, high, size)
    assert [end.tolist() for end in found] == [[-2, -3, -1, -5], [1, 3, 4, 5]]


def test_few_rows_at_once_find_the_same(monkeypatch):
    net = rs.load(default_network([2, 7, 6, 3], seed=0))
    whole = BackwardBounds(net, -np.ones(2), np.ones(2), steps=2)
    monkeypatch.setattr(backward_bounds, "MAX_NUMBERS", 2 * (2 + 7 + 6))
    parts = BackwardBounds(net, -np.ones(2), np.ones(2), steps=2)
    assert [parts._rows_at_once(stage) for stage in net.stages] == [30 // 9, 2]
    for one, other in zip(whole.ranges, parts.ranges, strict=True):
        torch.testing.assert_close(one, other)
    monkeypatch.setattr(backward_bounds, "MAX_NUMBERS", 1)
    assert parts._rows_at_once(net.stages[0]) == 1


@pytest.mark.parametrize("seed", range(3))
def test_middle_pieces_of_many_by_loops(seed):
    rng = np.random.default_rng(seed)
    gate, ends = bent_gate(rng, 6, 7), np.sort(rng.integers(-16, 17, (2, 30, 6)) / 4.0, axis=0)
    low, high = tables(*ends)
    held = SimpleNamespace(gates=[gate], cut=lambda gate, held: (low, high))
    found = unwrap(BackwardBounds.middle_piece)(held, 0, None).tolist()
    for row, unit in np.ndindex(30, 6):
        levels, at_least, at_most = gate.breakpoints[:, unit].tolist(), *ends[:, row, unit].tolist()
        begin, inside = sum(one <= at_least for one in levels), sum(at_least < one < at_most for one in levels)
        assert found[row][unit] == begin + max(0, inside - 1) // 2


@pytest.mark.parametrize(("low", "high"), [(1, 2), (2, 3), (-2, -1), (-3, -2), (0, 1)])
def test_middles_of_boxes_that_rounding_moves_out_of_them(low, high):
    """Of ends next to each other, the smallest numbers there are; a weight makes them large."""
    weight, unit = 2.0**1000, 2.0**-1074
    bounds = BackwardBounds(
        rs.load([([[weight]], [1e-9]), ([[1.0]], [0.0])]), np.array([low * unit]), np.array([high * unit])
    )
    truth = [Fraction(weight) * Fraction(end * unit) + Fraction(1e-9) for end in (low, high)]
    for ends in (bounds._ends[1], bounds.ranges[0]):
        assert Fraction(ends[0].item()) <= truth[0] < truth[1] <= Fraction(ends[1].item())
    rows = torch.tensor([[1.0], [-1.0]]).double()
    least, most = bounds.lower_bounds(rows, bounds.unheld(2)).values.tolist()
    assert Fraction(least) <= max(truth[0], 0) <= max(truth[1], 0) <= Fraction(-most)


def test_steps_of_the_gradient_narrow_ranges():
    net = rs.load(default_network([2, 8, 8, 8, 1], seed=0))
    plain, better = (BackwardBounds(net, -2 * np.ones(2), 2 * np.ones(2), steps=steps) for steps in (0, 12))
    assert torch.equal(plain.ranges[0][0], better.ranges[0][0])
    widths = [[float((high - low).sum()) for low, high in bounds.ranges] for bounds in (plain, better)]
    assert widths[1][1] < widths[0][1] - 1e-3
    assert widths[1][2] < widths[0][2] - 1e-3


def test_what_is_not_suited():
    assert not is_suited(
        rs.load(
            torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.MaxPool2d(2), torch.nn.Flatten()),
            input_shape=(1, 6, 6),
        )
    )


@pytest.mark.parametrize("seed", range(4))
def test_weights_carried_back_leave_room_for_the_rounding_of_every_term(monkeypatch, seed):
    """With a coarse unit: terms of constants, of units' functions, and of what duals take away."""
    monkeypatch.setattr(carrying, "ANY_ORDER", 0.125)
    bounds, held, rng = three_layers(seed)
    rows = torch.from_numpy(rng.normal(size=(4, 2)))
    duals = [torch.from_numpy(rng.normal(size=table.shape)) for table in held.slopes]
    affine, weights, expected = matrices_of(bounds.network)[::-1], rows.numpy(), np.zeros(4)
    totals, places = np.zeros(4), [place for place, node in enumerate(bounds.network.nodes) if place]
    sizes = [
        bounds.reach(bounds.network.nodes[place]).numpy()
        for place in reversed(places)
        if not isinstance(bounds.network.nodes[place], Pointwise)
    ]
    for (matrix, constant), size, gate in zip(affine, sizes, (1, 0, None), strict=True):
        totals, expected = totals + weights @ constant, expected + 0.125 * np.abs(weights) @ size
        weights = weights @ matrix
        if gate is None:
            continue
        dual, node, (low, high) = (
            duals[gate].numpy(),
            bounds.gates[gate],
            (end.numpy() for end in bounds.cut(gate, held)),
        )
        levels, slopes, starts = (table.expand(-1, node.size).numpy() for table in tables_of(node))
        for row, unit in np.ndindex(weights.shape):
            ends = low[row, unit], max(low[row, unit], high[row, unit])
            values, terms = [], []
            for x in (*ends, *(min(max(level, ends[0]), ends[1]) for level in levels[:, unit])):
                piece = sum(x > levels[:, unit])
                along, start = slopes[piece, unit] * x, starts[piece, unit]
                values.append(weights[row, unit] * (along + start) - dual[row, unit] * x)
                terms.append(abs(weights[row, unit]) * (abs(along) + abs(start)) + abs(dual[row, unit] * x))
            totals[row] += min(values)
            expected[row] += 0.125 * max(terms)
        weights = dual
    for is_sure in (True, False):
        carrier = carrying.DualsBack(bounds, held, 4, duals, is_sure=is_sure)
        bounds.carried_to_box(carrier, rows)
        np.testing.assert_allclose(carrier.rounding, expected * is_sure)
        np.testing.assert_allclose(carrier.constants, totals)
        empty = [(low > high).any(dim=1) for low, high in (bounds.cut(gate, held) for gate in range(2))]
        assert torch.equal(carrier.is_empty, empty[0] | empty[1])


def tables_of(gate):
    return gate.breakpoints, gate.slopes, gate.intercepts


@pytest.mark.parametrize("seed", range(4))
def test_pulls_are_those_with_which_lines_have_the_duals_that_were_given(seed):
    bounds, held, rng = three_layers(seed)
    rows = torch.from_numpy(rng.normal(size=(4, 2)))
    duals = [torch.from_numpy(rng.normal(size=table.shape)) for table in held.slopes]
    for table in held.multipliers:
        table[:] = torch.from_numpy(rng.normal(size=table.shape))
    pulled = bounds.carried_to_box(carrying.PullsBack(bounds, held, 4, duals), rows)
    carrier = carrying.LinesBack(bounds, held, 4, is_sure=True)
    along = bounds.carried_to_box(carrier, rows)
    for found, own in zip(carrier.duals, duals, strict=True):
        torch.testing.assert_close(found, own)
    torch.testing.assert_close(along.values, pulled.values)


class Around(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + x


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_weights_of_what_two_nodes_read_add_up(sign):
    """relu(x) + x on [1, 2] is 2 x."""
    bounds = BackwardBounds(rs.load(Around().double(), input_shape=(1,)), np.ones(1), 2 * np.ones(1))
    (row,) = tables([[sign]])
    assert bounds.lower_bounds(row, bounds.unheld(1)).values.item() == pytest.approx(2.0 if sign > 0 else -4.0)
