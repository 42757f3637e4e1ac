"""How large the tensors of an ONNX graph are: added up from their shapes before any of them is computed."""

from collections.abc import Collection, Mapping, Sequence
from math import prod

import numpy as np
import onnx
from onnx import NodeProto, helper, numpy_helper

from reluscope.networks.graph.input_shapes import check_total
from reluscope.networks.models.onnx.onnx_site import Activation, Operand
from reluscope.networks.models.onnx.program import captured

# Operands of so few whole numbers may be shapes, repeats and the like, on which the size of a result depends.
SHORT = 64
# Entries of all vectors together up to which they are followed.
FOLLOWED = 2**20


def check_sizes(nodes: Sequence[NodeProto], scope: Mapping[str, Operand], opset: int) -> None:
    """Raise InputError if the outputs of nodes, by ONNX's shape inference, have too many numbers together."""
    sizes = inferred_sizes(nodes, scope, [], opset)
    check_total(sum(sizes.values()), "the nodes of the file make")


def inferred_sizes(
    nodes: Sequence[NodeProto], scope: Mapping[str, Operand], outputs: Sequence[str], opset: int
) -> dict[str, int]:
    """Return how many numbers outputs of nodes have, where shapes and short constants tell it."""
    read = {name: scope[name] for node in nodes for name in captured(node) if scope.get(name) is not None}
    inputs, short = [], []
    for name, operand in read.items():
        if isinstance(operand, Activation):
            inputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, operand.shape))
            continue
        array = np.asarray(operand)
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        if array.size <= SHORT and array.dtype.kind in "iu":
            short.append(numpy_helper.from_array(array, name))
    graph = helper.make_graph(nodes, "graph", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], short)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    found = _inferred(model, read, with_values=False)
    vectors = [np.asarray(one).shape for one in read.values() if not isinstance(one, Activation)] + [*found.values()]
    # ONNX writes down every entry of a vector that it follows, and vectors that double make it fill all memory.
    if sum(shape[0] for shape in vectors if len(shape) == 1 and shape[0] > 0) <= FOLLOWED:
        found |= _inferred(model, read, with_values=True)
    return {name: _number(shape) for name, shape in found.items()}


def _inferred(model: onnx.ModelProto, read: Collection[str], *, with_values: bool) -> dict[str, tuple[int, ...]]:
    """Return the shapes that ONNX infers of what nodes make, also from the entries of vectors if they are followed."""
    try:
        found = onnx.shape_inference.infer_shapes(model, data_prop=with_values).graph
    except Exception:  # an error in a node, which its lowering finds as well
        return {}
    shapes = {entry.name: entry.type.tensor_type.shape.dim for entry in (*found.value_info, *found.output)}
    return {
        name: tuple(dim.dim_value for dim in dims)
        for name, dims in shapes.items()
        if name not in read and all(dim.HasField("dim_value") for dim in dims)
    }


def _number(lengths: Sequence[int]) -> int:
    # A length below 0 is one beyond the whole numbers of 64 bits.
    return prod(length if length >= 0 else 2**63 for length in lengths)
