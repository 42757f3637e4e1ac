"""Counts known from elsewhere: published vectors, closed forms, and degenerate networks that other tools get wrong."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from oracles.codes_by_lp import codes_by_lp
from oracles.fractions_plane import relu_layers
from oracles.reference_vectors import VECTORS
from oracles.zaslavsky import num_cells, num_central_cells
from partitions.checking import check_equal, check_structure, found_in, truth_on
from partitions.layered import GATES, network_of
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import (
    default_network,
    pseudo_random_network,
    reference_networks,
    sawtooth_network,
    zigzag_network,
)

SQUARE = rs.Box(-1, 1, 2)


def torch_default(*sizes):
    """Weights that PyTorch draws for a stack of linear layers after seed 0, in float32."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = [nn.Linear(fan_in, width) for fan_in, width in pairwise(sizes)]
    return [tuple(tensor.detach().double().numpy() for tensor in (layer.weight, layer.bias)) for layer in layers]


def exact_count(parameters, box):
    part = rs.partition(from_arrays(parameters), box)
    assert part.claim is Claim.EXACT
    check_structure(part)
    return len(part)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sizes", "count"), [((2, 16, 16, 1), 127), ((2, 32, 32, 32, 1), 1180), ((2, 64, 64, 64, 1), 6668)]
)
def test_networks_at_initialisation(sizes, count):
    assert exact_count(torch_default(*sizes), SQUARE) == count


def zero_biases(parameters):
    return [(weight, np.zeros_like(bias)) for weight, bias in parameters]


def duplicated_unit(parameters):
    (weight, bias), *others = parameters
    rows = [0, 0, *range(2, len(bias))]
    return [(weight[rows], bias[rows]), *others]


def dead_unit(parameters):
    (weight, bias), *others = parameters
    alive = (np.arange(len(bias)) > 0).astype(float)
    return [(weight * alive[:, None], bias * alive - (1 - alive)), *others]


def integer_weights(parameters):
    return [(np.round(3 * weight), np.round(3 * bias)) for weight, bias in parameters]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("degenerate", "count"), [(zero_biases, 62), (duplicated_unit, 122), (dead_unit, 127), (integer_weights, 74)]
)
@pytest.mark.parametrize("cells", [0, 5])
def test_degenerate_networks_that_other_tools_get_wrong(degenerate, count, cells, chunks_of):
    parameters = degenerate(torch_default(2, 16, 16, 1))
    if cells:
        chunks_of(cells)
    part = rs.partition(from_arrays(parameters), SQUARE)
    assert len(part) == count
    check_equal(part, truth_on(parameters, SQUARE))
    check_structure(part)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v.num_inputs <= 2], ids=str)
def test_published_vectors(vector):
    parameters = pseudo_random_network(vector.num_inputs, vector.widths)
    assert exact_count(parameters, rs.Box(-1, 1, vector.num_inputs)) == vector.box
    # The far regions of a fixed network: a box that contains all its crossings.
    part = rs.partition(from_arrays(parameters), rs.Box(-1e6, 1e6, vector.num_inputs))
    assert len(part) == vector.space
    assert part.adjacency().nnz // 2 == vector.adjacent
    degrees = part.adjacency().sum(axis=1)
    assert degrees.mean() == pytest.approx(vector.mean_degree, abs=1e-4)
    assert degrees.max() == vector.max_degree
    assert (np.diff(part.facets.flip_offsets) == 1).all()
    distances = part.codes.distance()
    assert (distances == 1).sum() // 2 == vector.hamming_one
    maps = np.round(np.column_stack([part.maps.weight[:, 0].numpy(), part.maps.bias.numpy()]), 9)
    assert len(np.unique(maps, axis=0)) == vector.maps


@pytest.mark.parametrize("reference", reference_networks(), ids=lambda reference: reference.name)
def test_reference_networks(reference):
    window = rs.Box(reference.lo, reference.hi, reference.num_inputs)
    truth = truth_on(relu_layers(reference.parameters), window)
    count = exact_count(reference.parameters, window)
    assert count == len(truth) == reference.counts.get("proper_activation", count)


@pytest.mark.parametrize("depth", [1, 2, 5, 10])
def test_folding_doubles(depth):
    parameters = sawtooth_network(depth)
    part = rs.partition(from_arrays(parameters), rs.Box(0, 1, 1))
    assert len(part) == 2**depth
    np.testing.assert_array_equal(part.volumes(), 0.5**depth)


def test_zigzag_attains_the_product():
    assert exact_count(zigzag_network(), rs.Box(-1000, 1000, 1)) == 16


@pytest.mark.parametrize("num_units", [1, 2, 7, 40])
def test_one_layer_is_an_arrangement_of_lines(num_units):
    parameters = default_network([2, num_units, 1], seed=num_units)
    assert exact_count(parameters, rs.Box(-1e6, 1e6, 2)) == num_cells(num_units, 2)
    assert exact_count(zero_biases(parameters), SQUARE) == num_central_cells(num_units, 2)


@pytest.mark.slow
def test_thousands_of_units_through_one_point():
    angle = np.pi * (np.arange(2000) + 0.3) / 2000
    weight = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    part = rs.partition(from_arrays([(weight, np.zeros(2000)), (np.ones((1, 2000)), [0.0])]), SQUARE)
    assert (len(part), part.claim) == (4000, Claim.EXACT)
    check_structure(part)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_all_codes_by_linear_programs(seed):
    parameters = default_network([2, 4, 3, 1], seed=seed)
    part = rs.partition(from_arrays(parameters), rs.Box(-3, 3, 2))
    assert sorted(found_in(part)) == codes_by_lp(parameters, box=(-3, 3))


def test_a_network_without_gates_has_one_region():
    part = rs.partition(from_arrays([(np.array([[2.0, -1.0]]), np.array([0.5]))]), SQUARE)
    assert (len(part), part.claim, part.codes.words.shape) == (1, Claim.EXACT, (1, 0))
    assert len(part.facets) == 0
    assert part.volumes() == pytest.approx([4.0])
    assert part.maps.weight[0].tolist() == [[2.0, -1.0]]
    check_structure(part)


@pytest.mark.parametrize("kind", ["clamp", "softshrink"])
def test_every_breakpoint_is_a_cut(kind):
    layers = [("affine", [[1.0, 0.0]], [0.0]), ("pointwise", *GATES[kind])]
    part = rs.partition(network_of(layers, 2), rs.Box(-3, 3, 2))
    found = found_in(part)
    first, last = GATES[kind][0]
    assert found == pytest.approx({(0,): 6 * (first + 3), (1,): 6 * (last - first), (2,): 6 * (3 - last)})


def test_three_candidates_that_tie_along_a_line():
    # On x = 0 candidates 0, 1 and 3 tie; candidate 2 is a copy of 1, candidate 4 never wins.
    layers = [("affine", [[1.0, 0], [-1, 0], [-1, 0], [0, 0], [0, 0]], [0.0, 0, 0, 0, -1]), ("max", [[0, 1, 2, 3, 4]])]
    part = rs.partition(network_of(layers, 2), SQUARE)
    assert found_in(part) == pytest.approx({(0,): 2.0, (1,): 2.0})
    assert len(part.vertices) == 6
    assert part.facets.flips.tolist() == [[0, 0]]


def test_a_candidate_that_wins_in_the_middle_only():
    # No vertex of the square sees candidate 2 as the largest.
    layers = [("affine", [[1.0, 0], [-1, 0], [0, 0]], [0.0, 0, 0.25]), ("max", [[0, 1, 2]])]
    part = rs.partition(network_of(layers, 2), SQUARE)
    assert found_in(part) == pytest.approx({(0,): 1.5, (1,): 1.5, (2,): 1.0})
    triangle = [("affine", [[0.0, 1], [1, -1], [-1, -1], [0, 0]], [-0.5, -0.5, -0.5, -0.1]), ("max", [[0, 1, 2, 3]])]
    part = rs.partition(network_of(triangle, 2), SQUARE)
    check_equal(part, truth_on(triangle, SQUARE))
    middle = part[int(part.locate([0.0, 0.0])[0])]
    assert middle.code.to_array().tolist() == [[3]]
    assert len(middle.vertices) == 3
