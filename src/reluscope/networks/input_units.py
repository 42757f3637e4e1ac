"""Inputs in the units of a weighted norm, in which it is the norm without weights.

With a float v near ``1 / w`` for each weight, an input is ``x = v u``, and the network that multiplies u by v comes
before every other computation. Two roundings are left: v is not quite ``1 / w``, and u is not quite ``x / v``. Both are
bounded: distances from sets change by no more than the point moves. Powers of two round nothing.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float

from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.programs.half_spaces import HalfSpaces
from reluscope.networks.graph.nodes import Input, Node
from reluscope.networks.graph.operators.elementwise import ScaleShift
from reluscope.networks.network import Network

# Shares that rounding may change of coordinates, which are quotients, and of distances, which are then added to.
ROUNDED, ADDED = 2.0**-52, 2.0**-50
SMALLEST = 2.0**-1074


@dataclass(frozen=True, eq=False)
class InputUnits:
    """The units in which a norm has no weights: an input is ``x = sides u``."""

    norm: Norm
    sides: Float[np.ndarray, " n"]  # all 1 without weights

    @classmethod
    def of(cls, norm: Norm, dim: int) -> "InputUnits":
        """Return the units of a norm; ShapeError unless it has a weight for each input."""
        norm.check_inputs(dim)
        return cls(norm, norm.ball_sides(dim))

    @cached_property
    def _rounded(self) -> Float[np.ndarray, " n"]:
        """Shares that rounding may change of coordinates; 0 where the side is a power of two."""
        return np.where(np.frexp(self.sides)[0] == 0.5, 0.0, ROUNDED)

    def enter(self, x: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
        """Return inputs in these units."""
        return x / self.sides

    def leave(self, u: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
        """Return what is given in these units as inputs."""
        return u * self.sides

    def scales(self, u: Float[np.ndarray, "s n"]) -> Float[np.ndarray, " s"]:
        """Return sizes of points to compare lengths with: the largest input, by the least of all weights."""
        return np.abs(self.leave(u)).max(axis=1, initial=0.0) / self.sides.max()

    def ends(
        self, lower: Float[np.ndarray, " s"], upper: Float[np.ndarray, " s"], u: Float[np.ndarray, "s n"]
    ) -> tuple[Float[np.ndarray, " s"], Float[np.ndarray, " s"]]:
        """Return bounds on distances from inputs, whose bounds from points in these units are given."""
        if self.norm.weights is None:
            return lower, upper
        moved = self.norm.plain.size(np.abs(u) * self._rounded + SMALLEST)
        share = ADDED if self._rounded.any() else 0.0
        return lower * (1 - share) - moved, upper * (1 + share) + moved

    def network(self, network: Network) -> Network:
        """Return the network as a function of inputs in these units."""
        if self.norm.weights is None:
            return network
        shape = network.input_shape
        scale = torch.as_tensor(self.sides.copy(), device=network.device).reshape(shape)
        front: list[Node] = [
            Input(name="weighted", shape=shape),
            ScaleShift(name="units", inputs=(0,), shape=shape, input_shapes=(shape,), scale=scale),
        ]
        moved = [replace(node, inputs=tuple(i + 1 for i in node.inputs)) for node in network.nodes[1:]]
        nodes = (*front, *moved)
        return Network(nodes, network.output + 1, network.notes, decision=network.decision, left_off=network.left_off)

    def half_spaces(self, limits: HalfSpaces) -> HalfSpaces:
        """Return half-spaces in these units; bounds are rounded outwards, rows as they come."""
        rows, offsets, _ = unit_rows(limits.rows * self.sides, limits.offsets)
        return HalfSpaces(
            rows,
            offsets,
            self._outward(limits.lower, -np.inf),
            self._outward(limits.upper, np.inf),
        )

    def _outward(self, bounds: np.ndarray, way: float) -> np.ndarray:
        entered = self.enter(bounds)
        return np.where(self._rounded == 0, entered, np.nextafter(entered, way))
