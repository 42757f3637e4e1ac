"""One operator of a traced graph: its name, its place for people, its arguments, and its value on constants."""

import operator as python_operators
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch
from torch.fx import Node as FxNode

from reluscope.errors import UnsupportedOperatorError
from reluscope.networks.models.torch.aten_site import as_double


def run_operator(node: FxNode, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run an operator on constants in float64."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        allowed = {getattr(python_operators, name) for name in python_operators.__all__}
        if node.target not in allowed and getattr(node.target, "__module__", "") not in {"math", "torch"}:
            raise UnsupportedOperatorError(
                f"expected operators of PyTorch, got {node.target} at {place_of(node)}: write the model without it"
            )
        return node.target(*args, **kwargs)  # pyright: ignore[reportCallIssue]
    return in_double(node.target)(*args, **kwargs)


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
    operator = operator.strip("_").removesuffix("_with_indices")
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


def in_double(target: Any) -> Any:
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


def _module_of(node: FxNode) -> tuple[str, str]:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "", ""
    path, kind = stack[-1]
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    return path.removeprefix("L['self'].").removeprefix("L__self__"), name


def _widened(setting: Any) -> Any:
    return torch.float64 if isinstance(setting, torch.dtype) and setting.is_floating_point else setting
