"""Affine maps on regions: derivatives in chosen directions, and the constant; alone, or with bounds on their errors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.interruption import step_point
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine, GateNode
from reluscope.networks.graph.points import chunks
from reluscope.networks.passes.rounding import affine_error, piece_error

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph
    from reluscope.networks.passes.stages import Stage

# Bytes of rows that are computed in one step.
ROWS_TOGETHER = 2**28


class Derivatives:
    """Derivatives ``(s or 1, c, *shape)`` in c directions when every unit is held to a piece.

    Before the first gate all points share them. They arrive at gates flattened: ``(s or 1, c, size)``.
    """

    def __init__(self, pieces: Sequence[Tensor]) -> None:
        self.pieces = pieces

    def affine(self, node: Affine, inputs: Sequence[Tensor]) -> Tensor:
        """Return ``L(x_1, ..., x_j)``."""
        return linear_part(node, inputs)

    def arrive(self, stage: "Stage", value: Tensor) -> Tensor:
        """Return the derivatives of the gate's flattened input."""
        return flat_entries(value)

    def leave(self, stage: "Stage", arrived: Tensor) -> Tensor:
        """Return the derivatives of the gate's output."""
        gate, piece, columns = stage.gate, self.pieces[stage.index], arrived.shape[1]
        if isinstance(gate, Max):
            source = gate.source(piece).unsqueeze(1).expand(-1, columns, -1)
            output = arrived.expand(len(piece), -1, -1).gather(-1, source)
        else:
            output = gate.slope(piece).unsqueeze(1) * arrived
        return output.reshape(len(piece), columns, *gate.shape)


class AffineValue(NamedTuple):
    """One value of the graph as affine functions on several cells."""

    coefficients: Tensor  # (c, w, *shape), directions, then any constant
    errors: Tensor  # (c, w, *shape), bounds on the coefficients' errors

    def take(self, cells: Tensor | slice) -> "AffineValue":
        """Return the same on some cells."""
        return AffineValue(self.coefficients[cells], self.errors[cells])


class RoundedMaps:
    """Affine functions with bounds on their coefficients' errors, on pieces that `hold` sets per gate.

    ``unit`` is the rounding of one sum relative to its absolute terms. With ``has_constant`` the last coefficient is
    the constant; else there are derivatives alone.
    """

    def __init__(self, unit: float, *, has_constant: bool) -> None:
        self.unit, self.has_constant = unit, has_constant

    def affine(self, node: Affine, inputs: Sequence[AffineValue]) -> AffineValue:
        """Return the node's coefficients and their errors."""
        cells, width = inputs[0].coefficients.shape[:2]
        shape = (cells, width, *node.shape)
        rows = [AffineValue(*(part.flatten(0, 1) for part in one)) for one in inputs]
        some = list(chunks(max(1, cells * width), 8 * node.size, ROWS_TOGETHER))
        coefficients, errors = (part.reshape(shape) for part in self._affine_rows(node, rows, some))
        if self.has_constant and node.constant is not None:
            if len(some) < 2:  # these may be views of what the node read
                coefficients, errors = coefficients.clone(), errors.clone()
            coefficients[:, -1] += node.constant
            errors[:, -1] += (self.unit if node.rounds else 0.0) * node.constant.abs()
        return AffineValue(coefficients, errors)

    def _affine_rows(self, node: Affine, rows: Sequence[AffineValue], some: Sequence[slice]) -> tuple[Tensor, Tensor]:
        """Return coefficients and errors of all rows, some at a time: besides them little more memory is taken."""
        if len(some) < 2:
            return self._affine_part(node, rows)
        number, like = len(rows[0].coefficients), rows[0].coefficients
        found = AffineValue(*(like.new_empty(number, *node.shape) for _ in range(2)))
        for part in some:
            step_point()
            made = self._affine_part(node, [one.take(part) for one in rows])
            for whole, new in zip(found, made, strict=True):
                whole[part] = new
        return found

    def _affine_part(self, node: Affine, rows: Sequence[AffineValue]) -> AffineValue:
        coefficients, errors = ([one[part] for one in rows] for part in range(2))
        sizes = [one.abs() for one in coefficients]
        return AffineValue(node.linear(*coefficients), affine_error(node, sizes, errors, self.unit, has_constant=False))

    def arrive(self, stage: "Stage", value: AffineValue) -> AffineValue:
        """Return the coefficients ``(c, w, size)`` of the gate's flattened input, and their errors."""
        return AffineValue(*(flat_entries(part) for part in value))

    def hold(self, pieces: Tensor) -> None:
        """Set the pieces ``(c, u)`` of the units of the gate just reached."""
        self._pieces = pieces.long()

    def leave(self, stage: "Stage", arrived: AffineValue) -> AffineValue:
        """Return the coefficients of the gate's output, and their errors."""
        gate, pieces, (coefficients, errors) = stage.gate, self._pieces, arrived
        width = coefficients.shape[1]
        if isinstance(gate, Max):
            source = gate.source(pieces).unsqueeze(1).expand(-1, width, -1)
            coefficients, errors = coefficients.gather(-1, source), errors.gather(-1, source)
        else:
            slope, intercept, sizes, before = gate.slope(pieces), gate.intercept(pieces), coefficients.abs(), errors
            errors = piece_error(slope[:, None], None, sizes, before, self.unit)
            coefficients = coefficients * slope[:, None]
            if self.has_constant:
                coefficients[:, -1] += intercept
                errors[:, -1] = piece_error(slope, intercept, sizes[:, -1], before[:, -1], self.unit)
        shape = (len(pieces), width, *gate.shape)
        return AffineValue(coefficients.reshape(shape), errors.reshape(shape))


def linear_part(node: Affine, inputs: Sequence[Tensor]) -> Tensor:
    """Return the linear part of a node at values ``(s or 1, c, *shape)``."""
    count = max(len(one) for one in inputs)
    same = (one.expand(count, *one.shape[1:]) for one in inputs)
    return node.linear(*(one.flatten(0, 1) for one in same)).reshape(count, -1, *node.shape)


def flat_entries(value: Tensor) -> Tensor:
    """Return a value ``(s, c, *shape)`` as ``(s, c, size)``."""
    return value.flatten(2) if value.ndim > 2 else value.unsqueeze(-1)


def candidates_of(gate: GateNode, flat: Tensor) -> Tensor:
    """Return what a gate sees of a flattened input, ``(..., u)`` or ``(..., u, k)``; of padding any entry."""
    return flat[..., gate.index.clamp_min(0)] if isinstance(gate, Max) else flat


def along_directions(network: "NetworkGraph", directions: Float[np.ndarray, "k d"]) -> AffineValue:
    """Return what `RoundedMaps` start from for derivatives along one direction on each of k cells, taken as exact."""
    start = torch.as_tensor(directions, device=network.device).reshape(-1, 1, *network.input_shape)
    return AffineValue(start, torch.zeros_like(start))


def slopes_of_units(gate: GateNode, arrived: AffineValue) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives along one direction of what a gate sees, and their errors; of padding minus infinity and 0."""
    slopes, errors = (candidates_of(gate, part[:, 0]) for part in arrived)
    if isinstance(gate, Max) and gate.padding is not None:
        slopes, errors = slopes.masked_fill(gate.padding, -torch.inf), errors.masked_fill(gate.padding, 0.0)
    return slopes.cpu().numpy(), errors.cpu().numpy()
