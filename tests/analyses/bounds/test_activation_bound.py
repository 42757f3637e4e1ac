"""The bound that looks at weights: its counterexamples to wrong readings, its table, and exact counts below it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.bounds import activation
from reluscope.analyses.bounds.activation import activation_upper, bound_of_counts
from reluscope.analyses.bounds.histograms import serra_upper
from reluscope.errors import NotApplicableError
from reluscope.networks.bounds.ranges import Ranges, unit_ranges
from reluscope.testing import strategies as networks


def net_of(*layers):
    return rs.load([*[(np.array(w, dtype=float), np.array(b, dtype=float)) for w, b in layers]])


@pytest.mark.parametrize(
    ("inputs", "widths", "expected"),
    [(2, [8, 8], 484), (4, [4, 4, 4], 30), (784, [11, 11], 155382), (3, [8, 2, 8], 42)],
)
def test_two_dead_units_per_layer(inputs, widths, expected):
    counts = [np.array([width - 2]) for width in widths]
    assert bound_of_counts(counts, counts, inputs) == expected


@given(st.lists(st.integers(1, 7), min_size=2, max_size=4))
def test_with_all_units_unstable_it_is_the_bound_of_the_architecture(sizes):
    counts = [np.array([width]) for width in sizes[1:]]
    assert bound_of_counts(counts, counts, sizes[0]) == int(serra_upper(sizes))


def test_units_need_not_be_active_at_the_same_time():
    net = net_of(([[1], [-1]], [-1, -1]), ([[1, 1]], [-1]), ([[1]], [0]))
    box = rs.Box(-3, 3, 1)
    assert len(rs.partition(net, box)) == 5
    assert int(activation_upper(net, box)) >= 5


def test_fewer_active_units_may_cut_more():
    levels = np.linspace(0.05, 0.95, 10)
    net = net_of(([[1], [1], [1]], [0, -1, -2]), (np.tile([1.0, 1, 0], (10, 1)), -levels), (np.ones((1, 10)), [0]))
    box = rs.Box(-1, 3, 1)
    assert len(rs.partition(net, box)) == 14
    assert int(activation_upper(net, box)) >= 14


def test_it_holds_on_its_box_only():
    net = net_of(([[1]], [-5]), ([[1]], [0]))
    assert int(activation_upper(net, rs.Box(-1, 1, 1))) == 1
    assert int(activation_upper(net, rs.Box(-6, 6, 1))) == 2


def test_a_unit_that_touches_zero_has_a_code_of_its_own_there():
    assert int(activation_upper(net_of(([[1]], [1]), ([[1]], [0])), rs.Box(-1, 1, 1))) == 2


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 2).flatmap(lambda n: networks.degenerate_networks(num_inputs=n)), st.floats(0.25, 4))
def test_exact_counts_stay_below(layers, reach):
    net = rs.load(layers)
    box = rs.Box(-reach, reach, net.num_inputs)
    try:
        bound = activation_upper(net, box)
    except NotApplicableError:
        return
    assert len(rs.partition(net, box)) <= int(bound)


@pytest.mark.parametrize("seed", range(20))
def test_random_networks_with_many_stable_units(seed):
    generator = np.random.default_rng(seed)
    sizes = [2, *generator.integers(2, 7, 3).tolist()]
    layers = [(generator.standard_normal((m, n)), 2 * generator.standard_normal(m)) for n, m in pairwise(sizes)]
    net = net_of(*layers, (np.ones((1, sizes[-1])), [0]))
    box = rs.Box(-1, 1, 2)
    bound = int(activation_upper(net, box))
    assert len(rs.partition(net, box)) <= bound <= int(serra_upper(sizes))


def test_ranges_hold_what_is_sampled():
    import torch
    from torch import nn

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1),
        nn.LeakyReLU(0.2),
        nn.MaxPool2d(2, padding=1),
        nn.Flatten(),
        nn.Linear(27, 4),
        nn.Hardtanh(),
    )
    net = rs.load(model.double(), input_shape=(2, 4, 4))
    low, high = -0.5 * np.ones(32), np.linspace(0.0, 1.0, 32)
    points = low + (high - low) * np.random.default_rng(0).random((500, 32))
    points[0], points[1] = low, high
    for ranges, pre in zip(unit_ranges(net, low, high), net.preactivations(points), strict=True):
        pre = pre.numpy()
        assert (pre >= ranges.lower).all()
        assert (pre <= ranges.upper).all()


def test_ranges_of_one_layer_are_sharp():
    net = net_of(([[1, -2]], [0.5]), ([[1]], [0]))
    (ranges,) = unit_ranges(net, -np.ones(2), np.ones(2))
    np.testing.assert_allclose([ranges.lower, ranges.upper], [[-2.5], [3.5]], rtol=1e-9)


def test_slices_by_boxes_are_boxes_of_the_restricted_network_and_others_are_refused():
    net = net_of((np.eye(3), [-1.0, 0.5, 3.0]), (np.ones((1, 3)), [0]))
    plane = [0.0, 0.0, 1.0], np.eye(3)[:2]
    found = activation_upper(net, rs.Slice(*plane, rs.Box(-0.75, 1.5, 2)))
    inner = rs.load([(np.eye(3)[:, :2], np.array([-1.0, 0.5, 4.0])), (np.ones((1, 3)), np.zeros(1))])
    assert int(found) == int(activation_upper(inner, rs.Box(-0.75, 1.5, 2))) == 4
    with pytest.raises(rs.errors.InputError, match="must be a Box or a Slice by one"):
        activation_upper(net, rs.Slice(*plane, rs.Polyhedron([[1.0, 1.0]], [1.0])))


def test_what_it_does_not_cover():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    with pytest.raises(rs.errors.ShapeError, match="lies in 3 dimensions, but the network has 2"):
        activation_upper(net, rs.Box(-1, 1, 3))


@pytest.mark.slow
def test_rounding_of_a_weight_that_cancels_keeps_a_unit_active():
    """Two affine maps in a row whose product is about 1e-17, and zero in float64: the unit is active somewhere."""
    from fractions import Fraction

    import torch

    from oracles.rational_steps import fractions_of
    from reluscope.networks.building.builder import GraphBuilder

    kept = {1.0: 0, -1.0: 0}
    for seed in range(200):
        a, b = (np.array(part) for part in np.random.default_rng(seed).uniform(0.1, 1.0, (2, 3)))
        b[2] = -float(a[0] * b[0] + a[1] * b[1]) / a[2]
        product = float((torch.tensor(b[None]) @ torch.tensor(a[:, None]))[0, 0])
        exact = sum(x * y for x, y in zip(fractions_of(a), fractions_of(b), strict=True))
        # From h = 2 on, to 3, the unit changes: it becomes active, or is no longer, and float64 sees neither.
        for side, sign in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)):
            builder = GraphBuilder()
            h = builder.relu(builder.linear(builder.input((1,)), torch.eye(1), torch.tensor([2.0])))
            inner = builder.linear(h, torch.tensor(a[:, None]))
            bias = -sign * float(2 * abs(exact))
            pre = builder.linear(inner, torch.tensor(side * b[None]), torch.tensor([bias]))
            net = builder.build(builder.linear(builder.relu(pre), torch.ones(1, 1)))
            is_hidden = sign * (side * product * 3 + bias) <= 0
            if not is_hidden or not sign * (side * exact * 3 + Fraction(bias)) > 0:
                continue
            kept[sign] += 1
            # Two regions: where the second unit is active and where it is not. The first is active all over.
            assert int(activation_upper(net, rs.Box(-1, 1, 1))) >= 2
    assert min(kept.values()) > 5


def gated(*kinds):
    """A chain of layers of two units with gates given by their tables: breakpoints, slopes, intercepts, per unit."""
    import torch

    from reluscope.networks.building.builder import GraphBuilder

    builder = GraphBuilder()
    value = builder.input((2,))
    for kind in kinds:
        weight = torch.tensor([[1.0, 0.5], [-0.5, 1.0]], dtype=torch.float64)
        if kind == "max":
            value = builder.maxout(builder.linear(value, torch.cat([weight, -weight])), 0, 2)
        else:
            value = builder.pointwise(builder.linear(value, weight), "kink", *kind)
    return builder.build(builder.linear(value, torch.ones(1, 2, dtype=torch.float64)))


RELU = ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    "other",
    [
        ([[0.0, 0.0]], [[0.0, 0.1], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]),  # one leaky unit
        ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]]),  # one twice as steep
        ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]),  # one lifted
        ([[0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, -1.0]]),  # one with its kink elsewhere
        ([[0.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]),  # the same, and without an effect
        ([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]),
        "max",
    ],
)
def test_it_is_about_plain_relu_units_and_no_others(other):
    assert int(activation_upper(gated(RELU, RELU), rs.Box(-1, 1, 2))) >= 4
    for chain in ((other, RELU), (RELU, other), (other,)):
        with pytest.raises(NotApplicableError, match="a chain of ReLU layers"):
            activation_upper(gated(*chain), rs.Box(-1, 1, 2))


def test_terms_below_zero_count_without_those_above():
    """``h_1 - h_2 + 1/2`` is negative where only the second unit is active, however many may be."""
    net = net_of(([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [0.5]), ([[1]], [0]))
    box = rs.Box(-1, 1, 2)
    assert len(rs.partition(net, box)) == 6
    assert int(activation_upper(net, box)) >= 6
    # Were the second layer thought to be stable, there would be four.
    always = net_of(([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [1.5]), ([[1]], [0]))
    assert int(activation_upper(always, box)) == 4


def by_active_units(weight, bias, lower, upper, before):
    from reluscope.analyses.bounds.activation import _by_active_units
    from reluscope.networks.bounds.ranges import Ranges

    size = len(before)
    net = net_of((np.eye(size), np.zeros(size)), (weight, bias), (np.ones((1, len(weight))), [0]))
    ranges = Ranges(np.array(lower), np.array(upper))
    active, unstable = _by_active_units(net.stages[1], ranges, Ranges(-np.ones(size), np.array(before)))
    return active.tolist(), unstable.tolist()


def test_units_are_active_and_unstable_by_how_many_are_active_before():
    """The k largest terms above, the k least below, and the ranges of the units; a single one decides each time."""
    wide = [-9.0], [9.0]
    assert by_active_units([[1.0, 1.0]], [-1.5], *wide, [1.0, 1.0]) == ([0, 0, 1], [0, 0, 1])
    assert by_active_units([[1.0, 1.0]], [-1.5], [-9.0], [-0.1], [1.0, 1.0]) == ([0, 0, 0], [0, 0, 0])
    assert by_active_units([[-1.0, -1.0]], [1.5], *wide, [1.0, 1.0]) == ([1, 1, 1], [0, 0, 1])
    assert by_active_units([[-1.0, -1.0]], [1.5], [0.1], [9.0], [1.0, 1.0]) == ([1, 1, 1], [0, 0, 0])
    assert by_active_units([[2.0, 0.5]], [-1.0], *wide, [1.0, 1.0]) == ([0, 1, 1], [0, 1, 1])  # the largest first
    assert by_active_units([[-0.5, -2.0]], [1.0], *wide, [1.0, 1.0]) == ([1, 1, 1], [0, 1, 1])
    assert by_active_units([[1.0, 1.0]], [-1.5], *wide, [1.0, -1.0]) == ([0, 0, 0], [0, 0, 0])  # the second is dead
    assert by_active_units([[1.0, -1.0]], [0.5], *wide, [1.0, 1.0]) == ([1, 1, 1], [0, 1, 1])


def test_a_range_that_begins_at_zero_has_a_piece_for_zero():
    """At 0 a ReLU is inactive, above it active; a range up to 0 has no active end."""
    net = net_of(([[1.0], [1.0], [1.0]], [0.0, 0.0, 0.0]), ([[1.0, 1.0, 1.0]], [0.0]))
    ranges = Ranges(np.array([0.0, -1.0, 2.0**-1074]), np.array([1.0, 0.0, 1.0]))
    active, unstable = activation._by_active_units(net.stages[0], ranges, None)
    assert (active.tolist(), unstable.tolist()) == ([2], [1])
