"""Sums, products with constants, casts, and linear functions that are read off unit tensors."""

from collections.abc import Callable
from math import prod

import torch
from torch import Tensor

from reluscope.networks.building.builder import Operand, Value
from reluscope.networks.models.operators.operator_site import OperatorSite


def mean(site: OperatorSite, *sides: Operand) -> Value:
    """Mean of any number of operands."""
    total = site.builder.add(*sides)
    return total if len(sides) == 1 else site.builder.divide(total, float(len(sides)))


def multiply(site: OperatorSite, x: Operand, y: Operand) -> Value:
    """``x y`` with one side constant, or a mask of the other."""
    if not isinstance(x, Value) or not isinstance(y, Value):
        return site.builder.multiply(x, y)
    product = site.builder.masked(x, y)
    if product is None:
        raise site.product(
            " (or, with a mask, a gate that sees two values: only the value that a mask is a mask of may be multiplied "
            "by it)"
        )
    return product


def divide(site: OperatorSite, x: Operand, y: Operand) -> Value:
    """``x / y`` with y constant."""
    if isinstance(y, Value):
        reason = "divides by a value that depends on the input, which is not piecewise linear"
        raise site.not_piecewise_linear("divisions by constants", reason)
    return site.builder.divide(x, y)


def lerp(site: OperatorSite, x: Operand, y: Operand, weight: Operand) -> Value:
    """``x + weight (y - x)`` with a constant weight."""
    if isinstance(weight, Value):
        raise site.unsupported("with a weight that depends on the input")
    step = site.builder.multiply(site.builder.subtract(y, x), weight)
    return site.builder.add(x, step)


def cast(site: OperatorSite, x: Value, kind: type, name: str) -> Value:
    """Turn a value into numbers of a kind, float, bool or int, to which it is rounded towards 0."""
    if kind is float or site.builder.is_mask(x):
        return x
    if kind is bool:
        return site.builder.compare(x, 0.0, "!=")
    if name not in ("int32", "int64"):
        raise site.unsupported(f"to {name}, in which larger numbers wrap around: cast to int64")
    return site.builder.rounded(x, "trunc")


def sum_of_absolutes(site: OperatorSite, x: Value, axes: list[int], *, keepdims: bool) -> Value:
    """Sum of absolute values along axes."""
    return site.builder.sum(site.builder.absolute(x), axes, keepdims=keepdims)


def images_of_units(
    site: OperatorSite, shape: tuple[int, ...], image: Callable[[Tensor], Tensor], *, most: int
) -> tuple[Tensor, tuple[int, ...]]:
    """Return the matrix, of at most ``most`` entries, of a linear function of tensors, and the shape of its images."""
    size, columns = prod(shape), []
    for position in range(size):
        unit = torch.zeros(size, dtype=torch.float64)
        unit[position] = 1.0
        columns.append(image(unit.reshape(shape)))
        if columns[0].numel() * size > most:
            raise site.unsupported("on tensors this large: write it as a linear layer or a convolution")
    return torch.stack([column.reshape(-1) for column in columns], dim=1), tuple(columns[0].shape)
