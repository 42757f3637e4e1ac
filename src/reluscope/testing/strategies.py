"""Hypothesis strategies for networks and domains, the degenerate ones included.

Weights are small dyadic numbers (multiples of 1/4), so that sums and products of a few layers are exact in float64 and
coincidences stay coincidences: two hyperplanes that should be equal are equal to the last bit.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from reluscope.arguments import Count, Positive, read_arguments
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.slices import Plane, Segment
from reluscope.testing.references import Parameters, default_network

Draw = Callable[..., Any]

_FAULTS = (
    "duplicate unit",
    "parallel unit",
    "opposite unit",
    "zero row",
    "dead unit",
    "zero biases",
    "common point",
    "repeated layer",
    "difference of two units",
    "integer weights",
)


@read_arguments
def dyadics(limit: Positive = 2.0, denominator: Count = 4) -> SearchStrategy[float]:
    """Return multiples of 1 / denominator in [-limit, limit].

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.testing.dyadics(1.0, 2)
    integers(...)...
    """
    bound = int(limit * denominator)
    return st.integers(-bound, bound).map(lambda k: k / denominator)


@read_arguments
@st.composite
def networks(
    draw: Draw,
    num_inputs: Count | SearchStrategy[int] = 2,
    max_layers: Count = 3,
    max_width: Count = 5,
    num_outputs: Count = 1,
) -> Parameters:
    """Draw a ReLU network as a list of ``(W, b)``, generic or dyadic.

    Often with several degeneracies at once.
    """
    kind = draw(st.sampled_from(["degenerate", "degenerate", "generic"]))
    strategy = generic_networks if kind == "generic" else degenerate_networks
    return draw(strategy(num_inputs, max_layers, max_width, num_outputs))


@read_arguments
@st.composite
def generic_networks(
    draw: Draw,
    num_inputs: Count | SearchStrategy[int] = 2,
    max_layers: Count = 3,
    max_width: Count = 5,
    num_outputs: Count = 1,
) -> Parameters:
    """Draw a network in general position, initialised as PyTorch does by default; see ``networks``."""
    seed = draw(st.integers(0, 2**16))
    return default_network(_sizes(draw, num_inputs, max_layers, max_width, num_outputs), seed)


@read_arguments
@st.composite
def degenerate_networks(
    draw: Draw,
    num_inputs: Count | SearchStrategy[int] = 2,
    max_layers: Count = 3,
    max_width: Count = 5,
    num_outputs: Count = 1,
) -> Parameters:
    """Draw a network with dyadic weights and up to four planted degeneracies; see ``networks``.

    Duplicate, parallel and opposite units, zero rows, dead units, zero biases, cuts through one point, a layer that
    repeats the last one's cuts, a unit that is the difference of two others, integer weights.
    """
    sizes = _sizes(draw, num_inputs, max_layers, max_width, num_outputs)
    parameters = []
    for fan_in, width in pairwise(sizes):
        entries = draw(st.lists(dyadics(), min_size=width * (fan_in + 1), max_size=width * (fan_in + 1)))
        table = np.array(entries).reshape(width, fan_in + 1)
        parameters.append((table[:, :fan_in].copy(), table[:, fan_in].copy()))
    for fault in draw(st.lists(st.sampled_from(_FAULTS), max_size=4)):
        _plant(draw, fault, parameters)
    return parameters


@read_arguments
def boxes(dim: Count, limit: Positive = 4.0) -> SearchStrategy[Box]:
    """Return boxes with dyadic bounds in [-limit, limit].

    Examples
    --------
    >>> import reluscope as rs
    >>> from hypothesis import find
    >>> find(rs.testing.boxes(2), lambda box: box.volume() >= 1).dim
    2
    """
    sides = st.tuples(dyadics(limit), dyadics(limit)).filter(lambda side: side[0] != side[1]).map(sorted)
    return st.lists(sides, min_size=dim, max_size=dim).map(
        lambda bounds: Box([low for low, _ in bounds], [high for _, high in bounds])
    )


@read_arguments
def segments(num_inputs: Count, limit: Positive = 4.0) -> SearchStrategy[Slice]:
    """Return segments between two different dyadic points."""
    point = st.lists(dyadics(limit), min_size=num_inputs, max_size=num_inputs)
    return st.tuples(point, point).filter(lambda ends: ends[0] != ends[1]).map(lambda ends: Segment(*ends))


@read_arguments
def planes(num_inputs: Count, limit: Positive = 4.0) -> SearchStrategy[Slice]:
    """Return planes through three dyadic points that are not on a line."""
    point = st.lists(dyadics(limit), min_size=num_inputs, max_size=num_inputs)
    triples = st.tuples(point, point, point).filter(_spans_a_plane)
    return st.builds(lambda points, margin: Plane(*points, margin=margin), triples, st.sampled_from([0.0, 0.25]))


@read_arguments
@st.composite
def slices(draw: Draw, num_inputs: Count, dim: Count, limit: Positive = 2.0) -> Slice:
    """Draw a slice with dyadic origin, basis and box window; the basis need not be orthonormal.

    Coordinate slices through the origin, along which cuts of simple networks coincide, are drawn often.
    """
    if draw(st.booleans()):
        axes = draw(st.permutations(range(num_inputs)))[:dim]
        basis = np.eye(num_inputs)[list(axes)]
        origin = np.zeros(num_inputs)
    else:
        row = st.lists(dyadics(limit), min_size=num_inputs, max_size=num_inputs)
        tables = st.lists(row, min_size=dim, max_size=dim).map(np.array)
        basis = draw(tables.filter(lambda table: bool(np.linalg.matrix_rank(table) == dim)))
        origin = np.array(draw(row))
    return Slice(origin, basis, draw(boxes(dim, limit)))


def _sizes(
    draw: Draw, num_inputs: Count | SearchStrategy[int], max_layers: Count, max_width: Count, num_outputs: Count
) -> list[int]:
    first = num_inputs if isinstance(num_inputs, int) else draw(num_inputs)
    return [first, *draw(st.lists(st.integers(1, max_width), min_size=1, max_size=max_layers)), num_outputs]


def _spans_a_plane(points: Sequence[Sequence[float]]) -> bool:
    table = np.array(points)
    return int(np.linalg.matrix_rank(table[1:] - table[0])) == 2


def _plant(draw: Draw, fault: str, parameters: Parameters) -> None:
    """Make one hidden layer degenerate, in place."""
    layer = draw(st.integers(0, len(parameters) - 2))
    weight, bias = parameters[layer]
    unit, other = draw(st.integers(0, len(bias) - 1)), draw(st.integers(0, len(bias) - 1))
    if fault == "duplicate unit":
        weight[unit], bias[unit] = weight[other], bias[other]
    elif fault == "parallel unit":
        weight[unit], bias[unit] = 2 * weight[other], draw(dyadics())
    elif fault == "opposite unit":
        weight[unit], bias[unit] = -weight[other], -bias[other]
    elif fault == "zero row":
        weight[unit] = 0
    elif fault == "dead unit":
        weight[unit], bias[unit] = 0, -1
    elif fault == "zero biases":
        for _, shift in parameters:
            shift[:] = 0
    elif fault == "common point":
        point = np.array(draw(st.lists(dyadics(), min_size=weight.shape[1], max_size=weight.shape[1])))
        bias[:] = -weight @ point
    elif fault == "repeated layer" and layer > 0:
        weight[unit], bias[unit] = 0, 0
        weight[unit, draw(st.integers(0, weight.shape[1] - 1))] = draw(st.sampled_from([1.0, -1.0, 0.5]))
    elif fault == "difference of two units" and layer > 0 and weight.shape[1] > 1:
        weight[unit], bias[unit] = 0, 0
        weight[unit, :2] = [1.0, -1.0]
    elif fault == "integer weights":
        for matrix, shift in parameters:
            matrix[:], shift[:] = np.round(matrix), np.round(shift)
