"""Nodes that are a function of one value, entry by entry."""

from math import prod

import torch
from torch import Tensor

from reluscope.networks.building.functions import Function
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Approximate, Node, Pointwise
from reluscope.networks.graph.operators.elementwise import ScaleShift

_ZERO, _ONE = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)


def entry_function(node: Node) -> Function | None:
    """Return the function of its one input that a node is, None if it is none."""
    if isinstance(node, ScaleShift) and node.input_shapes[0] == node.shape:
        return Function.affine(_row(node.scale, _ONE, node.shape), _row(node.shift, _ZERO, node.shape))
    if isinstance(node, Pointwise) and not isinstance(node, TopK | Approximate):
        return Function.of_pieces(node.breakpoints, node.slopes, node.intercepts)
    return None


def _row(factor: Tensor | None, default: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a factor as one number for all units, or one for each."""
    if factor is None:
        return default
    return factor.reshape(1) if factor.numel() == 1 else factor.expand(shape).reshape(prod(shape))
