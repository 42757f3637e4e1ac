"""The end of a traced graph: the model's output, and what is left off before it."""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.fx import Node as FxNode

from reluscope.networks.graph.increasing_functions import LINEAR
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.models.operators.last_steps import INCREASING, SOFTMAX, before_moves
from reluscope.networks.models.torch.traced_nodes import bind, name_of, run_operator


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
    end, moved = before_moves(output, name_of, _source)
    source = None if end is None else _source(end)
    if end is None or source is None:
        return Tail(output, _needed(output))
    name = name_of(end)
    normalised = _normalised(end)
    if normalised is not None and not moved:
        scores, axis = normalised
        return Tail(scores, _needed(scores), softmax=("log_softmax", axis))
    if name in INCREASING and name not in kept and (name != "softplus" or _beta(end) is not None):
        return Tail(output, _needed(output), skipped=end)
    if name in SOFTMAX and not moved:
        axis, rank = bind(end, end.args, dict(end.kwargs)).dim, len(end.meta["val"].shape)
        if axis % rank:
            inner = _normalised(source)
            if inner is not None and inner[1] == axis % rank:
                source = inner[0]  # what is normalised once more stays as it is
            return Tail(source, _needed(source), softmax=(SOFTMAX[name], axis % rank))
    return Tail(output, _needed(output))


def _normalised(end: FxNode) -> tuple[FxNode, int] | None:
    """Return scores and axis of a difference with their own logsumexp, as `torch.distributions` writes log_softmax."""
    if name_of(end) != "sub" or len(end.args) != 2 or end.kwargs:
        return None
    scores, total = end.args
    if not (isinstance(scores, FxNode) and isinstance(total, FxNode)) or name_of(total) != "logsumexp":
        return None
    given = bind(total, total.args, dict(total.kwargs))
    axes, rank = list(given.dim), len(end.meta["val"].shape)
    if total.args[0] is not scores or not given.keepdim or len(axes) != 1 or not axes[0] % rank:
        return None
    return scores, axes[0] % rank


def _source(end: FxNode) -> FxNode | None:
    source = end.args[0] if end.args else None
    return source if isinstance(source, FxNode) else None


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
