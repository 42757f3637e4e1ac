"""Gates: piecewise-linear functions of one entry, and maxima of several."""

import math
from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, ShapeError
from reluscope.networks.building.arithmetic import reduced
from reluscope.networks.building.best_pieces import best_pieces
from reluscope.networks.building.core import Operand, Value, constant, normal_axis, per_axis
from reluscope.networks.building.layers import Layers, Padding, Sizes, windows_of
from reluscope.networks.building.windows import window_positions, window_table
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Approximate, Pointwise


class Gates(Layers):
    """Methods for everything that is not affine."""

    def pointwise(
        self, x: Value, kind: str, breakpoints: Any, slopes: Any, intercepts: Any, *, may_jump: bool = False
    ) -> Value:
        """Apply a piecewise-affine function to every entry, a continuous one unless it may jump.

        Rows of the tables are breakpoints ``(p, ...)`` and pieces ``(p + 1, ...)``; columns are units, or one for all.
        """
        tables = [torch.as_tensor(table, dtype=torch.float64) for table in (breakpoints, slopes, intercepts)]
        points, slope, intercept = (table.reshape(len(table), -1) for table in tables)
        if not len(points) + 1 == len(slope) == len(intercept):
            raise ShapeError(f"expected one more piece than breakpoints at {self.place}")
        left, right = slope[:-1] * points + intercept[:-1], slope[1:] * points + intercept[1:]
        if not (may_jump or torch.equal(left, right)) or bool((points.diff(dim=0) < 0).any()):
            raise InputError(f"expected a continuous function with increasing breakpoints at {self.place}")
        return self.add_gate(Pointwise, x, kind, breakpoints=points, slopes=slope, intercepts=intercept)

    def relu(self, x: Value) -> Value:
        """``max(x, 0)``."""
        return self.pointwise(x, "relu", [0.0], [0.0, 1.0], [0.0, 0.0])

    def leaky_relu(self, x: Value, slope: float = 0.01) -> Value:
        """``x`` where positive, else ``slope * x``."""
        return self.pointwise(x, "leaky_relu", [0.0], [slope, 1.0], [0.0, 0.0])

    def prelu(self, x: Value, slope: Tensor) -> Value:
        """``x`` where positive, else ``slope * x`` with slopes broadcast to the value's shape."""
        slopes = self._columns(constant(slope), x)
        zero, one = torch.zeros_like(slopes), torch.ones_like(slopes)
        return self.pointwise(x, "prelu", zero[None], torch.stack([slopes, one]), torch.stack([zero, zero]))

    def absolute(self, x: Value) -> Value:
        """``|x|``."""
        return self.pointwise(x, "abs", [0.0], [-1.0, 1.0], [0.0, 0.0])

    def clamp(
        self, x: Value, low: Tensor | float | None = None, high: Tensor | float | None = None, *, kind: str = "clamp"
    ) -> Value:
        """``min(max(x, low), high)``; bounds are broadcast, None or infinite where there is none."""
        bounds = {"low": _bound(low, -torch.inf), "high": _bound(high, torch.inf)}
        shapes = [bound.shape for bound in bounds.values() if bound is not None]
        if shapes:
            x = self.expand(x, torch.broadcast_shapes(x.shape, *shapes))
        lower, upper = (None if bound is None else self._columns(bound, x) for bound in bounds.values())
        for bound in (lower, upper):
            if bound is not None and not bool(torch.isfinite(bound).all()):
                raise InputError(f"expected bounds of {self.place} to be all finite or all infinite, got a mixture")
        if lower is not None and upper is not None:
            lower = torch.minimum(lower, upper)
            lower, upper = torch.broadcast_tensors(lower, upper)
            zero, one = torch.zeros_like(lower), torch.ones_like(lower)
            tables = ([lower, upper], [zero, one, zero], [lower, zero, upper])
        elif lower is not None:
            zero, one = torch.zeros_like(lower), torch.ones_like(lower)
            tables = ([lower], [zero, one], [lower, zero])
        elif upper is not None:
            zero, one = torch.zeros_like(upper), torch.ones_like(upper)
            tables = ([upper], [one, zero], [zero, upper])
        else:
            return x
        return self.pointwise(x, kind, *(torch.stack(table) for table in tables))

    def relu6(self, x: Value) -> Value:
        """``min(max(x, 0), 6)``."""
        return self.clamp(x, 0.0, 6.0, kind="relu6")

    def hardtanh(self, x: Value, low: float = -1.0, high: float = 1.0) -> Value:
        """``min(max(x, low), high)``."""
        return self.clamp(x, low, high, kind="hardtanh")

    def hardsigmoid(self, x: Value, alpha: float | None = None, beta: float = 0.5) -> Value:
        """``min(max(alpha x + beta, 0), 1)``; without alpha PyTorch's ``(min(max(x, -3), 3) + 3) / 6``.

        Slope 1/6 is no float64 number: clamping first keeps the gate continuous in real arithmetic.
        """
        if alpha is None:
            clamped = self.clamp(x, -3.0, 3.0, kind="hardsigmoid")
            return self.scale_shift(self.scale_shift(clamped, shift=3.0), 1.0 / 6.0)
        return self.clamp(self.scale_shift(x, alpha, beta), 0.0, 1.0, kind="hardsigmoid")

    def softshrink(self, x: Value, threshold: float = 0.5) -> Value:
        """``x`` moved towards zero by the threshold, zero within it."""
        points, intercepts = [-threshold, threshold], [threshold, 0.0, -threshold]
        return self.pointwise(x, "softshrink", points, [1.0, 0.0, 1.0], intercepts)

    def approximated(self, x: Value, function: str, pieces: int, *, beyond: float = 0.0) -> Value:
        """Apply a continuous function of so many pieces in place of a smooth one, and record that in a note.

        ``function`` is a name in `SMOOTH`; ``beyond`` is how far the model's own function is from it.
        """
        found = best_pieces(function, pieces)
        error = math.nextafter(found.error + beyond, math.inf)
        self.note(
            f"{function} was replaced by {pieces} linear pieces, as asked for, at most {round_up(error)} from it "
            "anywhere: what is found is true of the pieces, and net.approximation_error(box) says how far outputs are "
            "from the model's."
        )
        tables = (torch.from_numpy(table.copy())[:, None] for table in (found.points, found.slopes, found.intercepts))
        points, slopes, intercepts = tables
        return self.add_gate(
            Approximate,
            x,
            f"{function} in pieces",
            breakpoints=points,
            slopes=slopes,
            intercepts=intercepts,
            replaces=function,
            error=error,
        )

    def max_of(self, x: Value, index: Tensor | np.ndarray, shape: Sequence[int], *, kind: str = "max") -> Value:
        """Take the largest of the flattened value's entries at each row of ``index`` ``(u, k)``; -1 is padding."""
        table = torch.as_tensor(index, dtype=torch.int64)
        shape = tuple(shape)
        if table.ndim != 2 or len(table) != prod(shape) or not bool((table >= 0).any(1).all()):
            raise ShapeError(f"expected a candidate for each of the {prod(shape)} units of {self.place}")
        if table.shape[1] == 1:
            return self.select(x, table.reshape(shape))
        return self.add_gate(Max, x, kind, shape, index=table.contiguous())

    def max_pool(
        self,
        x: Value,
        kernel: Sizes,
        stride: Sizes | None = None,
        padding: Padding = 0,
        *,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
    ) -> Value:
        """Take the largest entry of every window of the spatial axes; padding is never chosen."""
        windows = windows_of(x.shape, kernel, stride, padding, dilation)
        return self._max_pool(x, [window_positions(*each, ceil_mode) for each in windows])

    def adaptive_max_pool(self, x: Value, size: Sizes) -> Value:
        """Take the largest entry of windows that split every spatial axis into ``size`` parts."""
        lengths = per_axis(size, len(x.shape) - 1)
        positions = []
        for length, parts in zip(x.shape[1:], lengths, strict=True):
            first = np.arange(parts) * length // parts
            last = -(-(np.arange(parts) + 1) * length // parts)
            places = first[:, None] + np.arange((last - first).max())
            positions.append(np.where(places < last[:, None], places, length))
        return self._max_pool(x, positions)

    def amax(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False) -> Value:
        """Take the largest entry along axes, all if None."""
        shape, over = reduced(x.shape, axes, keepdims)
        if not over:
            return x
        positions = np.arange(prod(x.shape)).reshape(x.shape)
        table = np.moveaxis(positions, over, range(-len(over), 0)).reshape(prod(shape), -1)
        return self.max_of(x, table, shape, kind="amax")

    def amin(self, x: Value, axes: Sequence[int] | None = None, *, keepdims: bool = False) -> Value:
        """Take the smallest entry along axes, as the negative of the largest negative."""
        if not reduced(x.shape, axes, keepdims)[1]:
            return x
        largest = self.amax(self.negate(x), axes, keepdims=keepdims)
        return self.negate(largest)

    def maximum(self, *operands: Operand) -> Value:
        """Take the largest of several operands entry by entry, broadcast: one gate for values, one for constants."""
        values, bounds = _parted(operands)
        largest = self._largest(values)
        return self.clamp(largest, low=reduce(torch.maximum, bounds), kind="maximum") if bounds else largest

    def minimum(self, *operands: Operand) -> Value:
        """Take the smallest of several operands entry by entry, broadcast: one gate for values, one for constants."""
        values, bounds = _parted(operands)
        smallest = values[0] if len(values) == 1 else self.negate(self._largest([self.negate(v) for v in values]))
        return self.clamp(smallest, high=reduce(torch.minimum, bounds), kind="minimum") if bounds else smallest

    def maxout(self, x: Value, axis: int, num_candidates: int) -> Value:
        """Take the largest of neighbouring entries of an axis, whose length is divided by ``num_candidates``."""
        axis = normal_axis(axis, len(x.shape))
        split = self.reshape(x, (*x.shape[:axis], -1, num_candidates, *x.shape[axis + 1 :]))
        return self.named(self.layer or "maxout").amax(split, [axis + 1])

    def _largest(self, values: list[Value]) -> Value:
        """Return the largest of values by one gate."""
        if len(values) == 1:
            return values[0]
        shape, sizes = np.broadcast_shapes(*(value.shape for value in values)), [prod(value.shape) for value in values]
        joined = self.concatenate([self.reshape(v, (n,)) for v, n in zip(values, sizes, strict=True)], 0)
        places = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
        columns = [np.broadcast_to(own.reshape(v.shape), shape) for own, v in zip(places, values, strict=True)]
        return self.max_of(joined, np.stack(columns, axis=-1).reshape(prod(shape), -1), shape, kind="maximum")

    def _max_pool(self, x: Value, positions: Sequence[np.ndarray]) -> Value:
        table = window_table(x.shape[0], x.shape[1:], positions)
        return self.max_of(x, table.reshape(prod(table.shape[:-1]), -1), table.shape[:-1], kind="max_pool")

    def _columns(self, table: Tensor, x: Value) -> Tensor:
        """One column for all units, or one per unit of x."""
        return table.reshape(1) if table.numel() == 1 else table.expand(x.shape).reshape(-1)


def _parted(operands: Sequence[Operand]) -> tuple[list[Value], list[Tensor]]:
    """Return the values among operands, and the constants."""
    values = [one for one in operands if isinstance(one, Value)]
    return values, [constant(one) for one in operands if not isinstance(one, Value)]


def _bound(bound: Tensor | float | None, nothing: float) -> Tensor | None:
    """Return a bound of a clamp, None where it bounds nothing."""
    if bound is None:
        return None
    tensor = constant(bound)
    return None if bool((tensor == nothing).all()) else tensor


def round_up(number: float) -> str:
    """Return a number in three digits, rounded up."""
    text = f"{number:.2e}"
    return f"{(text if float(text) >= number else f'{number * 1.005:.2e}')}"
