"""Partitions against exact rational arithmetic: codes, and the area of every code, with and without seams."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_plane import relu_layers
from partitions.checking import check_equal, check_structure, found_in, lift, truth_on
from partitions.layered import gate_layers, network_of, on_slice
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.complexes import incidence
from reluscope.testing import boxes, networks, slices

# 3 makes nearly every facet of a small network a seam; 0 leaves the chunks as they are.
CELLS = st.sampled_from([0, 3, 3, 7])


def partition(net, domain, cells, **options):
    if not cells:
        return rs.partition(net, domain, **options)
    with patch.object(incidence, "_chunk_cells", lambda network, chunk: cells):
        return rs.partition(net, domain, **options)


@settings(max_examples=120)
@given(networks(2, max_layers=3, max_width=6), boxes(2), CELLS)
def test_relu_networks_in_the_plane(parameters, box, cells):
    part = partition(from_arrays(parameters), box, cells)
    check_equal(part, truth_on(parameters, box))
    check_structure(part)


@settings(max_examples=40)
@given(networks(1, max_layers=3, max_width=6), boxes(1), CELLS)
def test_relu_networks_on_the_line(parameters, box, cells):
    part = partition(from_arrays(parameters), box, cells)
    check_equal(part, truth_on(parameters, box))
    check_structure(part)


@settings(max_examples=70)
@given(gate_layers(2, kinds=("relu", "leaky", "abs", "clamp", "softshrink")), boxes(2), CELLS)
def test_gates_with_several_pieces(layers, box, cells):
    part = partition(network_of(layers, 2), box, cells)
    check_equal(part, truth_on(layers, box))
    check_structure(part)


@settings(max_examples=100)
@given(gate_layers(2, kinds=("max", "max", "relu", "clamp")), boxes(2), CELLS)
def test_max_gates_in_the_plane(layers, box, cells):
    part = partition(network_of(layers, 2), box, cells)
    check_equal(part, truth_on(layers, box))
    check_structure(part)


@settings(max_examples=40)
@given(gate_layers(1, kinds=("max", "relu", "abs", "softshrink")), boxes(1), CELLS)
def test_all_gates_on_the_line(layers, box, cells):
    part = partition(network_of(layers, 1), box, cells)
    check_equal(part, truth_on(layers, box))
    check_structure(part)


@settings(max_examples=80)
@given(st.data(), st.integers(1, 2), st.integers(3, 5), CELLS)
def test_slices_of_wider_inputs(data, dim, num_inputs, cells):
    layers = data.draw(gate_layers(num_inputs, kinds=("relu", "relu", "leaky", "clamp", "max")))
    domain = data.draw(slices(num_inputs, dim))
    net = network_of(layers, num_inputs)
    part = partition(net, domain, cells)
    check_equal(part, truth_on(on_slice(layers, domain), domain.window))
    check_structure(part)


@settings(max_examples=25)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), boxes(2))
def test_maps_are_those_of_the_oracle(parameters, box):
    part = rs.partition(from_arrays(parameters), box)
    truth = truth_on(parameters, box)
    maps = part.maps
    for row, code in enumerate(found_in(part)):
        expected = np.array(truth[code].map, dtype=float)
        found = np.column_stack([maps.weight[row].numpy(), maps.bias[row].numpy()])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=30)
@given(networks(3, max_layers=2, max_width=5), st.data())
def test_segments_between_points(parameters, data):
    point = st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=3, max_size=3)
    start, end = data.draw(st.tuples(point, point).filter(lambda ends: ends[0] != ends[1]))
    part = rs.partition(from_arrays(parameters), rs.Segment(start, end))
    # The segment has unit speed, so its basis is rounded: compare with speed |b - a| in [0, 1], which is exact.
    basis = np.array(end) - np.array(start)
    unit = rs.Slice(start, basis[None], rs.Box(0, 1, 1))
    truth = truth_on(on_slice(relu_layers(parameters), unit), unit.window)
    found = found_in(part)
    assert found.keys() == truth.keys()
    length = float(np.linalg.norm(basis))
    for code, piece in truth.items():
        assert found[code] == pytest.approx(float(piece.measure) * length, abs=1e-9)
    np.testing.assert_array_equal(part.network.codes(lift(part, part.witnesses)).words, part.codes.words)
