"""ONNX by its own reference evaluator: single nodes on constants, whole graphs for comparison.

What the evaluator lacks or gets wrong, mostly of old opsets, comes from `amendments`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from reluscope.errors import InputError
from reluscope.networks.models.onnx.amended.amendments import amended_operators
from reluscope.networks.models.onnx.onnx_sizes import inferred_sizes

# Numbers that one node may make of constants unless one of them is as large: a line of a file can ask for any amount.
MAX_NUMBERS = 2**24


def evaluator(
    nodes: Sequence[onnx.NodeProto], inputs: Sequence[str], outputs: Sequence[str], opset: int
) -> ReferenceEvaluator:
    """Return an evaluator of a graph of nodes."""
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [onnx.ValueInfoProto(name=name) for name in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    return ReferenceEvaluator(model, new_ops=amended_operators(opset))


def evaluate(node: onnx.NodeProto, operands: Sequence[np.ndarray | None], opset: int) -> list[Any]:
    """Return the outputs of one node on constants, None for those it leaves out.

    Raises InputError if an output is too large to be made.
    """
    if node.op_type == "Range" and not node.domain:
        operands = [None if one is None else np.asarray(one).reshape(()) for one in operands]
    feeds: Mapping[str, np.ndarray] = {
        f"input {position}": operand for position, operand in enumerate(operands) if operand is not None
    }
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    del alone.input[:], alone.output[:]
    alone.input.extend(f"input {position}" if operand is not None else "" for position, operand in enumerate(operands))
    alone.output.extend(f"output {position}" if name else "" for position, name in enumerate(node.output))
    wanted = [name for name in alone.output if name]
    _check_size(alone, feeds, wanted, opset)
    found = dict(zip(wanted, evaluator([alone], list(feeds), wanted, opset).run(None, dict(feeds)), strict=True))
    return [found.get(name) for name in alone.output]


def _check_size(node: onnx.NodeProto, feeds: Mapping[str, np.ndarray], wanted: Sequence[str], opset: int) -> None:
    """Refuse a node whose outputs, by ONNX's own inference of shapes, would be too large."""
    given = {name: np.asarray(array) for name, array in feeds.items()}
    if node.op_type == "Range" and not node.domain:
        start, end, step = (float(array) for array in given.values())
        sizes = [(end - start) / step if step else 0.0]
    else:
        sizes = list(inferred_sizes([node], given, wanted, opset).values())
    if max(sizes, default=0) > max([MAX_NUMBERS, *(array.size for array in given.values())]):
        raise InputError(
            f"expected constants of at most {MAX_NUMBERS:,} numbers, but {node.op_type} would make one of "
            f"{max(sizes):.3g}: export the model with its constants folded"
        )
