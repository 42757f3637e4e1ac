"""Wide numbers against fractions: sums without rounding, errors that hold where they decide, few products."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.elementwise import ScaleShift, Sum
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.graph.operators.reduce import AdaptiveMean, AxisMatrix, AxisSum, WindowMean
from reluscope.networks.passes import sliced_products, wide_numbers
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.double_words import plus, times, two_product, two_sum
from reluscope.networks.passes.sliced_products import Products, products_of, sliced
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers, gaps, in_doubt, pieces_of
from reluscope.testing import default_network


def fractions(*parts):
    """Return the sums of tensors, entry by entry."""
    return [sum(map(Fraction, entries)) for entries in zip(*(part.flatten().tolist() for part in parts), strict=True)]


def scattered(seed, *shape):
    """Return numbers of 53 bits of very different sizes."""
    draw = np.random.default_rng(seed)
    return torch.from_numpy(draw.normal(size=shape) * 2.0 ** draw.integers(-20, 20, shape))


def test_double_words():
    a, b, c = (scattered(seed, 500) for seed in range(3))
    assert fractions(*two_sum(a, b)) == [x + y for x, y in zip(fractions(a), fractions(b), strict=True)]
    product = two_product(a, b)
    assert fractions(*product) == [x * y for x, y in zip(fractions(a), fractions(b), strict=True)]
    for found, exact in (
        (plus(product, c), [x + y for x, y in zip(fractions(*product), fractions(c), strict=True)]),
        (times(product, c), [x * y for x, y in zip(fractions(*product), fractions(c), strict=True)]),
    ):
        for one, truth, x, y in zip(fractions(*found), exact, fractions(*product), fractions(c), strict=True):
            assert abs(one - truth) <= Fraction(2.0**-103) * max(abs(truth), abs(x) + abs(y))
        assert bool((found.high + found.low == found.high).all())  # nothing is in the low part that fits above


def test_slices_sum_up_and_keep_to_their_bounds():
    word = two_product(scattered(0, 4, 30), scattered(1, 4, 30))
    slices = sliced(word, 21, (1,))
    truth = fractions(*word)
    for first in range(len(slices.parts) + 1):
        rest = [x - y for x, y in zip(truth, fractions(*slices.parts[:first], torch.zeros(4, 30)), strict=True)]
        bound = np.broadcast_to(slices.from_slice(first), (4, 30)).ravel()
        assert all(abs(one) <= Fraction(most) for one, most in zip(rest, bound.tolist(), strict=True))
    for place, part in enumerate(slices.parts):
        unit = torch.from_numpy(np.ldexp(1.0, slices.exponent - (place + 1) * 21 + 1))
        whole = part / unit
        assert torch.equal(whole, whole.round())
        assert float(whole.abs().max()) <= 2**20


@pytest.mark.parametrize("terms", [1, 2, 3, 27, 4608])
def test_products_of_slices_are_exact(terms):
    """As large as slices may be, all of one sign: the sum is at the edge of what floats hold."""
    node = Linear(name="", shape=(2,), input_shapes=((terms,),), weight=torch.ones(2, terms, dtype=torch.float64))
    products = products_of(node)
    most = 2.0 ** (products.bits - 1)
    for draw in (np.full(terms, most), np.random.default_rng(0).integers(-most, most, terms, endpoint=True)):
        one = torch.from_numpy(np.stack([draw, np.roll(draw, 1)]).astype(float))
        other = torch.from_numpy(draw[None].astype(float))
        found = products.of(one, other, torch.ones(()))
        exact = [sum(int(a) * int(b) for a, b in zip(row, draw, strict=True)) for row in one.tolist()]
        assert found[0].tolist() == exact == [int(entry) for entry in found[0].tolist()]
        together = sum(found for _ in range(sliced_products.TOGETHER))
        assert together[0].tolist() == [sliced_products.TOGETHER * entry for entry in exact]
    if terms > 27:  # slices of a few bits more are not
        rest = torch.from_numpy(np.random.default_rng(1).integers(most, 2 * most, (1, terms)) * 64.0 + 3)
        assert int(products.of(rest, rest, torch.ones(()))[0, 0]) != sum(int(a) ** 2 for a in rest[0].tolist())


@pytest.mark.parametrize("terms", [0, 1, 2, 3, 5, 1000, 2**22, 2**22 + 1, 2**30])
def test_slices_have_as_many_bits_as_sums_leave(terms):
    """At most 26; of weights and values one of them is the sign, and eight sums are added up."""
    node = Linear(name="", shape=(1,), input_shapes=((1,),), weight=torch.ones(1, 1).double())
    alone = max(bits for bits in range(1, 27) if terms * 2**bits <= 2 ** (53 - 5))
    assert Products(node, None, terms).bits == alone
    if terms:
        pairs = max(bits for bits in range(1, 27) if 8 * terms * 2 ** (2 * (bits - 1)) <= 2**53)
        assert Products(node, node.weight, terms).bits == pairs


def deep(seed, depth=14, width=20):
    return rs.load(default_network([3, *[width] * depth, 2], seed))


def within(net, x, carrier):
    """Return the largest error, having seen that all hold."""
    exact, largest = RationalNetwork(net), 0.0
    arrived = list(carry(net, carrier, Wide.exactly(x)))
    for row, point in enumerate(x):
        at = fractions(point)
        truths = [*exact.all_preactivations(at), exact.output(at)]
        for seen, truth in zip(arrived, truths, strict=True):
            values, errors = fractions(seen.high[row], seen.low[row]), seen.error[row].flatten().tolist()
            for place, (value, error) in enumerate(zip(values, errors, strict=True)):
                assert abs(value - truth[place]) <= Fraction(error)
                largest = max(largest, error)
    return largest


def test_errors_hold_in_deep_networks_and_are_small():
    net = deep(0)
    x = net.points(np.random.default_rng(0).normal(size=(3, 3)))
    carrier = WideNumbers()
    assert within(net, x, carrier) < 1e-22
    every = sum(stage.leg.plan[0][1].weight.numel() for stage in net.stages) * len(x)
    assert 3 * every < carrier.multiplications < 14 * every


def test_what_is_left_out_is_in_the_error(monkeypatch):
    """Where much may be left out, it is, and only the bound on it holds; without it the error is too small."""
    net, few = deep(1), WideNumbers()
    x = net.points(np.random.default_rng(1).normal(size=(2, 3)))
    usual = WideNumbers()
    within(net, x, usual)
    monkeypatch.setattr(wide_numbers, "LEAST_LEFT_OUT", 2.0**-45)
    assert within(net, x, few) < 1e-3
    assert few.multiplications < usual.multiplications
    monkeypatch.setattr(sliced_products.Slices, "from_slice", lambda self, _: np.zeros(self.exponent.shape))
    with pytest.raises(AssertionError):
        within(net, x, WideNumbers())


def test_rounding_is_in_the_error(monkeypatch):
    net = deep(2, depth=3)
    x = net.points(np.random.default_rng(2).normal(size=(2, 3)))
    within(net, x, WideNumbers())
    monkeypatch.setattr(wide_numbers, "ROUNDING", 2.0**-115)
    monkeypatch.setattr(wide_numbers, "LEAST_LEFT_OUT", 2.0**-150)
    monkeypatch.setattr(sliced_products, "MAX_SLICES", 12)
    with pytest.raises(AssertionError):
        within(net, x, WideNumbers())


def test_signs_that_floats_lose_are_known():
    """1 + 2^-60 is above 1, and a third unit is exactly at its breakpoint."""
    net = rs.load([([[1.0], [1.0], [1.0]], [1.0, 1.0, 0.0]), ([[1.0, 0.0, -1.0]], [-1.0])])
    x = net.points([[2.0**-60], [0.0], [-(2.0**-60)]])
    first, second = list(carry(net, WideNumbers(), Wide.exactly(x)))
    gate = net.stages[0].gate
    assert pieces_of(gate, first).tolist() == [[1, 1, 1], [1, 1, 0], [1, 1, 0]]
    assert in_doubt(gate, first).tolist() == [False, False, False]
    assert fractions(second.high, second.low) == [0, 0, -Fraction(2.0**-60)]
    unsure = Wide(first.high, first.low, torch.full_like(first.high, 2.0**-59))
    assert in_doubt(gate, unsure).tolist() == [True, False, True]


def test_the_steepest_slope_counts_near_a_breakpoint():
    net = rs.load([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    value = torch.tensor([[-0.5], [-2.0], [2.0]]).double()
    passed = WideNumbers().leave(net.stages[0], Wide(value, 0 * value, torch.ones_like(value)))
    assert passed.high.flatten().tolist() == [0.0, 0.0, 2.0]
    assert passed.error.flatten().tolist() == pytest.approx([1.0, 0.0, 1.0], rel=1e-5)


def test_candidates_that_floats_do_not_tell_apart():
    net = rs.load(torch.nn.Sequential(torch.nn.Unflatten(1, (1, 2)), torch.nn.MaxPool1d(2)), input_shape=(2,))
    high = torch.ones(3, 1, 2).double()
    low = torch.tensor([[[0.0, 2.0**-60]], [[2.0**-60, 0.0]], [[0.0, 0.0]]]).double()
    for error, doubts in ((2.0**-62, [False] * 3), (2.0**-60, [True, True, False])):
        seen = Wide(high, low, torch.full_like(high, error))
        gate = net.stages[-1].gate
        assert pieces_of(gate, seen).flatten().tolist() == [1, 0, 0]
        assert in_doubt(gate, seen).tolist() == doubts


def wide(rng, *shape):
    """Return wide numbers of few bits, some with a low part and some with an error."""
    high, low, error = (torch.from_numpy(rng.integers(-9, 10, shape) / 4.0) for _ in range(3))
    return Wide(high, low * 2.0**-60, error.clamp(min=0))


@pytest.fixture
def coarse(monkeypatch):
    """Let rounding, and what is lost below all floats, be so large that every term of an error shows."""
    monkeypatch.setattr(wide_numbers, "ROUNDING", 2.0**-6)
    monkeypatch.setattr(wide_numbers, "TINY", 2.0**-4)
    return 2.0**-6, 2.0**-4


def check(found, carried, own, tiny):
    """Check an error against what it is made of."""
    expected = (1 + Fraction(1, 2**20)) * (Fraction(carried) + Fraction(own)) + Fraction(tiny)
    assert found == pytest.approx(float(expected), rel=1e-12)


def test_errors_of_sums_have_every_term(coarse):
    rounding, tiny = coarse
    node = Sum(name="", shape=(3,), input_shapes=((3,), (3,), (1,)), signs=(1, -1, 1))
    inputs = [wide(np.random.default_rng(seed), 8, size) for seed, size in enumerate((3, 3, 1))]
    found = WideNumbers().affine(node, inputs)
    for row in range(8):
        for place in range(3):
            at = [(row, place), (row, place), (row, 0)]
            highs, lows, errors = ([float(one[k][i]) for one, i in zip(inputs, at, strict=True)] for k in range(3))
            value = Fraction(float(found.high[row, place])) + Fraction(float(found.low[row, place]))
            terms = [sign * (Fraction(h) + Fraction(e)) for sign, h, e in zip((1, -1, 1), highs, lows, strict=True)]
            assert value == sum(terms)
            check(float(found.error[row, place]), sum(errors), 6 * rounding * sum(map(abs, highs)), tiny)


@pytest.mark.parametrize(("has_scale", "has_shift"), [(True, True), (True, False), (False, True)])
def test_errors_of_scales_and_shifts_have_every_term(coarse, has_scale, has_shift):
    rounding, tiny = coarse
    scale, shift = (torch.tensor(one, dtype=torch.float64) for one in ([-2.0, 0.5, 3.0], [0.25, -8.0, 0.0]))
    node = ScaleShift(
        name="",
        shape=(3,),
        input_shapes=((3,),),
        scale=scale if has_scale else None,
        shift=shift if has_shift else None,
    )
    value = wide(np.random.default_rng(0), 8, 3)
    found = WideNumbers().affine(node, [value])
    for row in range(8):
        for place in range(3):
            high, low, error = (float(one[row, place]) for one in value)
            factor, term = float(scale[place]) if has_scale else 1.0, float(shift[place]) if has_shift else 0.0
            seen = Fraction(float(found.high[row, place])) + Fraction(float(found.low[row, place]))
            assert seen == Fraction(factor) * (Fraction(high) + Fraction(low)) + Fraction(term)
            own = 2 * rounding * (abs(factor * high) + abs(term))
            check(float(found.error[row, place]), abs(factor) * error, own, tiny)


def test_errors_of_products_have_every_term(coarse):
    """Slices whose sums cancel, one by one: each counts with its size, and so does what is added to them."""
    rounding, tiny = coarse
    weight, bias = (torch.tensor(one, dtype=torch.float64) for one in ([[1, -1], [1, 1], [0, 2]], [0, -16, 0]))
    node = Linear(name="", shape=(3,), input_shapes=((2,),), weight=weight, bias=bias)
    step = 2.0**-30
    high = torch.tensor([[3, 3], [3 + 5 * step, 3 - 7 * step], [-1, 2]], dtype=torch.float64)
    found = WideNumbers().affine(node, [Wide.exactly(high)])
    # Sums of first and second slices, and how many there are.
    slices = [
        [(0, 0), (6, 0), (6, 0)],
        [(0, 12 * step), (6, -2 * step), (6, -14 * step)],
        [(-3, 0), (1, 0), (4, 0)],
    ]
    for row, number in enumerate((2, 2, 2)):  # the points of a batch are cut alike
        for place, parts in enumerate(slices[row]):
            size = sum(map(abs, parts)) + abs(float(bias[place]))
            check(float(found.error[row, place]), 0, (number + 3) * rounding * size, tiny)
    alone = WideNumbers().affine(node, [Wide(high[:1], 0 * high[:1], torch.tensor([[0.5, 0.25]]).double())])
    for place, size in enumerate((0, 22, 6)):
        carried = (0.75, 0.75, 0.5)[place]
        check(float(alone.error[0, place]), carried, 4 * rounding * size, tiny)
    nothing = WideNumbers().affine(
        Linear(name="", shape=(3,), input_shapes=((2,),), weight=0 * weight), [Wide.exactly(0 * high)]
    )
    assert torch.equal(nothing.error, torch.full_like(nothing.error, tiny))


@pytest.mark.parametrize("scale", [2.0**-70, 1.0, 2.0**70])
def test_how_much_is_left_out_follows_sizes_and_what_each_point_carries(scale):
    draw = np.random.default_rng(0)
    weight, high = (torch.from_numpy(draw.normal(size=size)) for size in ((5, 9), (2, 9)))
    node = Linear(name="", shape=(5,), input_shapes=((9,),), weight=scale * weight)
    sizes, made, errors = scale * (high.abs() @ weight.abs().T), [], []
    for wrong in ([0.0, 0.0], [2.0**-20] * 2, [0.0, 2.0**-20]):
        carrier = WideNumbers()
        carried = torch.tensor(wrong).double()[:, None].expand(2, 9)
        errors.append(carrier.affine(node, [Wide(high, 0 * high, carried)]).error)
        made.append(carrier.multiplications)
    assert made[1] < made[0] / 2
    assert made[2] == made[0]
    assert (errors[0] < 2.0**-95 * sizes).all()
    assert (errors[2][0] < 2.0**-95 * sizes[0]).all()
    assert (errors[1] < 2.0**-17 * scale * weight.abs().sum(dim=1)).all()


MEANS = {
    "axis": AxisSum(name="", shape=(3,), input_shapes=((3, 7),), axes=(1,), mean=True),
    "sum": AxisSum(name="", shape=(3,), input_shapes=((3, 7),), axes=(1,), mean=False),
    "window": WindowMean(name="", shape=(2, 3), input_shapes=((2, 9),), kernel=(3,), stride=(3,)),
    "adaptive": AdaptiveMean(name="", shape=(2, 4), input_shapes=((2, 9),)),
    "matrix": AxisMatrix(name="", shape=(2, 4), input_shapes=((2, 9),), axis=1, weight=scattered(5, 4, 9)),
}


@pytest.mark.parametrize("kind", MEANS)
@pytest.mark.parametrize(("most", "scale"), [(1, 1.0), (2, 1.0), (8, 1.0), (8, 2.0**-500)])
def test_sums_of_all_kinds_hold_for_double_words(monkeypatch, kind, most, scale):
    """Errors hold, also of what so few slices leave over or floats lose, and are small where slices are enough."""
    monkeypatch.setattr(sliced_products, "MAX_SLICES", most)
    node, points = MEANS[kind], 3
    word = two_product(*(scale * scattered(seed, points, *node.input_shapes[0]) for seed in (0, 1)))
    for carried in (0.0, 2.0**-60):
        value = Wide(*word, torch.full_like(word.high, carried))
        found = WideNumbers().affine(node, [value])
        matrix = node.matrix()[0].toarray()
        for row in range(points):
            values, errors = fractions(found.high[row], found.low[row]), found.error[row].flatten().tolist()
            entries = fractions(word.high[row], word.low[row])
            for weights, seen, error in zip(matrix.tolist(), values, errors, strict=True):
                truth = sum(Fraction(weight) * entry for weight, entry in zip(weights, entries, strict=True))
                size = sum(abs(weight) * abs(float(entry)) for weight, entry in zip(weights, entries, strict=True))
                wrong = Fraction(carried) * sum(map(abs, map(Fraction, weights)))
                assert abs(seen - truth) + wrong <= Fraction(error)
                if most == 8 and scale == 1:
                    assert error <= 2.0**-85 * float(word.high.abs().max()) * max(1.0, size) + 2 * float(wrong)


def jumping_gate():
    """Return two kinks and a jump, on pieces of slope 0, 1 and others, with and without an intercept."""
    return Pointwise(
        name="",
        shape=(1,),
        kind="jumping",
        breakpoints=torch.tensor([[-1.0], [0.0], [1.0]]).double(),
        slopes=torch.tensor([[0.0], [0.0], [1.0], [-2.0]]).double(),
        intercepts=torch.tensor([[0.0], [0.5], [0.5], [3.5]]).double(),
    )


def straight_gate(slope, intercept):
    """Return a gate that is the same line on both sides of 8."""
    return Pointwise(
        name="",
        shape=(1,),
        kind="straight",
        breakpoints=torch.tensor([[8.0]]).double(),
        slopes=torch.full((2, 1), slope).double(),
        intercepts=torch.full((2, 1), intercept).double(),
    )


def test_errors_behind_units_have_every_term(coarse):
    """On every piece, at breakpoints and as far from them as the error, and beyond it."""
    rounding, tiny = coarse
    cases = [(jumping_gate(), h, e) for h in np.arange(-12, 13) / 4.0 for e in (0.0, 0.25, 0.5)]
    cases += [
        (straight_gate(s, t), h, e) for s in (0.0, 1.0, -2.0) for t in (0.0, -3.0) for h, e in ((2.0, 0), (-3, 1))
    ]
    for gate, high, error in cases:
        passed = WideNumbers().leave(
            SimpleNamespace(gate=gate), Wide(*torch.tensor([[[high]], [[0]], [[error]]]).double())
        )
        levels, slopes, starts = (one.flatten().tolist() for one in (gate.breakpoints, gate.slopes, gate.intercepts))
        piece = sum(level < high for level in levels)
        near = [abs(high - level) <= error for level in levels]
        jumps = [
            abs((s - r) * x + t - o)
            for x, r, s, o, t in zip(levels, slopes, slopes[1:], starts, starts[1:], strict=False)
        ]
        jump = sum(height for height, is_near in zip(jumps, near, strict=True) if is_near and error)
        steepest = max(map(abs, slopes)) if any(near) else abs(slopes[piece])
        is_exact = slopes[piece] in (0, 1) and not starts[piece]
        own = 0 if is_exact else 3 * rounding * (abs(slopes[piece] * high) + abs(starts[piece])) + tiny
        assert float(passed.high) + float(passed.low) == slopes[piece] * high + starts[piece]
        check(float(passed.error), steepest * error + jump, own, 0)


def largest_of(groups, k, slope):
    units = sum(map(len, groups))
    return TopK(
        name="",
        shape=(units,),
        kind="top_k",
        breakpoints=torch.zeros(0, 1).double(),
        slopes=torch.tensor([[0.0], [slope]]).double(),
        intercepts=torch.zeros(2, 1).double(),
        groups=torch.tensor(groups),
        k=k,
    )


def test_errors_behind_the_largest_have_every_term():
    gate = largest_of([[0, 1], [2, 3]], 1, 2.0)
    high = torch.tensor([[5.0, 1, 3, 3], [2, 2, 1, 2], [4, 4, -1, 1]]).double()
    low = torch.tensor([[0.0, 0, 0, 2.0**-60], [0, 0, 0, 0], [0, 2.0**-52, 0, 0]]).double()
    error = torch.tensor([[0.5, 0.25, 2.0**-55, 0], [2.0**-70, 0, 0.5, 0.25], [2.0**-53, 0, 0, 0]]).double()
    seen = Wide(high, low, error)
    assert pieces_of(gate, seen).tolist() == [[1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1]]
    passed = WideNumbers().leave(SimpleNamespace(gate=gate), seen)
    assert passed.high.tolist() == [[10, 0, 0, 6], [4, 0, 0, 4], [0, 8, 0, 2]]
    assert passed.low.tolist() == [[0, 0, 0, 2.0**-59], [0, 0, 0, 0], [0, 2.0**-51, 0, 0]]
    # Where one may overtake another, all of its value is in doubt.
    expected = [[1, 0, 6, 6], [4, 4, 0, 0.5], [8, 8, 0, 0]]
    np.testing.assert_allclose(passed.error, expected, rtol=1e-5, atol=1e-12)
    assert in_doubt(gate, seen).tolist() == [True, True, True]
    for row in ([5.0, 1, 3, 3.5], [1.0, 1, 2, 2]):
        clear = torch.tensor([row]).double()
        assert in_doubt(gate, Wide.exactly(clear)).tolist() == [False]
    apart = torch.tensor([[0.0, 1, 5, 6]]).double()
    for wide_error, doubt in ((0.4, False), (0.5 + 1e-9, True)):
        assert in_doubt(gate, Wide(apart, 0 * apart, torch.full_like(apart, wide_error))).tolist() == [doubt]
    for wide_low, doubt in ((0.4, False), (0.5 + 1e-9, True)):
        assert in_doubt(gate, Wide(apart, torch.full_like(apart, wide_low), 0 * apart)).tolist() == [doubt]


def test_gaps_to_breakpoints_are_known_to_all_digits():
    draw = np.random.default_rng(0)
    level = draw.normal(size=(1, 400))
    gate = Pointwise(
        name="",
        shape=(400,),
        kind="relu",
        breakpoints=torch.from_numpy(level),
        slopes=torch.tensor([[0.0], [1.0]]).double(),
        intercepts=torch.zeros(2, 1).double(),
    )
    high, low = two_sum(
        torch.from_numpy(level * draw.choice([-1.0, 1.0, 1.0, 1e-9, 0.37], (3, 400))), scattered(1, 3, 400) * 2.0**-75
    )
    (found,) = gaps(gate, Wide(high, low, 0 * high))
    exact = [one - Fraction(other) for one, other in zip(fractions(high, low), level.ravel().tolist() * 3, strict=True)]
    for seen, truth in zip(found.flatten().tolist(), exact, strict=True):
        assert abs(Fraction(seen) - truth) <= Fraction(1.001 * 2.0**-53) * abs(truth)
    assert pieces_of(gate, Wide(high, low, 0 * high)).flatten().tolist() == [int(one > 0) for one in exact]


def test_doubts_of_one_unit_are_those_of_its_point():
    """Candidates apart by twice their error may be the other way round; exact ties are no doubts."""
    gate = Max(name="", shape=(2,), kind="max", index=torch.tensor([[0, 1], [2, 3]]))
    high = torch.tensor([[1.0, 1.5, 0, 9], [1, 1.5, 0, 9], [1, 1.5, 0, 9], [7, 7, 0, 9], [1, 9, 0, 0.5]]).double()
    error = torch.tensor(
        [[0.25, 0, 0, 0], [0, 0.25, 0, 0], [0.1875, 0.1875, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
    ).double()
    arrived = WideNumbers().arrive(SimpleNamespace(gate=gate), Wide(high, 0 * high, error))
    assert in_doubt(gate, arrived).tolist() == [True, True, False, False, True]
    passed = WideNumbers().leave(SimpleNamespace(gate=gate), arrived)
    assert passed.error.tolist() == [[0.25, 0], [0.25, 0], [0.1875, 0], [1, 0], [0, 1]]
    relu = Pointwise(
        name="",
        shape=(2,),
        kind="relu",
        breakpoints=torch.zeros(1, 1).double(),
        slopes=torch.tensor([[0.0], [1.0]]).double(),
        intercepts=torch.zeros(2, 1).double(),
    )
    high = torch.tensor([[0.5, 3], [3, 0.5], [0.5, 3], [0, 3], [-0.5, 3]]).double()
    error = torch.tensor([[0.5, 0], [0, 0.5], [0.4, 0], [1, 0], [0.5, 0]]).double()
    assert in_doubt(relu, Wide(high, 0 * high, error)).tolist() == [True, True, False, False, True]
