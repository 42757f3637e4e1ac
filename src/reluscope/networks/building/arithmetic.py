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

    def scale_shift(self, x: Value, scale: Tensor | float | None = None, shift: Tensor | float | None = None) -> Value:
        """``scale * x + shift``, broadcast."""
        factors = [None if factor is None else constant(factor) for factor in (scale, shift)]
        shape = torch.broadcast_shapes(x.shape, *(factor.shape for factor in factors if factor is not None))
        return self.add_affine(ScaleShift, x, tuple(shape), scale=factors[0], shift=factors[1])

    def add(self, *operands: Operand) -> Value:
        """Sum of several operands: values first, then constants."""
        total, *others = sorted(operands, key=lambda one: not isinstance(one, Value))
        for one in others:
            is_value = isinstance(one, Value)
            total = self._sum(_value(total), one, (1, 1)) if is_value else self.scale_shift(_value(total), shift=one)
        return _value(total)

    def subtract(self, x: Operand, y: Operand) -> Value:
        """``x - y``; one side may be a constant."""
        if isinstance(x, Value) and isinstance(y, Value):
            return self._sum(x, y, (1, -1))
        if isinstance(x, Value):
            return self.scale_shift(x, shift=-_constant(y))
        return self.scale_shift(_value(y), scale=-1.0, shift=_constant(x))

    def negate(self, x: Value) -> Value:
        """``-x``."""
        return self.scale_shift(x, scale=-1.0)

    def multiply(self, x: Operand, y: Operand) -> Value:
        """``x * y`` entry by entry, one side a constant."""
        if isinstance(x, Value) and isinstance(y, Value):
            raise NotPiecewiseLinearError(
                f"expected a product with a constant, but {self.place} multiplies two values that depend on the input, "
                "which is not piecewise linear"
            )
        x, y = (x, y) if isinstance(x, Value) else (y, x)
        return self.scale_shift(_value(x), scale=_constant(y))

    def divide(self, x: Operand, y: Operand) -> Value:
        """``x / y`` entry by entry, y a constant."""
        if isinstance(y, Value):
            raise NotPiecewiseLinearError(
                f"expected a division by a constant, but {self.place} divides by a value that depends on the input, "
                "which is not piecewise linear"
            )
        return self.multiply(x, 1.0 / constant(y))

    def sum(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False) -> Value:
        """Sum over axes, all if None."""
        return self._reduce(x, axes, keepdims, False)

    def mean(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False) -> Value:
        """Mean over axes, all if None."""
        return self._reduce(x, axes, keepdims, True)

    def axis_matrix(self, x: Value, axis: int, matrix: Tensor) -> Value:
        """Multiply every line along an axis by a matrix ``(out, in)``: interpolation, products from the left."""
        axis = normal_axis(axis, len(x.shape))
        if matrix.ndim != 2 or matrix.shape[1] != x.shape[axis]:
            raise ShapeError(f"expected {self.place} along {x.shape[axis]} entries, got a matrix {tuple(matrix.shape)}")
        shape = (*x.shape[:axis], len(matrix), *x.shape[axis + 1 :])
        return self.add_affine(AxisMatrix, x, shape, axis=axis, weight=constant(matrix))

    def _sum(self, x: Value, y: Value, signs: tuple[int, int]) -> Value:
        try:
            shape = torch.broadcast_shapes(x.shape, y.shape)
        except RuntimeError as error:
            raise ShapeError(f"expected branches of one shape at {self.place}, got {x.shape} and {y.shape}") from error
        return self.add_affine(Sum, [x, y], tuple(shape), signs=signs)

    def _reduce(self, x: Value, axes: Sequence[int] | None, keepdims: bool, mean: bool) -> Value:
        shape, over = reduced(x.shape, axes, keepdims)
        if not over:
            return x
        return self.add_affine(AxisSum, x, shape, axes=over, mean=mean)


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
