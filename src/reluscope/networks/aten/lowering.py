"""From a traced PyTorch graph to a network: operators on constants are run, the others are lowered one by one."""

import operator as python_operators
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node as FxNode
from torch.fx.node import map_arg

from reluscope.errors import InputError, NotPiecewiseLinearError, UnsupportedOperatorError
from reluscope.networks.aten import activations, arithmetic, layers, moves
from reluscope.networks.aten.refusals import is_refused, refusal
from reluscope.networks.aten.site import HANDLERS, BatchAxisError, Site, as_double, is_value
from reluscope.networks.builder import GraphBuilder, Value
from reluscope.networks.network import Network
from reluscope.networks.parameters import replace_parameters

_FAMILIES = (activations, arithmetic, layers, moves)  # imported for their entries in the table of handlers
_SOFTMAX = {"softmax": "softmax", "_softmax": "softmax", "log_softmax": "log_softmax", "_log_softmax": "log_softmax"}
_PASSING = {"_to_copy", "to", "clone", "contiguous", "alias", "detach"}


@dataclass(frozen=True, eq=False)
class TorchTrace:
    """A graph of ATen operators with its constants, ready to be lowered and to be run.

    Parameters
    ----------
    graph : torch.fx.Graph
        Operators in order; the leaves are constants and one input.
    constants : mapping
        Tensors by the name of their placeholder.
    parameters : mapping
        For each parameter and buffer of the model, the placeholders' constants by the model's own names.
    placeholders : mapping
        From a placeholder's name to the model's name for it.
    aliases : mapping
        Other names of the same parameters.
    input_name : str
        The placeholder of the input.
    outputs : tuple of str
        The nodes that the model returns, without those that only write back what it changed in place.
    input_shape : tuple of int
        Without the batch axis.
    batch : int
        Length of the batch axis in the trace.
    notes : tuple of str
        What happened on the way here.
    """

    graph: torch.fx.Graph
    constants: Mapping[str, Any]
    parameters: Mapping[str, Tensor]
    placeholders: Mapping[str, str]
    aliases: Mapping[str, str]
    input_name: str
    outputs: tuple[str, ...]
    input_shape: tuple[int, ...]
    batch: int
    notes: tuple[str, ...] = ()
    tail: "Tail" = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tail", find_tail(self.graph, self.outputs))

    def lower(self, state: Mapping[str, Any] | None = None) -> Network:
        """Return the network, with the constants in ``state`` in place of the trace's own."""
        trace = replace(self, parameters=replace_parameters(self.parameters, state, self.aliases)) if state else self
        builder = GraphBuilder()
        for note in (*self.notes, *self.tail.notes):
            builder.note(note)
        try:
            output = trace._run(builder.input(self.input_shape), builder)
        except BatchAxisError:
            # The reader is helped more by an operator that can never be lowered, if there is one further on.
            self._refuse_curved()
            raise
        if isinstance(output, Tensor):
            row = Site(builder, self.batch, "output", lambda: None, "the output", "output").one_row(output)
            zeros = torch.zeros(row.numel(), prod(self.input_shape), dtype=torch.float64)
            flat = builder.linear(builder.flatten(Value(0, self.input_shape)), zeros, row.reshape(-1))
            output = builder.reshape(flat, tuple(row.shape))
        return replace(builder.build(output), trace=trace)

    def _refuse_curved(self) -> None:
        dependent: set[FxNode] = set()
        for node in self.graph.nodes:
            if node.name == self.input_name or dependent.intersection(node.all_input_nodes):
                dependent.add(node)
                if isinstance(node.target, torch._ops.OpOverload) and is_refused(name_of(node)):
                    raise refusal(name_of(node), place_of(node))

    def reference(self, x: Tensor) -> Tensor:
        """Run the traced operators themselves in float64 on one batch."""
        output = self._run(x, None)
        return output if isinstance(output, Tensor) else torch.as_tensor(output)

    def _run(self, x: Any, builder: GraphBuilder | None) -> Any:
        results: dict[FxNode, Any] = {}
        for node in self.graph.nodes:
            if node not in self.tail.needed:
                continue
            if node.op == "placeholder":
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
        if not any(is_value(argument) for argument in (*args, *kwargs.values())):
            return run_operator(node, args, kwargs)
        if node.target is python_operators.getitem:
            return _item(args, node)
        assert builder is not None
        operator = name_of(node)
        handler = HANDLERS.get(operator)
        if handler is None:
            raise refusal(operator, place_of(node))
        site = Site(builder, self.batch, operator, _in_double(node.target), place_of(node), gate_name(node, operator))
        try:
            return handler(site, bind(node, args, kwargs))
        except (UnsupportedOperatorError, InputError):
            raise
        except Exception as error:
            raise UnsupportedOperatorError(
                f"{operator} at {site.place} is used in a form that reluscope does not know: {error}"
            ) from error


@dataclass(frozen=True, eq=False)
class Tail:
    """The end of a traced graph: its output, and a softmax before it that is left out.

    Parameters
    ----------
    last : torch.fx.Node
        The node whose value is the network's output.
    needed : set of torch.fx.Node
        The nodes that it depends on.
    softmax : (name, axis), optional
        The softmax that was left off behind it.
    """

    last: FxNode
    needed: frozenset[FxNode]
    softmax: tuple[str, int] | None

    @property
    def notes(self) -> tuple[str, ...]:
        """The note that goes with a softmax."""
        return (f"A trailing {self.softmax[0]} was left off.",) if self.softmax else ()

    def finish(self, output: Tensor) -> Tensor:
        """Return the model's output from the network's, the softmax included."""
        if self.softmax is None:
            return output
        name, axis = self.softmax
        return output.softmax(axis) if name == "softmax" else output.log_softmax(axis)


def find_tail(graph: torch.fx.Graph, outputs: Sequence[str]) -> Tail:
    """Return where the network ends: at the model's one output, or before the softmax that makes it."""
    named = [node for node in graph.nodes if node.name in outputs]
    if len(outputs) != 1 or len(named) != 1:
        raise InputError(
            f"expected a model with one output, got {len(outputs)}: {', '.join(outputs)}; wrap it in a module that "
            "returns one of them"
        )
    last = end = named[0]
    softmax = None
    while True:
        if name_of(end) in _PASSING and isinstance(end.args[0], FxNode):
            end = end.args[0]
        elif softmax is None and name_of(end) in _SOFTMAX:
            axis = bind(end, end.args, dict(end.kwargs)).dim
            rank = len(end.meta["val"].shape)
            if axis % rank == 0:
                break
            softmax = (_SOFTMAX[name_of(end)], axis % rank)
            assert isinstance(end.args[0], FxNode)
            last = end = end.args[0]
        else:
            break
    needed: set[FxNode] = set()
    stack = [last]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(node.all_input_nodes)
    return Tail(last, frozenset(needed), softmax)


def run_operator(node: FxNode, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run an operator on constants in float64."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        allowed = {getattr(python_operators, name) for name in python_operators.__all__}
        if node.target not in allowed and getattr(node.target, "__module__", "") not in {"math", "torch"}:
            raise UnsupportedOperatorError(
                f"expected operators of PyTorch, got {node.target} at {place_of(node)}: write the model without it"
            )
        return node.target(*args, **kwargs)  # pyright: ignore[reportCallIssue]
    return _in_double(node.target)(*args, **kwargs)


def name_of(node: FxNode) -> str:
    """Return an operator's name without namespace and overload."""
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target._schema.name.split("::")[-1].removesuffix(
            "_copy" * (node.target._schema.name != "aten::_to_copy")
        )
    return getattr(node.target, "__name__", str(node.target))


def place_of(node: FxNode) -> str:
    """Return where an operator stands: its module by path and class, and the line of code."""
    path, kind = _module_of(node)
    place = f"module {path!r} ({kind.split('.')[-1]})" if path else "the model's forward"
    lines = str(node.meta.get("stack_trace") or "").strip().splitlines()
    code = lines[-1].strip() if len(lines) > 1 and "torch/nn/" not in lines[-2] else ""
    return f"{place}, {code!r}" if code else place


def gate_name(node: FxNode, operator: str) -> str:
    """Return a name for the gate that an operator may become: the path of PyTorch's own module, else with operator."""
    path, kind = _module_of(node)
    operator = operator.removeprefix("_").removesuffix("_with_indices")
    if not path:
        return operator
    return path if kind.startswith("torch.nn.modules.") else f"{path}.{operator}"


def bind(node: FxNode, args: Any, kwargs: Mapping[str, Any]) -> SimpleNamespace:
    """Return an operator's arguments by their names in its schema, defaults filled in."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return SimpleNamespace(**{f"arg{position}": argument for position, argument in enumerate(args)}, **kwargs)
    schema = node.target._schema.arguments
    bound = {argument.name: argument.default_value for argument in schema if argument.has_default_value()}
    bound |= dict(zip((argument.name for argument in schema), args, strict=False))
    return SimpleNamespace(**bound | dict(kwargs))


def _module_of(node: FxNode) -> tuple[str, str]:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "", ""
    path, kind = stack[-1]
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    return path.removeprefix("L['self'].").removeprefix("L__self__"), name


def _item(args: Any, node: FxNode) -> Any:
    item = args[0][args[1]]
    if item is None and any(user.op != "output" for user in node.users):
        raise NotPiecewiseLinearError(
            f"expected values, but positions or statistics are used at {place_of(node)}, which jump from point to point"
        )
    return item


def _widened(setting: Any) -> Any:
    return torch.float64 if isinstance(setting, torch.dtype) and setting.is_floating_point else setting


def _in_double(target: Any) -> Any:
    """Return an operator whose floating-point arguments, settings and results are in float64."""

    def run(*args: Any, **kwargs: Any) -> Any:
        args = tuple(_widened(argument) for argument in args)
        kwargs = {name: _widened(argument) for name, argument in kwargs.items()}
        if kwargs.get("dtype", ...) is None:
            del kwargs["dtype"]
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("cpu")
        return as_double(target(*args, **kwargs))

    return run
