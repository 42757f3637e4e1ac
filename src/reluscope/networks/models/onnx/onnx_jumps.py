"""Operators that jump: comparisons, signs, masks and what they choose; and smooth ones that pieces replace."""

from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_arithmetic import broadcast
from reluscope.networks.models.onnx.onnx_refusals import refusal
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.onnx.smooth_products import SmoothProduct

_RELATIONS = {"Greater": ">", "GreaterOrEqual": ">=", "Less": "<", "LessOrEqual": "<=", "Equal": "=="}
_SMOOTH = {"Gelu": "gelu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Softplus": "softplus"}


@lowers(*_RELATIONS)
def compare(site: NodeSite) -> Activation:
    """1 where a relation holds, 0 elsewhere."""
    (first, second), shape = broadcast(site, site.operands)
    return site.close(site.builder.compare(first, second, _RELATIONS[site.operator], name=site.name), shape)


@lowers("Sign")
def sign(site: NodeSite) -> Activation:
    """-1, 0 or 1."""
    x = site.activation()
    return Activation(site.builder.sign(x.value, name=site.name), x.shape)


@lowers("ThresholdedRelu")
def thresholded(site: NodeSite) -> Activation:
    """``x`` above a threshold, else 0."""
    x = site.activation()
    mask = site.builder.compare(x.value, site.setting("alpha", 1.0), ">", name=site.name)
    return Activation(site.builder.where(mask, x.value, 0.0, name=site.name), x.shape)


@lowers("Shrink")
def shrink(site: NodeSite) -> Activation:
    """``x`` moved towards zero by ``bias``, zero within ``lambd``: continuous if these are equal."""
    x, builder = site.activation(), site.builder
    reach, step = site.setting("lambd", 0.5), site.setting("bias", 0.0)
    if reach < 0:
        raise site.unsupported(f"with a negative lambd, {reach}")
    if reach == step:
        return Activation(builder.softshrink(x.value, reach, name=site.name), x.shape)
    above, below = (builder.compare(x.value, *side, name=site.name) for side in ((reach, ">"), (-reach, "<")))
    lower = builder.where(below, builder.scale_shift(x.value, shift=step, name=site.name), 0.0, name=site.name)
    upper = builder.where(above, builder.scale_shift(x.value, shift=-step, name=site.name), 0.0, name=site.name)
    return Activation(builder.add(lower, upper, name=site.name), x.shape)


@lowers("And", "Or", "Xor")
def combine(site: NodeSite) -> Activation:
    """Combine two masks, of which one may be a constant."""
    sides, shape = broadcast(site, site.operands)
    builder, operator = site.builder, site.operator
    masks = [side for side in sides if isinstance(side, Value)]
    fixed = [side for side in sides if isinstance(side, Tensor)]
    if not all(builder.is_mask(mask) for mask in masks):
        raise site.unsupported("on anything but the results of comparisons")
    if fixed and operator == "And":
        return site.close(builder.multiply(masks[0], fixed[0], name=site.name), shape)
    if fixed:
        slope = 1.0 - 2.0 * fixed[0] if operator == "Xor" else 1.0 - fixed[0]
        return site.close(builder.scale_shift(masks[0], slope, fixed[0], name=site.name), shape)
    if operator == "Xor":
        different = builder.subtract(*masks, name=site.name)
        return site.close(builder.compare(different, 0.0, "!=", name=site.name), shape)
    return site.close((builder.both if operator == "And" else builder.either)(*masks, name=site.name), shape)


@lowers("Not")
def negate(site: NodeSite) -> Activation:
    """Turn a mask round."""
    x = site.activation()
    if not site.builder.is_mask(x.value):
        raise site.unsupported("on anything but the results of comparisons")
    return Activation(site.builder.negated(x.value, name=site.name), x.shape)


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
