"""Resizing by nearest entries, by linear or by cubic interpolation, one axis after the other, each by its matrix."""

from math import prod

import numpy as np
import torch
from numpy.typing import NDArray

from reluscope.networks.building.builder import Value
from reluscope.networks.graph.input_shapes import check_total
from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers

_CROPPED = "tf_crop_and_resize"
_COORDINATES = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", _CROPPED}


@lowers("Resize", "Upsample")
def resize(site: NodeSite) -> Activation:
    """Interpolation along one axis after the other."""
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
    antialias = bool(site.setting("antialias", 0)) and mode != "nearest"
    outside = site.setting("extrapolation_value", 0.0)
    value = site.whole(x) if len(x.shape) == len(x.value.shape) else x.value
    gone = len(x.shape) - len(x.value.shape)
    shape, targets = list(x.shape), _targets(site, x)
    crops = _crops(site, x) if coordinates == _CROPPED else {}
    check_total(prod(targets.get(axis, (length,))[0] for axis, length in enumerate(shape)), f"{site.operator} makes")
    for axis, (new, scale) in targets.items():
        length = shape[axis]
        if new == length and scale == 1.0 and crops.get(axis, (0.0, 1.0)) == (0.0, 1.0):
            continue
        if axis < gone:
            raise site.unsupported("along the batch axis")
        part = crops.get(axis, (0.0, 1.0))
        places = _places(length, new, scale, coordinates, part)
        if mode == "nearest":
            index = _nearest(places, length, rounding)
            value = site.builder.take(value, axis - gone, torch.from_numpy(index))
        else:
            check_total(new * length, "an interpolation reads")
            filtered = mode == "cubic" or antialias
            matrix = (
                _filtered(site, places, length, scale if antialias else 1.0) if filtered else _linear(places, length)
            )
            value = site.builder.axis_matrix(value, axis - gone, torch.from_numpy(matrix))
        if coordinates == _CROPPED:
            value = _cropped(site, value, axis - gone, (places < 0) | (places > length - 1), outside)
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
        policy = site.setting("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            scale = {"not_larger": min, "not_smaller": max}[policy](scale for _, scale in pairs)
            pairs = [(int(scale * x.shape[axis] + 0.5), scale) for axis in axes]
    else:
        # The new length is rounded down as runtimes do it: in single precision, in which scales are stored.
        factors = np.asarray(scales, dtype=np.float64).reshape(-1)
        pairs = [
            (int(np.floor(np.float32(x.shape[axis]) * np.float32(factor))), float(factor))
            for axis, factor in zip(axes, factors, strict=True)
        ]
    return {axis % len(x.shape): pair for axis, pair in zip(axes, pairs, strict=True)}


def _crops(site: NodeSite, x: Activation) -> dict[int, tuple[float, float]]:
    """Return the part of each axis that is looked at, from 0 to 1."""
    axes = site.setting("axes") or list(range(len(x.shape)))
    ends = np.asarray(site.given(1), dtype=np.float64).reshape(2, -1)
    return {axis % len(x.shape): (float(low), float(high)) for axis, low, high in zip(axes, *ends, strict=True)}


def _cropped(site: NodeSite, value: Value, axis: int, is_out: NDArray[np.bool_], outside: float) -> Value:
    """Return a value with one number in place of what lies beyond the ends of an axis."""
    column = (-1, *(1,) * (len(value.shape) - axis - 1))
    kept, fill = (torch.from_numpy(table).reshape(column) for table in (1.0 - is_out, is_out * outside))
    return site.builder.scale_shift(value, kept, fill) if is_out.any() else value


def _places(
    length: int, new: int, scale: float, coordinates: str, part: tuple[float, float] = (0.0, 1.0)
) -> NDArray[np.float64]:
    """Return where the new entries lie among the old ones."""
    target = np.arange(new, dtype=np.float64)
    if coordinates == "asymmetric":
        return target / scale
    if coordinates == "align_corners":
        return target * (length - 1) / (scale * length - 1) if scale * length != 1.0 else np.zeros(new)
    if coordinates == _CROPPED:
        first, last = part[0] * (length - 1), part[1] * (length - 1)
        return first + target * (last - first) / (new - 1) if new > 1 else np.array([(first + last) / 2])
    if coordinates == "pytorch_half_pixel" and new == 1:
        return np.zeros(new)
    half = (target + 0.5) / scale - 0.5
    # Lengths are whole numbers where ``scale * length`` is not: the symmetric form keeps the centre.
    return half + length / 2 * (1 - new / (scale * length)) if coordinates == "half_pixel_symmetric" else half


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


def _filtered(site: NodeSite, places: NDArray[np.float64], length: int, scale: float) -> NDArray[np.float64]:
    """Return the matrix ``(new, length)`` of a weighted mean of neighbours; beyond the ends the last entry holds.

    With a scale below 1 the weights reach farther in proportion, so that no entry is left out. `exclude_outside` leaves
    out what lies beyond the ends.
    """
    a, excludes = site.setting("cubic_coeff_a", -0.75), bool(site.setting("exclude_outside", 0))
    narrow, is_cubic = min(scale, 1.0), site.setting("mode", "nearest") == "cubic"
    reach = int(np.ceil((2 if is_cubic else 1) / narrow))
    low, rows = np.floor(places), np.arange(len(places))
    matrix = np.zeros((len(places), length))
    for step in range(1 - reach, reach + 1):
        share = _share(np.abs(low + step - places) * narrow, a if is_cubic else None)
        column = low.astype(np.int64) + step
        if excludes:
            share = np.where((column >= 0) & (column < length), share, 0.0)
        np.add.at(matrix, (rows, np.clip(column, 0, length - 1)), share)
    return matrix / matrix.sum(axis=1, keepdims=True) if excludes or narrow < 1 else matrix


def _share(distance: NDArray[np.float64], a: float | None) -> NDArray[np.float64]:
    """Return the weight at a distance: of linear interpolation, or of cubic convolution with a coefficient."""
    if a is None:
        return np.maximum(1 - distance, 0.0)
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
