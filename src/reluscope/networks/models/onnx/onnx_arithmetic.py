"""Sums, products with constants, reductions along axes, and what leaves a value as it is."""

from math import prod

import numpy as np
import onnx
import torch

from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_operands import aligned, broadcast, stored_constant
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.operators import quantizing, sums_and_products


@lowers("Div", entrywise=True)
def divide(site: NodeSite) -> Activation:
    """Lower ``a / b`` with b constant."""
    operands = aligned(site)
    if not isinstance(operands[1], Activation) and np.issubdtype(np.asarray(operands[1]).dtype, np.integer):
        raise site.discontinuous("divides integers, which rounds")
    (first, second), shape = broadcast(site, operands)
    return site.close(sums_and_products.divide(site, first, second), shape)


@lowers("Identity", "Dropout", entrywise=True)
def identity(site: NodeSite) -> Activation | list[Activation | None]:
    """Pass the value on; dropout in training mode is random."""
    if site.operator == "Dropout" and site.given(2) is not None and bool(np.any(site.given(2))):
        raise site.unsupported("in training mode: export the model in evaluation mode")
    return [site.activation(), *[None] * (len(site.node.output) - 1)]


@lowers("Cast", "CastLike", entrywise=True)
def cast(site: NodeSite) -> Activation | np.ndarray:
    """Casts between floating-point types, and of masks; other casts to integers round."""
    if not isinstance(site.operand(0), Activation):  # a constant that becomes what an activation is
        return np.asarray(site.operand(0), dtype=np.float64)
    x, target = site.activation(), int(onnx.TensorProto.DOUBLE)
    if site.operator == "Cast":
        target = int(site.setting("to"))
    elif isinstance(site.operand(1), np.ndarray):
        target = int(onnx.helper.np_dtype_to_tensor_dtype(site.given(1).dtype))
    kind = {int(onnx.TensorProto.DOUBLE): float, int(onnx.TensorProto.BOOL): bool}.get(target, int)
    name = onnx.TensorProto.DataType.Name(target).lower()
    return Activation(sums_and_products.cast(site, x.value, kind, name), x.shape)


@lowers("QuantizeLinear", entrywise=True)
def quantize(site: NodeSite) -> Activation:
    """``x / scale`` rounded to the whole numbers of a type, with a zero point added."""
    x, (scale, zero) = site.activation(), _scales(site)
    kind = np.dtype(np.uint8) if site.given(2) is None else np.asarray(site.given(2)).dtype
    if kind.kind not in "iu":
        raise site.unsupported(f"to {kind}: whole numbers of 8 bits are")
    ends = np.iinfo(kind)
    return Activation(quantizing.whole(site, x.value, scale, zero, (int(ends.min), int(ends.max))), x.shape)


@lowers("DequantizeLinear", entrywise=True)
def dequantize(site: NodeSite) -> Activation:
    """``scale (x - zero)``."""
    x, (scale, zero) = site.activation(), _scales(site)
    return Activation(quantizing.back(site, x.value, scale, zero), x.shape)


def _scales(site: NodeSite) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scale and the zero point, one for all entries or one along an axis, as they are broadcast."""
    scale, zero = site.weight(1), site.weight(2)
    assert scale is not None
    if scale.ndim > 1 or site.setting("block_size", 0):
        raise site.unsupported("with scales of blocks")
    if scale.numel() > 1:
        shape = site.activation().shape
        scale = scale.reshape(-1, *[1] * (len(shape) - 1 - site.setting("axis", 1) % len(shape)))
    return scale, torch.zeros_like(scale) if zero is None else zero.reshape(scale.shape)


@lowers("IsNaN", "IsInf")
def is_no_number(site: NodeSite) -> np.ndarray:
    """Return what is known of numbers."""
    site.builder.note("Checks for NaN and infinite numbers were left out: inputs are numbers.")
    return np.zeros(site.activation().shape, dtype=bool)


@lowers("CumSum")
def cumulative_sum(site: NodeSite) -> Activation:
    """Sum of everything up to each entry along an axis."""
    x = site.activation()
    axis = int(np.asarray(site.given(1)).item()) % len(x.shape)
    unit = np.eye(x.shape[axis])
    matrix = torch.from_numpy(evaluate(site.node, [unit, np.array(0)], site.opset)[0].copy())
    return site.close(site.builder.axis_matrix(site.whole(x), axis, matrix), x.shape)


@lowers("Trilu")
def triangle(site: NodeSite) -> Activation:
    """Everything above or below a diagonal, zero elsewhere."""
    x = site.activation()
    mask = evaluate(site.node, [np.ones(x.shape), site.given(1)], site.opset)[0]
    return Activation(site.builder.multiply(x.value, stored_constant(mask, x.shape)), x.shape)


@lowers("NegativeLogLikelihoodLoss")
def likelihood_loss(site: NodeSite) -> Activation:
    """Take the entries of given classes, weighted, or their negative sum or mean."""
    x, target = site.activation(), np.asarray(site.given(1))
    weight = np.ones(x.shape[1]) if site.given(2) is None else np.asarray(site.given(2), dtype=np.float64)
    is_left_out = target == site.setting("ignore_index", np.iinfo(np.int64).min)
    classes = np.where(is_left_out, 0, target)
    positions = np.moveaxis(np.arange(prod(x.shape)).reshape(x.shape), 1, -1)
    places = np.take_along_axis(positions, classes[..., None], axis=-1)[..., 0]
    factor = np.where(is_left_out, 0.0, weight[classes])
    reduction = site.setting("reduction", "mean")
    total = factor.sum() if reduction == "mean" else 1.0
    flat = site.builder.select(x.value, torch.from_numpy(places.reshape(-1)))
    value = site.builder.multiply(flat, torch.from_numpy(-factor.reshape(-1) / total))
    return site.close(value, target.shape) if reduction == "none" else site.close(site.builder.sum(value), ())
