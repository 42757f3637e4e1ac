"""Wide numbers against fractions: sums without rounding, errors that hold where they decide, few products."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.passes import sliced_products, wide_numbers
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.double_words import plus, times, two_product, two_sum
from reluscope.networks.passes.sliced_products import products_of, sliced
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers, in_doubt, pieces_of
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
