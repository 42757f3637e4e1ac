"""Resizing by nearest entries, by linear or by cubic interpolation, one axis after the other, each by its matrix."""

from math import prod

import numpy as np
import torch
from numpy.typing import NDArray

from reluscope.networks.graph.input_shapes import check_total
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers

_COORDINATES = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}


@lowers("Resize", "Upsample")
def resize(site: NodeSite) -> Activation:
    """Interpolation with the coordinates that PyTorch has too; others are refused."""
    x = site.activation()
    mode = site.setting("mode", "nearest")
    old = site.opset < 11
    coordinates = "asymmetric" if old else site.setting("coordinate_transformation_mode", "half_pixel")
    rounding = "floor" if old else site.setting("nearest_mode", "round_prefer_floor")
    if mode not in {"nearest", "linear", "bilinear", "trilinear", "cubic"} or (mode == "cubic" and old):
        raise site.unsupported(f"with mode {mode!r}: use nearest, linear or cubic")
    if coordinates not in _COORDINATES:
        raise site.unsupported(
            f"with coordinate_transformation_mode {coordinates!r}: use one of {', '.join(sorted(_COORDINATES))}"
        )
    if site.setting("antialias", 0) or site.setting("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise site.unsupported("with antialiasing or a policy on the aspect ratio")
    value = site.whole(x) if len(x.shape) == len(x.value.shape) else x.value
    gone = len(x.shape) - len(x.value.shape)
    shape, targets = list(x.shape), _targets(site, x)
    check_total(prod(targets.get(axis, (length,))[0] for axis, length in enumerate(shape)), f"{site.operator} makes")
    for axis, (new, scale) in targets.items():
        length = shape[axis]
        if new == length and scale == 1.0:
            continue
        if axis < gone:
            raise site.unsupported("along the batch axis")
        places = _places(length, new, scale, coordinates)
        if mode == "nearest":
            index = _nearest(places, length, rounding)
            value = site.builder.take(value, axis - gone, torch.from_numpy(index))
        else:
            check_total(new * length, "an interpolation reads")
            matrix = _linear(places, length)
            if mode == "cubic":
                a, exclude_outside = site.setting("cubic_coeff_a", -0.75), bool(site.setting("exclude_outside", 0))
                matrix = _cubic(places, length, a, exclude_outside)
            value = site.builder.axis_matrix(value, axis - gone, torch.from_numpy(matrix))
        shape[axis] = new
    return site.close(value, shape)


def _targets(site: NodeSite, x: Activation) -> dict[int, tuple[int, float]]:
    """Return the new length and the scale of each axis."""
    if site.operator == "Upsample" or site.opset < 11:
        scales, sizes = site.given(1, "scales"), None
    else:
        scales, sizes = site.given(2), site.given(3)
    axes = site.setting("axes") or list(range(len(x.shape)))
    if sizes is not None and np.size(sizes):
        lengths = np.asarray(sizes).reshape(-1).tolist()
        pairs = [(int(new), float(new) / x.shape[axis]) for axis, new in zip(axes, lengths, strict=True)]
    else:
        # The new length is rounded down as runtimes do it: in single precision, in which scales are stored.
        factors = np.asarray(scales, dtype=np.float64).reshape(-1)
        pairs = [
            (int(np.floor(np.float32(x.shape[axis]) * np.float32(factor))), float(factor))
            for axis, factor in zip(axes, factors, strict=True)
        ]
    return {axis % len(x.shape): pair for axis, pair in zip(axes, pairs, strict=True)}


def _places(length: int, new: int, scale: float, coordinates: str) -> NDArray[np.float64]:
    """Return where the new entries lie among the old ones."""
    target = np.arange(new, dtype=np.float64)
    if coordinates == "asymmetric":
        return target / scale
    if coordinates == "align_corners":
        return target * (length - 1) / (scale * length - 1) if scale * length != 1.0 else np.zeros(new)
    if coordinates == "pytorch_half_pixel" and new == 1:
        return np.zeros(new)
    return (target + 0.5) / scale - 0.5


def _nearest(places: NDArray[np.float64], length: int, rounding: str) -> NDArray[np.int64]:
    rounded = {
        "round_prefer_floor": np.ceil(places - 0.5),
        "round_prefer_ceil": np.floor(places + 0.5),
        "floor": np.floor(places),
        "ceil": np.ceil(places),
    }[rounding]
    return np.clip(rounded, 0, length - 1).astype(np.int64)


def _linear(places: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return the matrix ``(new, length)`` of linear interpolation; beyond the ends the last entry holds."""
    inside = np.clip(places, 0.0, length - 1.0)
    low = np.minimum(np.floor(inside).astype(np.int64), max(0, length - 2))
    share = inside - low
    matrix = np.zeros((len(places), length))
    rows = np.arange(len(places))
    matrix[rows, low] = 1.0 - share
    matrix[rows, np.minimum(low + 1, length - 1)] += share
    return matrix


def _cubic(places: NDArray[np.float64], length: int, a: float, exclude_outside: bool) -> NDArray[np.float64]:
    """Return the matrix ``(new, length)`` of cubic convolution; beyond the ends the last entry holds, or nothing."""
    low = np.floor(places)
    matrix = np.zeros((len(places), length))
    rows = np.arange(len(places))
    for step in (-1, 0, 1, 2):
        distance = np.abs(places - low - step)
        near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
        far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
        column = low.astype(np.int64) + step
        share = np.where(distance <= 1, near, far)
        if exclude_outside:
            share = np.where((column >= 0) & (column < length), share, 0.0)
        matrix[rows, np.clip(column, 0, length - 1)] += share
    return matrix / matrix.sum(axis=1, keepdims=True) if exclude_outside else matrix
