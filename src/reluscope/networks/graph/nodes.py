"""A network as a directed acyclic graph: one input, affine nodes, and gates as the only nonlinear thing.

Shapes leave the batch axis out; every method takes and returns batched float64 tensors ``(s, *shape)``. An affine
node knows its linear part, its constant and its matrix: homogeneous evaluation, magnitude bounds, intervals and
rationals all follow from these three.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

PROBE_BYTES = 64 * 2**20


def least_nonzero(values: Tensor) -> float:
    """Return the least nonzero absolute value; infinite if there is none."""
    sizes = values.abs()
    return float(torch.where(sizes > 0, sizes, torch.inf).amin()) if values.numel() else torch.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """One value of the graph."""

    name: str  # for people; unique among gates
    inputs: tuple[int, ...] = ()  # positions of the nodes it reads, all earlier
    shape: tuple[int, ...]  # without the batch axis

    @property
    def size(self) -> int:
        """Number of entries of the value at one point."""
        return prod(self.shape)

    @cached_property
    def products(self) -> int:
        """About how many multiplications the value takes at one point."""
        weight = self.tensors().get("weight")
        return self.size * (1 if weight is None else max(1, weight.numel() // max(1, weight.shape[0])))

    def tensors(self) -> dict[str, Tensor]:
        """Return the node's constants by field name."""
        return {field.name: entry for field in fields(self) if isinstance(entry := getattr(self, field.name), Tensor)}

    def settings(self) -> dict[str, Any]:
        """Return what defines the node beside its constants, its name and its place in the graph."""
        skip = {"name", "inputs"} | self.tensors().keys()
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in skip}

    def to(self, device: torch.device | str) -> Self:
        """Return the node with its constants on another device."""
        moved: dict[str, Any] = {name: tensor.to(device) for name, tensor in self.tensors().items()}
        return replace(self, **moved) if moved else self

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Input(Node):
    """The point at which the network is evaluated."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Affine(Node):
    """A node ``y = L(x_1, ..., x_j) + c`` with L linear; subclasses are final and say what L is."""

    input_shapes: tuple[tuple[int, ...], ...]  # of the values it reads, without the batch axis

    # Whether the node computes anything, or moves entries only.
    rounds: ClassVar[bool] = True

    def linear(self, *values: Tensor) -> Tensor:
        """Return the linear part ``L(x_1, ..., x_j)``."""
        raise NotImplementedError

    @property
    def constant(self) -> Tensor | None:
        """The constant c, broadcastable to ``shape``, or None where it is zero."""
        return None

    def apply(self, *values: Tensor) -> Tensor:
        """Return ``L(x_1, ..., x_j) + c``."""
        result = self.linear(*values)
        return result if self.constant is None else result + self.constant

    def absolute(self) -> Self:
        """Return the node with the absolute values of its weights and of its constant.

        ``|apply(x)| <= absolute().apply(|x|)``, which is what bounds on magnitudes and on rounding are made of.
        """
        return self

    @cached_property
    def magnitudes(self) -> Self:
        """What `absolute` returns, kept: it is asked for at every evaluation with errors."""
        return self.absolute()

    @cached_property
    def least_factor(self) -> float:
        """The least nonzero absolute value among the node's constants; infinite if there is none."""
        return min((least_nonzero(tensor) for tensor in self.tensors().values()), default=torch.inf)

    def transposed(self, weights: Tensor) -> list[Tensor]:
        """Return the weights ``(k, input size)`` of each value that is read, from those of the result, ``(k, size)``.

        What goes into ``weights`` can be differentiated. Cost: as an evaluation at k points and its gradient.
        """
        values = [weights.new_zeros(len(weights), *shape).requires_grad_() for shape in self.input_shapes]
        with torch.enable_grad():
            # Of a sum: PyTorch imports all of SymPy, more than a second, where it is given cotangents.
            total = (self.linear(*values).reshape(weights.shape) * weights).sum()
        found = torch.autograd.grad(total, values, create_graph=weights.requires_grad, materialize_grads=True)
        return [one.reshape(len(weights), -1) for one in found]

    def matrix(self) -> list[scipy.sparse.csr_array]:
        """Return L as one sparse matrix ``(size, input size)`` per input, row-major on both sides.

        L is applied to the columns of the identity, a chunk at a time: as costly as one evaluation per input entry.
        """
        return [self._probe(which) for which in range(len(self.input_shapes))]

    def _probe(self, which: int) -> scipy.sparse.csr_array:
        sizes = [prod(shape) for shape in self.input_shapes]
        step = max(1, PROBE_BYTES // (8 * (self.size + sum(sizes) + 1)))
        device = next((tensor.device for tensor in self.tensors().values()), torch.device("cpu"))
        blocks = []
        for start in range(0, sizes[which], step):
            count = min(step, sizes[which] - start)
            values = [torch.zeros(count, size, dtype=torch.float64, device=device) for size in sizes]
            values[which][torch.arange(count), torch.arange(start, start + count)] = 1.0
            shaped = [value.reshape(count, *shape) for value, shape in zip(values, self.input_shapes, strict=True)]
            blocks.append(scipy.sparse.csr_array(self.linear(*shaped).reshape(count, -1).cpu().numpy()))
        if not blocks:
            return scipy.sparse.csr_array((self.size, 0), dtype=np.float64)
        return scipy.sparse.csr_array(scipy.sparse.vstack(blocks).T)


@dataclass(frozen=True, eq=False, kw_only=True)
class GateNode(Node):
    """A node of units that are each affine on finitely many pieces; `Pointwise` and `Max` are its final classes.

    A *piece* is the number of the affine function that a unit uses at a point; *pre-activations* are what decides it.
    """

    kind: str

    @property
    def num_units(self) -> int:
        """Number of units."""
        return self.size

    @property
    def num_pieces(self) -> int:
        """Number of pieces of each unit."""
        raise NotImplementedError

    @property
    def piece_dtype(self) -> torch.dtype:
        """Smallest integer type that holds a piece."""
        return torch.uint8 if self.num_pieces <= 256 else torch.int32

    def candidates(self, value: Tensor) -> Tensor:
        """Return the pre-activations of an input value: ``(s, u)``, for max gates ``(s, u, k)``."""
        raise NotImplementedError

    def apply(self, pre: Tensor) -> Tensor:
        """Return the gate's output ``(s, *shape)``."""
        raise NotImplementedError

    def pieces(self, pre: Tensor) -> Tensor:
        """Return the piece of every unit ``(s, u)``, by the tie rule of the library."""
        raise NotImplementedError

    def select(self, pre: Tensor, pieces: Tensor) -> Tensor:
        """Return the output ``(s, *shape)`` when every unit uses the given piece, whatever its pre-activation."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class Pointwise(GateNode):
    """Units that apply one piecewise-affine function of one variable.

    Piece j is the number of breakpoints strictly below z; its value is ``slopes[j] * z + intercepts[j]``. Where
    neighbouring pieces do not agree at their breakpoint the function `jumps`.
    """

    breakpoints: Tensor  # (p, u) or (p, 1), ascending along the first axis
    slopes: Tensor  # (p + 1, u) or (p + 1, 1)
    intercepts: Tensor  # (p + 1, u) or (p + 1, 1)

    @cached_property
    def jumps(self) -> Tensor:
        """By how much the value just above each breakpoint exceeds that at it, ``(p, u)`` or ``(p, 1)``.

        Exactly zero where the pieces meet. Of breakpoints that coincide the last one has what all of them make.
        """
        below, above = self._on_pieces(slice(None, -1)), self.just_above
        is_last = torch.isfinite(self.breakpoints).expand_as(above).clone()
        for row in range(len(above) - 1):
            same = self.breakpoints[row] == self.breakpoints[row + 1]
            below[row + 1] = torch.where(same, below[row], below[row + 1])
            is_last[row] &= ~same
        return torch.where(is_last, above - below, 0.0)

    @property
    def just_above(self) -> Tensor:
        """The values that the piece above each breakpoint comes from, ``(p, u)`` or ``(p, 1)``."""
        return self._on_pieces(slice(1, None))

    @cached_property
    def is_continuous(self) -> bool:
        """Whether it jumps nowhere."""
        return not bool(self.jumps.any())

    def _on_pieces(self, pieces: slice) -> Tensor:
        return self.slopes[pieces] * self.breakpoints + self.intercepts[pieces]

    @property
    def num_pieces(self) -> int:
        """Number of breakpoints plus one."""
        return len(self.slopes)

    @cached_property
    def is_relu(self) -> bool:
        """Whether all units are ReLUs."""
        return (
            self.breakpoints.flatten().tolist() == [0.0]
            and self.slopes.flatten().tolist() == [0.0, 1.0]
            and not self.intercepts.any()
        )

    def candidates(self, value: Tensor) -> Tensor:
        """Return the pre-activations ``(s, u)``: the input, flattened."""
        return value.reshape(len(value), self.num_units)

    def apply(self, pre: Tensor) -> Tensor:
        """Return the function of every pre-activation, ``(s, *shape)``."""
        if self.is_relu:
            return torch.relu(pre).reshape(-1, *self.shape)
        result = self.slopes[0] * pre + self.intercepts[0]
        for piece, threshold in enumerate(self.breakpoints, start=1):
            result = torch.where(pre > threshold, self.slopes[piece] * pre + self.intercepts[piece], result)
        return result.reshape(-1, *self.shape)

    def pieces(self, pre: Tensor) -> Tensor:
        """Return the number of breakpoints strictly below each pre-activation, ``(s, u)``."""
        result = (pre > self.breakpoints[0]).to(self.piece_dtype)
        for threshold in self.breakpoints[1:]:
            result += pre > threshold
        return result

    def select(self, pre: Tensor, pieces: Tensor) -> Tensor:
        """Return ``slope * z + intercept`` of the given pieces, ``(s, *shape)``."""
        return (self.slope(pieces) * pre + self.intercept(pieces)).reshape(-1, *self.shape)

    @cached_property
    def least_slope(self) -> float:
        """The least nonzero absolute value of a slope."""
        return least_nonzero(self.slopes)

    def slope(self, pieces: Tensor) -> Tensor:
        """Return the slope of every unit on the given pieces, ``(s, u)``."""
        return _by_piece(self.slopes, pieces)

    def intercept(self, pieces: Tensor) -> Tensor:
        """Return the intercept of every unit on the given pieces, ``(s, u)``."""
        return _by_piece(self.intercepts, pieces)


@dataclass(frozen=True, eq=False, kw_only=True)
class Approximate(Pointwise):
    """A pointwise gate in place of a smooth function, as was asked for."""

    replaces: str  # the smooth function
    error: float  # proved bound on the distance from it, everywhere


def _by_piece(table: Tensor, pieces: Tensor) -> Tensor:
    """Look up ``table[piece]`` per unit, where the table has one column or one per unit."""
    if table.shape[1] == 1:
        return table[:, 0][pieces.long()]
    return table.gather(0, pieces.long())


def check_order(nodes: Sequence[Node]) -> None:
    """Check that a graph starts with its input and reads only earlier nodes."""
    if not nodes or not isinstance(nodes[0], Input):
        raise ValueError("a graph starts with its Input node")
    for position, node in enumerate(nodes):
        if any(not 0 <= source < position for source in node.inputs):
            raise ValueError(f"node {position} ({node.name}) reads a node that is not earlier: {node.inputs}")
