"""Input points in every form that users have them, as one float64 batch."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, ShapeError
from reluscope.interruption import step_point

Points = Tensor | np.ndarray | Sequence


def as_points(x: Points, input_shape: tuple[int, ...], device: torch.device | str = "cpu") -> Tensor:
    """Return points as a float64 tensor ``(s, *input_shape)``.

    Takes points ``(s, *input_shape)``, flattened points ``(s, n)``, or one point. Raises ShapeError if the shape fits
    neither form, InputError for no points or entries that are not finite real numbers.
    """
    tensor = _as_tensor(x)
    size = prod(input_shape)
    form = f"(s, {', '.join(map(str, input_shape))})" if input_shape else "(s,)"
    if tensor.numel() == 0:
        raise InputError(f"expected at least one point of shape {form}, got an empty array of {tuple(tensor.shape)}")
    shape = tuple(tensor.shape)
    if shape[1:] == input_shape and len(shape) == 1 + len(input_shape):
        pass
    elif shape in {input_shape, (size,)} or (len(shape) == 2 and shape[1] == size):
        tensor = tensor.reshape(-1, *input_shape)
    else:
        flat = "" if len(input_shape) == 1 else f" or flattened (s, {size})"
        raise ShapeError(f"expected points of shape {form}{flat}, got {shape}: reshape them to one of these")
    tensor = tensor.to(device=device, dtype=torch.float64)
    # The sum is the cheaper test, and enough unless it is not finite itself.
    if not bool(torch.isfinite(tensor.sum())) and not bool(torch.isfinite(tensor).all()):
        bad = int((~torch.isfinite(tensor.reshape(len(tensor), -1)).all(1)).nonzero()[0])
        raise InputError(f"expected finite points, but point {bad} holds NaN or infinite entries: remove or repair it")
    return tensor


def chunks(num_points: int, bytes_per_point: int, memory: int) -> Iterator[slice]:
    """Yield slices of at most ``memory`` bytes of work each, at least one point long and of about equal length."""
    most = max(1, memory // max(1, bytes_per_point))
    step = -(-num_points // -(-num_points // most))
    for start in range(0, num_points, step):
        yield slice(start, min(start + step, num_points))


def steps(num_points: int, bytes_per_point: int, memory: int) -> Iterator[slice]:
    """Yield `chunks`, none of nothing, with a look at the clock and for Ctrl-C before each."""
    for part in chunks(num_points, bytes_per_point, memory) if num_points else ():
        step_point()
        yield part


def _as_tensor(x: Points) -> Tensor:
    if not isinstance(x, Tensor):
        try:
            array = np.asarray(x)
        except (ValueError, TypeError) as error:
            raise ShapeError("expected an array of points, got rows that do not fit together") from error
        if array.dtype.kind not in "biuf":
            raise InputError(f"expected numbers, got an array of {array.dtype}: convert it to floats")
        if array.dtype.itemsize > 8 or array.dtype.kind == "u" or not array.dtype.isnative:
            array = array.astype(np.float64)
        x = torch.from_numpy(np.ascontiguousarray(array) if array.flags.writeable else array.copy())
    if x.is_complex():
        raise InputError("expected real numbers, got complex ones")
    return x
