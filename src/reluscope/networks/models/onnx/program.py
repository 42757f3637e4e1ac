"""An ONNX graph with float64 constants: its nodes, its one input and its one output, without what may be left off."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, numpy_helper

from reluscope.arguments import describe
from reluscope.errors import InputError, UnsupportedOperatorError
from reluscope.networks.building.interfaces import Interface, choose_output
from reluscope.networks.models.onnx.onnx_files import opset_of
from reluscope.networks.models.onnx.onnx_tails import LastStep, leave_off
from reluscope.networks.models.onnx.scikit_learn import in_standard_nodes

_FLOATS = {
    *(TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE),
}


@dataclass(frozen=True, eq=False)
class Program:
    """Nodes and constants of a model.

    Casts to floating-point types are casts to float64, and floating-point constants are float64.
    """

    nodes: tuple[tuple[int, NodeProto], ...]  # those the output needs, with positions in the file
    constants: Mapping[str, np.ndarray]  # initializers and ``Constant`` outputs
    parameters: tuple[str, ...]  # names of the floating-point constants
    input_name: str  # the one input
    output_name: str  # the tensor that is the network's output
    dims: tuple[int | None, ...] | None  # declared input shape, None where a length is open
    output_length: int | None  # declared first axis of the output, None if open
    opset: int  # version of the standard operators
    notes: tuple[str, ...]
    last_step: LastStep | None = None  # what was left off behind the output


def make_program(model: onnx.ModelProto, interface: Interface | None = None) -> Program:
    """Return a model as nodes and constants.

    Raises InputError if it has several inputs or outputs and none is chosen (they are named), or a part of it is
    missing.
    """
    graph, opset, notes = model.graph, opset_of(model), []
    interface = interface or Interface()
    if graph.sparse_initializer:
        raise UnsupportedOperatorError("expected dense weights, got sparse initializers: export the model without them")
    constants = {tensor.name: _array(tensor) for tensor in graph.initializer}
    nodes: list[tuple[int, NodeProto]] = []
    for position, node in enumerate(graph.node):
        node = _in_double(node, notes)
        if node.op_type == "Constant" and not node.domain:
            constants[node.output[0]] = constant_of(node)
        else:
            parts, made = in_standard_nodes(node)
            nodes += [(position, part) for part in parts]
            constants |= made
    nodes = _in_order(nodes)
    parameters = tuple(name for name, array in constants.items() if array.dtype.kind == "f")
    constants |= _fixed(graph, interface.inputs)
    output = _the_output(graph, interface.output, notes)
    last, last_step = leave_off(nodes, output.name, constants, interface.approximate)
    needed = tuple(_needed(nodes, last))
    given = _the_input(graph, constants, [node for _, node in needed], last)
    elem_type = given.type.tensor_type.elem_type
    if elem_type not in {*_FLOATS, TensorProto.UNDEFINED}:
        kind = TensorProto.DataType.Name(elem_type).lower()
        if elem_type in {TensorProto.STRING, TensorProto.BOOL}:
            raise InputError(f"expected an input of numbers, but {given.name} holds {kind}")
        notes.append(f"The model takes {kind}; it was read as a function of real numbers.")
    lengths = declared_dims(output)
    return Program(
        nodes=needed,
        constants=constants,
        parameters=parameters,
        input_name=given.name,
        output_name=last,
        dims=declared_dims(given),
        output_length=lengths[0] if lengths else None,
        opset=opset,
        notes=tuple(dict.fromkeys(notes)),
        last_step=last_step,
    )


def constant_of(node: NodeProto) -> np.ndarray:
    """Return the value of a ``Constant`` node, floating-point numbers in float64."""
    for attribute in node.attribute:
        found = onnx.helper.get_attribute_value(attribute)
        if attribute.name == "value":
            return _array(found)
        if attribute.name in {"value_float", "value_floats"}:
            return np.array(found, dtype=np.float64)
        if attribute.name in {"value_int", "value_ints"}:
            return np.array(found, dtype=np.int64)
    raise UnsupportedOperatorError(f"Constant {node.output[0]!r} is not supported with text or sparse values")


def captured(node: NodeProto) -> Iterator[str]:
    """Yield the names of the tensors that a node reads, in its subgraphs too."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            own = {name for inner in attribute.g.node for name in inner.output}
            own |= {entry.name for entry in (*attribute.g.input, *attribute.g.initializer)}
            reads = {name for inner in attribute.g.node for name in captured(inner)}
            yield from sorted((reads | {entry.name for entry in attribute.g.output}) - own)


def _array(tensor: TensorProto) -> np.ndarray:
    try:
        if any(length < 0 for length in tensor.dims):
            raise ValueError("negative lengths")
        array = numpy_helper.to_array(tensor)
    except Exception as error:
        raise InputError(
            f"expected {tensor.name or 'a constant'!r} to hold {list(tensor.dims)} numbers, but it cannot be read: the "
            "file may be truncated"
        ) from error
    return array.astype(np.float64) if tensor.data_type in _FLOATS else array


def _in_double(node: NodeProto, notes: list[str]) -> NodeProto:
    """Return a node whose floating-point types are float64."""
    result = NodeProto()
    result.CopyFrom(node)
    result.domain = "" if node.domain == "ai.onnx" else node.domain
    for attribute in result.attribute:
        if attribute.name in {"to", "dtype"} and attribute.type == AttributeProto.INT and attribute.i in _FLOATS:
            if attribute.i in {TensorProto.FLOAT16, TensorProto.BFLOAT16}:
                kind = TensorProto.DataType.Name(attribute.i).lower()
                notes.append(f"A cast to {kind} was read as the identity: the network computes in float64.")
            attribute.i = TensorProto.DOUBLE
        elif attribute.type == AttributeProto.TENSOR and attribute.t.data_type in _FLOATS:
            attribute.t.CopyFrom(numpy_helper.from_array(_array(attribute.t), attribute.t.name))
        elif attribute.type == AttributeProto.GRAPH:
            inner = [_in_double(entry, notes) for entry in attribute.g.node]
            tensors = [numpy_helper.from_array(_array(entry), entry.name) for entry in attribute.g.initializer]
            del attribute.g.node[:], attribute.g.initializer[:]
            attribute.g.node.extend(inner)
            attribute.g.initializer.extend(tensors)
    if (
        result.op_type == "Constant"
        and not result.domain
        and result.attribute[0].name in {"value_float", "value_floats"}
    ):
        tensor = numpy_helper.from_array(constant_of(result))
        result.attribute[0].CopyFrom(onnx.helper.make_attribute("value", tensor))
    if result.op_type == "ConstantOfShape" and not result.attribute:
        result.attribute.append(onnx.helper.make_attribute("value", numpy_helper.from_array(np.zeros(1))))
    return result


def _the_input(
    graph: onnx.GraphProto, constants: Mapping[str, np.ndarray], nodes: Sequence[NodeProto], output: str
) -> onnx.ValueInfoProto:
    """Return the one input that nodes read; those with an initializer are constants."""
    free = [entry for entry in graph.input if entry.name not in constants]
    read = {name for node in nodes for name in captured(node)} | {output}
    used = [entry for entry in free if entry.name in read]
    if len(free) == 1:
        return free[0]  # also where the output depends on nothing
    if len(used) != 1:
        names = ", ".join(entry.name for entry in used or free) or "none"
        raise InputError(
            f"expected a model with one input, got {len(used)}: {names}; hold all but one fixed, with inputs=, "
            "or join them, with a mapping from names to shapes as input_shape="
        )
    return used[0]


def _fixed(graph: onnx.GraphProto, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return what inputs are held fixed at, in the types that the file declares."""
    declared = {entry.name: entry for entry in graph.input}
    fixed = {}
    for name, value in inputs.items():
        if name not in declared:
            raise InputError(f"expected inputs of the file, which are {', '.join(declared)}, got {name!r}")
        array = np.asarray(value)
        kind = declared[name].type.tensor_type.elem_type
        dtype = np.dtype(np.float64) if kind in _FLOATS else onnx.helper.tensor_dtype_to_np_dtype(kind)
        dims = declared_dims(declared[name])
        fits = dims is None or (
            array.ndim == len(dims) and all(a in (None, b) for a, b in zip(dims, array.shape, strict=True))
        )
        if not fits or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            wanted = "any shape" if dims is None else f"shape ({', '.join('?' if d is None else str(d) for d in dims)})"
            raise InputError(f"expected {name} to be fixed at finite numbers of {wanted}, got {describe(value)}")
        fixed[name] = array.astype(dtype)
    return fixed


def _the_output(graph: onnx.GraphProto, output: str | int | None, notes: list[str]) -> onnx.ValueInfoProto:
    """Return the output that is meant, or a tensor on the way to one; of several, the only one that is no label."""
    entries = list(graph.output)
    made = {name for node in graph.node for name in node.output if name}
    if isinstance(output, str) and output in made and output not in {entry.name for entry in entries}:
        return onnx.ValueInfoProto(name=output)  # a tensor on the way
    names = [entry.name for entry in entries]
    if output is None and len(entries) > 1:
        numbers = [entry for entry in entries if entry.type.tensor_type.elem_type in {*_FLOATS, TensorProto.UNDEFINED}]
        if len(numbers) == 1:
            notes.append(
                f"Of the outputs {', '.join(names)}, the network is {numbers[0].name}: the others are no numbers."
            )
            return numbers[0]
    return entries[choose_output(names, output)]


def declared_dims(entry: onnx.ValueInfoProto) -> tuple[int | None, ...] | None:
    """Return the lengths that a file declares, None where one is open; None for no shape at all."""
    if not entry.type.tensor_type.HasField("shape"):
        return None
    lengths = entry.type.tensor_type.shape.dim
    return tuple(dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else None for dim in lengths)


def _in_order(nodes: list[tuple[int, NodeProto]]) -> list[tuple[int, NodeProto]]:
    """Return nodes behind those that make what they read; some exporters write them in any order."""
    makers = {name: place for place, (_, node) in enumerate(nodes) for name in node.output if name}
    done: set[int] = set()
    ordered: list[int] = []
    for first in range(len(nodes)):
        stack = [first]
        path: set[int] = set()
        while stack:
            place = stack[-1]
            waits = [
                makers[name] for name in captured(nodes[place][1]) if makers.get(name, place) not in done | {place}
            ]
            if place in done or not waits or place in path:
                stack.pop()
                if place not in done:
                    done.add(place)
                    ordered.append(place)
            else:
                path.add(place)
                stack += waits
    return [nodes[place] for place in ordered]


def _needed(nodes: Sequence[tuple[int, NodeProto]], output: str) -> Iterator[tuple[int, NodeProto]]:
    wanted, kept = {output}, []
    for position, node in reversed(nodes):
        if wanted & set(node.output):
            wanted |= set(captured(node))
            kept.append((position, node))
    return reversed(kept)
