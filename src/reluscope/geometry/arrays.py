"""The one door by which numbers enter the geometry: finite, float64, contiguous and read-only.

Points may come as numpy arrays, torch tensors or nested lists; geometry itself only ever sees numpy.
"""

import numpy as np
from numpy.typing import ArrayLike

from reluscope.errors import InputError, ShapeError


def read_array(value: ArrayLike, name: str, *, ndim: int | None = None, finite: bool = True) -> np.ndarray:
    """Return ``value`` as a read-only float64 array of its own memory; itself if that is what it is.

    Parameters
    ----------
    value : array, tensor or nested sequence of numbers
        Integers and narrower floats are widened; complex numbers and text are refused.
    name : str
        What the error messages call it.
    ndim : int, optional
        The number of axes it must have.
    finite : bool
        Refuse infinite entries; NaN is always refused.

    Returns
    -------
    numpy.ndarray
        C-contiguous float64 that cannot be written to.

    Raises
    ------
    InputError
        If the value is not real numbers, or not finite.
    ShapeError
        If it has another number of axes.

    Examples
    --------
    >>> read_array([1, 2], "point")
    array([1., 2.])
    """
    if hasattr(value, "detach"):  # a torch tensor, possibly on a device or with a gradient
        value = value.detach().cpu().numpy()  # pyright: ignore[reportAttributeAccessIssue]
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "biuf":
            raise TypeError(str(raw.dtype))
        is_ready = raw.dtype == np.float64 and raw.flags.owndata and raw.flags.c_contiguous and not raw.flags.writeable
        array = raw if is_ready else np.array(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be real numbers in one rectangular array, got {error}") from error
    if ndim is not None and array.ndim != ndim:
        raise ShapeError(f"{name} must have {ndim} axes, got an array of shape {array.shape}")
    if np.isnan(array).any() or (finite and np.isinf(array).any()):
        bad = int((~np.isfinite(array)).sum())
        raise InputError(f"{name} must be finite, got {bad} NaN or infinite entries")
    array.setflags(write=False)
    return array


def read_point(value: ArrayLike, name: str) -> np.ndarray:
    """Return a point of any shape (an image, say) as a read-only float64 vector, flattened row-major.

    Examples
    --------
    >>> read_point([[1, 2], [3, 4]], "point")
    array([1., 2., 3., 4.])
    """
    point = read_array(value, name).reshape(-1)
    if point.size == 0:
        raise ShapeError(f"{name} must have at least one coordinate, got none")
    return point
