"""What a user says of a model: which output a network is of, what other inputs are fixed at, what may be replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.arguments import describe
from reluscope.errors import InputError
from reluscope.networks.building.best_pieces import check_number
from reluscope.networks.building.smooth_functions import REPLACEABLE


@dataclass(frozen=True, eq=False)
class Interface:
    """A user's choices for a model with several inputs or outputs, or with smooth activations."""

    output: str | int | None = None  # the name of an output, or its position
    inputs: Mapping[str, Any] = field(default_factory=dict)  # values of the inputs held fixed for every point
    approximate: Mapping[str, int] = field(default_factory=dict)  # smooth functions and their numbers of pieces
    joined: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # shapes of inputs that one vector holds

    def __post_init__(self) -> None:
        for name, pieces in self.approximate.items():
            if name not in REPLACEABLE:
                raise InputError(f"approximate names smooth functions ({', '.join(REPLACEABLE)}), got {name!r}")
            if isinstance(pieces, bool) or not isinstance(pieces, int):
                raise InputError(f"approximate gives a number of pieces for {name}, such as 32, got {describe(pieces)}")
            check_number(name, pieces)


def choose_output(names: Sequence[str], output: str | int | None) -> int:
    """Return the position of the output that is meant, by name or position; None means the only one.

    Raises InputError with the names if there is no such output, or several and none is chosen.
    """
    listed = ", ".join(names)
    if output is None:
        if len(names) == 1:
            return 0
        if not names:
            raise InputError("expected a model with one output, got none: return a tensor")
        raise InputError(
            f"expected a model with one output, got {len(names)}: {listed}; choose one, as in output={names[0]!r}"
        )
    if isinstance(output, int) and -len(names) <= output < len(names):
        return output % len(names)
    if output not in names:
        raise InputError(f"expected output as one of {listed}, got {describe(output)}")
    return names.index(output)  # pyright: ignore[reportArgumentType]


def as_given(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what inputs are fixed at: arrays and lists of numbers as tensors, floating-point ones in float64."""
    return {name: _as_given(value) for name, value in inputs.items()}


def _as_given(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) or (isinstance(value, list) and value):
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise InputError(
                f"expected an array of numbers, got {describe(value)}: its rows differ in length"
            ) from error
        if array.dtype.kind not in "biuf":
            raise InputError(f"expected an array of numbers, got {describe(value)}")
        value = torch.as_tensor(array)
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = value.double() if value.is_floating_point() else value
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise InputError("expected finite numbers for the inputs of a model, got NaN or infinite ones")
    return value
