"""Enclosures against the values of networks at steps drawn from the ball, with units held and not."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from oracles.rational_steps import ABSOLUTE, LEAKY, RELU, affine, network_of
from reluscope.geometry.numbers.norms import L2, LINF, Norm
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.passes.forms import PossiblePieces
from reluscope.testing import networks

ROUNDING = 1e-15


def pieces_range(net):
    first = [np.zeros(stage.gate.num_units, dtype=int) for stage in net.stages]
    return first, [np.full(stage.gate.num_units, stage.gate.num_pieces - 1) for stage in net.stages]


def drawn(steps, number, seed=0):
    """Return steps of a ball, cut by its box and its half-space."""
    rng, dim = np.random.default_rng(seed), len(steps.lower)
    cloud = rng.normal(size=(number, dim))
    length = steps.norm.size(cloud)
    cloud *= (steps.radius * rng.uniform(0, 1, number) ** 0.2 / length)[:, None]
    cloud = np.clip(cloud, steps.lower, steps.upper)
    return cloud if steps.cut is None else cloud[cloud @ steps.cut >= steps.level]


def check(net, point, steps, first, last):
    """Check the outputs at all drawn steps whose units have the pieces they are held to, and count these."""
    found = enclose(net, point, steps, first, last, rounding=ROUNDING)
    cloud = drawn(steps, 2000)
    own = np.ones(len(cloud), dtype=bool)
    for low, high, piece in zip(first, last, pieces_of(net.codes(point + cloud)), strict=True):
        own &= ((low <= piece) & (piece <= high)).all(axis=1)
    cloud = cloud[own]
    if found.is_empty:
        assert not len(cloud)
        return 0
    values = net(point + cloud).reshape(len(cloud), -1).numpy()
    outputs = found.outputs
    middle = cloud @ outputs.weights.T + outputs.centers
    assert (np.abs(values - middle) <= outputs.spread + 1e-9).all()
    for limit in found.limits:
        assert (cloud @ limit.weights.T + limit.centers <= limit.spread + 1e-9).all()
    return len(cloud)


@pytest.mark.few(2)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("is_held", [False, True])
def test_values_are_enclosed(norm, is_held):
    rng = np.random.default_rng(1)
    torch.manual_seed(1)
    many = nn.Sequential(nn.Linear(4, 8), nn.Hardtanh(), nn.Unflatten(1, (2, 4)), nn.MaxPool1d(2, padding=1),
                         nn.Flatten(), nn.Linear(6, 5), nn.LeakyReLU(), nn.Linear(5, 2)).double()  # fmt: skip
    total = 0
    for net in (rs.load(layers([4, 7, 6, 3])), rs.load(many, input_shape=(4,)), branched()):
        dim = net.num_inputs
        point = rng.normal(size=dim)
        for cut in (None, rng.normal(size=dim)):
            steps = CutBall(0.4, Norm(norm), np.full(dim, -0.3), np.full(dim, 0.35))
            if cut is not None:
                length = np.linalg.norm(cut, ord={"l1": np.inf, "l2": 2, "linf": 1}[norm])
                steps = CutBall(0.4, Norm(norm), steps.lower, steps.upper, cut / length, 0.05)
            first, last = pieces_range(net)
            if is_held:  # some units of all gates have the pieces of a point nearby
                code = pieces_of(net.codes(point + drawn(steps, 500)[:1]))
                for low, high, piece in zip(first, last, code, strict=True):
                    low[-2:], high[-2:] = piece[0, -2:], piece[0, -2:]
            total += check(net, point, steps, first, last)
    assert total > 500


@settings(max_examples=15)
@given(networks(num_outputs=2, max_width=4), st.integers(0, 99))
def test_degenerate_networks_are_enclosed(parameters, seed):
    net, point = rs.load(parameters), np.random.default_rng(seed).integers(-2, 3, 2) / 2
    steps = CutBall(1.0, L2, -np.ones(2), np.ones(2))
    assert check(net, point, steps, *pieces_range(net)) > 0


def test_a_step_that_bends_nothing_is_affine_and_a_range_without_end_stops():
    net = rs.load([(np.eye(2), np.array([1.0, 1.0])), (np.ones((1, 2)), np.zeros(1))])
    free = np.full(2, np.inf)
    near = enclose(net, np.zeros(2), CutBall(0.5, L2, -free, free), *pieces_range(net), rounding=ROUNDING)
    assert near.open == []
    assert near.outputs.weights.tolist() == [[1.0, 1.0]]
    far = enclose(net, np.zeros(2), CutBall(np.inf, L2, -free, free), *pieces_range(net), rounding=ROUNDING)
    assert far.outputs is None
    assert [unit.unit for unit in far.open] == [0, 1]
    assert [unit.parts for unit in far.open] == [((0, 0), (1, 1))] * 2
    for low, high in ((-free, np.ones(2)), (-2 * np.ones(2), free)):
        half = CutBall(np.inf, L2, low, high)
        found = enclose(net, np.zeros(2), half, *pieces_range(net), rounding=ROUNDING)
        assert (found.outputs, [unit.unit for unit in found.open]) == (None, [0, 1])


def test_the_largest_of_candidates_is_enclosed_up_to_its_ends():
    model = nn.Sequential(nn.Linear(1, 2), nn.Unflatten(1, (1, 2)), nn.MaxPool1d(2), nn.Flatten()).double()
    with torch.no_grad():
        model[0].weight[:], model[0].bias[:] = torch.tensor([[1.0], [-1.0]]), 0.0
    net = rs.load(model, input_shape=(1,))  # the larger of u and -u
    steps = CutBall(1.0, L2, -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=ROUNDING).outputs
    for step in (-1.0, 0.0, 1.0):
        assert abs(abs(step) - found.centers[0] - found.weights[0, 0] * step) <= found.spread[0] + 1e-12
    ahead = enclose(net, np.array([2.0]), steps, *pieces_range(net), rounding=ROUNDING)  # u all over
    assert (ahead.open, ahead.limits, ahead.outputs.weights.tolist()) == ([], [], [[1.0]])
    held = [np.zeros(1, dtype=int)]  # to u, which is the larger one down to 0
    (limit,) = enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).limits
    assert (limit.centers <= limit.spread).all()
    assert (limit.weights < 0).all()


def test_noise_counts_in_full_where_later_units_bend():
    # The larger of u and 0, at most 1 by its chord, and then what it has above 0.995.
    net = rs.load([([[1.0]], [0.0]), ([[1.0]], [-0.995]), ([[1.0]], [0.0])])
    steps = CutBall(1.0, L2, -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=ROUNDING).outputs
    assert 0.005 - found.centers[0] - found.weights[0, 0] <= found.spread[0] + 1e-12


COARSE = 1 / 64
CLAMP = ("pointwise", [-0.5, 0.5], [0.0, 1.0, 0.0], [-0.5, 0.0, 0.5])
STAIRS = ("pointwise", [-1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [-1.0, 0.0, 0.0, -1.0])


def test_rounding_grows_with_the_size_of_steps():
    net, steps = network_of([affine([[3.0]], [0.0])], 1), CutBall(1.0, L2, -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, [], [], rounding=COARSE).outputs
    assert (found.centers, found.weights, found.spread) == (0.0, 3.0, 0.0)
    assert found.errors[0] >= 3 * COARSE  # 3 u may be 3 (1 + 1 / 64) u, up to the end of the steps
    away = enclose(net, np.ones(1), steps, [], [], rounding=COARSE).outputs
    assert away.errors[0] >= 6 * COARSE  # up to 2


def test_rounding_of_a_chord_is_that_of_the_function_where_it_is_farthest():
    rounding = 2.0**-20
    net = network_of([affine([[1.0]], [0.0]), ("pointwise", [0.0], [-3.0, 3.0], [0.0, 0.0]), affine([[1.0]], [0.0])], 1)
    steps = CutBall(1.0, L2, -np.ones(1), np.ones(1))
    found = enclose(net, np.zeros(1), steps, *pieces_range(net), rounding=rounding).outputs
    assert found.weights[0, 0] == 0
    # At 1 three products are rounded in turn; the bounds are of first order.
    largest = 3 * (1 + rounding) ** 3
    assert largest <= found.centers[0] + found.spread[0] + found.errors[0] + 12 * rounding**2


def test_a_unit_without_weights_is_on_the_piece_that_ends_at_it():
    net = rs.load([([[0.0], [1.0]], [0.0, 2.0]), ([[1.0, 1.0]], [0.0])])
    steps, held = CutBall(1.0, L2, -np.ones(1), np.ones(1)), [np.array([0, 1])]
    assert net.codes([[0.5]]).to_array().tolist() == [[0, 1]]
    assert not enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).is_empty


def test_one_unit_that_cannot_have_its_piece_is_enough():
    net = rs.load([([[1.0], [1.0]], [2.0, -2.0]), ([[1.0, 1.0]], [0.0])])
    steps = CutBall(1.0, L2, -np.ones(1), np.ones(1))
    for pieces in ([0, 0], [1, 1], [0, 1], [1, 0]):  # one is on and the other is off all over
        held = [np.array(pieces)]
        assert enclose(net, np.zeros(1), steps, held, held, rounding=ROUNDING).is_empty == (pieces != [1, 0])


def test_both_parts_of_an_open_unit_leave_a_piece_that_it_may_be_on():
    net, steps = network_of([affine([[1.0]], [0.0]), CLAMP], 1), CutBall(0.25, L2, -np.ones(1), np.ones(1))
    for point, parts in ((-0.5, ((0, 0), (1, 2))), (0.5, ((0, 1), (2, 2)))):
        (unit,) = enclose(net, np.array([point]), steps, *pieces_range(net), rounding=ROUNDING).open
        assert unit.parts == parts
    net = network_of([affine([[1.0]], [0.0]), STAIRS], 1)
    for first in range(4):
        for last in range(first + 1, 4):
            ball = CutBall(np.inf, L2, np.array([first - 1.25]), np.array([last - 1.75]))
            (unit,) = enclose(net, np.zeros(1), ball, *pieces_range(net), rounding=ROUNDING).open
            (low, middle), (above, high) = unit.parts
            assert (low, above, high) == (0, middle + 1, 3)
            assert first <= middle < last


def test_pieces_are_those_of_all_steps():
    """Without rounding, at the ends of a range, too: what is at a breakpoint has the piece below it."""
    net, quarters = network_of([affine([[1.0]], [0.0]), STAIRS, affine([[1.0]], [0.0])], 1), np.arange(-8, 9) / 4
    for low in quarters:
        for high in quarters[quarters >= low]:
            ball = CutBall(np.inf, L2, np.array([low]), np.array([high]))
            (found,) = enclose(net, np.zeros(1), ball, *pieces_range(net), rounding=0.0).pieces
            pieces = pieces_of(net.codes(np.arange(8 * low, 8 * high + 1)[:, None] / 8))[0]
            assert (found.first.tolist(), found.last.tolist()) == ([pieces.min()], [pieces.max()])
            several = {0: tuple(range(pieces.min(), pieces.max() + 1))}
            assert found.several == (several if pieces.min() < pieces.max() else {})


def values_of(steps, points):
    """Return outputs, and the pieces of every gate."""
    values, pieces = points, []
    for step in steps:
        if step[0] == "affine":
            values = values @ step[1].T + step[2]
        elif step[0] == "pointwise":
            breakpoints, slopes, intercepts = map(np.array, step[1:])
            pieces.append((values[..., None] > breakpoints).sum(-1))
            values = slopes[pieces[-1]] * values + intercepts[pieces[-1]]
        else:
            groups = values.reshape(len(values), -1, step[1])
            pieces.append(groups.argmax(-1))
            values = groups.max(-1)
    return values, pieces


def rounded(steps, generator):
    """Return a network that differs from this one by as much as coarse rounding may."""
    return [
        ("affine", *(table * (1 + COARSE * generator.choice([-1, 1], table.shape)) for table in step[1:]))
        if step[0] == "affine"
        else step
        for step in steps
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("kinks", [(RELU, LEAKY), (ABSOLUTE, CLAMP), (("max", 2), RELU), (CLAMP, ("max", 3))])
@pytest.mark.parametrize("is_held", [False, True])
def test_all_networks_within_rounding_are_enclosed(kinks, is_held):
    """Rounding may have made this network of any other whose weights are so near: its units cross kinks that these
    do not, and its outputs differ.
    """
    seen, far = 0, 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        steps, width, point = [], 2, generator.normal(size=2)
        for kink in kinks:
            group = kink[1] if kink[0] == "max" else 1
            layer = affine(generator.normal(size=(2 * group, width)), generator.normal(size=2 * group))
            arrived = values_of([*steps, layer], point[None])[0][0]
            # Near a kink or a tie, by about as much as is rounded.
            layer[2][:] -= arrived - np.repeat(generator.normal(size=2), group) * (group > 1)
            layer[2][:] += generator.choice([0.0, 0.02, 0.1], 2 * group) * generator.normal(size=2 * group)
            steps, width = [*steps, layer, kink], 2
        steps.append(affine(generator.normal(size=(1, 2)), generator.normal(size=1)))
        net, radius = network_of(steps, 2), float(generator.choice([0.0, 0.01, 0.1]))
        ball = CutBall(radius, LINF, np.full(2, -radius), np.full(2, radius))
        first, last = pieces_range(net)
        if is_held:
            for low, high, piece in zip(first, last, values_of(rounded(steps, generator), point[None])[1], strict=True):
                low[:1], high[:1] = piece[0, :1], piece[0, :1]
        found = enclose(net, point, ball, first, last, rounding=COARSE)
        cloud = radius * generator.choice([-1.0, 1.0, 0.3], (40, 2))
        for _ in range(15):
            outputs, pieces = values_of(rounded(steps, generator), point + cloud)
            own = np.ones(len(cloud), dtype=bool)
            for low, high, piece in zip(first, last, pieces, strict=True):
                own &= ((low <= piece) & (piece <= high)).all(axis=1)
            assert not (found.is_empty and own.any())
            if not own.any():
                continue
            forms, inside = found.outputs, cloud[own]
            away = np.abs(outputs[own] - inside @ forms.weights.T - forms.centers)
            assert (away <= forms.spread + forms.errors + 1e-12).all()
            for limit in found.limits:
                assert (inside @ limit.weights.T + limit.centers <= limit.spread + limit.errors + 1e-12).all()
            seen, far = seen + own.sum(), far + (away > forms.spread).sum()
    assert seen > 1500
    assert far > 0.02 * seen


def test_steps_are_as_large_as_the_ball_and_the_box_let_them_be():
    net, point, ends = network_of([affine([[3.0, 5.0]], [0.0])], 2), np.array([1.0, -2.0]), np.array([0.25, np.inf])
    for steps, reach in (
        (CutBall(1.0, L2, -ends, 2 * ends), [0.5, 1.0]),
        (CutBall(1.0, L2, -2 * ends, ends), [0.5, 1.0]),
        (CutBall(np.inf, L2, np.array([-0.25, -2.0]), np.array([0.5, 0.5])), [0.5, 2.0]),
    ):
        found = enclose(net, point, steps, [], [], rounding=COARSE).outputs
        assert found.errors[0] == COARSE * (3 * (1 + reach[0]) + 5 * (2 + reach[1]))


def test_only_open_units_without_end_are_split_where_a_range_has_none():
    """The first unit is open and bounded, the second one open without end, the third held."""
    net = network_of(
        [affine([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], np.zeros(3)), RELU, affine(np.ones((1, 3)), [0.0])], 2
    )
    ends, first = np.array([1.0, np.inf]), [np.array([0, 0, 1])]
    found = enclose(net, np.zeros(2), CutBall(np.inf, L2, -ends, ends), first, [np.ones(3, int)], rounding=ROUNDING)
    assert ([one.unit for one in found.open], found.outputs) == ([1], None)


class Form:
    """One value by hand: center, slopes of the inputs, what each open unit adds, rounding, and how large it gets."""

    def __init__(self, center, weights, noise, error, size=None):
        self.center, self.weights, self.noise, self.error, self.size = center, weights, noise, error, size

    def less(self, other):
        symbols = {*self.noise, *other.noise}
        noise = {one: self.noise.get(one, 0.0) - other.noise.get(one, 0.0) for one in symbols}
        return Form(self.center - other.center, self.weights - other.weights, noise, self.error + other.error)

    def ends(self, steps):
        low, high = (float(end[0]) for end in steps.extent(self.weights[None]))
        spread = sum(map(abs, self.noise.values())) + self.error
        return self.center + low - spread, self.center + high + spread

    def is_near(self, forms, row):
        own = forms.noise[row]
        noise = [self.noise.get(one, 0.0) for one in range(len(own))]
        near = {"rel": 1e-11, "abs": 1e-13}
        return (
            forms.centers[row] == pytest.approx(self.center, **near)
            and forms.weights[row] == pytest.approx(self.weights, **near)
            and own == pytest.approx(noise, **near)
            and forms.errors[row] == pytest.approx(self.error, **near)
        )


class ByHand:
    """The rules of affine forms, value by value; what is clear of a kink is so by four bounds on rounding."""

    def __init__(self, point, steps, unit, far):
        self.steps, self.unit, self.open, self.limits, self.is_empty = steps, unit, 0, [], False
        self.several = []
        axes = np.eye(len(point))
        self.values = [Form(x, axis, {}, 0.0, abs(x) + far) for x, axis in zip(point, axes, strict=True)]

    def affine(self, weight, bias):
        found = []
        for row, constant in zip(weight, bias, strict=True):
            new = Form(constant, 0 * self.values[0].weights, {}, self.unit * abs(constant), abs(constant))
            for entry, value in zip(row, self.values, strict=True):
                new.center, new.weights = new.center + entry * value.center, new.weights + entry * value.weights
                for symbol, size in value.noise.items():
                    new.noise[symbol] = new.noise.get(symbol, 0.0) + entry * size
                new.error += abs(entry) * (value.error + self.unit * value.size)
                new.size += abs(entry) * value.size
            found.append(new)
        self.values = found

    def scaled(self, value, slope, constant, stray, error, size):  # closed units have no stray
        noise = {symbol: slope * own for symbol, own in value.noise.items()}
        if stray is not None:
            noise[self.open] = stray
            self.open += 1
        return Form(slope * value.center + constant, slope * value.weights, noise, error, size)

    def pointwise(self, breakpoints, slopes, intercepts, first, last):
        found, several = [], {}
        levels = [-np.inf, *breakpoints, np.inf]
        for unit, (value, start, stop) in enumerate(zip(self.values, first, last, strict=True)):
            clear, (low, high) = 4 * value.error, value.ends(self.steps)
            pieces = [min(max(sum(level < end for level in breakpoints), start), stop) for end in (low, high)]
            if pieces[0] < pieces[1]:
                several[unit] = tuple(range(pieces[0], pieces[1] + 1))
            if low > levels[stop + 1] + clear or high < levels[start] - clear:
                self.is_empty = True
            margin = 0.0 if high - low <= 2 * clear else clear
            if low < levels[start] - margin:
                noise = {symbol: -own for symbol, own in value.noise.items()}
                self.limits.append(Form(levels[start] - value.center, -value.weights, noise, value.error))
            if high > levels[stop + 1] + margin:
                self.limits.append(Form(value.center - levels[stop + 1], value.weights, value.noise, value.error))
            low, high = (min(max(end, levels[start]), levels[stop + 1]) for end in (low, high))
            begin = min(max(sum(level < min(low + clear, high) for level in breakpoints), start), stop)
            end = min(max(sum(level < high - clear for level in breakpoints), begin), stop)
            size = max(abs(low), abs(high))
            if begin == end:
                slope, middle, stray = slopes[begin], intercepts[begin], None
                crosses = any(low < level < high for level in breakpoints)
            else:
                ends = [low, *(level for level in breakpoints if low < level < high), high]
                pieces = [sum(end > level for level in breakpoints) for end in ends]
                heights = [slopes[piece] * end + intercepts[piece] for piece, end in zip(pieces, ends, strict=True)]
                slope, crosses = (heights[-1] - heights[0]) / (high - low), False
                away = [height - slope * end for height, end in zip(heights, ends, strict=True)]
                middle, stray = (max(away) + min(away)) / 2, (max(away) - min(away)) / 2
            error = abs(slope) * value.error
            if abs(slope) not in (0.0, 1.0) or abs(middle) + (stray or 0.0):
                error += self.unit * (abs(slope) * size + abs(middle) + (stray or 0.0))
            error += 2 * max(map(abs, slopes)) * clear if crosses else 0.0
            largest = max(abs(slope * end + middle) for end in (low, high)) + (stray or 0.0)
            largest = max(largest, abs(slope * value.center + middle))
            found.append(
                self.scaled(value, slope, middle, stray, error, max(largest, abs(slope * value.center + middle)))
            )
        self.values = found
        self.several.append(several)

    def max(self, group, first, last):
        found, several = [], {}
        for unit, (start, stop) in enumerate(zip(first, last, strict=True)):
            own = self.values[unit * group : (unit + 1) * group]
            chosen = own[start if start == stop else int(np.argmax([value.center for value in own]))]
            ahead = [value.less(chosen) for value in own]
            ranges = [value.ends(self.steps) for value in ahead]
            rivals = [
                (one, low, high)
                for one, value, (low, high) in zip(ahead, own, ranges, strict=True)
                if value is not chosen and high > 4 * one.error
            ]
            error, stray = max(value.error for value in own), None
            if start == stop:
                self.is_empty |= any(low > 4 * one.error for one, low, _ in rivals)
                self.limits += [
                    one
                    for one, value, (low, high) in zip(ahead, own, ranges, strict=True)
                    if value is not chosen and high > (0.0 if high - low <= 8 * one.error else 4 * one.error)
                ]
            else:
                may_lead = [place for place, (_, high) in enumerate(ranges) if own[place] is not chosen and high >= 0]
                if may_lead:
                    several[unit] = (own.index(chosen), *may_lead)
                stray = max(high for _, _, high in rivals) / 2 if rivals else None
                error += max(min(high, 4 * one.error) for one, (_, high) in zip(ahead, ranges, strict=True) if high > 0)
            more = stray or 0.0
            largest = max(map(abs, chosen.ends(self.steps))) + more
            found.append(self.scaled(chosen, 1.0, more, stray, error + self.unit * more, largest))
        self.values = found
        self.several.append(several)


@pytest.mark.few(5)
@pytest.mark.parametrize("kinks", [(RELU, LEAKY), (ABSOLUTE, CLAMP), (("max", 2), RELU), (CLAMP, ("max", 3))])
@pytest.mark.parametrize("held", [None, 0.0, 0.6])
def test_forms_are_those_of_their_rules(kinks, held):
    num_open = num_limits = num_empty = 0
    for seed in range(15):
        generator = np.random.default_rng(seed)
        steps, width, point, around = [], 3, generator.normal(size=3), float(generator.choice([0.02, 0.2, 1.0]))
        for kink in kinks:
            group = kink[1] if kink[0] == "max" else 1
            layer = affine(generator.normal(size=(3 * group, width)), generator.normal(size=3 * group))
            arrived = values_of([*steps, layer], point[None])[0][0]
            layer[2][:] -= arrived - np.repeat(generator.choice([-0.5, 0.0, 0.5], 3), group)
            layer[2][:] += generator.choice([0.001, 0.01, 0.1, 0.5], 3 * group) * generator.normal(size=3 * group)
            steps, width = [*steps, layer, kink], 3
        steps.append(affine(generator.normal(size=(2, 3)), generator.normal(size=2)))
        net, unit = network_of(steps, 3), 2.0 ** -float(generator.choice([6, 10]))
        ball = CutBall(around, LINF, np.full(3, -around), np.full(3, around))
        first, last = pieces_range(net)
        if held is not None:
            pieces = values_of(steps, point[None] + held * generator.normal(size=3))[1]
            for low, high, piece in zip(first, last, pieces, strict=True):
                low[:2], high[:2] = piece[0, :2], piece[0, :2]
        found, hand, gate = enclose(net, point, ball, first, last, rounding=unit), ByHand(point, ball, unit, around), 0
        for step in steps:
            if step[0] == "affine":
                hand.affine(*step[1:])
                continue
            getattr(hand, step[0])(*step[1:], first[gate], last[gate])
            if hand.is_empty:
                break
            gate += 1
        assert found.is_empty == hand.is_empty
        num_empty += found.is_empty
        if found.is_empty:
            continue
        assert len(found.open) == hand.open
        assert [pieces.several for pieces in found.pieces] == hand.several
        assert all(value.is_near(found.outputs, row) for row, value in enumerate(hand.values))
        rows = [(limit, row) for limit in found.limits for row in range(len(limit.centers))]
        assert len(rows) == len(hand.limits)
        assert all(any(one.is_near(limit, row) for one in hand.limits) for limit, row in rows)
        num_open, num_limits = num_open + hand.open, num_limits + len(rows)
    assert num_open > 10
    assert (held is None) == (num_limits == 0)
    assert held is None or num_limits > 5


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_piece_that_is_missed_by_less_than_rounding_may_be_had(side):
    """``x - 1`` up to -0.1, and with rounding up to -0.07: a unit that is held on may be on if four times that is."""
    net = network_of([affine([[side]], [-side]), RELU, affine([[1.0]], [0.0])], 1)
    held = [np.array([1 if side > 0 else 0])]
    for radius, is_empty in ((0.9, False), (0.8, True)):
        steps = CutBall(radius, L2, -np.ones(1), np.ones(1))
        assert enclose(net, np.zeros(1), steps, held, held, rounding=COARSE).is_empty == is_empty


@pytest.mark.parametrize(("point", "possible"), [(2.0, [0]), (-2.0, [1]), (0.5, [0, 1])])
def test_a_candidate_that_is_behind_all_over_is_not_chosen(point, possible):
    """The larger of u and -u, and beside it one that is open."""
    net = network_of([affine([[1.0], [-1.0], [1.0], [-1.0]], [0.0, 0.0, -point, point]), ("max", 2)], 1)
    steps = CutBall(1.0, L2, -np.ones(1), np.ones(1))
    for candidate in (0, 1):
        first, last = [np.array([candidate, 0])], [np.array([candidate, 1])]
        found = enclose(net, np.array([point]), steps, first, last, rounding=ROUNDING)
        assert found.is_empty == (candidate not in possible)


def test_pieces_of_largest_candidates_are_the_leader_and_those_that_may_overtake_it():
    leading = np.array([[False, True, True], [False, False, False], [True, False, False]])
    found = PossiblePieces(np.array([0, 1, 2]), np.array([0, 1, 2]), leading)
    assert found.several == {0: (0, 1, 2), 2: (2, 0)}
