"""Bounds at the corners of cells: lines, the kernels behind them, and that they are as tight as they should be."""

import numpy as np
import torch

import reluscope as rs
from reluscope._kernels import between_lines, cell_ranges, relax
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.corner_bounds import CornerBounds
from reluscope.networks.passes.rounding import ANY_ORDER


def relaxed(gate, low, high, rounding=0.0):
    """Return the lines and the ranges of a gate's units, (2, c, u) each."""
    tables = (gate.breakpoints, gate.slopes, gate.intercepts)
    functions = (np.ascontiguousarray(table.expand(len(table), gate.num_units).numpy()) for table in tables)
    found = relax(np.array(low, dtype=float), np.array(high, dtype=float), *functions, rounding)
    return np.stack(found[:2]), np.stack(found[2:4]), np.stack(found[4:])


def test_the_lines_of_a_relu():
    gate = rs.load([(np.eye(4), np.zeros(4)), (np.eye(4), np.zeros(4))]).stages[0].gate
    below, above, ends = relaxed(gate, [[-2, -2, 1, -3]], [[1, 4, 2, -1]])
    assert np.array_equal(below[0], [[0, 1, 1, 0]])
    assert not below[1].any()
    assert np.allclose(above[0], [[1 / 3, 2 / 3, 1, 0]])
    assert np.allclose(above[1], [[2 / 3, 4 / 3, 0, 0]])
    assert np.array_equal(ends, [[[0, 0, 1, 0]], [[1, 4, 2, 0]]])


def test_lines_hold_for_any_function():
    steps = torch.nn.Sequential(torch.nn.Linear(1, 3), torch.nn.Hardtanh(-0.5, 0.75), torch.nn.Linear(3, 1))
    gate = rs.load(steps, input_shape=(1,)).stages[0].gate
    low, high = np.sort(np.random.default_rng(0).uniform(-2, 2, (2, 50, 3)), axis=0)
    below, above, ends = relaxed(gate, low, high)
    gaps = []
    for share in np.linspace(0, 1, 41):
        at = low + share * (high - low)
        value = gate.apply(torch.from_numpy(at)).numpy().reshape(at.shape)
        gaps += [value - (below[0] * at + below[1]), above[0] * at + above[1] - value]
        assert (ends[0] - 1e-12 <= value).all()
        assert (value <= ends[1] + 1e-12).all()
    assert min(gap.min() for gap in gaps) > -1e-12
    # A line that touches nowhere would be too low.
    assert np.min(gaps[::2], axis=0).max() < 0.1


def test_lines_far_from_the_origin_allow_for_rounding():
    steps = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Hardtanh(1e7, 1e7 + 1.0), torch.nn.Linear(1, 1))
    gate = rs.load(steps, input_shape=(1,)).stages[0].gate
    below, above, ends = relaxed(gate, [[1e7 - 1]], [[1e7 + 0.3]], ANY_ORDER)
    for line, sign in ((below, -1), (above, 1)):
        assert sign * (line[1] - relaxed(gate, [[1e7 - 1]], [[1e7 + 0.3]])[sign > 0][1]) > 1e7 * ANY_ORDER / 2
    assert ends[0] < 1e7 < 1e7 + 0.3 < ends[1]


def test_the_kernels_do_what_they_say():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 7])
    center, radius = rng.standard_normal((7, 4)), rng.random((7, 4))
    low, high = cell_ranges(center, radius, offsets)
    assert np.array_equal(low, [(center - radius)[:3].min(0), (center - radius)[3:].min(0)])
    assert np.array_equal(high, [(center + radius)[:3].max(0), (center + radius)[3:].max(0)])
    below, above = rng.standard_normal((2, 2, 4)), rng.standard_normal((2, 2, 4))
    above[1] += 20
    middle, half = between_lines(center, radius, offsets, *below, *above, 0.0)
    cell = np.repeat([0, 1], [3, 4])
    least = below[0][cell] * center - np.abs(below[0][cell]) * radius + below[1][cell]
    most = above[0][cell] * center + np.abs(above[0][cell]) * radius + above[1][cell]
    assert np.allclose(middle - half, least)
    assert np.allclose(middle + half, most)
    terms = sum(
        np.abs(slope[cell]) * (np.abs(center) + radius) + np.abs(start[cell]) for slope, start in (below, above)
    )
    assert np.allclose(between_lines(center, radius, offsets, *below, *above, 0.5)[1], half + 0.5 * terms)


def test_what_is_affine_on_a_cell_is_known_there():
    layers = [(np.array([[1.0, 2.0], [-1.0, 1.0]]), np.array([5.0, -9.0])), (np.array([[1.0, -1.0]]), np.zeros(1))]
    network = rs.load(layers)
    corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    carrier = CornerBounds(np.array([0, 3]), ANY_ORDER)
    found = carry_to_output(network, carrier, carrier.start(corners, torch.zeros_like(corners)))
    torch.testing.assert_close(found.center, network(corners))
    assert float(found.radius.max()) < 1e-8
