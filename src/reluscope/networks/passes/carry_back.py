"""Weights of values in a function of the output, carried back through a network whose units are held to pieces."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from reluscope.interruption import step_point
from reluscope.networks.graph.nodes import Affine

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph
    from reluscope.networks.passes.stages import Stage

W = TypeVar("W")


class BackwardCarrier(Protocol[W]):
    """How weights W of a value become weights of the values that it is computed from."""

    def affine_back(self, node: Affine, weights: W) -> Sequence[W]:
        """Return the weights of each value that an affine node reads."""
        ...

    def gate_back(self, stage: "Stage", weights: W) -> W:
        """Return the weights of the input of a stage's gate."""
        ...

    def add(self, first: W, second: W) -> W:
        """Return the weights of a value that two others are computed from."""
        ...


def carry_back(
    network: "NetworkGraph", carrier: BackwardCarrier[W], weights: W, position: int | None = None
) -> W | None:
    """Return the weights of the input from weights of a node's value, by default the output.

    None if the value does not depend on the input. Nodes run in reverse order, those that the value does not depend on
    left out. Gradient tensors go back by `reluscope.networks.evaluation.backward`.
    """
    start = network.output if position is None else position
    found, stages = {start: weights}, {stage.position: stage for stage in network.stages}
    for current in range(start, 0, -1):
        if current not in found:
            continue
        step_point()
        node, after = network.nodes[current], found.pop(current)
        if isinstance(node, Affine):
            before = carrier.affine_back(node, after)
        else:
            before = [carrier.gate_back(stages[current], after)]
        for source, part in zip(node.inputs, before, strict=True):
            found[source] = carrier.add(found[source], part) if source in found else part
    return found.get(0)
