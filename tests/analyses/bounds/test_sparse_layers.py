"""The bound from what units read: against all subsets by brute force, and against counted regions."""

from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.analyses.bounds import sparse_layers
from reluscope.analyses.bounds.sparse_layers import UnitClass, independent_sets, sparse_upper
from reluscope.errors import NotApplicableError
from reluscope.findings import Claim


def by_brute_force(units, most):
    """The numbers of sets of units, each a set of inputs with a number of pieces, that Hall's condition allows."""
    found = [0] * (most + 1)
    for size in range(min(most, len(units)) + 1):
        for chosen in combinations(units, size):
            subsets = (part for number in range(1, size + 1) for part in combinations(chosen, number))
            if all(len(set().union(*(inputs for inputs, _ in part))) >= len(part) for part in subsets):
                found[size] += prod(pieces - 1 for _, pieces in chosen)
    return found


def padded(sizes, most):
    return [*sizes, *[0] * (most + 1 - len(sizes))]


FIELDS = st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=4)


@settings(deadline=None)
@given(FIELDS, st.integers(2, 3), st.integers(0, 5), st.data())
def test_sets_like_brute_force(fields, pieces, most, data):
    numbers = data.draw(st.lists(st.integers(1, 3), min_size=len(fields), max_size=len(fields)))
    fields = list({tuple(sorted(field)): None for field in fields})
    classes = [UnitClass(field, pieces, number) for field, number in zip(fields, numbers, strict=False)]
    units = [(field, pieces) for field, _, number in classes for _ in range(number)]
    sizes, is_whole = independent_sets(classes, most)
    assert is_whole
    assert padded(sizes, most) == by_brute_force(units, most)


@settings(deadline=None)
@given(FIELDS)
def test_parts_of_layers_are_no_less(fields):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_layers, "MOST_CHOICES", 4)
        patch.setattr(sparse_layers, "LISTED", 1)
        classes = [UnitClass(field, 2, 2) for field in {tuple(sorted(field)): None for field in fields}]
        sizes, _ = independent_sets(classes, 5)
    truth = by_brute_force([(field, 2) for field, _, number in classes for _ in range(number)], 5)
    assert all(one >= other for one, other in zip(padded(sizes, 5), truth, strict=True))


def sparse_net(seed, sizes, share):
    draw = np.random.default_rng(seed)
    layers = []
    for reads, width in pairwise(sizes):
        weight = draw.standard_normal((width, reads)) * (draw.random((width, reads)) < share)
        layers.append((weight, draw.standard_normal(width)))
    return rs.load([*layers, (np.ones((1, sizes[-1])), np.zeros(1))])


@pytest.mark.parametrize("seed", range(8))
def test_one_layer_has_as_many_regions(seed):
    """General position but for zeros: every set of units that the zeros allow is independent."""
    net = sparse_net(seed, [3 + seed % 2, 7], 0.5)
    assert int(sparse_upper(net)) == int(rs.count(net, rs.Space(net.num_inputs)))
    assert int(rs.bounds.upper(net)) == int(sparse_upper(net))


@pytest.mark.parametrize("seed", range(6))
def test_deep_networks_have_no_more(seed):
    net = sparse_net(seed, [3, 5, 5], 0.5)
    found = sparse_upper(net)
    assert found.claim is Claim.UPPER
    assert int(found) >= int(rs.count(net, rs.Space(3)))


CONVOLUTIONS = [
    (nn.Conv1d(1, 2, 2), (1, 4), 55),
    (nn.Conv1d(1, 2, 2), (1, 5), 200),
    (nn.Conv1d(2, 2, 2, stride=2), (2, 4), 16),
    (nn.Conv2d(1, 2, 2), (1, 2, 3), 16),
]


@pytest.mark.parametrize(("layer", "shape", "number"), CONVOLUTIONS)
def test_a_convolution_reaches_its_number(layer, shape, number):
    torch.manual_seed(1)
    layer.reset_parameters()
    net = rs.load(nn.Sequential(layer, nn.ReLU(), nn.Flatten()).double(), input_shape=shape)
    assert int(sparse_upper(net)) == number
    assert int(rs.count(net, rs.Space(net.num_inputs))) == number


def test_clamps_count_for_each_breakpoint():
    """Two units, each of which reads an input of its own, with two breakpoints: a grid of nine cells."""
    net = rs.load(nn.Sequential(nn.Conv1d(1, 1, 1), nn.Hardtanh(), nn.Flatten()).double(), input_shape=(1, 2))
    assert int(sparse_upper(net)) == 9 == int(rs.count(net, rs.Space(2)))


def test_large_layers_and_dense_ones():
    wide = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 36, 5), nn.ReLU())
    net = rs.load(wide.double(), input_shape=(1, 14, 14))
    found = sparse_upper(net)
    assert "of parts of the layers" in found.method
    assert int(found) <= int(rs.bounds.upper(rs.bounds.Architecture.of(net)))
    with pytest.raises(NotApplicableError, match="units that do not read all inputs"):
        sparse_upper(rs.load(rs.testing.default_network([3, 5, 1], 0)))


def test_skip_connections_read_what_both_ways_read():
    class Skip(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv1d(1, 1, 2, padding="same"), nn.Conv1d(1, 1, 1)

        def forward(self, x):
            return torch.relu(self.second(torch.relu(self.first(x))) + x).flatten(1)

    net = rs.load(Skip().double(), input_shape=(1, 3))
    assert int(sparse_upper(net)) >= int(rs.count(net, rs.Space(3)))


def test_classes_that_share_no_inputs_are_groups_of_their_own():
    one, two, three, four = (sparse_layers.UnitClass(inputs, 2, 1) for inputs in ((0, 1), (1, 2), (4,), (5, 6)))
    found = sparse_layers._connected([four, two, three, one])
    assert sorted(map(tuple, found)) == [(one, two), (three,), (four,)]
