"""Sums, products with constants, reductions along axes, and what leaves a value as it is."""

import numpy as np
import onnx
import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError
from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_evaluation import evaluate
from reluscope.networks.models.onnx.onnx_operands import aligned, broadcast, stored_constant
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers


@lowers("Add")
def add(site: NodeSite) -> Activation:
    """Lower ``a + b``."""
    (first, second), shape = broadcast(site, aligned(site))
    return site.close(site.builder.add(first, second, name=site.name), shape)


@lowers("Sub")
def subtract(site: NodeSite) -> Activation:
    """Lower ``a - b``."""
    (first, second), shape = broadcast(site, aligned(site))
    return site.close(site.builder.subtract(first, second, name=site.name), shape)


@lowers("Mul")
def multiply(site: NodeSite) -> Activation:
    """Lower ``a * b``, one of them constant, or a mask of the other."""
    (first, second), shape = broadcast(site, aligned(site))
    if isinstance(first, Value) and isinstance(second, Value):
        product = site.builder.masked(first, second, name=site.name)
        if product is None:
            raise site.masked_product()
        return site.close(product, shape)
    return site.close(site.builder.multiply(first, second, name=site.name), shape)


@lowers("Div")
def divide(site: NodeSite) -> Activation:
    """Lower ``a / b`` with b constant."""
    operands = aligned(site)
    if isinstance(operands[1], Activation):
        raise NotPiecewiseLinearError(
            f"expected divisions by constants, but Div at {site.place} divides by a value that depends on the input, "
            "which is not piecewise linear"
        )
    if np.issubdtype(np.asarray(operands[1]).dtype, np.integer):
        raise NotPiecewiseLinearError(
            f"expected continuous operators, but Div at {site.place} divides integers, which rounds"
        )
    (first, second), shape = broadcast(site, operands)
    return site.close(site.builder.divide(first, second, name=site.name), shape)


@lowers("Sum", "Mean")
def sum_of_many(site: NodeSite) -> Activation:
    """Add any number of tensors, broadcast, or take their mean."""
    sides, shape = broadcast(site, site.operands)
    constants = [side for side in sides if isinstance(side, Tensor)]
    values = [side for side in sides if isinstance(side, Value)]
    total = values[0]
    for value in values[1:]:
        total = site.builder.add(total, value, name=site.name)
    for tensor in constants:
        total = site.builder.add(total, tensor, name=site.name)
    if site.operator == "Mean" and len(sides) > 1:
        total = site.builder.divide(total, float(len(sides)), name=site.name)
    return site.close(total, shape)


@lowers("Neg")
def negate(site: NodeSite) -> Activation:
    """Lower ``-a``."""
    x = site.activation()
    return Activation(site.builder.negate(x.value, name=site.name), x.shape)


@lowers("Identity", "Dropout")
def identity(site: NodeSite) -> Activation | list[Activation | None]:
    """Pass the value on; dropout in training mode is random."""
    if site.operator == "Dropout" and site.given(2) is not None and bool(np.any(site.given(2))):
        raise site.unsupported("in training mode: export the model in evaluation mode")
    return [site.activation(), *[None] * (len(site.node.output) - 1)]


@lowers("Cast", "CastLike")
def cast(site: NodeSite) -> Activation:
    """Casts between floating-point types, and of masks; other casts to integers round."""
    x = site.activation()
    if site.builder.is_mask(x.value):
        return x
    target = int(onnx.TensorProto.DOUBLE)
    if site.operator == "Cast":
        target = int(site.setting("to"))
    elif isinstance(site.operand(1), np.ndarray):
        target = int(onnx.helper.np_dtype_to_tensor_dtype(site.given(1).dtype))
    if target == onnx.TensorProto.BOOL:
        return Activation(site.builder.compare(x.value, 0.0, "!=", name=site.name), x.shape)
    if target != onnx.TensorProto.DOUBLE:
        kind = onnx.TensorProto.DataType.Name(target).lower()
        raise NotPiecewiseLinearError(
            f"expected continuous operators, but {site.operator} at {site.place} rounds to {kind}, which is not "
            "continuous"
        )
    return x


@lowers("Where")
def where(site: NodeSite) -> Activation:
    """Entries of one tensor or the other, chosen by constants, or by a mask of the value that is chosen."""
    if isinstance(site.operand(0), Activation):
        (mask, x, y), shape = broadcast(site, site.operands)
        assert isinstance(mask, Value)
        return site.close(site.builder.where(mask, x, y, name=site.name), shape)
    chosen = np.asarray(site.given(0)).astype(np.float64)
    sides, shape = broadcast(site, [chosen, *site.operands[1:3]])
    mask = sides[0]
    assert isinstance(mask, Tensor)
    total: Value | None = None
    for side, share in ((sides[1], mask), (sides[2], 1.0 - mask)):
        if isinstance(side, Value):
            part = site.builder.multiply(side, share, name=site.name)
            total = part if total is None else site.builder.add(total, part, name=site.name)
    for side, share in ((sides[1], mask), (sides[2], 1.0 - mask)):
        if isinstance(side, Tensor):
            assert total is not None
            # Where nothing is taken, an infinite constant must not become NaN.
            total = site.builder.add(total, torch.where(share > 0, side, 0.0), name=site.name)
    assert total is not None
    return site.close(total, shape)


@lowers("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1")
def reduce(site: NodeSite) -> Activation:
    """Take sums, means, maxima, minima or sums of absolute values along axes."""
    x = site.activation()
    axes = site.integers(1, "axes")
    if not axes and site.setting("noop_with_empty_axes", 0):
        if site.operator == "ReduceL1":
            return Activation(site.builder.absolute(x.value, name=site.name), x.shape)
        return x
    over = {axis % len(x.shape) for axis in axes} if axes else set(range(len(x.shape)))
    if site.setting("keepdims", 1):
        shape = tuple(1 if axis in over else length for axis, length in enumerate(x.shape))
    else:
        shape = tuple(length for axis, length in enumerate(x.shape) if axis not in over)
    gone = len(x.shape) - len(x.value.shape)
    inner = [axis - gone for axis in sorted(over) if axis >= gone]
    value = site.builder.absolute(x.value, name=site.name) if site.operator == "ReduceL1" else x.value
    if inner:
        builder = site.builder
        others = {"ReduceMean": builder.mean, "ReduceMax": builder.amax, "ReduceMin": builder.amin}
        value = others.get(site.operator, builder.sum)(value, inner, name=site.name)
    return site.close(value, shape)


@lowers("CumSum")
def cumulative_sum(site: NodeSite) -> Activation:
    """Sum of everything up to each entry along an axis."""
    x = site.activation()
    axis = int(np.asarray(site.given(1)).item()) % len(x.shape)
    unit = np.eye(x.shape[axis])
    matrix = torch.from_numpy(evaluate(site.node, [unit, np.array(0)], site.opset)[0].copy())
    return site.close(site.builder.axis_matrix(site.whole(x), axis, matrix, name=site.name), x.shape)


@lowers("Trilu")
def triangle(site: NodeSite) -> Activation:
    """Everything above or below a diagonal, zero elsewhere."""
    x = site.activation()
    mask = evaluate(site.node, [np.ones(x.shape), site.given(1)], site.opset)[0]
    return Activation(site.builder.multiply(x.value, stored_constant(mask, x.shape), name=site.name), x.shape)
