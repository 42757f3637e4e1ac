"""From an ONNX program to a network: nodes on constants are evaluated, the others are lowered one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from onnx import NodeProto, numpy_helper
from torch import Tensor

from reluscope.errors import InputError, NotPiecewiseLinearError, ReluscopeError, ShapeError, UnsupportedOperatorError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.building.parameters import check_finite, replace_parameters
from reluscope.networks.models.onnx import onnx_arithmetic as arithmetic
from reluscope.networks.models.onnx import onnx_gates as gates
from reluscope.networks.models.onnx import onnx_largest as largest
from reluscope.networks.models.onnx import onnx_layers as layers
from reluscope.networks.models.onnx import onnx_moves as moves
from reluscope.networks.models.onnx import onnx_operands, resize
from reluscope.networks.models.onnx import onnx_recurrence as recurrence
from reluscope.networks.models.onnx import onnx_scatters as scatters
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_site import HANDLERS, Activation, NodeSite, Operand, stored_shape
from reluscope.networks.models.onnx.onnx_sizes import check_sizes
from reluscope.networks.models.onnx.program import Program
from reluscope.networks.models.onnx.signature import Signature
from reluscope.networks.models.onnx.smooth_products import SmoothProduct, smooth_products
from reluscope.networks.models.operators.refused_operators import refusal
from reluscope.networks.network import Network

_FAMILIES = (
    arithmetic,
    gates,
    largest,
    layers,
    moves,
    onnx_operands,
    recurrence,
    resize,
    scatters,
)  # imported for their entries in the table of handlers
_RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}
# Of a node, in messages, gates and pages.
LONGEST_NAME = 200

Scope = dict[str, Operand]


@dataclass(frozen=True, eq=False)
class OnnxTrace:
    """An ONNX program with its parameters, ready to be lowered."""

    program: Program  # nodes and constants
    signature: Signature  # how points become its input
    approximate: Mapping[str, int] = field(default_factory=dict)  # smooth functions and their numbers of pieces

    def lower(self, state: Mapping[str, Any] | None = None) -> Network:
        """Return the network, with the initializers in ``state`` in place of the file's own."""
        if state:
            return self._changed(state).lower()
        builder = GraphBuilder(self.approximate)
        for note in (*self.program.notes, *filter(None, [self.signature.note])):
            builder.note(note)
        full = self.signature.tensor_shape
        start = builder.input(self.signature.input_shape)
        scope: Scope = dict(self.program.constants)
        scope[self.program.input_name] = Activation(builder.named("input").reshape(start, stored_shape(full)), full)
        products = smooth_products(
            [node for _, node in self.program.nodes], self.program.constants, [self.program.output_name]
        )
        run = _Run(builder, self.program.opset, self.signature.fixed_batch or 1, products)
        run.nodes(self.program.nodes, scope)
        result = _read(scope, self.program.output_name, "the output")
        assert result is not None
        if isinstance(result, largest.PickedActivation):
            result = Activation(builder.named("topk").in_order(result.picked), stored_shape(result.shape))
        if isinstance(result, Activation):
            output = builder.named("output").reshape(result.value, self.signature.output_shape(result.shape))
        else:
            row = torch.from_numpy(np.array(result, dtype=np.float64))
            output = builder.fixed(start, row.reshape(self.signature.output_shape(tuple(row.shape))))
        last, left_off = self.program.last_step, None
        if last is not None:
            left_off = last.left_off(tuple(result.shape), output.shape, self.program.opset)
            builder.note(left_off.note)
        network = builder.build(output, fuses=True)
        for node in network.nodes:
            for name, tensor in node.tensors().items():
                check_finite(tensor, f"the {name} of {node.name}")
        return replace(network, trace=self, left_off=left_off)

    def _changed(self, state: Mapping[str, Any]) -> "OnnxTrace":
        constants = self.program.constants
        own: dict[str, Tensor] = {name: torch.from_numpy(np.array(constants[name])) for name in self.program.parameters}
        changed = {name: tensor.numpy() for name, tensor in replace_parameters(own, state).items()}
        return replace(self, program=replace(self.program, constants={**constants, **changed}))


@dataclass(frozen=True, eq=False)
class _Run:
    """One pass over the nodes."""

    builder: GraphBuilder
    opset: int
    fixed_batch: int
    products: Sequence[SmoothProduct] = ()

    def nodes(self, nodes: Sequence[tuple[int, NodeProto]], scope: Scope) -> None:
        """Add the outputs of the nodes to the scope."""
        check_sizes([node for _, node in nodes], scope, self.opset)
        results = {product.result: product for product in self.products}
        inside = {name for product in self.products for name in product.inside}
        for position, node in nodes:
            if inside.intersection(node.output):
                continue
            label = _short(node.name or f"-> {', '.join(node.output)}")
            place = f"node {position} ({label})"
            product = results.get(node.output[0]) if node.output else None
            names = node.input if product is None else [product.source]
            operands = [_read(scope, name, f"{node.op_type} at {place}") if name else None for name in names]
            builder = self.builder.named(_short(node.name) or f"{_short(node.op_type).lower()}_{position}")
            site = NodeSite(builder, node.op_type, place, node, operands, self.opset, self.fixed_batch)
            try:
                if product is not None and isinstance(operands[0], Activation):
                    outputs: list[Operand] = [gates.smooth_product(site, product)]
                else:
                    outputs = self._branch(site, scope) if node.op_type == "If" else self._step(site)
            except ReluscopeError as error:
                if isinstance(error, ShapeError) and place not in str(error):
                    raise ShapeError(f"{error} (at {place} of the file)") from error
                raise
            except MemoryError as error:
                raise InputError(
                    f"expected values that memory can hold, but {node.op_type} at {place} makes more ({error}): load a "
                    "part of the model, or give a smaller input_shape"
                ) from error
            except Exception as error:
                shapes = ", ".join(str(tuple(operand.shape)) for operand in operands if operand is not None)
                raise UnsupportedOperatorError(
                    f"{node.op_type} at {place} is used in a form that reluscope does not know, on tensors of shapes "
                    f"{shapes}: {error}"
                ) from error
            scope.update(zip((name for name in node.output), outputs, strict=False))

    def _step(self, site: NodeSite) -> list[Operand]:
        if site.operator in _RANDOM and not site.node.domain:
            reason = "draws random numbers: export the model in evaluation mode"
            raise site.not_piecewise_linear("a deterministic model", reason)
        handler = HANDLERS.get(site.operator)
        subgraphs = any(attribute.HasField("g") for attribute in site.node.attribute)
        if not site.node.domain and not subgraphs and not any(isinstance(o, Activation) for o in site.operands):
            return [_double(found) for found in evaluate(site.node, site.operands, self.opset)]  # pyright: ignore[reportArgumentType]
        if site.node.domain:
            raise UnsupportedOperatorError(
                f"expected standard ONNX operators, but {site.operator} at {site.place} belongs to "
                f"{site.node.domain!r}: export the model without operators of one runtime"
            )
        if handler is None:
            raise refusal(site.operator, site.place)
        has_picked = any(isinstance(operand, largest.PickedActivation) for operand in site.operands)
        outputs = largest.with_picked(site) if has_picked else handler(site)
        found = outputs if isinstance(outputs, list | tuple) else [outputs]
        return [_without_entries(one) for one in found]  # pyright: ignore[reportArgumentType]

    def _branch(self, site: NodeSite, scope: Scope) -> list[Operand]:
        condition = site.operand(0)
        if not isinstance(condition, np.ndarray):
            raise site.discontinuous("branches on the input, which may jump")
        graph = site.setting("then_branch" if bool(condition.item()) else "else_branch")
        inner = dict(scope)
        inner.update({tensor.name: _double(numpy_helper.to_array(tensor)) for tensor in graph.initializer})
        self.nodes(list(enumerate(graph.node)), inner)
        return [_read(inner, entry.name, f"If at {site.place}") for entry in graph.output]


def _short(name: str) -> str:
    """Return a name that fits a line, of a file that may hold any."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]}...{name[-LONGEST_NAME // 2 :]}"


def _read(scope: Scope, name: str, reader: str) -> Operand:
    if name not in scope:
        raise InputError(
            f"expected a complete graph, but {reader} reads {name!r}, which nothing makes: the file may be truncated"
        )
    found = scope[name]
    if found is None:
        raise NotPiecewiseLinearError(
            f"expected values, but {reader} reads {name!r}, positions or statistics that jump from point to point"
        )
    return found


def _without_entries(found: Operand) -> Operand:
    """Return a tensor without entries as a constant: it depends on nothing."""
    return np.zeros(found.shape) if isinstance(found, Activation) and 0 in found.shape else found


def _double(found: Any) -> Any:
    """Return an evaluated constant with floating-point numbers in float64."""
    array = None if found is None else np.asarray(found)
    return array.astype(np.float64) if array is not None and array.dtype.kind == "f" else array
