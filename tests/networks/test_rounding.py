"""Rounding carried from gate to gate, for units held to pieces: the formula, point by point, and fractions."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from oracles.rational_steps import LEAKY, RELU, affine, network_of, rational_values
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded, RoundedNumbers
from reluscope.networks.passes.rounding import (
    ANY_ORDER,
    affine_error,
    gate_error,
    in_doubt,
    jumps_within,
    may_be_largest,
    piece_error,
    reaches_breakpoint,
    with_ties,
)

UNIT = 16 * 2.0**-52
KINKED = ("pointwise", [-0.5, 1.0], [-0.7, 0.0, 2.3], [-0.35, 0.0, -2.3])


def follow(steps, points, unit=UNIT):
    """Return the bounds at every gate and at the end, and the values there."""
    net = network_of(steps, points.shape[1])
    arrived = carry(net, HeldRoundedNumbers(unit), Rounded.exactly(torch.tensor(points)))
    return [(seen.error.numpy(), seen.value.numpy()) for seen in arrived]


def random_steps(seed, kink):
    generator = np.random.default_rng(seed)
    return [
        affine(generator.normal(size=(4, 3)), generator.normal(size=4)),
        kink,
        affine(generator.normal(size=(6, 4)), generator.normal(size=6)),
        ("max", 3),
        affine(generator.normal(size=(2, 2)), generator.normal(size=2)),
    ]


@pytest.mark.parametrize("kink", [RELU, LEAKY, KINKED])
def test_the_formula_point_by_point(kink):
    steps, points = random_steps(1, kink), np.random.default_rng(2).normal(size=(20, 3))
    found = follow(steps, points)
    for row, point in enumerate(points):
        value, error = point, np.zeros(3)
        weight, bias = steps[0][1:]
        error = np.abs(weight) @ error + UNIT * (np.abs(weight) @ np.abs(value) + np.abs(bias))
        value = weight @ value + bias
        assert found[0][0][row] == pytest.approx(error, rel=1e-9, abs=0)
        pieces = (value[:, None] > np.array(kink[1])).sum(axis=1)
        slope, intercept = np.array(kink[2])[pieces], np.array(kink[3])[pieces]
        plain = np.isin(slope, [0.0, 1.0]) & (intercept == 0)
        own = np.where(plain, 0.0, UNIT * (np.abs(slope * value) + np.abs(intercept)))
        value, error = slope * value + intercept, np.abs(slope) * error + own
        weight, bias = steps[2][1:]
        error = np.abs(weight) @ error + UNIT * (np.abs(weight) @ np.abs(value) + np.abs(bias))
        value = (weight @ value + bias).reshape(2, 3)
        assert found[1][0][row] == pytest.approx(error.reshape(2, 3), rel=1e-9, abs=0)
        chosen = value.argmax(axis=1)
        value, error = value[np.arange(2), chosen], error.reshape(2, 3)[np.arange(2), chosen]
        weight, bias = steps[4][1:]
        error = np.abs(weight) @ error + UNIT * (np.abs(weight) @ np.abs(value) + np.abs(bias))
        assert found[2][0][row] == pytest.approx(error, rel=1e-9, abs=0)


@pytest.mark.parametrize("kink", [RELU, LEAKY, KINKED])
def test_values_are_within_their_errors_though_early_ones_cancel(kink):
    apart = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        first = affine(generator.normal(size=(3, 2)), 1e9 * generator.uniform(1, 2, 3))
        middle = [float(value) for value in rational_values([first, kink], np.zeros(2))[-1]]
        weight = generator.normal(size=(2, 3))
        steps = [
            first,
            kink,
            affine(weight, 1.5 - weight @ middle),
            kink,
            affine([[1.0, -0.3]], [-1.0]),
            kink,
            affine([[1.0]], [0.0]),
        ]
        points = generator.normal(size=(3, 2))
        for place, (bounds, values) in zip((0, 2, 4, 6), follow(steps, points), strict=True):
            for bound, value, point in zip(bounds, values, points, strict=True):
                exact = rational_values(steps, point)[place]
                away = [abs(Fraction(float(a)) - b) for a, b in zip(value, exact, strict=True)]
                assert all(one <= Fraction(float(most)) for one, most in zip(away, bound, strict=True))
                apart += place == 4 and max(away) > Fraction(1, 10**9)
    assert apart > 10


def test_a_gate_alone_rounds_its_product():
    points = np.random.default_rng(0).normal(size=(50, 1))
    (bounds, values) = follow([("pointwise", [0.0], [0.3, 1.7], [0.0, 0.0])], points)[-1]
    for bound, value, point in zip(bounds[:, 0], values[:, 0], points, strict=True):
        exact = rational_values([("pointwise", [0.0], [0.3, 1.7], [0.0, 0.0])], point)[-1][0]
        assert abs(Fraction(float(value)) - exact) <= Fraction(float(bound))


def test_what_is_small_behind_a_gate_was_rounded_as_the_terms_it_cancelled_from():
    """Hard-sigmoid right beside its lower end: 1/6 of -3 and 1/2 cancel."""
    kink = ("pointwise", [-3.0, 3.0], [0.0, 1 / 6, 0.0], [0.0, 0.5, 1.0])
    wrong = 0
    for steps in range(1, 200):
        point = np.array([-3.0 + steps * 2.0**-51])
        net = network_of([kink], 1)
        for carrier in (RoundedNumbers(UNIT), HeldRoundedNumbers(UNIT)):
            *_, found = carry(net, carrier, Rounded.exactly(torch.tensor(point[None])))
            away = abs(Fraction(found.value.item()) - rational_values([kink], point)[-1][0])
            assert away <= Fraction(found.error.item())
        wrong += away > Fraction(UNIT * abs(found.value.item()))
    assert wrong > 20


@pytest.mark.slow
def test_errors_of_units_that_are_alike_add_up_in_full():
    """Copies of a sum that cancels are rounded alike: as independent errors theirs would be far too small."""
    generator, copies = np.random.default_rng(0), 128
    far = ("pointwise", [-100.0], [0.5, 1.0], [-50.0, 0.0])
    ones, worst = np.ones((copies, copies)), 0.0
    for _ in range(12):
        row, point = generator.normal(size=12), generator.normal(size=12)
        bias = -float(row @ point)
        steps = [affine(np.tile(row, (copies, 1)), np.full(copies, bias)), far, affine(ones, np.zeros(copies)), far]
        steps += [affine(ones[:1], [0.0])]
        bound, value = follow(steps, point[None])[-1]
        away = abs(Fraction(value.item()) - rational_values(steps, point)[-1][0])
        assert away <= Fraction(bound.item())
        as_independent = copies * UNIT * (np.abs(row) @ np.abs(point) + abs(bias))
        worst = max(worst, float(away) / as_independent)
    assert worst > 1.0


def test_sums_in_any_order_are_covered():
    """Higham's gamma of 2^16 products, in units of half an epsilon."""
    number, half = Fraction(2**16), Fraction(2) ** -53
    assert number * half / (1 - number * half) < Fraction(ANY_ORDER) <= 4 * number * half


@pytest.mark.parametrize(("slope", "own"), [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (-3.0, 12.0)])
def test_derivatives_of_units_that_pass_all_or_nothing_are_not_rounded(slope, own):
    slope, size, error = (torch.tensor([entry], dtype=torch.float64) for entry in (slope, 4.0, 0.5))
    assert piece_error(slope, None, size, error, 0.125).item() == abs(slope.item()) * 0.5 + 0.125 * own
    nothing = torch.zeros(1, dtype=torch.float64)
    assert piece_error(slope, nothing, size, error, 0.125).item() == abs(slope.item()) * 0.5 + 0.125 * own
    shifted = piece_error(slope, nothing - 2, size, error, 0.125).item()
    assert shifted == abs(slope.item()) * 0.5 + 0.125 * (4 * abs(slope.item()) + 2)


def test_constants_are_added_where_there_are_some_and_they_count():
    sizes, errors = torch.tensor([[5.0, 1.0]]).double(), torch.tensor([[0.5, 0.25]]).double()
    plain = 3 * 0.5 + 4 * 0.25 + 0.125 * (3 * 5 + 4 * 1)
    for bias, has_constant, expected in ((2.0, True, plain + 0.25), (2.0, False, plain), (0.0, True, plain)):
        node = network_of([affine([[3.0, -4.0]], [bias])], 2).nodes[1]
        assert affine_error(node, [sizes], [errors], 0.125, has_constant=has_constant).item() == expected


def test_what_is_as_near_as_its_error_may_be_on_the_other_side():
    pre, error = (
        torch.tensor([[0.5, -0.5, 0.5, 0.0, 0.0]]).double(),
        torch.tensor([[0.5, 0.5, 0.25, 0.0, 0.5]]).double(),
    )
    gate = network_of([affine(np.eye(5), np.zeros(5)), RELU], 5).stages[0].gate
    assert reaches_breakpoint(gate, pre, error).tolist() == [[True, True, False, True, True]]
    doubts = [in_doubt(gate, pre[:, [i] * 5], error[:, [i] * 5]).item() for i in range(5)]
    assert doubts == [True, True, False, False, False]  # on the kink itself is no doubt


def test_candidates_as_near_as_both_errors_may_be_the_largest():
    gate = network_of([affine(np.eye(2), np.zeros(2)), ("max", 2)], 2).stages[0].gate
    for pair, errors, may, doubt in (
        ([1.0, 0.0], [0.5, 0.5], [True, True], True),
        ([1.0, 0.0], [0.25, 0.5], [True, False], False),
        ([1.0, 0.0], [0.0, 1.0], [True, True], True),
        ([1.0, 1.0], [0.0, 0.0], [True, True], False),
        ([1.0, 1.0], [0.5, 0.5], [True, True], False),
    ):
        pre, error = (torch.tensor([[table]], dtype=torch.float64) for table in (pair, errors))
        assert may_be_largest(pre, error).tolist() == [[may]]
        assert in_doubt(gate, pre, error).item() == doubt


def test_candidates_that_rounding_alone_may_tell_apart_are_read_as_ties():
    gate = network_of([affine(np.eye(3), np.zeros(3)), ("max", 3)], 3).stages[0].gate
    last, infinity = 2.0**-52, float("inf")
    for candidates, error, piece in (
        ([1.0, 1.0 + last, 0.0], 4 * last, 0),
        ([1.0, 1.0 + 4 * last, 0.0], last, 1),  # that is no rounding
        ([0.0, 1.0, 1.0 + 2 * last], last, 1),
        ([1.0, 1.5, 0.0], 1.0, 1),  # bounds that say nothing
        ([-infinity, -1.0, -1.0 + last], last, 1),
        ([0.0, 0.0, 0.0], last, 0),
    ):
        pre = torch.tensor([[candidates]], dtype=torch.float64)
        seen = with_ties(gate, pre, torch.full_like(pre, error))
        assert gate.pieces(seen).item() == piece
        assert seen.max() == pre.max()
    # A third candidate that little is known of, far below, takes nothing from what is known of the others.
    pre = torch.tensor([[[1.0, 1.0 + 2.0**-44, -1.0]]], dtype=torch.float64)
    error = torch.tensor([[[last, last, 2.0**-40]]], dtype=torch.float64)
    assert not in_doubt(gate, pre, error).any()
    assert gate.pieces(with_ties(gate, pre, error)).item() == 1
    relu = network_of([affine(np.eye(2), np.zeros(2)), RELU], 2).stages[0].gate
    pre = torch.tensor([[last, -last]], dtype=torch.float64)
    assert with_ties(relu, pre, torch.ones_like(pre)) is pre


def test_what_is_at_a_jump_is_in_doubt_unless_nothing_is_rounded():
    """Of a continuous gate an exact tie is no doubt; beside a breakpoint errors decide."""
    for jump in (1.0, 0.0):
        tables = (torch.tensor(one).double()[:, None] for one in ([0.0], [0.0, 1.0], [0.0, jump]))
        names = ("breakpoints", "slopes", "intercepts")
        gate, ties = Pointwise(name="gate", shape=(2,), kind="gate", **dict(zip(names, tables, strict=True))), jump > 0
        for pre, error, doubt in ((0.0, 0.0, False), (0.0, 0.5, ties), (0.5, 0.5, True), (0.5, 0.25, False)):
            tables = (torch.tensor([[9.0, one], [9.0, 9.0]]).double() for one in (pre, error))
            values, errors = tables
            errors[:, 0] = 1.0
            errors[1, 1] = 1.0
            assert in_doubt(gate, values, errors).tolist() == [doubt, False]


@pytest.mark.parametrize("seed", range(4))
def test_errors_of_gates_that_jump_hold_whatever_the_exact_value_is(seed):
    """In fractions: the gate at values within the error of its pre-activation."""
    rng = np.random.default_rng(seed)
    levels = np.sort(rng.integers(-8, 9, (3, 4)), axis=0) / 4.0
    names, tables = ("breakpoints", "slopes", "intercepts"), (levels, *rng.integers(-8, 9, (2, 4, 4)) / 4.0)
    gate = Pointwise(name="", shape=(4,), kind="gate", **dict(zip(names, map(torch.from_numpy, tables), strict=True)))

    def exact(unit, x):
        piece = sum(x > Fraction(level) for level in levels[:, unit].tolist())
        return Fraction(tables[1][piece, unit]) * x + Fraction(tables[2][piece, unit])

    pre = rng.integers(-16, 17, (200, 4)) / 8.0
    error = rng.integers(0, 5, (200, 4)) / 8.0
    bounds = gate_error(gate, torch.from_numpy(pre), torch.from_numpy(error), 0.0).tolist()
    own = jumps_within(gate, torch.from_numpy(pre), torch.from_numpy(error)).numpy()
    reached = (np.abs(pre - levels[:, None]) <= error) & (error > 0)
    assert own == pytest.approx((reached * gate.jumps.abs().numpy()[:, None]).sum(axis=0))
    for row, (values, errors) in enumerate(zip(pre.tolist(), error.tolist(), strict=True)):
        for unit, (value, most) in enumerate(zip(values, errors, strict=True)):
            here = exact(unit, Fraction(value))
            for share in range(-4, 5):
                there = exact(unit, Fraction(value) + Fraction(most) * share / 4)
                assert abs(there - here) <= Fraction(bounds[row][unit])


def test_what_may_be_overtaken_among_the_largest_is_in_doubt_altogether():
    """Of pairs the larger one is kept, times -2 and plus 3; errors let the first pair change, and not the second."""
    tables = (torch.tensor(one).double()[:, None] for one in ([], [0.0, -2.0], [0.0, 3.0]))
    names = ("breakpoints", "slopes", "intercepts")
    gate = TopK(
        name="",
        shape=(4,),
        kind="top_k",
        groups=torch.tensor([[0, 1], [2, 3]]),
        k=1,
        **dict(zip(names, tables, strict=True)),
    )
    pre = torch.tensor([[5.0, 4.5, 5.0, 1.0]]).double()
    error = torch.tensor([[0.25, 0.5, 0.25, 0.5]]).double()
    kept = [7.0 + 2 * 0.25, 6.0 + 2 * 0.5]
    assert jumps_within(gate, pre, error).tolist() == [[*kept, 0.0, 0.0]]
    own = UNIT * torch.tensor([13.0, 0.0, 13.0, 0.0]).double()
    within = torch.tensor([0.5, 0.0, 0.5, 0.0]).double() + own
    overtaken = torch.tensor([0.0, 1.0, 0.0, 0.0]).double()  # along the steeper piece
    expected = within + overtaken + torch.tensor([*kept, 0.0, 0.0]).double()
    np.testing.assert_allclose(gate_error(gate, pre, error, UNIT)[0], expected, rtol=1e-12)
