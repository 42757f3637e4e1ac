"""A module as a function of one tensor to one tensor: its other inputs are held fixed, its other outputs left out."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.utils._pytree import tree_flatten_with_path, tree_leaves, tree_unflatten

from reluscope.errors import InputError
from reluscope.networks.building.interfaces import Interface, as_given, choose_output


@dataclass(frozen=True, eq=False)
class Calling:
    """How a module is called at points.

    With ``repeats``, fixed tensors with a leading axis of length 1 are repeated for every point of a batch.
    """

    free: str | None  # parameter of ``forward`` for points; None for the first
    fixed: Mapping[str, Any]  # the other parameters; tensors in float64
    output: str | int | None
    repeats: bool = False

    @classmethod
    def of(cls, model: nn.Module, interface: Interface) -> "Calling":
        """Return how a module is called.

        Raises InputError if more than one input is left open, or one that is fixed does not exist.
        """
        fixed = as_given(interface.inputs)
        try:
            parameters = list(inspect.signature(model.forward).parameters.values())
        except (TypeError, ValueError):
            return cls(None, fixed, interface.output)
        named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        names = [one.name for one in named]
        unknown = [name for name in fixed if name not in names]
        if unknown and len(named) == len([one for one in parameters if one.kind != one.VAR_POSITIONAL]):
            raise InputError(f"expected inputs of the model, which are {', '.join(names)}, got {unknown[0]!r}")
        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        left = [one.name for one in named if one.name not in fixed]
        required = [one.name for one in named if one.name in left and one.default is one.empty]
        if len(required) > 1:
            raise InputError(
                f"expected a model with one input, got {len(required)}: {', '.join(required)}; hold all but one "
                f"fixed, as in inputs={{{required[-1]!r}: value}}, or join them, as in "
                f"input_shape={{{required[0]!r}: shape, ...}}"
            )
        if fixed and not left:
            raise InputError(f"expected one input of {', '.join(names)} to stay open, but all of them are fixed")
        free = required[0] if required else left[0] if left else None
        return cls(
            None if named and free == named[0].name and named[0].kind in positional else free, fixed, interface.output
        )

    def repeating(self) -> "Calling | None":
        """Return the calling that repeats fixed tensors for every point, None if there are none."""
        some = any(isinstance(entry, Tensor) and entry.shape[:1] == (1,) for entry in tree_leaves(dict(self.fixed)))
        return replace(self, repeats=True) if some and not self.repeats else None

    def arguments(self, x: Tensor) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what the module is called with at a batch of points."""
        fixed = dict(self.fixed)
        if self.repeats:
            fixed = {name: _repeated(value, len(x)) for name, value in fixed.items()}
        return ((x,), fixed) if self.free is None else ((), {self.free: x, **fixed})

    def __call__(self, module: nn.Module, x: Tensor) -> Tensor:
        """Return the output that is meant."""
        args, kwargs = self.arguments(x)
        return self.pick(module(*args, **kwargs))

    def pick(self, output: Any) -> Tensor:
        """Return the tensor that is meant among what a model returns."""
        named = _named_tensors(output)
        return list(named.values())[choose_output(list(named), self.output)]

    def position_in(self, program: ExportedProgram) -> int:
        """Return the position of the output that is meant among those of a program."""
        nodes = list(program.graph_signature.user_outputs)
        spec = program.call_spec.out_spec
        if spec is None or spec.num_leaves != len(nodes):
            named = {str(node): place for place, node in enumerate(nodes)}
        else:
            named = _named_leaves(tree_unflatten(list(range(len(nodes))), spec))
        kept = {name: place for name, place in named.items() if isinstance(nodes[place], str)}
        return kept[list(kept)[choose_output(list(kept), self.output)]]

    def checked_for(self, program: ExportedProgram) -> dict[str, Any]:
        """Return the values that inputs of a program are held fixed at, in the shapes that it was exported for."""
        shapes = {
            node.name: tuple(node.meta["val"].shape)
            for node in program.graph.nodes
            if node.op == "placeholder"
            and node.name in program.graph_signature.user_inputs
            and isinstance(node.meta.get("val"), Tensor)
        }
        for name, value in self.fixed.items():
            if name not in shapes:
                raise InputError(f"expected inputs of the program, which are {', '.join(shapes)}, got {name!r}")
            fits = isinstance(value, Tensor) and len(value.shape) == len(shapes[name])
            if not fits or any(isinstance(b, int) and a != b for a, b in zip(value.shape, shapes[name], strict=True)):
                raise InputError(f"expected {name} to be fixed at an array of shape {shapes[name]} as it was exported")
        return dict(self.fixed)

    def constants_of(self, program: ExportedProgram, x: Tensor) -> dict[str, Any]:
        """Return the values of a program's inputs that are held fixed, by their placeholders."""
        if not self.fixed:
            return {}
        placeholders = program.graph_signature.user_inputs
        spec = program.call_spec.in_spec
        if spec is None or spec.num_leaves != len(placeholders):
            raise InputError(
                "expected a model whose fixed inputs torch.export keeps: make them attributes of the model"
            )
        args, kwargs = tree_unflatten(list(placeholders), spec)
        given_args, given = self.arguments(x)
        pairs = zip(
            tree_leaves((args, kwargs)), tree_leaves((given_args, {key: given[key] for key in kwargs})), strict=True
        )
        return {name: value for name, value in pairs if isinstance(name, str) and value is not x}


def _named_tensors(output: Any) -> dict[str, Tensor]:
    """Return the tensors that a model returns by their names: keys, fields and positions, joined by dots."""
    found = {name: leaf for name, leaf in _named_leaves(output).items() if isinstance(leaf, Tensor)}
    others = [leaf for leaf in _named_leaves(output).values() if leaf is not None and not isinstance(leaf, Tensor)]
    if not found and others:
        raise InputError(f"expected a model that returns tensors, got {type(others[0]).__name__}")
    return found


def _named_leaves(output: Any) -> dict[str, Any]:
    leaves, _ = tree_flatten_with_path(output)
    return {".".join(_key(step) for step in path) or "output": leaf for path, leaf in leaves}


def _key(step: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(step, attribute):
            return str(getattr(step, attribute))
    return str(step)


def _repeated(value: Any, batch: int) -> Any:
    is_row = isinstance(value, Tensor) and value.shape[:1] == (1,)
    return value.expand(batch, *value.shape[1:]) if is_row else value
