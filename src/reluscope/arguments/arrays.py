"""Arrays of numbers: finite, float64, contiguous and read-only; labels as whole numbers.

Points may come as numpy arrays, torch tensors or nested lists; what reads them only ever sees numpy.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reluscope.arguments.argument_sentences import describe
from reluscope.errors import InputError, ShapeError


def read_array(value: ArrayLike, name: str, *, ndim: int | None = None, finite: bool = True) -> np.ndarray:
    """Return ``value`` as a read-only float64 array of its own memory; itself if that is what it is.

    The array is C-contiguous. Integers and narrower floats are widened; complex numbers, text and NaN are refused, and
    infinite entries if `finite`.
    """
    if hasattr(value, "detach"):  # a torch tensor, possibly on a device or with a gradient
        value = value.detach().cpu().numpy()  # pyright: ignore[reportAttributeAccessIssue]
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "biuf":
            raise TypeError
        is_ready = raw.dtype == np.float64 and raw.flags.c_contiguous and _is_kept(raw)
        array = raw if is_ready else np.array(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be real numbers in one rectangular array, got {describe(value)}") from error
    if ndim is not None and array.ndim != ndim:
        raise ShapeError(f"{name} must have {ndim} axes, got an array of shape {array.shape}")
    # Ends are NaN if an entry is: of gigabytes no table of truths is made.
    ends = (array.min(), array.max()) if array.size else (0.0, 0.0)
    if np.isnan(ends).any() or (finite and np.isinf(ends).any()):
        bad = int((~np.isfinite(array)).sum())
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite entries")
    array.setflags(write=False)
    return array


def _is_kept(array: np.ndarray) -> bool:
    """Whether nobody can write to an array, and its memory holds nothing else."""
    owner = array if array.base is None else array.base
    is_whole = isinstance(owner, np.ndarray) and owner.flags.owndata and owner.size == array.size
    return bool(is_whole and not array.flags.writeable and not owner.flags.writeable)


def read_coordinates(x: ArrayLike, dim: int) -> np.ndarray:
    """Return points ``(..., dim)`` as a read-only float64 array; infinite coordinates are taken."""
    points = read_array(x, "x", finite=False)
    if points.ndim == 0 or points.shape[-1] != dim:
        raise ShapeError(f"points must have {dim} coordinates, got shape {points.shape}")
    return points


def read_point(value: ArrayLike, name: str) -> np.ndarray:
    """Return a point of any shape, such as an image, as a read-only float64 vector, flattened row-major."""
    point = read_array(value, name).reshape(-1)
    if point.size == 0:
        raise ShapeError(f"{name} must have at least one coordinate, got none")
    return point


def read_labels(
    value: Any, *, num_samples: int | None = None, num_classes: int | None = None, name: str = "labels"
) -> np.ndarray:
    """Return labels as int64 (s,): whole numbers from 0, one per sample.

    Booleans become classes 0 and 1; floats that are whole numbers are taken.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    try:
        raw = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name} must be one whole number per sample, got rows that do not fit together") from error
    if raw.ndim != 1:
        raise ShapeError(
            f"{name} must have one axis, one label per sample, got an array of shape {raw.shape}: of one-hot rows give "
            "argmax(1)"
        )
    if num_samples is not None and len(raw) != num_samples:
        raise ShapeError(f"{name} must be one label per sample, got {len(raw):,} labels for {num_samples:,} samples")
    if raw.size and raw.dtype.kind not in "biuf":
        raise InputError(f"{name} must be whole numbers, got an array of {raw.dtype}: number the classes from 0")
    upper = np.inf if num_classes is None else num_classes
    bad = np.flatnonzero(~((raw >= 0) & (raw < upper) & (np.floor(raw) == raw))) if raw.dtype.kind != "b" else raw[:0]
    if len(bad):
        to = "up" if num_classes is None else f"to {num_classes - 1}"
        raise InputError(
            f"{name} must be whole numbers from 0 {to}, got {raw[bad[0]]} for sample {bad[0]}: number the classes so"
        )
    return raw.astype(np.int64)
