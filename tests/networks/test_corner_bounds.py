"""Bounds at the corners of cells: lines, the kernels behind them, and that they are as tight as they should be."""

import numpy as np
import torch

import reluscope as rs
from reluscope._kernels import between_lines, cell_ranges
from reluscope.networks.carriers.boxes import Ends
from reluscope.networks.carriers.carry import carry_to_output
from reluscope.networks.carriers.corner_bounds import CornerBounds, lines
from reluscope.networks.rounding import ANY_ORDER


def test_the_lines_of_a_relu():
    gate = rs.load([(np.eye(4), np.zeros(4)), (np.eye(4), np.zeros(4))]).stages[0].gate
    low, high = torch.tensor([[-2.0, -2.0, 1.0, -3.0]]).double(), torch.tensor([[1.0, 4.0, 2.0, -1.0]]).double()
    below, above = lines(gate, Ends(low, high))
    assert torch.equal(below[0], torch.tensor([[0.0, 1.0, 1.0, 0.0]]).double())
    assert not below[1].any()
    torch.testing.assert_close(above[0], torch.tensor([[1 / 3, 2 / 3, 1.0, 0.0]]).double())
    torch.testing.assert_close(above[1], torch.tensor([[2 / 3, 4 / 3, 0.0, 0.0]]).double())


def test_lines_hold_for_any_function():
    steps = torch.nn.Sequential(torch.nn.Linear(1, 3), torch.nn.Hardtanh(-0.5, 0.75), torch.nn.Linear(3, 1))
    gate = rs.load(steps, input_shape=(1,)).stages[0].gate
    generator = torch.Generator().manual_seed(0)
    ends = torch.sort(4 * torch.rand(2, 50, 3, dtype=torch.float64, generator=generator) - 2, dim=0).values
    below, above = lines(gate, Ends(ends[0], ends[1]))
    gaps = []
    for share in torch.linspace(0, 1, 21, dtype=torch.float64):
        at = ends[0] + share * (ends[1] - ends[0])
        value = gate.apply(at).reshape(at.shape)
        gaps += [value - (below[0] * at + below[1]), above[0] * at + above[1] - value]
        assert min(float(gap.min()) for gap in gaps[-2:]) > -1e-12
    assert float(torch.stack(gaps).amin(0).max()) < 1e-12


def test_the_kernels_do_what_they_say():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 7])
    center, radius = rng.standard_normal((7, 4)), rng.random((7, 4))
    low, high = cell_ranges(center, radius, offsets)
    assert np.array_equal(low, [(center - radius)[:3].min(0), (center - radius)[3:].min(0)])
    assert np.array_equal(high, [(center + radius)[:3].max(0), (center + radius)[3:].max(0)])
    below, above = rng.standard_normal((2, 2, 4)), rng.standard_normal((2, 2, 4))
    above[1] += 20
    middle, half = between_lines(center, radius, offsets, below, above, 0.0)
    cell = np.repeat([0, 1], [3, 4])
    least = below[0][cell] * center - np.abs(below[0][cell]) * radius + below[1][cell]
    most = above[0][cell] * center + np.abs(above[0][cell]) * radius + above[1][cell]
    assert np.allclose(middle - half, least)
    assert np.allclose(middle + half, most)
    wider = between_lines(center, radius, offsets, below, above, 0.5)[1]
    assert np.allclose(wider, half + 0.5 * np.maximum(np.abs(least), np.abs(most)))


def test_what_is_affine_on_a_cell_is_known_there():
    layers = [(np.array([[1.0, 2.0], [-1.0, 1.0]]), np.array([5.0, -9.0])), (np.array([[1.0, -1.0]]), np.zeros(1))]
    network = rs.load(layers)
    corners = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    carrier = CornerBounds(np.array([0, 3]), ANY_ORDER)
    found = carry_to_output(network, carrier, carrier.start(corners, torch.zeros_like(corners)))
    torch.testing.assert_close(found.center, network(corners))
    assert float(found.radius.max()) < 1e-8
