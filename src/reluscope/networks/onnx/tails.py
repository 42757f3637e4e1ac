"""The end of an ONNX graph: what may be left off before its output.

A softmax is the last step; an increasing function of each entry may be followed by steps that only move entries, such
as ``Squeeze``, with which it commutes.
"""

from collections.abc import Collection, Mapping

import numpy as np
from onnx import NodeProto, helper

from reluscope.errors import NotPiecewiseLinearError

_SOFTMAX = {"Softmax": "softmax", "LogSoftmax": "log_softmax"}
_INCREASING = {"Sigmoid": "sigmoid", "Softplus": "softplus", "Tanh": "tanh"}
_PASSING = {"Identity", "Cast", "Dropout"}
_MOVING = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"}


def leave_off(
    nodes: list[tuple[int, NodeProto]], output: str, constants: Mapping[str, np.ndarray], kept: Collection[str] = ()
) -> tuple[str, str | None]:
    """Leave off what may be: return the tensor that is the output then, and what it was.

    Parameters
    ----------
    nodes : list of (position, NodeProto)
        An increasing function among them is replaced by ``Identity``, in place.
    output : str
        The model's output.
    constants : mapping from str to array
        Of the graph.
    kept : collection of str
        Increasing functions that are not to be left off.

    Raises
    ------
    NotPiecewiseLinearError
        If a softmax at the end mixes points of a batch.
    """
    makers = {node.output[0]: place for place, (_, node) in enumerate(nodes) if node.output}
    end, moved = output, False
    while end in makers:
        position, node = nodes[makers[end]]
        kind = "" if node.domain else node.op_type
        if kind in _INCREASING and _INCREASING[kind] not in kept:
            nodes[makers[end]] = position, helper.make_node("Identity", node.input[:1], node.output[:1], node.name)
            return output, _INCREASING[kind]
        if kind in _SOFTMAX and not moved:
            axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), -1)
            if axis == 0:
                raise NotPiecewiseLinearError(
                    f"expected a softmax over the entries of one point, but the last {kind} works along axis 0"
                )
            return node.input[0], _SOFTMAX[kind]
        if kind == "Concat" and (score := _score_of_two(nodes, makers, node, constants)) is not None:
            return score, "sigmoid"
        if kind not in _PASSING | _MOVING:
            break
        moved |= kind in _MOVING
        end = node.input[0]
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
