"""Masks, steps, slopes and smooth functions: functions of an entry that have settings to check."""

import math

import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError
from reluscope.geometry.numbers.resolutions import OUTWARD
from reluscope.networks.building.builder import Operand, Value
from reluscope.networks.building.core import constant
from reluscope.networks.building.rounded_values import Rounding
from reluscope.networks.models.operators.operator_site import OperatorSite
from reluscope.networks.models.operators.refused_operators import refusal


def heaviside(site: OperatorSite, x: Value, at_zero: Operand) -> Value:
    """0 below zero, 1 above, and a constant at zero."""
    if isinstance(at_zero, Value):
        raise site.unsupported("with a value at zero that depends on the input")
    return site.builder.heaviside(x, at_zero)


def prelu(site: OperatorSite, x: Value, slope: Operand) -> Value:
    """``x`` where positive, else ``slope x`` with constant slopes."""
    if isinstance(slope, Value):
        raise NotPiecewiseLinearError(f"expected constant slopes, but those of the PReLU at {site.place} are computed")
    return site.builder.prelu(x, constant(slope))


def threshold(site: OperatorSite, x: Value, level: float, value: float) -> Value:
    """``x`` above the level, else a value: continuous if they are equal."""
    if level == value:
        return site.builder.clamp(x, low=level, kind="threshold")
    mask = site.builder.compare(x, level, ">")
    return site.builder.where(mask, x, value)


def hardshrink(site: OperatorSite, x: Value, reach: float) -> Value:
    """``x`` outside ``[-reach, reach]``, 0 within it."""
    _check_reach(site, reach)
    return site.builder.hardshrink(x, reach)


def shrink(site: OperatorSite, x: Value, reach: float, step: float) -> Value:
    """``x`` moved towards zero by ``step``, zero within ``[-reach, reach]``: continuous if these are equal."""
    _check_reach(site, reach)
    builder = site.builder
    if reach == step:
        return builder.softshrink(x, reach)
    above, below = (builder.compare(x, *side) for side in ((reach, ">"), (-reach, "<")))
    lower = builder.where(below, builder.scale_shift(x, shift=step), 0.0)
    upper = builder.where(above, builder.scale_shift(x, shift=-step), 0.0)
    return builder.add(lower, upper)


def fraction(site: OperatorSite, x: Value) -> Value:
    """``x - trunc(x)``."""
    return site.builder.remainder(x, "trunc", 1.0)


def divided(site: OperatorSite, x: Operand, y: Operand, way: Rounding) -> Value:
    """``x / y`` rounded, by a constant number."""
    x, step = _by_number(site, x, y)
    return site.builder.rounded(x if step > 0 else site.builder.negate(x), way, abs(step))


def remainder(site: OperatorSite, x: Operand, y: Operand, way: Rounding) -> Value:
    """``x - y k`` by a constant number y, with k what ``x / y`` is rounded to."""
    x, step = _by_number(site, x, y)
    if step > 0:
        return site.builder.remainder(x, way, step)
    return site.builder.negate(site.builder.remainder(site.builder.negate(x), way, -step))


def modulo(site: OperatorSite, x: Operand, y: Operand, fmod: float) -> Value:
    """Give the remainder with the sign of y, or with that of x for ``fmod``."""
    return remainder(site, x, y, "trunc" if fmod else "floor")


def _by_number(site: OperatorSite, x: Operand, y: Operand) -> tuple[Value, float]:
    """Return the value that is divided, and the number other than 0 that it is divided by."""
    divisors = torch.zeros(0) if isinstance(y, Value) else constant(y).unique()
    if not isinstance(x, Value) or len(divisors) != 1 or not float(divisors[0]):
        raise site.not_piecewise_linear(
            "divisions by one number", "divides by 0, or by what is not one constant number"
        )
    return x, float(divisors[0])


def both(site: OperatorSite, x: Operand, y: Operand) -> Value:
    """1 where both of two masks are 1; one may be a constant."""
    masks, fixed = _masks(site, x, y)
    if fixed is not None:
        return site.builder.multiply(masks[0], fixed)
    return site.builder.both(*masks)


def either(site: OperatorSite, x: Operand, y: Operand) -> Value:
    """1 where one of two masks is 1, or both are; one may be a constant."""
    masks, fixed = _masks(site, x, y)
    if fixed is not None:
        return site.builder.scale_shift(masks[0], 1.0 - fixed, fixed)
    return site.builder.either(*masks)


def different(site: OperatorSite, x: Operand, y: Operand) -> Value:
    """1 where exactly one of two masks is 1; one may be a constant."""
    masks, fixed = _masks(site, x, y)
    if fixed is not None:
        return site.builder.scale_shift(masks[0], 1.0 - 2.0 * fixed, fixed)
    return site.builder.compare(site.builder.subtract(*masks), 0.0, "!=")


def negated(site: OperatorSite, x: Value) -> Value:
    """1 where a mask is 0."""
    _masks(site, x)
    return site.builder.negated(x)


def smooth(
    site: OperatorSite, x: Value, function: str, *, variant: str = "", scale: float = 1.0, beyond: float = 0.0
) -> Value:
    """Replace ``f(scale x) / scale`` by pieces; f is a ``variant``, at most ``beyond`` from it, of what users name."""
    builder, pieces = site.builder, _pieces(site, function)
    if not scale > 0:
        raise site.unsupported(f"with its input multiplied by {scale}")
    scaled = x if scale == 1 else builder.multiply(x, scale)
    found = builder.approximated(scaled, variant or function, pieces, beyond=beyond)
    return found if scale == 1 else builder.divide(found, scale)


def gelu(site: OperatorSite, x: Value, approximate: str) -> Value:
    """GELU by erf, or its form by tanh."""
    return smooth(site, x, "gelu", variant="gelu_by_tanh" if approximate == "tanh" else "gelu")


def softplus(site: OperatorSite, x: Value, beta: float = 1.0, threshold: float = math.inf) -> Value:
    """``log(1 + exp(beta x)) / beta``, and x itself where ``beta x`` is above the threshold."""
    _pieces(site, "softplus")
    if not threshold > 0:
        raise site.unsupported(f"with beta {beta} and threshold {threshold}")
    return smooth(site, x, "softplus", scale=beta, beyond=math.log1p(math.exp(-threshold)) * OUTWARD)


def _pieces(site: OperatorSite, function: str) -> int:
    if function not in site.builder.approximate:
        raise refusal(site.operator, site.place)
    return site.builder.approximate[function]


def _masks(site: OperatorSite, *sides: Operand) -> tuple[list[Value], Tensor | None]:
    """Return the values among operands, and the constant one; all of them are 0 or 1 everywhere."""
    values = [side for side in sides if isinstance(side, Value)]
    fixed = next((torch.as_tensor(side).double() for side in sides if not isinstance(side, Value)), None)
    if not all(site.builder.is_mask(value) for value in values) or (
        fixed is not None and not bool(((fixed == 0) | (fixed == 1)).all())
    ):
        raise site.unsupported("on anything but the results of comparisons")
    return values, fixed


def _check_reach(site: OperatorSite, reach: float) -> None:
    if reach < 0:
        raise site.unsupported(f"with a negative reach, {reach}")
