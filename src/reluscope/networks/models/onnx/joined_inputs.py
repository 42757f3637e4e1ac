"""An ONNX model with several inputs as one of a single vector that holds them all, one after the other."""

from collections.abc import Mapping
from math import prod

import numpy as np
import onnx
from onnx import helper, numpy_helper

from reluscope.errors import InputError, ShapeError
from reluscope.networks.models.onnx.program import declared_dims

PREFIX = "joined_inputs"


def join_inputs(model: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]]) -> onnx.ModelProto:
    """Return a model of vectors that hold the inputs with these shapes, without the batch axis, in this order.

    Raises InputError for names of no inputs, ShapeError for shapes that the file does not declare.
    """
    given = {entry.name: entry for entry in model.graph.input}
    kept = {tensor.name for tensor in model.graph.initializer}
    names = [name for name in given if name not in kept]
    unknown = next((name for name in shapes if name not in names), None)
    if unknown is not None:
        raise InputError(f"expected inputs of the file, which are {', '.join(names)}, got {unknown!r}")
    batches = [_batch(given[name], shape) for name, shape in shapes.items()]
    lengths = sorted({length for length in batches if length})
    if len(lengths) > 1:
        raise ShapeError(f"expected inputs with one length of the batch axis, but the file declares {lengths}")
    joined = onnx.ModelProto()
    joined.CopyFrom(model)
    nodes, start = [], 0
    for name, shape in shapes.items():
        stop = start + prod(shape)
        tables = {f"{PREFIX}.{name}.at": np.arange(start, stop), f"{PREFIX}.{name}.shape": np.array([0, *shape])}
        joined.graph.initializer.extend(numpy_helper.from_array(table, key) for key, table in tables.items())
        at, size = tables
        nodes.append(helper.make_node("Gather", [PREFIX, at], [f"{PREFIX}.{name}"], axis=1))
        nodes.append(helper.make_node("Reshape", [f"{PREFIX}.{name}", size], [name]))
        start = stop
    kind = given[next(iter(shapes))].type.tensor_type.elem_type
    others = [entry for entry in joined.graph.input if entry.name not in shapes]
    whole = helper.make_tensor_value_info(PREFIX, kind, [lengths[0] if lengths else None, start])
    del joined.graph.input[:]
    joined.graph.input.extend([whole, *others])
    nodes += joined.graph.node
    del joined.graph.node[:]
    joined.graph.node.extend(nodes)
    return joined


def _batch(entry: onnx.ValueInfoProto, shape: tuple[int, ...]) -> int | None:
    """Return the declared length of the first axis, None where it is open."""
    dims = declared_dims(entry)
    if dims is None:
        return None
    if len(dims) != len(shape) + 1 or any(a not in (None, b) for a, b in zip(dims[1:], shape, strict=True)):
        wanted = ", ".join("?" if length is None else str(length) for length in dims[1:])
        raise ShapeError(f"expected {entry.name} of shape ({wanted}) behind a batch axis as in the file, got {shape}")
    return dims[0]
