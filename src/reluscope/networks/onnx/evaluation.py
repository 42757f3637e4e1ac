"""ONNX by its own reference evaluator: single nodes on constants, whole graphs for comparison.

What the evaluator lacks or gets wrong, mostly of old opsets, comes from `amendments`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from reluscope.networks.onnx.amendments import amended_operators


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
    """Return the outputs of one node on constants, None for those it leaves out."""
    feeds: Mapping[str, np.ndarray] = {
        f"input {position}": operand for position, operand in enumerate(operands) if operand is not None
    }
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    del alone.input[:], alone.output[:]
    alone.input.extend(f"input {position}" if operand is not None else "" for position, operand in enumerate(operands))
    alone.output.extend(f"output {position}" if name else "" for position, name in enumerate(node.output))
    wanted = [name for name in alone.output if name]
    found = dict(zip(wanted, evaluator([alone], list(feeds), wanted, opset).run(None, dict(feeds)), strict=True))
    return [found.get(name) for name in alone.output]
