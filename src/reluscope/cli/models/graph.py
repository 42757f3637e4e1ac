"""A network's graph as a list of steps: gates, and between them runs of affine nodes, each summarised in one line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reluscope.networks.graph.nodes import GateNode, Input, Node
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.network import Network


@dataclass(frozen=True)
class ListedStep:
    """One line of the listing of a network's steps."""

    kind: str  # ``input``, ``affine`` or ``gate``
    name: str  # of the gate, or of affine nodes that do more than arrange
    operation: str  # what it does
    shape: tuple[int, ...]  # of its value
    num_parameters: int  # weights and constants of the affine nodes
    reads: tuple[int, ...]  # positions of the steps that it reads
    gate: int | None = None  # position among the network's gates


def steps(network: Network) -> tuple[ListedStep, ...]:
    """Return the network's steps in order of evaluation.

    Affine nodes that follow one another, each read by the next alone, are one step; so a branch begins and ends with a
    step of its own.
    """
    readers = _readers(network)
    runs: list[list[int]] = []
    run_of: dict[int, int] = {}
    for position, node in enumerate(network.nodes):
        before = node.inputs[0] if len(node.inputs) == 1 else None
        if before is not None and _is_affine(node) and _is_affine(network.nodes[before]) and readers[before] == 1:
            run_of[position] = run_of[before]
            runs[run_of[position]].append(position)
        else:
            run_of[position] = len(runs)
            runs.append([position])
    gates = {name: index for index, name in enumerate(gate.name for gate in network.gates)}
    return tuple(_step([network.nodes[position] for position in run], run_of, gates) for run in runs)


def _readers(network: Network) -> list[int]:
    number = [0] * len(network.nodes)
    for node in network.nodes:
        for source in node.inputs:
            number[source] += 1
    number[network.output] += 1
    return number


def _is_affine(node: Node) -> bool:
    return not isinstance(node, GateNode | Input)


def _step(run: Sequence[Node], run_of: dict[int, int], gates: dict[str, int]) -> ListedStep:
    first, last = run[0], run[-1]
    reads = tuple(run_of[source] for source in first.inputs)
    if isinstance(last, Input):
        return ListedStep("input", last.name, "input", last.shape, 0, reads)
    if isinstance(last, GateNode):
        return ListedStep("gate", last.name, last.kind.replace("_", " "), last.shape, 0, reads, gates[last.name])
    working = [node for node in run if not isinstance(node, Reshape)] or [last]
    return ListedStep(
        "affine",
        ", ".join(dict.fromkeys(node.name for node in working)),
        ", ".join(_operation(node) for node in working),
        last.shape,
        sum(_num_parameters(node) for node in run),
        reads,
    )


def _operation(node: Node) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()
    weight = node.tensors().get("weight")
    return words if weight is None else f"{words} {' x '.join(map(str, weight.shape))}"


def _num_parameters(node: Node) -> int:
    return sum(tensor.numel() for tensor in node.tensors().values() if tensor.is_floating_point())
