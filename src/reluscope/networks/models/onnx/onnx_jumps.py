"""Smooth operators that pieces replace."""

from reluscope.networks.models.onnx.onnx_refusals import refusal
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.onnx.smooth_products import SmoothProduct

_SMOOTH = {"Gelu": "gelu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softplus": "softplus"}


def smooth_product(site: NodeSite, product: SmoothProduct) -> Activation:
    """Replace a smooth function that several nodes make up."""
    x, builder = site.activation(), site.builder
    name = "gelu" if product.function == "gelu_by_tanh" else product.function
    pieces = builder.approximate.get(name)
    if pieces is None:
        raise refusal({"silu": "Swish", "gelu": "Gelu", "softplus": "Softplus"}[name], "", site.place)
    scaled = x.value if product.scale == 1 else builder.multiply(x.value, product.scale, name=site.name)
    found = builder.approximated(scaled, product.function, pieces, beyond=product.beyond, name=site.name)
    return Activation(found if product.scale == 1 else builder.divide(found, product.scale, name=site.name), x.shape)


@lowers("Swish")
def swish(site: NodeSite) -> Activation:
    """``x sigmoid(alpha x)``."""
    alpha = site.setting("alpha", 1.0)
    if not alpha > 0:
        raise site.unsupported(f"with alpha {alpha}")
    return smooth_product(site, SmoothProduct("silu", "", "", alpha, 0.0, frozenset()))


@lowers(*_SMOOTH)
def smooth(site: NodeSite) -> Activation:
    """Replace a smooth function by as many linear pieces as were asked for."""
    x, function = site.activation(), _SMOOTH[site.operator]
    pieces = site.builder.approximate.get(function)
    if pieces is None:
        raise refusal(site.operator, "", site.place)
    if function == "gelu" and site.setting("approximate", "none") == "tanh":
        function = "gelu_by_tanh"
    return Activation(site.builder.approximated(x.value, function, pieces, name=site.name), x.shape)
