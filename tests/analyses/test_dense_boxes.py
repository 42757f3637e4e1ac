"""Bounds on boxes by the kernels, against fractions: below and around every value, with all rounding, close to it."""

from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import branched, layers
from reluscope import _kernels
from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.networks.bounds.dense_layers import _joined, dense_layers
from reluscope.networks.building.builder import GraphBuilder

EPS = 2.0**-52


def degenerate():
    """Return a network with dead, constant and equal units, and kinks through corners of boxes."""
    weights = layers([3, 6, 5, 2], seed=3)
    weights[0][0][:3] = [[0, 0, 0], [1, 1, 0], [1, 1, 0]]
    weights[0][1][:3] = [-1, 0, 0]
    weights[1][0][2] = 0
    return rs.load(weights)


def pieces():
    """Return a network of gates with several pieces, and of two layers without a gate between them."""
    torch.manual_seed(1)
    parts = [torch.nn.Linear(3, 5), torch.nn.LeakyReLU(0.3), torch.nn.Linear(5, 4), torch.nn.Linear(4, 5)]
    return rs.load(torch.nn.Sequential(*parts, torch.nn.Hardtanh(), torch.nn.Linear(5, 2)).double(), input_shape=(3,))


def large():
    """Return a network in whose sums nearly everything cancels."""
    weights = layers([3, 8, 8, 2], seed=5)
    return rs.load([(1e6 * weight, 1e6 * bias) for weight, bias in weights])


NETWORKS = {"degenerate": degenerate, "pieces": pieces, "large": large}


def exactly(net, point):
    """Return what all gates see, and the outputs, in fractions."""
    value, seen = [Fraction(one) for one in point], []
    for node in net.nodes[1:]:
        if hasattr(node, "input_shapes"):
            weight = node.matrix()[0].toarray()
            shift = (
                np.zeros(len(weight)) if node.constant is None else node.constant.expand(node.shape).flatten().numpy()
            )
            value = [
                sum((Fraction(w) * v for w, v in zip(row, value, strict=True)), Fraction(c))
                for row, c in zip(weight.tolist(), shift.tolist(), strict=True)
            ]
            continue
        seen.append(value)
        levels, steep, starts = (
            getattr(node, name).expand(-1, node.size).tolist() for name in ("breakpoints", "slopes", "intercepts")
        )
        own = [sum(level[i] < z for level in levels) for i, z in enumerate(value)]
        value = [
            Fraction(steep[k][i]) * z + Fraction(starts[k][i]) for i, (k, z) in enumerate(zip(own, value, strict=True))
        ]
    return seen, value


def around(lower, upper, rng):
    """Return points of a box: its corners, and others."""
    share = np.concatenate([rng.integers(0, 2, (4, len(lower))), rng.random((2, len(lower)))])
    return np.clip(lower + share * (upper - lower), lower, upper)


@pytest.fixture(scope="module", params=NETWORKS)
def bounded(request):
    """Boxes with bounds, functions of the outputs, and exact values at points of each box."""
    net, rng = NETWORKS[request.param](), np.random.default_rng(0)
    center = np.round(rng.uniform(-1, 1, (6, 3)), 1)
    half = np.array([1.0, 0.3, 0.01, 1e-9, 0.0, 0.5])[:, None] * rng.choice([0.5, 1.0], (6, 3))
    bounds = BoxBounds(net, -2 * np.ones(3), 2 * np.ones(3))
    boxes = bounds.on(center - half, center + half)
    assert boxes.dense is not None
    rows = np.array([[1.0, -1.0], [-1.0, 1.0], [0.3, 0.7]])
    points = [around(*ends, rng) for ends in zip(boxes.lower, boxes.upper, strict=True)]
    return bounds, boxes, rows, points, [[exactly(net, point) for point in table] for table in points]


def test_functions_are_below_exact_values(bounded):
    _, boxes, rows, points, values = bounded
    below = boxes.below(rows)
    for box, (table, known) in enumerate(zip(points, values, strict=True)):
        center = [Fraction(one) for one in boxes.centers[box]]
        for point, (_, outputs) in zip(table, known, strict=True):
            steps = [Fraction(a) - b for a, b in zip(point, center, strict=True)]
            for t, row in enumerate(rows):
                value = sum(Fraction(a) * b for a, b in zip(row, outputs, strict=True))
                for slopes, offsets in zip(below.slopes, below.offsets, strict=True):
                    own = sum(Fraction(a) * b for a, b in zip(slopes[box, t], steps, strict=True))
                    assert own + Fraction(offsets[box, t]) <= value


def test_ranges_are_around_exact_values(bounded):
    _, boxes, _, _, values = bounded
    for box, known in enumerate(values):
        for seen, _ in known:
            for own, pre in zip(boxes.ranges, seen, strict=True):
                for low, high, value in zip(own.low[box].tolist(), own.high[box].tolist(), pre, strict=True):
                    assert low <= value <= high


def test_bounds_are_no_worse_than_those_of_pytorch(bounded):
    bounds, boxes, rows, _, _ = bounded
    found, sizes = boxes.below(rows).least(boxes.half), np.abs(boxes.center).max() + 1
    kernels, bounds._dense = bounds._dense, None
    other = bounds.on(boxes.lower, boxes.upper)
    bounds._dense = kernels
    # Narrower ranges may have lines of other slopes, which are not always better ones.
    gain = found - other.below(rows).least(other.half)
    assert (gain[2:5] >= -1e-9 * sizes).all()
    assert gain.mean() >= -1e-9 * sizes
    assert (boxes.num_codes <= other.num_codes).all()
    # On a box without sides only rounding is left.
    middle = boxes.center[4] @ rows.T
    assert (middle - found[4] <= 1e5 * EPS * (np.abs(boxes.center[4]).sum() + sizes)).all()


def test_threads_find_the_same_bits(bounded):
    bounds, boxes, rows, _, _ = bounded
    arrays, ends = bounds._dense._arrays, (np.ascontiguousarray(boxes.centers), boxes.half)
    known = bounds._dense._least, bounds._dense._most
    found = [_kernels.forms_on_boxes(*arrays, *ends, *known, True, number) for number in (1, 3)]
    seen = found[0][:3]
    found = [
        (*one, *_kernels.below_on_boxes(*arrays, *ends, *seen, rows, k)) for one, k in zip(found, (1, 3), strict=True)
    ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_layers_are_joined_only_where_nothing_is_rounded():
    scaled = rs.load([(np.eye(2), np.ones(2)), (np.eye(2), np.zeros(2))], decision="smallest").scores
    assert len(dense_layers(scaled).matrices) == 2
    assert [gate is None for gate in dense_layers(pieces()).gates] == [False, True, False]
    torch.manual_seed(0)
    twice = [torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)]
    assert dense_layers(rs.load(torch.nn.Sequential(*twice).double(), input_shape=(2,))).gates == (None,)
    point = torch.linspace(-1, 1, 3).double()
    value = point
    for (weight, bias), gate in zip(
        dense_layers(pieces()).matrices, [*dense_layers(pieces()).gates, None], strict=True
    ):
        value = torch.from_numpy(weight) @ value + torch.from_numpy(bias)
        value = value if gate is None else gate.apply(value[None])[0]
    np.testing.assert_allclose(value, pieces()(point[None])[0], rtol=1e-12)
    assert dense_layers(branched()) is None


def test_what_is_too_large_for_float64_is_not_bounded():
    layers_of = [np.array([1, 1, 1]), np.array([1e200, 1e200]), np.zeros(2)]
    relu = [np.zeros((1, 1)), np.array([[0.0], [1.0]]), np.zeros((2, 1))]
    boxes = np.ones((1, 1)), np.ones((1, 1))
    found = _kernels.forms_on_boxes(*layers_of, *relu, *boxes, np.array([-np.inf]), np.array([np.inf]), True, 1)
    low, high, terms, _, _, center, error, weights, _ = found
    assert (center[0, 0], weights[0, 0, 0]) == (0, 0)
    assert error[0, 0] > 1e140
    slopes, offsets, constants = _kernels.below_on_boxes(
        *layers_of, *relu, *boxes, low, high, terms, np.array([[1.0], [-1.0]]), 1
    )
    assert not slopes.any()
    assert (np.concatenate([offsets, constants]) < -1e140)[:, 1].all()
    assert (offsets <= 0).all()


def test_what_is_no_sequence_from_a_matrix_to_a_matrix_is_none():
    """A shortcut around a gate, two matrices of one value, and a gate at either end."""
    builder = GraphBuilder()
    x = builder.input((2,))
    hidden = builder.relu(builder.linear(x, np.eye(2), np.zeros(2)))
    assert dense_layers(builder.build(builder.add(builder.linear(hidden, np.ones((2, 2)), np.zeros(2)), x))) is None
    assert dense_layers(builder.build(builder.add(x, hidden))) is None
    linear, relu = (lambda: torch.nn.Linear(2, 2)), torch.nn.ReLU()
    for parts in (
        [linear(), relu],
        [relu, linear()],
    ):
        assert dense_layers(rs.load(torch.nn.Sequential(*parts).double(), input_shape=(2,))) is None
    assert dense_layers(rs.load(torch.nn.Sequential(linear(), relu, linear()).double(), input_shape=(2,))) is not None


@pytest.mark.parametrize(
    ("first", "bias", "then", "shift", "is_one"),
    [
        ([[3.0, 2.0], [5.0, 7.0]], [1.0, 2.0], [[0.0, -1.0], [1.0, 0.0]], [0.0, 0.0], True),
        ([[3.0, 2.0], [5.0, 7.0]], [1.0, 0.0], [[0.0, -1.0], [1.0, 0.0]], [1.0, 0.0], True),
        ([[3.0, 2.0], [5.0, 7.0]], [1.0, 0.0], [[0.0, -1.0], [1.0, 0.0]], [0.0, 1.0], False),
        ([[0.0, -1.0], [1.0, 0.0]], [0.0, 0.0], [[3.0, 2.0], [5.0, 7.0]], [1.0, 2.0], True),
        ([[0.0, -1.0], [1.0, 0.0]], [0.0, 1.0], [[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], False),
        ([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0], [[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], False),
        ([[1.0, 1.0], [0.0, 0.0]], [0.0, 0.0], [[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], False),
        ([[1.0, 2.0], [0.0, 3.0]], [0.0, 0.0], [[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], False),
        ([[0.0, 2.0], [3.0, 0.0]], [0.0, 0.0], [[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], False),
        ([[3.0, 2.0], [5.0, 7.0]], [0.0, 0.0], [[1.0, 1.0], [1.0, 0.0]], [0.0, 0.0], False),
    ],
)
def test_two_layers_are_one_if_one_of_them_only_moves_entries(first, bias, then, shift, is_one):
    """The first must not send one entry to two, nor add two; of every sum of constants one is zero."""
    one, two = (np.array(first), np.array(bias)), (np.array(then), np.array(shift))
    found = _joined(one, two)
    assert (found is not None) == is_one
    if found is not None:
        assert (found[0] == two[0] @ one[0]).all()
        assert (found[1] == two[0] @ one[1] + two[1]).all()
