"""Merged regions: the error at a dense grid and in fractions, equal maps against the count of connected regions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles import fractions_plane
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.findings import Claim
from reluscope.stopping import Stop, StopReason
from reluscope.testing import strategies

merge = rs.compression.merge_regions


def corners(box):
    return [(box.lo[0], box.lo[1]), (box.hi[0], box.lo[1]), (box.hi[0], box.hi[1]), (box.lo[0], box.hi[1])]


@settings(max_examples=15)
@given(st.data())
def test_errors_are_those_in_fractions(data):
    layers = data.draw(strategies.networks(2, max_layers=2, max_width=4))
    box = data.draw(strategies.boxes(2))
    part = rs.partition(rs.load(layers), box)
    error = data.draw(st.sampled_from([0.0, 0.25, 1.0, 4.0]))
    merged = merge(part, error)
    assert float(merged.max_error) <= error
    worst = np.zeros(len(merged))
    for piece in fractions_plane.split(layers, corners(box)):
        inside = [float(sum(c) / len(piece.vertices)) for c in zip(*piece.vertices, strict=True)]
        group = merged.labels[part.locate([inside])[0]]
        *slopes, constant = [Fraction(c) for c in merged.weight[group, 0].tolist()] + [Fraction(merged.bias[group, 0])]
        for vertex in piece.vertices:
            own = sum(a * x for a, x in zip(piece.map[0][:-1], vertex, strict=True)) + piece.map[0][-1]
            gap = abs(own - sum(a * x for a, x in zip(slopes, vertex, strict=True)) - constant)
            worst[group] = max(worst[group], float(gap))
    # What rounding may have made of a difference that is 0 is no more than that.
    assert merged.max_error.claim is Claim.EXACT or merged.max_error.interval[1] <= 1e-12
    assert np.abs(worst - merged.errors).max() <= (merged.max_error.tolerance or 0.0) + 1e-12
    sizes = np.bincount(merged.labels)
    assert len(sizes) == len(merged)
    assert sizes.min() > 0


@settings(max_examples=15)
@given(st.data())
def test_without_error_these_are_the_connected_regions(data):
    network = rs.load(data.draw(strategies.degenerate_networks(2, max_layers=2, max_width=4)))
    box = data.draw(strategies.boxes(2))
    merged = merge(rs.partition(network, box))
    assert int(merged.num_pieces) == int(rs.count(network, box, definition="open_connected"))
    assert merged.num_pieces.claim is Claim.EXACT
    assert merged.max_error.value == 0
    assert merged.errors.max() < 1e-9


@pytest.fixture(scope="module")
def part():
    torch.manual_seed(0)
    network = rs.load(nn.Sequential(nn.Linear(2, 12), nn.ReLU(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 2)))
    return rs.partition(network, rs.Box(-2, 2, dim=2))


def test_larger_errors_leave_fewer_pieces(part):
    numbers = [len(merge(part, error)) for error in (0.0, 0.01, 0.05, 0.2, 10.0)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == len(part)
    assert numbers[-1] == 1
    assert merge(part, 0.05).num_pieces.claim is Claim.UPPER


def test_the_merged_function_is_near_everywhere(part):
    merged = merge(part, 0.05)
    x = np.random.default_rng(0).uniform(-2, 2, size=(4000, 2))
    gap = np.abs(merged(x) - part.network(x).numpy()).max()
    assert 0.03 < gap <= float(merged.max_error) <= 0.05
    assert np.isnan(merged([[9.0, 9.0]])).all()


def test_pieces_are_connected(part):
    merged = merge(part, 0.1)
    adjacency = part.adjacency()
    for piece in range(len(merged)):
        members = np.flatnonzero(merged.labels == piece)
        reached, frontier = {int(members[0])}, [int(members[0])]
        while frontier:
            row = frontier.pop()
            for other in adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]].tolist():
                if merged.labels[other] == piece and other not in reached:
                    reached.add(other)
                    frontier.append(other)
        assert len(reached) == len(members)


@pytest.mark.parametrize("dim", [1, 3])
def test_lines_and_solids(dim):
    torch.manual_seed(1)
    network = rs.load(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)))
    domain = rs.Box(-1, 1, dim=3) if dim == 3 else rs.Segment(-np.ones(3), np.ones(3))
    part = rs.partition(network, domain)
    merged = merge(part, 0.1)
    assert 1 <= len(merged) < len(part)
    low, high = part.window.lo, part.window.hi
    x = np.random.default_rng(0).uniform(low, high, size=(1000, dim))
    assert np.abs(merged(x) - part.network_on_domain(x).numpy()).max() <= float(merged.max_error) + 1e-12


def test_bad_input(part):
    for error in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="at least 0"):
            merge(part, error)
    with pytest.raises(InputError, match="bounded"):
        merge(rs.partition(rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), [0.0])]), rs.Space(2)))
    with pytest.raises(IncompletePartitionError, match="merging regions"):
        merge(replace(part, num_open=3, stop=Stop(StopReason.REGIONS, 3)))
