"""Sliding windows for the reference evaluator, whose own are slow, mix up groups and misplace uneven padding.

Every operator loops over the entries of the kernel and takes what all windows see there at once.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun


class MaxPool(OpRun):
    """The largest entry of every window; positions are not needed here."""

    def _run(self, x: Any, **settings: Any) -> tuple[Any]:
        result = None
        for seen in _seen(x, np.nan, settings):
            result = seen if result is None else np.fmax(result, seen)
        return (result,)


class AveragePool(OpRun):
    """The mean of every window over its entries, with or without those of the padding."""

    def _run(self, x: Any, **settings: Any) -> tuple[Any]:
        total, count = 0.0, 0
        for seen in _seen(x, 0.0 if settings.get("count_include_pad") else np.nan, settings):
            inside = ~np.isnan(seen)
            total, count = total + np.where(inside, seen, 0.0), count + inside
        return (total / count,)


class Conv(OpRun):
    """Convolution: every entry of the kernel times what all windows see there."""

    def _run(self, x: Any, weight: Any, bias: Any = None, **settings: Any) -> tuple[Any]:
        settings["kernel_shape"], groups = weight.shape[2:], settings["group"]
        kernels = weight.reshape(1, groups, -1, *weight.shape[1:])
        result, lengths = 0.0, ()
        for offset, seen in zip(product(*map(range, weight.shape[2:])), _seen(x, 0.0, settings), strict=True):
            lengths = seen.shape[2:]
            result = result + kernels[(..., *offset)] @ seen.reshape(len(x), groups, weight.shape[1], -1)
        result = np.reshape(result, (len(x), -1, *lengths))
        return (result if bias is None else result + bias.reshape(-1, *(1,) * len(lengths)),)


class ConvTranspose(OpRun):
    """Transposed convolution: every input entry adds its multiple of the kernel."""

    def _run(self, x: Any, weight: Any, bias: Any = None, **settings: Any) -> tuple[Any]:
        spatial, groups = x.ndim - 2, settings["group"]
        stride, spacing = (settings.get(name) or [1] * spatial for name in ("strides", "dilations"))
        extra = settings.get("output_padding") or [0] * spatial
        kernel = weight.shape[2:]
        length = [
            (count - 1) * step + (size - 1) * gap + 1 + more
            for count, step, size, gap, more in zip(x.shape[2:], stride, kernel, spacing, extra, strict=True)
        ]
        full = np.zeros((len(x), groups, weight.shape[1], *length))
        images = x.reshape(len(x), groups, -1, *x.shape[2:])
        kernels = weight.reshape(groups, -1, *weight.shape[1:])
        for offset in product(*map(range, kernel)):
            taps = [
                slice(o * gap, o * gap + (count - 1) * step + 1, step)
                for o, gap, count, step in zip(offset, spacing, x.shape[2:], stride, strict=True)
            ]
            full[(..., *taps)] += np.einsum("sgi...,gio->sgo...", images, kernels[(..., *offset)])
        result = full.reshape(len(x), -1, *length)
        if bias is not None:
            result = result + bias.reshape(-1, *(1,) * spatial)
        begin, end = _cut(x.shape[2:], length, stride, settings)
        # What is wanted beyond the full result sees the bias alone.
        more = [(max(0, -b), max(0, -e)) for b, e in zip(begin, end, strict=True)]
        border = np.zeros(1) if bias is None else bias
        frame = np.pad(np.ones(length), more).astype(bool)
        wide = np.where(frame, np.pad(result, [(0, 0), (0, 0), *more]), border.reshape(-1, *(1,) * len(length)))
        kept = (slice(max(0, b), n - max(0, e)) for b, e, n in zip(begin, end, frame.shape, strict=True))
        return (wide[(..., *kept)],)


def _seen(x: Any, border: float, settings: dict[str, Any]) -> Iterator[Any]:
    """Yield what all windows see at each entry of the kernel: the border in the padding, NaN beyond it."""
    kernel, lengths = settings["kernel_shape"], x.shape[2:]
    stride, spacing = (settings.get(name) or [1] * len(kernel) for name in ("strides", "dilations"))
    automatic, pads = settings["auto_pad"], settings.get("pads") or [0] * (2 * len(kernel))
    frame, beyond, counts = [], [], []
    for axis, length in enumerate(lengths):
        reach = spacing[axis] * (kernel[axis] - 1) + 1
        before, after = pads[axis], pads[len(kernel) + axis]
        if automatic.startswith("SAME"):
            total = max(0, ((length - 1) // stride[axis]) * stride[axis] + reach - length)
            before = total // 2 if automatic == "SAME_UPPER" else total - total // 2
            after = total - before
        elif automatic == "VALID":
            before = after = 0
        starts = range(-before, length + after - reach + 1, stride[axis])
        if settings.get("ceil_mode"):
            starts = range(-before, length + after - reach + stride[axis], stride[axis])
            starts = [start for start in starts if start < length]
        counts.append(len(starts))
        frame.append((before, after))
        beyond.append((0, reach + stride[axis]))
    full = np.pad(x, [(0, 0), (0, 0), *frame], constant_values=border)
    full = np.pad(full, [(0, 0), (0, 0), *beyond], constant_values=np.nan)
    for offset in product(*map(range, kernel)):
        taps = (
            slice(entry * gap, entry * gap + (count - 1) * step + 1, step)
            for entry, gap, count, step in zip(offset, spacing, counts, stride, strict=True)
        )
        yield full[(..., *taps)]


def _cut(lengths: Any, full: list[int], stride: list[int], settings: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Return what a transposed convolution cuts off its full result before and after each axis."""
    automatic, wanted = settings["auto_pad"], settings.get("output_shape")
    if wanted is None and automatic in {"SAME_UPPER", "SAME_LOWER"}:
        wanted = [count * step for count, step in zip(lengths, stride, strict=True)]
    if wanted is None:
        pads = settings.get("pads") or [0] * (2 * len(full))
        return list(pads[: len(full)]), list(pads[len(full) :])
    total = [have - want for have, want in zip(full, wanted[-len(full) :], strict=True)]
    small, large = [t // 2 for t in total], [t - t // 2 for t in total]
    return (small, large) if automatic == "SAME_UPPER" else (large, small)
