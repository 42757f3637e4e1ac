"""Sums, products with constants, reductions along axes, and what leaves a value as it is."""

import numpy as np
import onnx
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_operands import aligned, broadcast, stored_constant
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.operators import sums_and_products


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
def cast(site: NodeSite) -> Activation:
    """Casts between floating-point types, and of masks; other casts to integers round."""
    x, target = site.activation(), int(onnx.TensorProto.DOUBLE)
    if site.operator == "Cast":
        target = int(site.setting("to"))
    elif isinstance(site.operand(1), np.ndarray):
        target = int(onnx.helper.np_dtype_to_tensor_dtype(site.given(1).dtype))
    kind = {int(onnx.TensorProto.DOUBLE): float, int(onnx.TensorProto.BOOL): bool}.get(target, int)
    name = onnx.TensorProto.DataType.Name(target).lower()
    return Activation(sums_and_products.cast(site, x.value, kind, name), x.shape)


@lowers("Where")
def where(site: NodeSite) -> Activation:
    """Entries of one tensor or the other, chosen by constants, or by a mask of the value that is chosen."""
    if isinstance(site.operand(0), Activation):
        (mask, x, y), shape = broadcast(site, site.operands)
        assert isinstance(mask, Value)
        return site.close(site.builder.where(mask, x, y), shape)
    chosen = np.asarray(site.given(0)).astype(np.float64)
    sides, shape = broadcast(site, [chosen, *site.operands[1:3]])
    mask = sides[0]
    assert isinstance(mask, Tensor)
    total: Value | None = None
    for side, share in ((sides[1], mask), (sides[2], 1.0 - mask)):
        if isinstance(side, Value):
            part = site.builder.multiply(side, share)
            total = part if total is None else site.builder.add(total, part)
    for side, share in ((sides[1], mask), (sides[2], 1.0 - mask)):
        if isinstance(side, Tensor):
            assert total is not None
            # Where nothing is taken, an infinite constant must not become NaN.
            total = site.builder.add(total, torch.where(share > 0, side, 0.0))
    assert total is not None
    return site.close(total, shape)


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
