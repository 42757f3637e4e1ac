"""Operators that become gates."""

from types import SimpleNamespace
from typing import Any

from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.operators import entrywise
from reluscope.networks.models.torch.aten_site import AtenSite, lowers


@lowers("rrelu", "rrelu_with_noise", entrywise=True)
def rrelu(site: AtenSite, a: SimpleNamespace) -> Value:
    """Leaky ReLU whose slope is, in evaluation mode, the middle of its range."""
    if a.training:
        raise site.unsupported("in training mode: call model.eval() first")
    return site.builder.leaky_relu(a.self, (float(a.lower) + float(a.upper)) / 2)


@lowers("prelu", "_prelu_kernel")
def prelu(site: AtenSite, a: SimpleNamespace) -> Value:
    """``x`` or ``slope x`` with a slope per channel."""
    slope = a.weight
    if isinstance(slope, Tensor):
        if site.operator == "prelu" and slope.ndim == 1 and slope.numel() > 1:
            slope = slope.reshape(-1, *(1,) * (len(a.self.shape) - 1))
        slope = site.beside(a.self, slope)
    return entrywise.prelu(site, a.self, slope)


@lowers("hardtanh", entrywise=True)
def hardtanh(site: AtenSite, a: SimpleNamespace) -> Value:
    """``min(max(x, low), high)``; ReLU6 is traced as one from 0 to 6."""
    low, high = float(a.min_val), float(a.max_val)
    kind = "relu6" if (low, high) == (0.0, 6.0) else "hardtanh"
    return site.builder.clamp(a.self, low, high, kind=kind)


@lowers("clamp", "clip", "clamp_min", "clamp_max", entrywise=True)
def clamp(site: AtenSite, a: SimpleNamespace) -> Value:
    """``min(max(x, low), high)``; bounds that depend on the input are maxima and minima of two values."""
    x, low, high = a.self, getattr(a, "min", None), getattr(a, "max", None)
    if not isinstance(x, Value) or isinstance(low, Value) or isinstance(high, Value):
        result = x
        for bound, pick in ((low, site.builder.maximum), (high, site.builder.minimum)):
            if bound is not None:
                result = pick(*site.sides(result, bound))
        return result
    low, high = (None if bound is None else site.beside(x, bound) for bound in (low, high))
    return site.builder.clamp(x, low, high)


@lowers("max", "min")
def largest(site: AtenSite, a: SimpleNamespace) -> Value | list[Any]:
    """``torch.max`` and ``torch.min`` in their three forms: of two values, along an axis, over everything."""
    if hasattr(a, "other"):
        pick = site.builder.maximum if site.operator == "max" else site.builder.minimum
        return pick(*site.sides(a.self, a.other))
    pick = site.builder.amax if site.operator == "max" else site.builder.amin
    axes = site.axes(a.self, getattr(a, "dim", None))
    result = pick(a.self, axes, keepdims=getattr(a, "keepdim", False))
    return [result, None] if hasattr(a, "dim") else result


@lowers("aminmax")
def smallest_and_largest(site: AtenSite, a: SimpleNamespace) -> list[Any]:
    """Both at once."""
    axes = site.axes(a.self, a.dim)
    return [pick(a.self, axes, keepdims=a.keepdim) for pick in (site.builder.amin, site.builder.amax)]
