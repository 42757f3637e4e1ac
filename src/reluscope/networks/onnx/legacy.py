"""Operators of old opsets for the reference evaluator, which knows them by newer rules or not at all.

Until opset 6, arithmetic lined its second operand up with an axis of the first; PReLU had one slope per channel.
Normalisation before opset 14 is evaluated as in training by onnx 1.23. Before opset 11, resizing was asymmetric and
rounded down (operators Upsample and Resize 10); the version converter turns it into another resizing.
"""

from typing import Any

import numpy as np
from onnx import defs
from onnx.reference.op_run import OpRun


def legacy_operators(opset: int) -> list[type[OpRun]]:
    """Return the operators that the evaluator is to take from here at an opset."""
    operators: list[type[OpRun]] = []
    if opset < 7:
        operators += [Add, Sub, Mul, Div, PRelu, Dropout]
    if opset < 14:
        operators += [BatchNormalization]
    if opset < 11:
        operators += [Upsample, Resize]
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


class Upsample(OpRun):
    """Resizing of opsets 7 to 9: asymmetric, rounded down."""

    op_schema = defs.get_schema("Upsample", 9)

    def _run(self, x: Any, scales: Any = None, **settings: Any) -> tuple[Any]:
        scales = np.asarray(settings["scales"] if scales is None else scales, dtype=np.float64)
        mode = settings["mode"] if settings["mode"] == "nearest" else "linear"
        return (_asymmetric(x, scales, mode),)


class Resize(OpRun):
    """Resizing of opset 10, the same as Upsample before it."""

    op_schema = defs.get_schema("Resize", 10)

    def _run(self, x: Any, scales: Any, **settings: Any) -> tuple[Any]:
        return (_asymmetric(x, np.asarray(scales, dtype=np.float64), settings["mode"]),)


def _asymmetric(x: Any, scales: Any, mode: str) -> Any:
    for axis, scale in enumerate(scales):
        length = x.shape[axis]
        new = int(np.floor(length * np.float32(scale)))
        if (new, scale) == (length, 1.0):
            continue
        places = np.arange(new) / scale
        low = np.clip(np.floor(places).astype(int), 0, length - 1)
        share = 0.0 if mode == "nearest" else np.clip(places - low, 0.0, 1.0).reshape(-1, *(1,) * (x.ndim - 1 - axis))
        high = np.minimum(low + 1, length - 1)
        x = np.take(x, low, axis) * (1.0 - share) + np.take(x, high, axis) * share
    return x
