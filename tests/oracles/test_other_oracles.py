"""Linear programs, bisection and Zaslavsky's formula agree with each other and with published counts."""

import numpy as np
import pytest

from oracles.codes_by_lp import codes_by_lp
from oracles.fractions_plane import split
from oracles.reference_vectors import VECTORS
from oracles.segment_bisection import num_regions
from oracles.zaslavsky import num_bounded_cells, num_cells, num_central_cells
from reluscope.testing import pseudo_random_network, sawtooth_network


def codes_on_the_line(parameters):
    def codes(t):
        value, pieces = t[:, None], []
        for weight, bias in parameters[:-1]:
            before = value @ weight.T + bias
            pieces.append(before > 0)
            value = np.maximum(before, 0)
        return np.concatenate(pieces, axis=1)

    return codes


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "vector",
    [*VECTORS[:5], *(pytest.param(one, marks=pytest.mark.slow) for one in VECTORS[5:7]), VECTORS[9], VECTORS[14]],
    ids=str,
)
def test_linear_programs_find_the_published_counts(vector) -> None:
    parameters = pseudo_random_network(vector.num_inputs, vector.widths)
    assert len(codes_by_lp(parameters)) == vector.space
    assert len(codes_by_lp(parameters, box=(-1, 1))) == vector.box


@pytest.mark.parametrize("vector", VECTORS[:3], ids=str)
def test_bisection_finds_the_published_counts(vector) -> None:
    parameters = pseudo_random_network(1, vector.widths)
    assert num_regions(codes_on_the_line(parameters), -1, 1) == vector.box == len(split(parameters, (-1, 1)))


def test_bisection_sees_every_fold() -> None:
    assert num_regions(codes_on_the_line(sawtooth_network(5)), 0, 1) == 32


def test_one_layer_has_the_cells_of_an_arrangement() -> None:
    for vector in VECTORS:
        if len(vector.widths) == 1:
            assert num_cells(vector.widths[0], vector.num_inputs) == vector.space
            assert num_bounded_cells(vector.widths[0], vector.num_inputs) == vector.bounded
    assert num_central_cells(3, 2) == 6
