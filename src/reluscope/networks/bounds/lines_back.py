"""Weights of units carried back through a network, along lines around their functions or as duals that are given."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from reluscope.networks.bounds.gate_lines import Bends, bends, slopes_of_lines
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage

if TYPE_CHECKING:
    from reluscope.networks.bounds.backward_bounds import BackwardBounds


class WeightsBack:
    """Weights carried back through affine nodes, with constants and rounding kept: of bounds that are ``is_sure``."""

    def __init__(self, bounds: "BackwardBounds", zeros: Tensor, *, is_sure: bool = True) -> None:
        self.bounds, self.is_sure = bounds, is_sure
        self.constants = self.rounding = zeros

    def affine_back(self, node: Affine, weights: Tensor) -> Sequence[Tensor]:
        """Return the weights of what an affine node reads."""
        constant = node.constant
        if constant is not None:
            self.constants = self.constants + weights @ constant.expand(node.shape).reshape(-1)
        if self.is_sure:
            self.rounding = self.rounding + ANY_ORDER * (weights.abs() @ self.bounds.reach(node))
        return self.bounds.products(node, weights)

    def add(self, first: Tensor, second: Tensor) -> Tensor:
        """Return the weights of a value that two others are computed from."""
        return first + second


class LinesBack(WeightsBack):
    """Weights of one bound for each row of what units are held to."""

    def __init__(self, bounds: "BackwardBounds", held: Holding, number: int, *, is_sure: bool) -> None:
        super().__init__(bounds, bounds.lower.new_zeros(number), is_sure=is_sure)
        self.held, self.is_empty = held, self.constants.bool()
        self.weights: list[Tensor] = [torch.zeros_like(one) for one in held.slopes]
        self.duals: list[Tensor] = [*self.weights]

    def gate_back(self, stage: Stage, weights: Tensor) -> Tensor:
        """Return the weights of what a gate sees."""
        place, gate = stage.index, self.bounds.gates[stage.index]
        low, high = self.bounds.cut(place, self.held)
        self.is_empty = self.is_empty | (low > high).any(dim=1)
        corners = bends(gate, low, torch.maximum(low, high))
        dual = self.dual(place, weights, corners)
        self.weights[place], self.duals[place] = weights.detach(), dual.detach()
        self.constants = self.constants + (weights * corners.values - dual * corners.places).amin(dim=0).sum(dim=1)
        if self.is_sure:
            terms = (weights.abs() * corners.sizes + (dual * corners.places).abs()).amax(dim=0)
            self.rounding = self.rounding + ANY_ORDER * terms.sum(dim=1)
        return dual

    def dual(self, place: int, weights: Tensor, corners: Bends) -> Tensor:
        """Return the weights of what a gate sees: those along lines, and what pulls at them."""
        below, above = slopes_of_lines(self.bounds.gates[place], corners, self.held.slopes[place])
        return weights.clamp(min=0) * below + weights.clamp(max=0) * above + self.held.multipliers[place]


class DualsBack(LinesBack):
    """Weights carried back as given duals."""

    def __init__(
        self, bounds: "BackwardBounds", held: Holding, number: int, duals: list[Tensor], *, is_sure: bool = True
    ) -> None:
        super().__init__(bounds, held, number, is_sure=is_sure)
        self._given = duals

    def dual(self, place: int, weights: Tensor, corners: Bends) -> Tensor:
        """Return the weights that were given."""
        return self._given[place]


class PullsBack(DualsBack):
    """Weights carried back as given duals, with the pulls that lines need for them."""

    def dual(self, place: int, weights: Tensor, corners: Bends) -> Tensor:
        """Return the weights that were given, and keep the pull."""
        along = LinesBack.dual(self, place, weights, corners)
        self.held.multipliers[place] = self._given[place] - (along - self.held.multipliers[place])
        return self._given[place]
