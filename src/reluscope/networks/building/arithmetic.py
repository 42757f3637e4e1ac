"""Sums of values and arithmetic with constants, with NumPy's broadcasting on shapes without the batch axis."""

from collections.abc import Sequence

import torch
from torch import Tensor

from reluscope.errors import NotPiecewiseLinearError, ShapeError
from reluscope.networks.building.core import Core, Operand, Value, constant, normal_axis
from reluscope.networks.graph.operators.elementwise import ScaleShift, Sum
from reluscope.networks.graph.operators.reduce import AxisMatrix, AxisSum


class Arithmetic(Core):
    """Methods for affine combinations."""

    def scale_shift(
        self,
        x: Value,
        scale: Tensor | float | None = None,
        shift: Tensor | float | None = None,
        *,
        name: str = "scale_shift",
    ) -> Value:
        """``scale * x + shift``, broadcast."""
        factors = [None if factor is None else constant(factor) for factor in (scale, shift)]
        shape = torch.broadcast_shapes(x.shape, *(factor.shape for factor in factors if factor is not None))
        return self.add_affine(ScaleShift, x, tuple(shape), name, scale=factors[0], shift=factors[1])

    def add(self, x: Operand, y: Operand, *, name: str = "add") -> Value:
        """``x + y``; one side may be a constant."""
        if isinstance(x, Value) and isinstance(y, Value):
            return self._sum(x, y, (1, 1), name)
        x, y = (x, y) if isinstance(x, Value) else (y, x)
        return self.scale_shift(_value(x), shift=_constant(y), name=name)

    def subtract(self, x: Operand, y: Operand, *, name: str = "sub") -> Value:
        """``x - y``; one side may be a constant."""
        if isinstance(x, Value) and isinstance(y, Value):
            return self._sum(x, y, (1, -1), name)
        if isinstance(x, Value):
            return self.scale_shift(x, shift=-_constant(y), name=name)
        return self.scale_shift(_value(y), scale=-1.0, shift=_constant(x), name=name)

    def negate(self, x: Value, *, name: str = "neg") -> Value:
        """``-x``."""
        return self.scale_shift(x, scale=-1.0, name=name)

    def multiply(self, x: Operand, y: Operand, *, name: str = "mul") -> Value:
        """``x * y`` entry by entry, one side a constant."""
        if isinstance(x, Value) and isinstance(y, Value):
            raise NotPiecewiseLinearError(
                f"expected a product with a constant, but {name} multiplies two values that depend on the input, "
                "which is not piecewise linear"
            )
        x, y = (x, y) if isinstance(x, Value) else (y, x)
        return self.scale_shift(_value(x), scale=_constant(y), name=name)

    def divide(self, x: Operand, y: Operand, *, name: str = "div") -> Value:
        """``x / y`` entry by entry, y a constant."""
        if isinstance(y, Value):
            raise NotPiecewiseLinearError(
                f"expected a division by a constant, but {name} divides by a value that depends on the input, "
                "which is not piecewise linear"
            )
        return self.multiply(x, 1.0 / constant(y), name=name)

    def sum(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False, name: str = "sum") -> Value:
        """Sum over axes, all if None."""
        return self._reduce(x, axes, keepdims, False, name)

    def mean(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False, name: str = "mean") -> Value:
        """Mean over axes, all if None."""
        return self._reduce(x, axes, keepdims, True, name)

    def axis_matrix(self, x: Value, axis: int, matrix: Tensor, *, name: str = "axis_matrix") -> Value:
        """Multiply every line along an axis by a matrix ``(out, in)``: interpolation, products from the left."""
        axis = normal_axis(axis, len(x.shape))
        if matrix.ndim != 2 or matrix.shape[1] != x.shape[axis]:
            raise ShapeError(f"expected {name} along {x.shape[axis]} entries, got a matrix {tuple(matrix.shape)}")
        shape = (*x.shape[:axis], len(matrix), *x.shape[axis + 1 :])
        return self.add_affine(AxisMatrix, x, shape, name, axis=axis, weight=constant(matrix))

    def _sum(self, x: Value, y: Value, signs: tuple[int, int], name: str) -> Value:
        try:
            shape = torch.broadcast_shapes(x.shape, y.shape)
        except RuntimeError as error:
            raise ShapeError(f"expected branches of one shape at {name}, got {x.shape} and {y.shape}") from error
        return self.add_affine(Sum, [x, y], tuple(shape), name, signs=signs)

    def _reduce(self, x: Value, axes: Sequence[int] | None, keepdims: bool, mean: bool, name: str) -> Value:
        shape, over = reduced(x.shape, axes, keepdims)
        if not over:
            return x
        return self.add_affine(AxisSum, x, shape, name, axes=over, mean=mean)


def reduced(
    shape: tuple[int, ...], axes: Sequence[int] | None, keepdims: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a shape after reduction over axes (all if None), and those axes counted from the front."""
    over = tuple(range(len(shape))) if axes is None else tuple(sorted({normal_axis(a, len(shape)) for a in axes}))
    if keepdims:
        return tuple(1 if axis in over else size for axis, size in enumerate(shape)), over
    return tuple(size for axis, size in enumerate(shape) if axis not in over), over


def _value(operand: Operand) -> Value:
    if not isinstance(operand, Value):
        raise TypeError("one side depends on the input; fold constants before building")
    return operand


def _constant(operand: Operand) -> Tensor:
    assert not isinstance(operand, Value)
    return constant(operand)
