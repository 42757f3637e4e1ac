"""Operators that jump: comparisons, signs, steps, and choices by them."""

from types import SimpleNamespace
from typing import Any

import torch

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.building.builder import Value
from reluscope.networks.models.torch.aten_site import OperatorSite, is_value, lowers

_RELATIONS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_RELATIONS |= {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "not_equal": "!="}


@lowers(*_RELATIONS)
def compare(site: OperatorSite, a: SimpleNamespace) -> Value:
    """1 where a relation holds, 0 elsewhere."""
    first, second = _beside_each_other(site, a.self, a.other)
    return site.builder.compare(first, second, _RELATIONS[site.operator], name=site.name)


@lowers("sign", "sgn")
def sign(site: OperatorSite, a: SimpleNamespace) -> Value:
    """-1, 0 or 1."""
    return site.builder.sign(a.self, name=site.name)


@lowers("heaviside")
def heaviside(site: OperatorSite, a: SimpleNamespace) -> Value:
    """0 below zero, 1 above, and a constant at zero."""
    if is_value(a.values):
        raise site.unsupported("with a value at zero that depends on the input")
    return site.builder.heaviside(a.self, site.beside(a.self, a.values), name=site.name)


@lowers("hardshrink")
def hardshrink(site: OperatorSite, a: SimpleNamespace) -> Value:
    """``x`` outside an interval, 0 within it."""
    if float(a.lambd) < 0:
        raise site.unsupported(f"with a negative reach, {float(a.lambd)}")
    return site.builder.hardshrink(a.self, float(a.lambd), name=site.name)


@lowers("threshold")
def threshold(site: OperatorSite, a: SimpleNamespace) -> Value:
    """``x`` above the threshold, else a value: continuous if they are equal."""
    level, value = float(a.threshold), float(a.value)
    if level == value:
        return site.builder.clamp(a.self, low=level, kind="threshold", name=site.name)
    mask = site.builder.compare(a.self, level, ">", name=site.name)
    return site.builder.where(mask, a.self, value, name=site.name)


@lowers("logical_and", "bitwise_and", "logical_or", "bitwise_or", "logical_xor", "bitwise_xor", "__and__", "__or__")
def combine(site: OperatorSite, a: SimpleNamespace) -> Value:
    """Combine two masks, of which one may be a constant."""
    first, second = _beside_each_other(site, a.self, a.other)
    builder, operator = site.builder, site.operator
    masks = [one for one in (first, second) if isinstance(one, Value)]
    if not all(builder.is_mask(one) for one in masks):
        raise site.unsupported("on anything but the results of comparisons")
    if len(masks) == 1:
        (mask,), given = masks, second if first is masks[0] else first
        fixed = torch.as_tensor(given).double()
        if not bool(((fixed == 0) | (fixed == 1)).all()):
            raise site.unsupported("on anything but the results of comparisons")
        if "and" in operator:
            return builder.multiply(mask, fixed, name=site.name)
        slope = 1.0 - 2.0 * fixed if "xor" in operator else 1.0 - fixed
        return builder.scale_shift(mask, slope, fixed, name=site.name)
    if "xor" in operator:
        different = builder.subtract(*masks, name=site.name)
        return builder.compare(different, 0.0, "!=", name=site.name)
    return (builder.both if "and" in operator else builder.either)(*masks, name=site.name)


@lowers("logical_not", "bitwise_not")
def negate(site: OperatorSite, a: SimpleNamespace) -> Value:
    """Turn a mask round."""
    if not site.builder.is_mask(a.self):
        raise site.unsupported("on anything but the results of comparisons")
    return site.builder.negated(a.self, name=site.name)


def choose(site: OperatorSite, mask: Value, x: Any, y: Any) -> Value:
    """Choose entries of one tensor or the other by a mask that depends on the input."""
    x, y = (site.beside(mask, one) if one is not None else one for one in (x, y))
    return site.builder.where(mask, x, y, name=site.name)


def multiply(site: OperatorSite, first: Value, second: Value) -> Value:
    """Multiply two values, one of which is constant on every piece of the value that both depend on."""
    product = site.builder.masked(first, second, name=site.name)
    if product is None:
        raise NotPiecewiseLinearError(
            f"expected products with constants, but {site.operator} at {site.place} multiplies two values that depend "
            "on the input, which is not piecewise linear (or, with a mask, a gate that sees two values: only the value "
            "that a mask is a mask of may be multiplied by it)"
        )
    return product


def _beside_each_other(site: OperatorSite, first: Any, second: Any) -> tuple[Any, Any]:
    """Return both operands without the batch axis."""
    if isinstance(first, Value):
        return first, site.beside(first, second)
    return site.beside(second, first), second
