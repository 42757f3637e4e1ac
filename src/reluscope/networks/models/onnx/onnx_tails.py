"""The end of an ONNX graph: what is left off before its output."""

from collections.abc import Collection, Mapping
from math import prod
from typing import NamedTuple

import numpy as np
from onnx import NodeProto, helper

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.graph.left_off import LeftOff
from reluscope.networks.models.operators.last_steps import INCREASING, SOFTMAX, before_moves


class LastStep(NamedTuple):
    """The step that was left off at the end, as the file describes it."""

    name: str  # as in `LeftOff`
    axis: int | None = None  # of a softmax, where the file gives one
    of_two: bool = False  # whether it gives two probabilities for one score

    def left_off(self, shape: tuple[int, ...], output_shape: tuple[int, ...], opset: int) -> LeftOff:
        """Return the `LeftOff` for a tensor of a shape, of which each point has an output of ``output_shape``.

        Raises NotPiecewiseLinearError if a softmax mixes points of a batch, or there are two probabilities for each of
        several scores.
        """
        if self.of_two:
            if prod(output_shape) != 1:
                raise NotPiecewiseLinearError(
                    f"expected the probabilities of two classes for one score at the end, got {prod(output_shape)} "
                    "scores: choose the scores with output="
                )
            return LeftOff("softmax", output_shape, of_two=True)
        if self.name not in SOFTMAX.values():
            return LeftOff(self.name, output_shape)
        # Before opset 13 a softmax is of all entries from an axis on.
        axis, batch = (-1 if opset >= 13 else 1) if self.axis is None else self.axis, len(shape) - len(output_shape)
        first = axis % max(1, len(shape))
        axes = range(first, first + 1 if opset >= 13 else len(shape))
        if first < batch:
            raise NotPiecewiseLinearError(
                f"expected a softmax over the entries of one point, but the last {self.name} works along axis {axis}"
            )
        return LeftOff(self.name, output_shape, tuple(place - batch for place in axes))


def leave_off(
    nodes: list[tuple[int, NodeProto]], output: str, constants: Mapping[str, np.ndarray], kept: Collection[str] = ()
) -> tuple[str, LastStep | None]:
    """Return the output tensor after leaving off the final step where possible, and what that step was.

    An increasing function among the nodes is replaced by ``Identity`` in place; ``kept`` are functions that are not to
    be left off.
    """
    makers = {node.output[0]: place for place, (_, node) in enumerate(nodes) if node.output}

    def kind_of(place: int) -> str:
        node = nodes[place][1]
        return "" if node.domain else node.op_type

    place, moved = before_moves(makers.get(output), kind_of, lambda place: makers.get(nodes[place][1].input[0]))
    if place is None:
        return output, None
    (position, node), kind = nodes[place], kind_of(place)
    if kind in INCREASING and INCREASING[kind] not in kept:
        nodes[place] = position, helper.make_node("Identity", node.input[:1], node.output[:1], node.name)
        return output, LastStep(INCREASING[kind])
    if kind in SOFTMAX and not moved:
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), None)
        return node.input[0], LastStep(SOFTMAX[kind], axis)
    if kind == "Concat" and (score := _score_of_two(nodes, makers, node, constants)) is not None:
        return score, LastStep("sigmoid", of_two=True)
    return output, None


def _score_of_two(
    nodes: list[tuple[int, NodeProto]], makers: Mapping[str, int], node: NodeProto, constants: Mapping[str, np.ndarray]
) -> str | None:
    """Return z where the probabilities of two classes, 1 - sigmoid(z) and sigmoid(z), are joined."""
    if len(node.input) != 2 or not all(name in makers for name in node.input):
        return None
    (_, other), (_, second) = (nodes[makers[name]] for name in node.input)
    if (other.op_type, second.op_type) != ("Sub", "Sigmoid") or other.input[1] != node.input[1]:
        return None
    one = constants.get(other.input[0])
    return second.input[0] if one is not None and bool(np.all(one == 1)) else None
