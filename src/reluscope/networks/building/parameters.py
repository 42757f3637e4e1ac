"""Weights as float64 constants: conversion, checks, and replacement by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, ShapeError


def as_constant(array: Any, name: str) -> Tensor:
    """Return an array as a float64 tensor of its own, checked to be finite.

    Raises InputError with the name if it holds anything but finite real numbers.
    """
    if isinstance(array, Tensor):
        tensor = array.detach()
    else:
        plain = np.asarray(array)
        if plain.dtype.kind not in "biuf":
            raise InputError(f"expected {name} to hold numbers, got {plain.dtype}")
        tensor = torch.from_numpy(plain.astype(np.float64))
    if tensor.is_complex():
        raise InputError(f"expected {name} to hold real numbers, got complex ones")
    tensor = tensor.to(device="cpu", dtype=torch.float64, copy=True).contiguous()
    check_finite(tensor, name)
    return tensor


def check_finite(tensor: Tensor, name: str) -> None:
    """Raise an InputError that names the constant if it holds NaN or infinite entries."""
    # The sum is the cheaper test, and enough unless it is not finite itself.
    if not tensor.is_floating_point() or bool(torch.isfinite(tensor.sum())):
        return
    if not bool(torch.isfinite(tensor).all()):
        count = int((~torch.isfinite(tensor)).sum())
        raise InputError(f"expected finite weights, but {name} holds {count} NaN or infinite entries: repair them")


def replace_parameters(
    own: Mapping[str, Tensor], state: Mapping[str, Any], aliases: Mapping[str, str] | None = None
) -> dict[str, Tensor]:
    """Return a trace's constants with some replaced by new values.

    ``aliases`` are other names of shared constants. Raises InputError for unknown names, values that are not finite, or
    different values of one constant, and ShapeError for another shape.
    """
    aliases = aliases or {}
    if unknown := [name for name in state if name not in own and name not in aliases]:
        raise InputError(f"expected parameters among {_some(list(own))}, got unknown {_some(unknown)}")
    given: dict[str, Tensor] = {}
    for name, value in state.items():
        target = aliases.get(name, name)
        tensor = as_constant(value, name)
        if tensor.shape != own[target].shape:
            raise ShapeError(f"expected {name} of shape {tuple(own[target].shape)}, got {tuple(tensor.shape)}")
        if target in given and not torch.equal(given[target], tensor):
            raise InputError(f"expected one value for shared weights, but {name} and {target} differ")
        given[target] = tensor
    return {**own, **given}


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
