"""The oracle itself against closed forms, published counts and enumeration by linear programs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from oracles.codes_by_lp import codes_by_lp
from oracles.fractions_plane import RELU, measure, rectangle, split, width
from oracles.reference_vectors import VECTORS
from oracles.zaslavsky import num_cells, num_central_cells
from reluscope.testing import (
    default_network,
    degenerate_networks,
    pseudo_random_network,
    reference_networks,
    sawtooth_network,
    zigzag_network,
)

OPEN_BOX = {1: (-1, 1), 2: rectangle(-1, 1)}


@pytest.mark.few(5)
@pytest.mark.parametrize("vector", [v for v in VECTORS if v.num_inputs <= 2], ids=str)
def test_published_counts_in_the_box(vector) -> None:
    pieces = split(pseudo_random_network(vector.num_inputs, vector.widths), OPEN_BOX[vector.num_inputs])
    assert len(pieces) == vector.box
    assert len({piece.code for piece in pieces}) == vector.box
    assert sum(piece.measure for piece in pieces) == 2**vector.num_inputs


@pytest.mark.parametrize("vector", [v for v in VECTORS if v.num_inputs == 1], ids=str)
def test_published_counts_on_the_line(vector) -> None:
    pieces = split(pseudo_random_network(1, vector.widths), (-1e6, 1e6))
    assert len(pieces) == vector.space
    assert len({tuple(piece.map) for piece in pieces}) == vector.maps


@pytest.mark.parametrize("reference", reference_networks(), ids=lambda reference: reference.name)
def test_reference_networks(reference) -> None:
    window = (reference.lo, reference.hi) if reference.num_inputs == 1 else rectangle(reference.lo, reference.hi)
    pieces = split(reference.parameters, window)
    if "proper_activation" in reference.counts:
        assert len(pieces) == reference.counts["proper_activation"]
    if "affine" in reference.counts:
        assert len({tuple(piece.map) for piece in pieces}) == reference.counts["affine"]


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_folding_doubles(depth: int) -> None:
    pieces = split(sawtooth_network(depth), (0, 1))
    assert len(pieces) == 2**depth
    assert {piece.measure for piece in pieces} == {Fraction(1, 2**depth)}


def test_zigzag_attains_the_product() -> None:
    assert len(split(zigzag_network(), (-1000, 1000))) == 16


@pytest.mark.parametrize("num_units", [1, 4, 9])
def test_one_layer_is_a_line_arrangement(num_units: int) -> None:
    parameters = default_network([2, num_units, 1], seed=num_units)
    assert len(split(parameters, rectangle(-10_000, 10_000))) == num_cells(num_units, 2)
    central = [(weight, 0 * bias) for weight, bias in parameters]
    assert len(split(central, rectangle(-1, 1))) == num_central_cells(num_units, 2)


def test_degenerate_units_cut_nothing() -> None:
    weight = np.array([[1.0, 2], [1, 2], [2, 4], [-1, -2], [0, 0], [0, 0]])
    bias = np.array([0.5, 0.5, 1, -0.5, 0, -1])
    pieces = split([(weight, bias), (np.ones((1, 6)), [0.0])], rectangle(-3, 3))
    assert [piece.code for piece in pieces] == [(0, 0, 0, 1, 0, 0), (1, 1, 1, 0, 0, 0)]


def test_coincident_hyperplanes_of_different_layers() -> None:
    first = (np.array([[1.0, 0]]), [0.0])
    second = (np.array([[1.0], [-1], [2]]), [0.0, 0.0, 0.0])
    assert [piece.code for piece in split([first, second, (np.ones((1, 3)), [0.0])], rectangle(-1, 1))] == [
        (0, 0, 0, 0),
        (1, 1, 0, 1),
    ]


@settings(max_examples=40, deadline=None)
@given(degenerate_networks(2, max_layers=2, max_width=4))
def test_all_codes_by_linear_programs(parameters) -> None:
    pieces = split(parameters, rectangle(-3, 3))
    assert sorted(piece.code for piece in pieces) == codes_by_lp(parameters, box=(-3, 3))
    assert sum(piece.measure for piece in pieces) == 36
    for piece in pieces:
        value = np.array([float(c) for c in piece.centroid])
        for matrix, shift in parameters[:-1]:
            value = np.maximum(matrix @ value + shift, 0)
        expected = parameters[-1][0] @ value + parameters[-1][1]
        x, y = piece.centroid
        assert [float(a * x + b * y + c) for a, b, c in piece.map] == pytest.approx(list(expected), abs=1e-9)


def test_pieces_of_other_gates() -> None:
    identity = ("affine", [[1.0]], [0.0])
    assert len(split([identity, ("pointwise", [0], [0.01, 1], [0, 0])], (-1, 1))) == 2
    relu6 = ("pointwise", [0, 6], [0, 1, 0], [0, 0, 6])
    pieces = split([identity, relu6], (-10, 10))
    assert [(piece.code, piece.measure) for piece in pieces] == [((0,), 10), ((1,), 6), ((2,), 4)]
    two_kinds = ("pointwise", [[0], [0]], [[0, 1], [0.5, 1]], [[0, 0], [0, 0]])
    assert len(split([("affine", [[1.0], [1.0]], [0.0, 0.5]), two_kinds], (-1, 1))) == 3


def test_max_gates_take_the_lowest_of_equal_candidates() -> None:
    plane = ("affine", [[1.0, 0], [0, 1], [1, 0], [-1, -1]], [0.0, 0, 0, 0])
    pieces = split([plane, ("max", [[0, 1, 2, 3]])], rectangle(-1, 1))
    assert [piece.code for piece in pieces] == [(0,), (1,), (3,)]
    assert sum(piece.measure for piece in pieces) == 4
    dead = split([("affine", [[1.0], [2.0]], [-5.0, -5.0]), RELU, ("max", [[0, 1]])], (-1, 1))
    assert [piece.code for piece in dead] == [(0, 0, 0)]
    below = split([("affine", [[1.0], [0.0]], [0.0, -3.0]), ("max", [[0, 1]])], (-1, 1))
    assert [piece.code for piece in below] == [(0,)]


def test_measure_and_width() -> None:
    square = [(Fraction(x), Fraction(y)) for x, y in rectangle(0, 2)]
    assert (measure(square), width(square)) == (4, 2.0)
    sliver = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)), (Fraction(1), Fraction(1, 10**15))]
    assert 0 < width(sliver) < 2e-15


@pytest.mark.parametrize("fault", ["drops ties", "wrong crossing", "layers not composed"])
def test_a_planted_fault_is_seen(fault: str, monkeypatch) -> None:
    from oracles import fractions_plane as oracle

    if fault == "wrong crossing":
        true_clip = oracle._clip
        monkeypatch.setattr(oracle, "_clip", lambda v, f: true_clip(v, (*f[:-1], f[-1] + Fraction(1, 10**9))))
    elif fault == "drops ties":
        monkeypatch.setattr(oracle, "measure", lambda v: measure(v) if len(v) > 3 else Fraction(0))
    else:
        monkeypatch.setattr(oracle, "_affine", lambda p, w, b: [p._replace(map=[(*r, c) for r, c in zip(w, b)])])  # noqa: B905
    with pytest.raises((AssertionError, ValueError, TypeError)):
        test_published_counts_in_the_box(VECTORS[6])
