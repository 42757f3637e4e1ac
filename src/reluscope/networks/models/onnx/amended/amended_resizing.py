"""Resizing for the reference evaluator: before opset 11 asymmetric and rounded down, and since then faster.

The evaluator interpolates entry by entry, which takes minutes for an image; here its rule gives one matrix per axis.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from onnx import defs
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_resize


class Upsample(OpRun):
    """Resizing of opsets 7 to 9: asymmetric, rounded down."""

    op_schema = defs.get_schema("Upsample", 9)

    def _run(self, x: Any, scales: Any = None, **settings: Any) -> tuple[Any]:
        scales = np.asarray(settings["scales"] if scales is None else scales, dtype=np.float64)
        mode = settings["mode"] if settings["mode"] == "nearest" else "linear"
        return (_asymmetric(x, scales, mode),)


class Resize(OpRun):
    """Resizing since opset 10, one axis after the other."""

    def _run(self, x: Any, *inputs: Any, **settings: Any) -> tuple[Any]:
        if self.run_params["opsets"][""] < 11:
            return (_asymmetric(x, np.asarray(inputs[0], dtype=np.float64), settings["mode"]),)
        roi, scales, sizes = (*inputs, None, None, None)[:3]
        if settings["coordinate_transformation_mode"] == "tf_crop_and_resize" or (
            settings.get("keep_aspect_ratio_policy", "stretch") != "stretch"
        ):
            return op_resize.Resize._run(None, x, roi, scales, sizes, **settings)  # pyright: ignore[reportArgumentType]
        axes = settings.pop("axes", None) or range(x.ndim)
        settings["cubic_coeff_a"] = float(settings["cubic_coeff_a"])
        for place, axis in enumerate(axes):
            scale = None if scales is None or not len(scales) else float(scales[place])
            size = None if sizes is None or not len(sizes) else int(sizes[place])
            if size == x.shape[axis] or scale == 1.0:
                continue
            matrix = _matrix(x.shape[axis], scale, size, tuple(sorted(settings.items())))
            x = np.moveaxis(np.moveaxis(x, axis, -1) @ matrix.T, -1, axis)
        return (x,)


@lru_cache(maxsize=64)
def _matrix(length: int, scale: float | None, size: int | None, settings: tuple[tuple[str, Any], ...]) -> Any:
    """Return the matrix of the evaluator's resizing along one axis, from its images of unit vectors."""
    scales = None if scale is None else np.array([scale])
    sizes = None if size is None else np.array([size])
    resize = op_resize.Resize._run
    images = [resize(None, unit, None, scales, sizes, **dict(settings))[0] for unit in np.eye(length)]  # pyright: ignore[reportArgumentType]
    return np.stack(images, axis=1)


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
