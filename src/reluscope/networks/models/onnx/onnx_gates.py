"""Operators that become gates."""

from dataclasses import replace

import numpy as np

from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.onnx.smooth_products import SmoothProduct
from reluscope.networks.models.operators import entrywise

# No float32 lies beyond: exporters write these where they mean that there is no bound.
_FARTHEST = float(np.finfo(np.float32).max)


@lowers("PRelu")
def prelu(site: NodeSite) -> Activation:
    """``x`` or ``slope x`` with constant slopes, broadcast."""
    x, slope = site.activation(), site.operand(1)
    if isinstance(slope, Activation):
        table = slope.value
    else:
        table = site.weight(1)
        assert table is not None
        if site.opset < 7 and table.ndim == 1 and table.numel() > 1:
            table = table.reshape(-1, *(1,) * (len(x.shape) - 2))
        if table.ndim == len(x.shape) > len(x.value.shape):
            table = table[0]
    return Activation(entrywise.prelu(site, x.value, table), x.shape)


@lowers("Clip", entrywise=True)
def clip(site: NodeSite) -> Activation:
    """``min(max(x, low), high)``."""
    x = site.activation()
    low, high = _bound(site, 1, "min"), _bound(site, 2, "max")
    kind = "relu6" if (low, high) == (0.0, 6.0) else "clamp"
    return Activation(site.builder.clamp(x.value, low, high, kind=kind), x.shape)


def _bound(site: NodeSite, position: int, name: str) -> float | None:
    found = site.given(position, name)
    if found is None:
        return None
    bound = float(np.asarray(found).item())
    return None if abs(bound) >= _FARTHEST and (bound < 0) == (name == "min") else bound


def smooth_product(site: NodeSite, product: SmoothProduct) -> Activation:
    """Replace a smooth function that several nodes make up; where it is refused, it has the name of one node."""
    x, function = site.activation(), "gelu" if product.function == "gelu_by_tanh" else product.function
    named = replace(site, operator={"silu": "Swish", "gelu": "Gelu", "softplus": "Softplus"}[function])
    settings = {"variant": product.function, "scale": product.scale, "beyond": product.beyond}
    return Activation(entrywise.smooth(named, x.value, function, **settings), x.shape)
