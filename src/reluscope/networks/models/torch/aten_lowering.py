"""From a traced PyTorch graph to a network: operators on constants are run, the others are lowered one by one."""

import operator as python_operators
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node as FxNode
from torch.fx.node import map_arg

from reluscope.errors import InputError, NotPiecewiseLinearError, UnsupportedOperatorError
from reluscope.networks.building.builder import GraphBuilder, Picked, Value
from reluscope.networks.building.parameters import replace_parameters
from reluscope.networks.graph.input_shapes import check_total
from reluscope.networks.models.operators.refused_operators import is_refused, refusal
from reluscope.networks.models.torch import activations, aten_operands
from reluscope.networks.models.torch import aten_arithmetic as arithmetic
from reluscope.networks.models.torch import aten_largest as largest
from reluscope.networks.models.torch import aten_layers as layers
from reluscope.networks.models.torch import aten_moves as moves
from reluscope.networks.models.torch import aten_recurrence as recurrence
from reluscope.networks.models.torch import aten_scatters as scatters
from reluscope.networks.models.torch.aten_site import HANDLERS, AtenSite, BatchAxisError, as_double, is_value
from reluscope.networks.models.torch.aten_tails import Tail, find_tail
from reluscope.networks.models.torch.traced_nodes import bind, gate_name, in_double, name_of, place_of, run_operator
from reluscope.networks.network import Network

_FAMILIES = (
    activations,
    aten_operands,
    arithmetic,
    largest,
    layers,
    moves,
    recurrence,
    scatters,
)  # imported for their entries in the table of handlers


@dataclass(frozen=True, eq=False)
class TorchTrace:
    """A graph of ATen operators with its constants, ready to be lowered and to be run.

    ``parameters`` has the placeholders' constants by the model's own names, for each parameter and buffer.
    """

    graph: torch.fx.Graph  # operators in order; leaves are constants and one input
    constants: Mapping[str, Any]  # tensors by the name of their placeholder
    parameters: Mapping[str, Tensor]
    placeholders: Mapping[str, str]  # placeholder names to the model's names
    aliases: Mapping[str, str]  # other names of the same parameters
    input_name: str  # the placeholder of the input
    output: str  # the node that is the model's output
    input_shape: tuple[int, ...]  # without the batch axis
    batch: int  # length of the batch axis in the trace
    notes: tuple[str, ...] = ()
    approximate: Mapping[str, int] = field(default_factory=dict)  # smooth functions and their numbers of pieces
    tail: Tail = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tail", find_tail(self.graph, self.output, self.approximate))

    def lower(self, state: Mapping[str, Any] | None = None) -> Network:
        """Return the network, with the constants in ``state`` in place of the trace's own."""
        check_total(sum(map(_num_values, self.tail.needed)), "the traced operators make")
        trace = replace(self, parameters=replace_parameters(self.parameters, state, self.aliases)) if state else self
        builder = GraphBuilder(self.approximate)
        for note in self.notes:
            builder.note(note)
        try:
            output = trace._run(builder.input(self.input_shape), builder)
        except BatchAxisError:
            # The reader is helped more by an operator that says what is meant, if there is one further on.
            self._refuse_curved()
            raise
        if output is None:
            raise NotPiecewiseLinearError(
                f"expected scores, but the model returns positions at {place_of(self.tail.last)}, which jump from "
                "point to point: return what is compared, or load the part before it with submodule="
            )
        if isinstance(output, Picked):
            output = builder.named("topk").in_order(output)
        if isinstance(output, Tensor):
            row = AtenSite(builder, "output", "the output", self.batch, lambda: None).one_row(output)
            output = builder.fixed(Value(0, self.input_shape), row)
        left_off = self.tail.left_off(output.shape)
        if left_off is not None:
            builder.note(left_off.note)
        return replace(builder.build(output, fuses=True), trace=trace, left_off=left_off)

    def _refuse_curved(self) -> None:
        dependent: set[FxNode] = set()
        for node in self.graph.nodes:
            if node not in self.tail.needed or node is self.tail.skipped:
                dependent.add(node)
                continue
            if node.name == self.input_name or dependent.intersection(node.all_input_nodes):
                dependent.add(node)
                if isinstance(node.target, torch._ops.OpOverload) and self._is_refused(name_of(node)):
                    raise refusal(name_of(node), place_of(node))
                if name_of(node) == "topk" and largest.compares_points(node, self.batch):
                    raise largest.batch_refusal(place_of(node))

    def _is_refused(self, operator: str) -> bool:
        return operator not in self.approximate and is_refused(operator)

    def reference(self, x: Tensor) -> Tensor:
        """Run the traced operators themselves in float64 on one batch."""
        output = self._run(x, None)
        return output if isinstance(output, Tensor) else torch.as_tensor(output)

    def _run(self, x: Any, builder: GraphBuilder | None) -> Any:
        results: dict[FxNode, Any] = {}
        for node in self.graph.nodes:
            if node not in self.tail.needed:
                continue
            if node is self.tail.skipped:
                results[node] = results[node.all_input_nodes[0]]
            elif node.op == "placeholder":
                if node.name == self.input_name:
                    results[node] = x
                elif node.name in self.placeholders:
                    results[node] = self.parameters[self.placeholders[node.name]]
                else:
                    results[node] = self.constants[node.name]
            elif node.op == "get_attr":
                results[node] = as_double(self.constants[str(node.target)])
            else:
                results[node] = self._step(node, results, builder)
        return results[self.tail.last]

    def _step(self, node: FxNode, results: dict[FxNode, Any], builder: GraphBuilder | None) -> Any:
        args = map_arg(node.args, results.__getitem__)
        kwargs = map_arg(node.kwargs, results.__getitem__)
        if not any(_depends(argument) for argument in (*args, *kwargs.values())):
            return run_operator(node, args, kwargs)
        if node.target is python_operators.getitem:
            return _item(args, node)
        assert builder is not None
        operator = name_of(node)
        handler = HANDLERS.get(operator)
        if handler is None:
            raise refusal(operator, place_of(node))
        builder = builder.named(gate_name(node, operator))
        site = AtenSite(builder, operator, place_of(node), self.batch, in_double(node.target))
        try:
            arguments = bind(node, args, kwargs)
            if any(isinstance(argument, Picked) for argument in vars(arguments).values()):
                return largest.with_picked(site, arguments)
            if any(isinstance(argument, recurrence.LayerStates) for argument in vars(arguments).values()):
                return recurrence.with_states(site, arguments)
            return handler(site, arguments)
        except (UnsupportedOperatorError, InputError):
            raise
        except Exception as error:
            raise UnsupportedOperatorError(
                f"{operator} at {site.place} is used in a form that reluscope does not know: {error}"
            ) from error


def _depends(argument: Any) -> bool:
    return isinstance(argument, recurrence.LayerStates) or is_value(argument)


def _item(args: Any, node: FxNode) -> Any:
    item = args[0][args[1]]
    if item is None and any(user.op != "output" for user in node.users):
        raise NotPiecewiseLinearError(
            f"expected values, but positions or statistics are used at {place_of(node)}, which jump from point to point"
        )
    return item


def _num_values(node: FxNode) -> int:
    """Return how many numbers an operator makes for a point; lengths that are open are those of the batch."""
    value = node.meta.get("val")
    if node.op != "call_function" or not isinstance(value, Tensor):
        return 0
    return prod(length for length in value.shape if isinstance(length, int))
