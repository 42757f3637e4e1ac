"""Intervals around the entries of a network's local maps, wherever its units may be on some of their pieces.

A local map is a product of matrices and of the slopes of units. Intervals of weights are carried back from the outputs:
through affine nodes as middles and radii, through units as products with the interval of slopes that they may have.
What rounding changes is bounded once, by the sum of the absolute terms of all paths.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from reluscope.networks.graph.nodes import Affine, Pointwise
from reluscope.networks.passes.carry_back import carry_back
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage


class Interval(NamedTuple):
    """Weights ``middle - radius`` to ``middle + radius``, (k, m, size of a value)."""

    middle: Tensor
    radius: Tensor


class SlopeIntervals:
    """Carries intervals of weights back to the inputs; ``first`` and ``last`` are pieces (k, u) of each gate."""

    def __init__(self, network: NetworkGraph, first: Sequence[Tensor], last: Sequence[Tensor]) -> None:
        self.network, self.first, self.last = network, first, last
        # Intervals of what units give, by gate: how much a unit's slope may matter.
        self.behind: list[Interval | None] = [None] * len(first)

    def of_outputs(self, number: int) -> Interval:
        """Return intervals of the local maps (k, m, n), rounding not included."""
        size, device = self.network.nodes[self.network.output].size, self.network.device
        start = torch.eye(size, dtype=torch.float64, device=device).expand(number, -1, -1)
        found = carry_back(self.network, self, Interval(start, torch.zeros_like(start)))
        if found is None:
            nothing = start.new_zeros(number, size, self.network.num_inputs)
            return Interval(nothing, nothing)
        return found

    def affine_back(self, node: Affine, weights: Interval) -> list[Interval]:
        """Return the intervals of each value that an affine node reads."""
        middles, radii = _transposed(node, weights.middle), _transposed(node.magnitudes, weights.radius)
        return [Interval(*one) for one in zip(middles, radii, strict=True)]

    def gate_back(self, stage: Stage, weights: Interval) -> Interval:
        """Return the intervals of what a gate sees."""
        assert isinstance(stage.gate, Pointwise)
        self.behind[stage.index] = weights
        least, most = slope_ends(stage.gate, self.first[stage.index], self.last[stage.index])
        low, high = weights.middle - weights.radius, weights.middle + weights.radius
        products = torch.stack([end * slope[:, None] for end in (low, high) for slope in (least, most)])
        low, high = products.amin(dim=0), products.amax(dim=0)
        return Interval((low + high) / 2, (high - low) / 2)

    def add(self, first: Interval, second: Interval) -> Interval:
        """Return the intervals of a value that two others are computed from."""
        return Interval(first.middle + second.middle, first.radius + second.radius)


def slope_ends(gate: Pointwise, first: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
    """Return the least and the largest slope of units (k, u) on some of their pieces."""
    table = gate.slopes.expand(-1, gate.num_units)[:, None]
    piece = torch.arange(len(table), device=table.device)[:, None, None]
    is_in = (piece >= first) & (piece <= last)
    return torch.where(is_in, table, torch.inf).amin(dim=0), torch.where(is_in, table, -torch.inf).amax(dim=0)


def rounding_of(network: NetworkGraph) -> Tensor:
    """Return a bound on what rounding changes in each entry of intervals (m, n), whatever pieces units have."""
    gates = [stage.gate for stage in network.stages]
    first = [torch.zeros(1, gate.num_units, dtype=torch.int64, device=network.device) for gate in gates]
    last = [one + gate.num_pieces - 1 for one, gate in zip(first, gates, strict=True)]
    found = _Sizes(network, first, last).of_outputs(1)
    return 4 * ANY_ORDER * len(network.nodes) * (found.middle.abs() + found.radius)[0]


class _Sizes(SlopeIntervals):
    """Carries the absolute terms of all paths back, as radii."""

    def affine_back(self, node: Affine, weights: Interval) -> list[Interval]:
        sizes = weights.middle.abs() + weights.radius
        return [Interval(torch.zeros_like(one), one) for one in _transposed(node.magnitudes, sizes)]


def _transposed(node: Affine, weights: Tensor) -> list[Tensor]:
    found = node.transposed(weights.reshape(-1, weights.shape[-1]))
    return [one.reshape(*weights.shape[:-1], one.shape[-1]) for one in found]
