"""A module with several inputs as one of a single vector that holds them all, one after the other."""

import copy
import inspect
from collections.abc import Mapping
from itertools import pairwise
from math import prod
from types import MethodType
from typing import Any

import numpy as np
from torch import Tensor, nn

from reluscope.errors import InputError


def jointly(model: nn.Module, shapes: Mapping[str, tuple[int, ...]]) -> nn.Module:
    """Return a module with the layers of another one, of vectors that hold the inputs with these shapes.

    Its parameters and the names of its layers are those of the module, which is left as it is. InputError for names of
    no inputs.
    """
    known = inspect.signature(model.forward).parameters
    unknown = next((name for name in shapes if name not in known), None)
    if unknown is not None and not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        raise InputError(f"expected inputs of the model, which are {', '.join(known)}, got {unknown!r}")
    ends = np.cumsum([0, *map(prod, shapes.values())]).tolist()
    whole = type(model).forward

    def forward(self: nn.Module, x: Tensor, **fixed: Any) -> Any:
        parts = (x[:, start:stop] for start, stop in pairwise(ends))
        named = {name: part.reshape(len(x), *shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
        return whole(self, **named, **fixed)

    joint = copy.copy(model)
    joint.forward = MethodType(forward, joint)
    return joint
