"""Operators that the reference evaluator lacks, reads by newer rules only, or gets wrong (seen with onnx 1.17 to 1.23).

Until opset 6, arithmetic lined its second operand up with an axis of the first, and PReLU had one slope per channel.
Normalisation before opset 14 is evaluated as in training, and padding cannot cut off. The version converter of ONNX is
no way around the old opsets: it misplaces that axis and forgets that resizing was asymmetric.
"""

from typing import Any

import numpy as np
from onnx import defs
from onnx.reference.op_run import OpRun

from reluscope.networks.models.onnx.amended.amended_grids import AffineGrid, GridSample
from reluscope.networks.models.onnx.amended.amended_recurrence import RNN
from reluscope.networks.models.onnx.amended.amended_resizing import Resize, Upsample
from reluscope.networks.models.onnx.amended.amended_windows import AveragePool, Conv, ConvTranspose, MaxPool


def amended_operators(opset: int) -> list[type[OpRun]]:
    """Return the operators that the evaluator is to take from here at an opset."""
    operators: list[type[OpRun]] = [AffineGrid, AveragePool, Conv, ConvTranspose, GridSample, MaxPool, Pad, Resize, RNN]
    if opset < 7:
        operators += [Add, Sub, Mul, Div, PRelu, Dropout]
    if opset < 14:
        operators += [BatchNormalization]
    if opset < 11:
        operators += [Scatter]
    if opset < 10:
        operators += [Upsample]
    if opset < 19:
        operators += [DequantizeLinear]
    return operators


class _Aligned(OpRun):
    """Arithmetic whose second operand starts at an axis of the first."""

    op_schema = None
    function: Any = None

    def _run(self, first: Any, second: Any, **settings: Any) -> tuple[Any]:
        axis = settings.get("axis")
        if settings.get("broadcast") and axis is not None:
            missing = first.ndim - axis % first.ndim - second.ndim
            second = second.reshape(*second.shape, *(1,) * missing)
        return (self.function(first, second),)


class Add(_Aligned):
    """``a + b`` of opset 6."""

    function = staticmethod(np.add)


class Sub(_Aligned):
    """``a - b`` of opset 6."""

    function = staticmethod(np.subtract)


class Mul(_Aligned):
    """``a * b`` of opset 6."""

    function = staticmethod(np.multiply)


class Div(_Aligned):
    """``a / b`` of opset 6."""

    function = staticmethod(lambda a, b: a / b if a.dtype.kind == "f" else a // b)


class PRelu(OpRun):
    """PReLU of opset 6: one slope, or one per channel."""

    def _run(self, x: Any, slope: Any) -> tuple[Any]:
        if slope.size > 1 and slope.ndim == 1:
            slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
        return (np.where(x > 0, x, x * slope),)


class Dropout(OpRun):
    """Dropout of opset 6 when testing."""

    def _run(self, x: Any, **settings: Any) -> tuple[Any, ...]:
        return (x, np.ones(x.shape, dtype=bool))[: len(self.onnx_node.output)]


class BatchNormalization(OpRun):
    """Batch normalisation of opsets 6 to 13 when testing."""

    def _run(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, **settings: Any) -> tuple[Any]:
        column = (-1, *(1,) * (x.ndim - 2)) if settings.get("spatial", 1) else x.shape[1:]
        scale, bias, mean, variance = (array.reshape(column) for array in (scale, bias, mean, variance))
        return (scale * (x - mean) / np.sqrt(variance + settings["epsilon"]) + bias,)


class Pad(OpRun):
    """Padding in all forms; negative numbers cut off."""

    def _run(self, x: Any, pads: Any = None, value: Any = None, axes: Any = None, **settings: Any) -> tuple[Any]:
        mode = settings["mode"]
        over = range(x.ndim) if axes is None else [int(axis) % x.ndim for axis in axes]
        full = np.zeros((2, x.ndim), dtype=np.int64)
        full[:, list(over)] = np.asarray(pads).reshape(2, -1)
        cut = tuple(slice(-min(0, b), x.shape[a] + min(0, e)) for a, (b, e) in enumerate(full.T))
        if mode == "constant":
            fill = 0 if value is None else np.asarray(value).item()
            return (np.pad(x[cut], np.maximum(full, 0).T, constant_values=fill),)
        return (np.pad(x[cut], np.maximum(full, 0).T, mode=mode),)


class Scatter(OpRun):
    """What `ScatterElements` is called before opset 11."""

    op_schema = defs.get_schema("Scatter", 9)

    def _run(self, data: Any, indices: Any, updates: Any, **settings: Any) -> tuple[Any]:
        axis, result = settings.get("axis", 0) % data.ndim, data.copy()
        places = list(np.indices(indices.shape))
        places[axis] = indices % data.shape[axis]
        result[tuple(places)] = updates
        return (result,)


class DequantizeLinear(OpRun):
    """Whole numbers times a scale, one for all or one per channel."""

    def _run(self, x: Any, scale: Any, zero: Any = None, **settings: Any) -> tuple[Any]:
        axis = settings.get("axis", 1) % max(1, x.ndim)
        column = (-1, *(1,) * (x.ndim - axis - 1)) if scale.size > 1 else ()
        shift = 0.0 if zero is None else zero.astype(np.float64).reshape(column)
        return ((x.astype(np.float64) - shift) * scale.reshape(column),)
