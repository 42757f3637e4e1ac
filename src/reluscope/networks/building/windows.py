"""Sliding windows over spatial axes: how many there are, and what each of them sees."""

from collections.abc import Sequence
from math import prod

import numpy as np

from reluscope.errors import ShapeError
from reluscope.networks.graph.input_shapes import check_total


def num_windows(length: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int, ceil_mode: bool) -> int:
    """Return how many windows fit along one axis, as PyTorch and ONNX count them.

    In ceil mode a last window may hang over the end, but never starts beyond the input and its left padding.
    """
    free = length + sum(pads) - dilation * (kernel - 1) - 1
    if free < 0 and not (ceil_mode and free > -stride):
        raise ShapeError(f"expected a window that fits: kernel {kernel}, dilation {dilation}, length {length}, {pads=}")
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= length + pads[0] else count


def window_positions(
    length: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int, ceil_mode: bool
) -> np.ndarray:
    """Return which places along an axis each window sees, ``(windows, kernel)``; places outside are padding."""
    count = num_windows(length, kernel, stride, pads, dilation, ceil_mode)
    check_total(count * kernel, "windows along an axis see")
    return np.arange(count)[:, None] * stride - pads[0] + np.arange(kernel)[None] * dilation


def window_table(num_channels: int, spatial: Sequence[int], positions: Sequence[np.ndarray]) -> np.ndarray:
    """Return the positions in a flattened value (channels, *spatial) that each window reads.

    The result is (channels, *windows, kernel), the window row by row, and -1 at padding. ``positions`` has a
    ``(windows, kernel)`` array per spatial axis, from `window_positions`.
    """
    num_axes = len(spatial)
    check_total(num_channels * prod(places.size for places in positions), "windows see")
    table = np.zeros((1,) * (2 * num_axes), dtype=np.int64)
    outside = np.zeros((1,) * (2 * num_axes), dtype=bool)
    for axis, (length, places) in enumerate(zip(spatial, positions, strict=True)):
        shape = [1] * (2 * num_axes)
        shape[axis], shape[num_axes + axis] = places.shape
        spread = places.reshape(shape)
        table = table * length + spread
        outside = outside | (spread < 0) | (spread >= length)
    windows, size = table.shape[:num_axes], prod(table.shape[num_axes:])
    table, outside = table.reshape(*windows, size), outside.reshape(*windows, size)
    channels = np.arange(num_channels).reshape(-1, *(1,) * (num_axes + 1)) * prod(spatial)
    return np.where(outside, -1, table + channels)
