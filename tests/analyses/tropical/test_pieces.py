"""Explicit tables of tiny networks: the dissertation's examples, and the Fractions splitter."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_plane import rectangle, split
from reluscope.errors import BudgetExceededError, InputError, ShapeError
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import rational_maps
from reluscope.partitions.exact.exact_regions import code_rows
from reluscope.testing import boxes, degenerate_networks

A = [[1.0, 1.0], [1.0, 1.0]]
XOR = [(A, [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])]
FIGURE = [
    ([[3, 0, 4], [5, 9, 1], [6, 1, 2]], [7, 2, 9]),
    ([[2, 9, 5], [1, 3, 3], [8, 7, 0]], [7, 7, 8]),
    ([[7, 9, 6], [4, 0, 9], [7, 3, 7]], [5, 5, 2]),
]


def python_function(table):
    names = {}
    exec(table.to_python("f"), names)
    return names["f"]


def test_xor_as_it_should_be_printed():
    table = rs.tropical.pieces(rs.load(XOR))
    assert [cell.code for cell in table.cells] == [((1, 1),), ((1, 0),), ((0, 0),)]
    assert [cell.outputs for cell in table.cells] == [((-1, -1, 1),), ((1, 1, 1),), ((0, 0, -1),)]
    assert table.to_latex() == (
        "v(x) = \\begin{cases}\n"
        "-x_{1} - x_{2} + 1, & x_{1} + x_{2} \\ge 0 & (11) \\\\\n"
        "x_{1} + x_{2} + 1, & -2 \\le x_{1} + x_{2} \\le 0 & (10) \\\\\n"
        "-1, & x_{1} + x_{2} \\le -2 & (00)\n"
        "\\end{cases}"
    )
    f = python_function(table)
    assert [f(*map(Fraction, point)) for point in ((-1, -1), (-1, 1), (1, -1), (1, 1))] == [-1, 1, 1, -1]
    # The empty code.
    maps = rational_maps(rs.load(XOR), [[0, 1]]).outputs
    assert maps == ((-2, -2, -1),)


def test_xor_as_it_is_printed_does_not_solve_it():
    table = rs.tropical.pieces(rs.load([(A, [1.0, 0.0]), XOR[1]]))
    assert [cell.outputs for cell in table.cells] == [((-1, -1, 0),), ((1, 1, 0),), ((0, 0, -1),)]
    assert table([[-1, -1], [-1, 1], [1, -1], [1, 1]]).ravel().tolist() == [-1, 0, 0, -2]


def test_figure_5_1():
    network = rs.load([(np.array(weight, float), np.array(bias, float)) for weight, bias in FIGURE])
    maps = rational_maps(network, [[1, 0, 1], [0, 1, 0]]).outputs
    assert maps == ((189, 27, 90, 374), (0, 0, 0, 5), (63, 9, 30, 125))
    table = rs.tropical.pieces(network)
    # All weights and biases of the second layer are positive: its units are always active.
    assert len(table) == 8
    assert {cell.code[1] for cell in table.cells} == {(1, 1, 1)}
    rows = code_rows(RationalNetwork(network), ((1, 0, 1), (0, 1, 0)))
    assert rows is not None  # nothing constant contradicts it: the half-spaces together do
    from reluscope.geometry.polyhedra.rational_cones import cone

    assert cone(4, [*rows, (0, 0, 0, 1)]) is None


@settings(max_examples=30, deadline=None)
@given(degenerate_networks(2, max_layers=2, max_width=4), boxes(2))
def test_against_the_splitter_of_polygons(parameters, box):
    network = rs.load(parameters)
    table = rs.tropical.pieces(network, box)
    pieces = split(parameters, rectangle(tuple(box.lo), tuple(box.hi)))
    flat = {sum(cell.code, ()): [tuple(one) for one in cell.outputs] for cell in table.cells}
    assert flat == {piece.code: [tuple(one) for one in piece.map] for piece in pieces}
    exact = RationalNetwork(network)
    f = python_function(table)
    for piece in pieces[:10]:
        value = exact.output(piece.centroid)[0]
        assert table.at(piece.centroid) == (value,) == (f(*piece.centroid),)
        assert np.allclose(table([list(map(float, piece.centroid))]), float(value))


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: degenerate_networks(n, max_layers=2, max_width=3)))
def test_all_of_space_against_the_partition(parameters):
    network = rs.load(parameters)
    table = rs.tropical.pieces(network)
    part = rs.partition(network, rs.Space(network.num_inputs))
    assert len(table) == len(part)
    assert {sum(cell.code, ()) for cell in table.cells} == {tuple(code) for code in part.codes.to_array().tolist()}


def test_slices_and_unbounded_domains():
    network = rs.load(XOR)
    diagonal = rs.tropical.pieces(network, rs.Slice([0, 0], [[1, 1]], rs.Box(-2, 2, 1)))
    assert [cell.outputs for cell in diagonal.cells] == [((-2, 1),), ((2, 1),), ((0, -1),)]
    half = rs.tropical.pieces(network, rs.Polyhedron([[1.0, 1.0]], [-1.0]))
    assert [cell.code for cell in half.cells] == [((1, 0),), ((0, 0),)]
    with pytest.raises(InputError, match="outside"):
        half.at((Fraction(1), Fraction(1)))


def test_fractions_several_outputs_and_no_gates():
    table = rs.tropical.pieces(rs.load([([[0.5, -2.0], [0.0, 0.0]], [0.0, -0.75])]))
    assert re.search(r"return Fraction\(1, 2\)\*x1 - 2\*x2, -Fraction\(3, 4\)", table.to_python())
    assert python_function(table)(Fraction(1), Fraction(1)) == (Fraction(-3, 2), Fraction(-3, 4))
    assert r"\left(\frac{1}{2} x_{1} - 2 x_{2}, -\frac{3}{4}\right), & \text{everywhere}" in table.to_latex()


def test_bad_input():
    network = rs.load(XOR)
    with pytest.raises(BudgetExceededError, match="at most 1 regions") as caught:
        rs.tropical.pieces(network, most=1)
    assert len(caught.value.partial) == 2
    with pytest.raises(ShapeError, match="2 inputs"):
        rs.tropical.pieces(network, rs.Box(-1, 1, 3))
    with pytest.raises(InputError, match="equations"):
        rs.tropical.pieces(network, rs.Polyhedron([[1.0, 0.0]], [1.0], [[0.0, 1.0]], [0.0]))
