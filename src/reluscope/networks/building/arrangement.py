"""Operations that move entries, found by applying them to an array of positions."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import ShapeError
from reluscope.networks.building.core import Core, Value, constant, normal_axis
from reluscope.networks.graph.operators.arrange import Concatenate, Padded, Reshape, Select


class MovedEntries(Core):
    """Methods for reshaping, picking, joining and framing."""

    def select(self, x: Value, index: Tensor) -> Value:
        """Entries of the flattened value at the given positions, in the shape of ``index``."""
        positions = torch.arange(prod(x.shape))
        if index.numel() == len(positions) and torch.equal(index.reshape(-1), positions):
            return self.reshape(x, tuple(index.shape))
        return self.add_affine(Select, x, tuple(index.shape), index=index.contiguous())

    def rearrange(self, x: Value, operation: Callable[[np.ndarray], np.ndarray]) -> Value:
        """Whatever ``operation`` does to a NumPy array of the value's shape, as long as it only moves entries."""
        positions = np.arange(prod(x.shape)).reshape(x.shape)
        return self.select(x, torch.from_numpy(np.array(operation(positions))))

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Keep the entries in order under another shape; one entry may be -1."""
        size, known = prod(x.shape), prod(length for length in shape if length != -1)
        full = tuple((size // known if known else 0) if length == -1 else int(length) for length in shape)
        if prod(full) != size:
            raise ShapeError(f"expected {self.place} to keep {size} entries of {x.shape}, got the shape {tuple(shape)}")
        return x if full == x.shape else self.add_affine(Reshape, x, full)

    def flatten(self, x: Value, start: int = 0, stop: int = -1) -> Value:
        """Merge the axes from ``start`` to ``stop``, both included."""
        if not x.shape:
            return self.reshape(x, (1,))
        start, stop = normal_axis(start, len(x.shape)), normal_axis(stop, len(x.shape))
        merged = prod(x.shape[start : stop + 1])
        return self.reshape(x, (*x.shape[:start], merged, *x.shape[stop + 1 :]))

    def permute(self, x: Value, axes: Sequence[int]) -> Value:
        """Axes in another order, as ``numpy.transpose``."""
        return self.rearrange(x, lambda positions: positions.transpose(axes))

    def slice(self, x: Value, axis: int, start: int | None, stop: int | None, step: int = 1) -> Value:
        """``x[..., start:stop:step, ...]`` along an axis, by Python's rules."""
        axis = normal_axis(axis, len(x.shape))
        cut = (slice(None),) * axis + (slice(start, stop, step),)
        return self.rearrange(x, lambda positions: positions[cut])

    def take(self, x: Value, axis: int, index: Tensor | int) -> Value:
        """Entries along an axis at the given positions, as ``numpy.take``: an int drops the axis."""
        wanted = index.numpy() if isinstance(index, Tensor) else index
        return self.rearrange(x, lambda positions: np.take(positions, wanted, axis=axis))

    def squeeze(self, x: Value, axes: Sequence[int] | None = None) -> Value:
        """Drop axes of length 1: the given ones, or all."""
        if axes is None:
            return self.reshape(x, [length for length in x.shape if length != 1])
        gone = {normal_axis(axis, len(x.shape)) for axis in axes}
        return self.reshape(x, [length for axis, length in enumerate(x.shape) if axis not in gone])

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """Insert axes of length 1 at the given places of the result."""
        num_axes = len(x.shape) + len(axes)
        new = {normal_axis(axis, num_axes) for axis in axes}
        lengths = iter(x.shape)
        return self.reshape(x, [1 if axis in new else next(lengths) for axis in range(num_axes)])

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Broadcast the value to a shape."""
        full = torch.broadcast_shapes(x.shape, tuple(shape))
        return self.rearrange(x, lambda positions: np.broadcast_to(positions, full))

    def concatenate(self, parts: Sequence[Value | Tensor], axis: int) -> Value:
        """Parts one after the other along an axis; some may be constants."""
        rank = next(len(part.shape) for part in parts)
        axis = normal_axis(axis, rank)
        joined: list[Value] = []
        before: list[Tensor] = []
        for part in parts:
            if isinstance(part, Value):
                joined.append(self._frame(part, before, axis, front=True) if before else part)
                before = []
            elif joined:
                joined[-1] = self._frame(joined[-1], [part], axis, front=False)
            else:
                before.append(part)
        if len(joined) == 1:
            return joined[0]
        for part in joined:
            if len(part.shape) != rank or any(
                a != b for place, (a, b) in enumerate(zip(part.shape, joined[0].shape, strict=True)) if place != axis
            ):
                shapes = ", ".join(str(value.shape) for value in joined)
                raise ShapeError(f"expected parts that differ along axis {axis} only at {self.place}, got {shapes}")
        length = sum(part.shape[axis] for part in joined)
        shape = (*joined[0].shape[:axis], length, *joined[0].shape[axis + 1 :])
        return self.add_affine(Concatenate, joined, shape, axis=axis)

    def pad(self, x: Value, padding: Sequence[tuple[int, int]], value: float = 0.0, *, mode: str = "constant") -> Value:
        """Entries around the value, ``(before, after)`` per axis; negative numbers cut off.

        ``mode`` is ``"constant"``, or as in ``numpy.pad`` ``"reflect"``, ``"edge"`` or ``"wrap"``.
        """
        if len(padding) != len(x.shape):
            raise ShapeError(
                f"expected padding for the {len(x.shape)} axes of {x.shape} at {self.place}, got {padding}"
            )
        if not any(before or after for before, after in padding):
            return x
        if mode != "constant":
            return self.rearrange(x, lambda positions: np.pad(positions, padding, mode=mode))  # pyright: ignore[reportCallIssue, reportArgumentType]
        shape = tuple(before + length + after for length, (before, after) in zip(x.shape, padding, strict=True))
        flat = tuple(number for pair in reversed(padding) for number in pair)
        border = None
        if value != 0.0:
            inside = torch.nn.functional.pad(torch.ones(x.shape, dtype=torch.float64), flat)
            border = (1.0 - inside) * value
        return self.add_affine(Padded, x, shape, padding=flat, border=border)

    def _frame(self, x: Value, parts: list[Tensor], axis: int, front: bool) -> Value:
        """Put constants before or after a value along an axis."""
        block = torch.cat([constant(part) for part in parts], dim=axis)
        length = block.shape[axis]
        padding = [(0, 0)] * len(x.shape)
        padding[axis] = (length, 0) if front else (0, length)
        flat = tuple(number for pair in reversed(padding) for number in pair)
        inside = torch.zeros(x.shape, dtype=torch.float64)
        border = torch.cat([block, inside] if front else [inside, block], dim=axis)
        return self.add_affine(Padded, x, tuple(border.shape), padding=flat, border=border)
