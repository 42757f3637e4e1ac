"""Smooth activations: refused, or replaced by pieces where that was asked for."""

import math
from types import SimpleNamespace

from reluscope.geometry.numbers.resolutions import OUTWARD
from reluscope.networks.building.builder import Value
from reluscope.networks.models.torch.aten_refusals import refusal
from reluscope.networks.models.torch.aten_site import AtenSite, lowers


@lowers("gelu", "silu", "tanh", "sigmoid", "softplus")
def smooth(site: AtenSite, a: SimpleNamespace) -> Value:
    """Replace a smooth function by as many linear pieces as were asked for."""
    builder, function = site.builder, site.operator
    pieces = builder.approximate.get(function)
    if pieces is None:
        raise refusal(function, site.place)
    if function == "gelu" and a.approximate == "tanh":
        function = "gelu_by_tanh"
    if function != "softplus":
        return builder.approximated(a.self, function, pieces, name=site.name)
    # log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold.
    beta, threshold = float(a.beta), float(a.threshold)
    if not beta > 0 or not threshold > 0:
        raise site.unsupported(f"with beta {beta} and threshold {threshold}")
    scaled = a.self if beta == 1 else builder.multiply(a.self, beta, name=site.name)
    beyond = math.log1p(math.exp(-threshold)) * OUTWARD
    found = builder.approximated(scaled, function, pieces, beyond=beyond, name=site.name)
    return found if beta == 1 else builder.divide(found, beta, name=site.name)
