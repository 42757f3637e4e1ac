"""The largest and the smallest of several operands, entry by entry."""

from functools import reduce
from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Operand, Value
from reluscope.networks.models.operators.operator_site import OperatorSite


def largest(site: OperatorSite, *sides: Operand) -> Value:
    """Take the largest of any number of operands: one gate for values, one for constants."""
    values, bounds = _parted(sides)
    found = values[0]
    if len(values) == 2:
        found = site.builder.maximum(*values, name=site.name)
    elif len(values) > 2:
        found = _largest_of_many(site, values, "maximum")
    return site.builder.maximum(found, reduce(torch.maximum, bounds), name=site.name) if bounds else found


def smallest(site: OperatorSite, *sides: Operand) -> Value:
    """Take the smallest of any number of operands: one gate for values, one for constants."""
    values, bounds = _parted(sides)
    found = values[0]
    if len(values) == 2:
        found = site.builder.minimum(*values, name=site.name)
    elif len(values) > 2:
        turned = [site.builder.negate(value, name=site.name) for value in values]
        found = site.builder.negate(_largest_of_many(site, turned, "minimum"), name=site.name)
    return site.builder.minimum(found, reduce(torch.minimum, bounds), name=site.name) if bounds else found


def _parted(sides: tuple[Operand, ...]) -> tuple[list[Value], list[Tensor]]:
    values = [side for side in sides if isinstance(side, Value)]
    return values, [torch.as_tensor(side) for side in sides if not isinstance(side, Value)]


def _largest_of_many(site: OperatorSite, values: list[Value], kind: str) -> Value:
    shape = np.broadcast_shapes(*(value.shape for value in values))
    flat = [site.builder.reshape(value, (prod(value.shape),), name=site.name) for value in values]
    joined = site.builder.concatenate(flat, 0, name=site.name)
    starts = np.cumsum([0, *(prod(value.shape) for value in values)])
    columns = [
        np.broadcast_to(start + np.arange(prod(value.shape)).reshape(value.shape), shape).reshape(-1)
        for start, value in zip(starts, values, strict=False)
    ]
    return site.builder.max_of(joined, np.stack(columns, axis=1), shape, kind=kind, name=site.name)
