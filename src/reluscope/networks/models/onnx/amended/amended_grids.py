"""Images read between their entries, for the reference evaluator, which takes minutes for one and rounds grids.

A coordinate of -1 is one end of an axis and 1 the other: the centres of the first and last entry with
``align_corners``, else their outer ends. Grids have the last axis first.
"""

from itertools import product
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

# Of cubic convolution.
_CUBIC = -0.75


class AffineGrid(OpRun):
    """Coordinates of all entries, moved by an affine map."""

    def _run(self, theta: Any, size: Any, **settings: Any) -> tuple[Any]:
        lengths = [int(length) for length in size[2:]]
        ends = [1.0 if settings.get("align_corners") else 1.0 - 1.0 / length for length in lengths]
        axes = [np.linspace(-end, end, length) for end, length in zip(ends, lengths, strict=True)]
        places = np.stack(np.meshgrid(*axes, indexing="ij")[::-1], axis=-1)
        return (np.einsum("nij,...j->n...i", theta[:, :, :-1], places) + _columns(theta[:, :, -1], len(lengths)),)


def _columns(shift: Any, number: int) -> Any:
    return shift.reshape(len(shift), *(1,) * number, -1)


class GridSample(OpRun):
    """Interpolation at a grid: every neighbour of every place, times its share."""

    def _run(self, x: Any, grid: Any, **settings: Any) -> tuple[Any]:
        if bool((grid == grid[:1]).all()):
            grid = np.broadcast_to(grid[:1], (len(x), *grid.shape[1:]))
        sizes, aligned = np.array(x.shape[2:]), bool(settings.get("align_corners"))
        places = np.asarray(grid, dtype=np.float64)[..., ::-1]
        places = (places + 1) / 2 * (sizes - 1) if aligned else ((places + 1) * sizes - 1) / 2
        mode, padding = settings["mode"], settings["padding_mode"]
        low, high = (0.0, sizes - 1.0) if aligned else (-0.5, sizes - 0.5)
        if mode == "nearest":
            places = np.rint(places)
        if padding == "border" and mode not in ("cubic", "bicubic"):  # there runtimes move neighbours alone
            places = np.where((places < low) | (places > high), np.clip(places, 0, sizes - 1), places)
        elif padding == "reflection":
            places = _reflected(places, low, high)
        if mode == "nearest":
            base, steps, share = places.astype(np.int64), (0,), lambda step, part: np.ones_like(part)
        elif mode in ("linear", "bilinear"):
            base, steps, share = np.floor(places).astype(np.int64), (0, 1), lambda step, part: 1 - np.abs(part - step)
        else:
            base, steps, share = np.floor(places).astype(np.int64), (-1, 0, 1, 2), _cubic_share
        part, result = places - base, 0.0
        for step in product(steps, repeat=len(sizes)):
            weight = np.prod([share(one, part[..., axis]) for axis, one in enumerate(step)], axis=0)
            result = result + _entries(x, base + np.array(step), sizes, padding, aligned) * weight[:, None]
        return (result,)


def _entries(x: Any, index: Any, sizes: Any, padding: str, aligned: bool) -> Any:
    """Return entries at whole places, ``(n, channels, ...)``: what lies beyond is zero, the border, or mirrored."""
    inside = ((index >= 0) & (index < sizes)).all(axis=-1)
    if padding == "reflection":
        low, high = (0.0, sizes - 1.0) if aligned else (-0.5, sizes - 0.5)
        index, inside = _reflected(index.astype(np.float64), low, high).round().astype(np.int64), np.ones_like(inside)
    elif padding == "border":
        inside = np.ones_like(inside)
    index = np.clip(index, 0, sizes - 1)
    rows = [image[(slice(None), *np.moveaxis(at, -1, 0))] for image, at in zip(x, index, strict=True)]
    return np.stack(rows) * inside[:, None]


def _reflected(places: Any, low: Any, high: Any) -> Any:
    """Return places mirrored at both ends until they lie between them."""
    width = np.maximum(np.asarray(high - low, dtype=np.float64), np.finfo(np.float64).tiny)
    far = np.abs(places - low) % (2 * width)
    return np.where((places < low) | (places > high), low + np.minimum(far, 2 * width - far), places)


def _cubic_share(step: int, part: Any) -> Any:
    distance = np.abs(part - step)
    near = ((_CUBIC + 2) * distance - (_CUBIC + 3)) * distance**2 + 1
    far = ((_CUBIC * distance - 5 * _CUBIC) * distance + 8 * _CUBIC) * distance - 4 * _CUBIC
    return np.where(distance <= 1, near, far)
