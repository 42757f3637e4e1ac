"""The end of a traced graph: the model's output, and what may be left off before it.

A softmax is the last step; an increasing function of each entry may be followed by steps that only move entries, such
as ``squeeze``, with which it commutes.
"""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.fx import Node as FxNode

from reluscope.networks.graph.increasing_functions import LINEAR
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.models.torch.traced_nodes import bind, name_of, run_operator

_SOFTMAX = {"softmax": "softmax", "_softmax": "softmax", "log_softmax": "log_softmax", "_log_softmax": "log_softmax"}
_INCREASING = {"sigmoid", "log_sigmoid", "softplus", "tanh"}
_PASSING = {"_to_copy", "to", "clone", "contiguous", "alias", "detach"}
_MOVING = {"view", "_unsafe_view", "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "select"}


@dataclass(frozen=True, eq=False)
class Tail:
    """The node where the network ends, and what was left off behind it.

    The value of ``skipped`` is that of the node it reads.
    """

    last: FxNode  # the node whose value is the network's output
    needed: frozenset[FxNode]  # the nodes that it depends on
    softmax: tuple[str, int] | None = None  # (name, axis) of the softmax that was left off
    skipped: FxNode | None = None  # the increasing function that was left off

    def left_off(self, shape: tuple[int, ...]) -> LeftOff | None:
        """Return what was left off behind an output of a shape."""
        if self.softmax is not None:
            name, axis = self.softmax
            return LeftOff(name, tuple(self.last.meta["val"].shape[1:]), (axis - 1,))
        if self.skipped is None:
            return None
        beta = _beta(self.skipped) if name_of(self.skipped) == "softplus" else None
        return LeftOff(name_of(self.skipped), shape, beta=beta or 1.0)

    def finish(self, output: Tensor) -> Tensor:
        """Return the model's output from the network's, with what was left off."""
        if self.softmax is not None:
            name, axis = self.softmax
            return output.softmax(axis) if name == "softmax" else output.log_softmax(axis)
        if self.skipped is not None:
            return run_operator(self.skipped, (output, *self.skipped.args[1:]), self.skipped.kwargs)
        return output


def find_tail(graph: torch.fx.Graph, name_of_output: str, kept: Collection[str] = ()) -> Tail:
    """Return where the network ends: at an output, or before what may be left off and is not to be kept."""
    output = next(node for node in graph.nodes if node.name == name_of_output)
    end, moved = output, False
    while True:
        source = end.args[0] if end.args else None
        if not isinstance(source, FxNode):
            break
        name = name_of(end)
        if name in _PASSING or name in _MOVING:
            moved |= name in _MOVING
            end = source
        elif name in _INCREASING and name not in kept and (name != "softplus" or _beta(end) is not None):
            return Tail(output, _needed(output), skipped=end)
        elif name in _SOFTMAX and not moved:
            axis, rank = bind(end, end.args, dict(end.kwargs)).dim, len(end.meta["val"].shape)
            if axis % rank == 0:
                break
            return Tail(source, _needed(source), softmax=(_SOFTMAX[name], axis % rank))
        else:
            break
    return Tail(output, _needed(output))


def _beta(end: FxNode) -> float | None:
    """Return the factor of a softplus, None of one that jumps where PyTorch goes over to the identity."""
    settings = bind(end, end.args, dict(end.kwargs))
    return float(settings.beta) if settings.beta > 0 and settings.threshold >= LINEAR else None


def _needed(last: FxNode) -> frozenset[FxNode]:
    needed: set[FxNode] = set()
    stack = [last]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(node.all_input_nodes)
    return frozenset(needed)
