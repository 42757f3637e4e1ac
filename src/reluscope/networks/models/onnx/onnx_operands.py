"""Operators of the table, as ONNX writes them: operands in order, broadcast, and settings as attributes."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from reluscope.networks.building.builder import Value
from reluscope.networks.models.onnx.onnx_site import Activation, Handler, NodeSite, Operand, Shape, lowers, stored_shape
from reluscope.networks.models.operators.operator_table import ENTRYWISE, OVER_AXES, NamedSetting, OperatorRow


def broadcast(site: NodeSite, operands: Sequence[Operand]) -> tuple[list[Value | Tensor], Shape]:
    """Return operands that the builder broadcasts to the same result as ONNX does, and its ONNX shape."""
    present = [operand for operand in operands if operand is not None]
    shape = np.broadcast_shapes(*(operand.shape for operand in present))
    sides = [
        operand.value if isinstance(operand, Activation) else stored_constant(operand, shape) for operand in present
    ]
    return sides, shape


def stored_constant(array: np.ndarray, shape: Shape) -> Tensor:
    """Return a constant without the leading axis that the broadcast result leaves out."""
    array = np.asarray(array, dtype=np.float64)
    if array.ndim == len(shape) and stored_shape(shape) != shape:
        array = array[0]
    return torch.from_numpy(np.array(array))


def aligned(site: NodeSite) -> Sequence[Operand]:
    """Return the operands; before opset 7 the second of two is lined up with an axis of the first."""
    axis = site.setting("axis")
    if site.opset >= 7 or not site.setting("broadcast", 0) or axis is None:
        return site.operands
    first, second = site.operands
    assert first is not None
    assert second is not None
    missing = len(first.shape) - axis % len(first.shape) - len(second.shape)
    shape = (*second.shape, *(1,) * missing)
    moved = site.close(site.whole(second), shape) if isinstance(second, Activation) else second.reshape(shape)
    return [first, moved]


def _entrywise(row: OperatorRow) -> Handler:
    def handler(site: NodeSite) -> Activation:
        def read(setting: NamedSetting) -> float | str | None:
            return None if setting.onnx is None else site.setting(setting.onnx, setting.default)

        sides, shape = broadcast(site, aligned(site))
        return site.close(row.meaning(site, *sides, **row.settings_by(read)), shape)

    return handler


def _over_axes(row: OperatorRow) -> Handler:
    def handler(site: NodeSite) -> Activation:
        x, axes = site.activation(), site.integers(1, "axes")
        if axes:
            over = {axis % len(x.shape) for axis in axes}
        else:
            over = set() if site.setting("noop_with_empty_axes", 0) else set(range(len(x.shape)))
        keeps = bool(site.setting("keepdims", 1))
        shape = [1 if axis in over else length for axis, length in enumerate(x.shape) if keeps or axis not in over]
        gone = len(x.shape) - len(x.value.shape)
        inner = [axis - gone for axis in sorted(over) if axis >= gone]
        return site.close(row.meaning(site, x.value, inner, keepdims=False), shape)

    return handler


for _row in ENTRYWISE:
    lowers(*_row.onnx, entrywise=True)(_entrywise(_row))
for _row in OVER_AXES:
    lowers(*_row.onnx)(_over_axes(_row))
