"""Ranges of units against fractions: every term that widens them decides in one of these networks."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oracles.rational_steps import ABSOLUTE, LEAKY, RELU, affine, fractions_of, network_of, rational_values
from reluscope.networks.bounds.ranges import unit_ranges
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.passes.boxes import FiniteEnds, Intervals
from reluscope.networks.passes.carry import carry


def exact_range(weight, bias, low, high):
    """Return the range of a sum over a box, in fractions."""
    weight, low, high = fractions_of(weight), fractions_of(low), fractions_of(high)
    ends = [sorted((w * a, w * b)) for w, a, b in zip(weight, low, high, strict=True)]
    return sum(end[0] for end in ends) + Fraction(float(bias)), sum(end[1] for end in ends) + Fraction(float(bias))


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 1e9]))
def test_sums_that_cancel_stay_within(seed, is_point, offset):
    generator = np.random.default_rng(seed)
    weight, low = generator.normal(size=(6, 9)), offset + generator.normal(size=9)
    high = low if is_point else low + generator.random(9)
    bias = -weight @ low
    (found,) = unit_ranges(network_of([affine(weight, bias), RELU], 9), low, high)
    for row in range(6):
        least, most = exact_range(weight[row], bias[row], low, high)
        assert Fraction(found.lower[row]) <= least
        assert most <= Fraction(found.upper[row])


@pytest.mark.parametrize("ends", [(0.0, 5e-324), (-5e-324, 0.0)])
def test_the_radius_reaches_to_the_farther_end_of_a_box_as_thin_as_floats_are(ends):
    """Half of the smallest float is rounded to zero, so that one end is as far away as the whole box is wide."""
    low, high = (np.array([end]) for end in ends)
    (found,) = unit_ranges(network_of([affine([[1e300]], [0.0]), RELU], 1), low, high)
    least, most = exact_range([1e300], 0.0, low, high)
    assert least < 0 or most > 0
    assert Fraction(found.lower[0]) <= least
    assert most <= Fraction(found.upper[0])


def test_sums_of_many_terms_may_be_rounded_at_each():
    """The promise behind the slack: sums of up to 2**16 terms, in whatever order, n eps of the sum of magnitudes."""
    (found,) = unit_ranges(network_of([affine([[1.0, -1.0]], [2.0]), RELU], 2), np.ones(2), np.ones(2))
    assert found.upper[0] - 2.0 >= 2**16 * 2.0**-52 * 4.0
    assert 2.0 - found.lower[0] >= 2**16 * 2.0**-52 * 4.0


@pytest.mark.parametrize("kink", [LEAKY, ("pointwise", [0.0], [3.7, 0.3], [0.0, 0.0])])
def test_what_a_gate_rounds_itself_is_allowed_for(kink):
    """One gate right after another: nothing rounds in between that could hide what the first one did."""
    for end in np.random.default_rng(0).normal(size=40):
        point = np.array([end])
        found = unit_ranges(network_of([kink, RELU, affine([[1.0]], [0.0])], 1), point, point)[1]
        truth = rational_values([kink], point)[0][0]
        assert Fraction(found.lower[0]) <= truth <= Fraction(found.upper[0])


def test_a_gate_may_be_extreme_at_its_kink():
    found = unit_ranges(network_of([ABSOLUTE, RELU, affine([[1.0]], [0.0])], 1), np.array([-1.0]), np.array([2.0]))[1]
    assert found.lower[0] <= 0.0
    assert found.lower[0] > -1e-9
    assert 2.0 <= found.upper[0] < 2.0 + 1e-9
    apart = unit_ranges(network_of([ABSOLUTE, RELU, affine([[1.0]], [0.0])], 1), np.array([1.0]), np.array([2.0]))[1]
    assert 1.0 - 1e-9 < apart.lower[0] <= 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (0, 1), (-1, 0), (0, 0), (0, 4), (4, 5), (1, 3), (-1, 9), (3, 4), (4, 4), (-3, -1)]
)
def test_a_gate_that_jumps_takes_what_is_right_above_a_breakpoint_if_that_is_inside(sign, low, high):
    """Falling by 1, with jumps of 10 right above 0 and 4, which may be ends as well."""
    kink, builder = ("pointwise", [0.0, 4.0], [-sign] * 3, [3 * sign, 13 * sign, 23 * sign]), GraphBuilder()
    net = builder.build(builder.pointwise(builder.input((1,)), "kink", *kink[1:], may_jump=True))
    inside = {float(np.clip(one, low, high)) for one in (low, high, 0.0, 1e-300, 4.0, np.nextafter(4.0, 5.0))}
    truth = [float(rational_values([kink], [point])[0][0]) for point in inside]
    start = FiniteEnds(*(torch.tensor([[end]], dtype=torch.float64) for end in (low, high)))
    *_, found = carry(net, Intervals(0.0), start)
    assert (found.low.item(), found.high.item()) == pytest.approx((min(truth), max(truth)), abs=1e-12)


def test_ranges_of_a_max_gate_and_of_what_follows_hold_rational_values():
    generator = np.random.default_rng(5)
    steps = [affine(generator.normal(size=(6, 3)), generator.normal(size=6)), ("max", 2)]
    steps += [affine(generator.normal(size=(2, 3)), generator.normal(size=2)), LEAKY, affine(np.ones((1, 2)), [0.0])]
    low, high = -np.ones(3), np.ones(3)
    ranges = unit_ranges(network_of(steps, 3), low, high)
    for point in [low, high, *generator.uniform(-1, 1, size=(60, 3))]:
        values = rational_values(steps, point)
        for found, seen in zip(ranges, (values[0], values[2]), strict=True):
            ends = zip(found.lower.ravel().tolist(), seen, found.upper.ravel().tolist(), strict=True)
            assert all(Fraction(a) <= value <= Fraction(b) for a, value, b in ends)


def test_ranges_of_one_layer_are_sharp_wherever_the_box_is():
    for low, high in (([1.0, -4.0], [3.0, -2.0]), ([-3.0, 5.0], [-1.0, 6.0]), ([-1.0, -1.0], [1.0, 1.0])):
        (found,) = unit_ranges(network_of([affine([[1.0, -2.0]], [0.5]), RELU], 2), np.array(low), np.array(high))
        least, most = exact_range([1.0, -2.0], 0.5, low, high)
        assert found.lower[0] == pytest.approx(float(least), rel=1e-8)
        assert found.upper[0] == pytest.approx(float(most), rel=1e-8)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_rounding_of_a_gate_is_that_of_its_farther_end(sign):
    kink = ("pointwise", [0.0], [0.3, 1.7], [0.0, 0.0])
    for end in np.random.default_rng(0).uniform(1.0, 2.0, 40):
        low, high = sorted((-sign * 1e-14, sign * end))
        net = network_of([kink, RELU, affine([[1.0]], [0.0])], 1)
        found = unit_ranges(net, np.array([low]), np.array([high]))[1]
        least, most = (rational_values([kink], [one])[0][0] for one in (low, high))
        assert Fraction(found.lower[0]) <= least
        assert most <= Fraction(found.upper[0])


@pytest.mark.parametrize(("low", "high"), [(-1.0, 3.0), (-1.0, 1.0), (2.0, 2.0), (-7.0, -3.0)])
def test_radii_are_those_of_their_derivation(low, high):
    """With a coarse unit: the half width, and the rounding of sums as large as the farther end, and of the constant."""
    unit, center, radius = 2.0**-6, (low + high) / 2, (high - low) / 2
    net = network_of([affine([[3.0], [-5.0]], [0.25, 0.0])], 1)
    start = FiniteEnds(*(torch.tensor([[end]], dtype=torch.float64) for end in (low, high)))
    (found,) = carry(net, Intervals(unit), start)
    for row, (slope, constant) in enumerate([(3.0, 0.25), (-5.0, 0.0)]):
        reach = abs(slope) * radius + unit * (abs(slope) * (abs(center) + radius) + constant)
        assert found.low[0, row].item() == slope * center + constant - reach
        assert found.high[0, row].item() == slope * center + constant + reach


@pytest.mark.parametrize(
    ("low", "high", "least", "most"), [(-2.0, 1.0, 0.5, 2.5), (-1.0, 4.0, 0.5, 2.5), (1.0, 3.0, 1.0, 2.0)]
)
def test_gates_are_rounded_as_their_steepest_piece_at_the_farther_end(low, high, least, most):
    """Falling below 0 from 1/2, and rising from there by half as much as x; with a coarse unit."""
    unit, kink = 2.0**-6, ("pointwise", [0.0], [-1.0, 0.5], [0.5, 0.5])
    start = FiniteEnds(*(torch.tensor([[end]], dtype=torch.float64) for end in (low, high)))
    *_, found = carry(network_of([kink], 1), Intervals(unit), start)
    slack = unit * (max(abs(low), abs(high)) + 0.5)

    assert found.low.item() == least - slack
    assert found.high.item() == most + slack
