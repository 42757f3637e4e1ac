"""A part of a model: what its submodule is given when the model is run on data.

A part is a network of its own if one of its inputs follows the data; the others are held fixed at what they are there.
"""

import difflib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.interfaces import as_given
from reluscope.networks.models.torch.float64_models import double_twin, in_double

_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class PartInput:
    """The inputs of a submodule in a model's first call of it."""

    values: Tensor  # (s, ...) the input that depends on the data
    fixed: Mapping[str, Any]  # the other inputs, by their names in ``forward``
    calls: int  # how often the model calls the submodule


@read_arguments
def activations_at(model: nn.Module, submodule: str, x: Any) -> Float[np.ndarray, "s ..."]:
    """Return the inputs of a submodule when a model runs on data: points for the network of that part.

    Parameters
    ----------
    model : torch.nn.Module
        Run in evaluation mode and float64, and not changed.
    submodule : str
        Its path, such as ``"encoder.layer.0.mlp"``.
    x : (s, ...), or a mapping from names of inputs to such arrays
        Inputs of the model. Whole numbers, such as tokens, stay whole.

    Returns
    -------
    (s, ...) array
        The one input of the submodule that depends on x, in its first call.

    Raises
    ------
    InputError
        If there is no such submodule, it is not called, or none or several of its inputs depend on x.

    Notes
    -----
    One pass of a float64 copy of the model, 256 points at a time, and a second to find the inputs that depend on x.

    Examples
    --------
    >>> import reluscope as rs
    >>> from torch import nn
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> rs.activations_at(model, "2", [[1.0, 2.0], [0.0, 1.0]]).shape
    (2, 3)
    """
    return part_input(model, submodule, x).values.numpy()


def find_submodule(model: nn.Module, path: str) -> nn.Module:
    """Return a submodule by its path.

    Raises InputError with the most similar paths if there is none.
    """
    modules = dict(model.named_modules())
    if path in modules:
        return modules[path]
    names = [name for name in modules if name]
    near = difflib.get_close_matches(path, names, 8, 0.3) or names[:8]
    more = ", ..." if len(near) < len(names) else ""
    raise InputError(f"expected a submodule of the model, such as {', '.join(near)}{more}, got {path!r}")


def part_input(model: nn.Module, submodule: str, x: Any) -> PartInput:
    """Return what a submodule is given at data; see `activations_at`."""
    find_submodule(model, submodule)
    twin = double_twin(model)
    part = find_submodule(twin, submodule)
    given = as_given(x if isinstance(x, Mapping) else {"": list(x) if isinstance(x, tuple) else x})
    tensors = [entry for entry in given.values() if isinstance(entry, Tensor) and entry.ndim]
    if not tensors or not len(tensors[0]):
        raise ShapeError("expected at least one point of the model, with a first axis for the points, got none")
    size = len(tensors[0])
    calls: list[dict[str, Any]] = []

    def keep(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        calls.append(tree_map(lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf, dict(bound.arguments)))

    def run(rows: Tensor) -> tuple[dict[str, Any], int]:
        calls.clear()
        chosen = {name: _rows(value, rows, size) for name, value in given.items()}
        with in_double([]):
            try:
                twin(chosen[""]) if "" in chosen else twin(**chosen)
            except Exception as error:
                first = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise ShapeError(
                    f"expected data that the model accepts, but its forward pass fails with {first!r}"
                ) from error
        if not calls:
            raise InputError(f"expected a submodule that the model runs, but {submodule} is not called at these points")
        return calls[0], len(calls)

    handle = part.register_forward_pre_hook(keep, with_kwargs=True)
    try:
        rows = torch.arange(size)
        first, count = run(rows[:_TOGETHER])
        free = _following(submodule, first, run(rows[:_TOGETHER].flip(0))[0], min(size, _TOGETHER))
        others = (rows[start : start + _TOGETHER] for start in range(_TOGETHER, size, _TOGETHER))
        blocks = [first[free], *(run(block)[0][free] for block in others)]
    finally:
        handle.remove()
    points = min(size, _TOGETHER)
    if len(first[free]) % points:
        raise InputError(
            f"expected a part that is given points along its first axis, but {free} of {submodule} has shape "
            f"{tuple(first[free].shape)} for {points} points: take a part that has the batch first"
        )
    fixed = tree_map(lambda leaf: _one_row(leaf, points), {name: first[name] for name in first if name != free})
    return PartInput(torch.cat(blocks), fixed, count)


def _rows(value: Any, rows: Tensor, size: int) -> Any:
    return value[rows] if isinstance(value, Tensor) and value.shape[:1] == (size,) else value


def _following(submodule: str, first: dict[str, Any], turned: dict[str, Any], size: int) -> str:
    """Return the one input that follows the points when their order is turned round; for one point, the only tensor."""
    tensors = {name for name, value in first.items() if any(isinstance(leaf, Tensor) for leaf in tree_leaves(value))}
    changed = [name for name in first if name in tensors and (size == 1 or not _equal(first[name], turned[name]))]
    if size == 1 and len(changed) > 1:
        raise InputError(
            f"expected two different points or more, to tell which inputs of {submodule} follow them: "
            f"{', '.join(changed)}"
        )
    if len(changed) > 1:
        raise InputError(
            f"expected a part with one input that depends on the data, but {submodule} has {len(changed)}: "
            f"{', '.join(changed)}; take a submodule further in, or a part before they meet"
        )
    if not changed:
        raise InputError(
            f"expected a part whose input depends on the data, but {submodule} is given the same at all points: give "
            "different points"
        )
    if not isinstance(first[changed[0]], Tensor):
        raise InputError(f"expected a part that takes a tensor, but {changed[0]} of {submodule} is a collection")
    return changed[0]


def _equal(first: Any, second: Any) -> bool:
    pairs = zip(tree_leaves(first), tree_leaves(second), strict=True)
    return all(not isinstance(one, Tensor) or torch.equal(one, other) for one, other in pairs)


def _one_row(leaf: Any, size: int) -> Any:
    """Return the row that a fixed tensor repeats for every point."""
    repeats = isinstance(leaf, Tensor) and leaf.shape[:1] == (size,) and bool((leaf == leaf[:1]).all())
    return leaf[:1] if repeats else leaf
