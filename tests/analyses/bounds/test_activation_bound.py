"""The bound that looks at weights: its counterexamples to wrong readings, its table, and exact counts below it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.bounds import activation_upper, serra_upper
from reluscope.analyses.bounds.activation import bound_of_counts
from reluscope.analyses.bounds.claims import NotApplicableError
from reluscope.networks.ranges import unit_ranges
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


def test_what_it_does_not_cover():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    with pytest.raises(rs.errors.ShapeError, match="lies in 3 dimensions, but the network has 2"):
        activation_upper(net, rs.Box(-1, 1, 3))
