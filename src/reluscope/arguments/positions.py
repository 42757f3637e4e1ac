"""Positions in a sequence: one, counted from either end as in Python, or several."""

from operator import index
from typing import Any

import numpy as np

from reluscope.arguments.argument_sentences import describe
from reluscope.errors import InputError, PositionError


def read_position(value: Any, name: str, length: int, noun: str = "entries") -> int:
    """Return a position from 0, counted from the end if negative.

    A position outside raises PositionError, which is an ``IndexError``, too, so that loops end.
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        position = index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, got {describe(value)}") from None
    if not -length <= position < length:
        raise PositionError(f"{name} must be {_from_to(length, noun)}, got {position}")
    return position % length


def read_positions(value: Any, name: str, length: int, noun: str = "entries") -> np.ndarray:
    """Return positions from 0 of a slice, of whole numbers in one axis, or of a mask."""
    if isinstance(value, slice):
        return np.arange(length)[value]
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biu" or (array.dtype.kind == "b" and len(array) != length):
        raise InputError(f"{name} must be whole numbers in one axis or a mask of {length:,}, got {describe(value)}")
    if array.dtype.kind == "b":
        return np.flatnonzero(array)
    bad = array[(array < -length) | (array >= length)]
    if len(bad):
        raise PositionError(f"{name} must be {_from_to(length, noun)}, got {bad[0]}")
    return array.astype(np.int64) % max(length, 1)


def read_axes(value: Any, name: str, length: int) -> list[int]:
    """Return the two different positions from 0 that become the axes of a picture."""
    if length < 2:
        raise InputError(f"expected two {name} as the axes of a picture, got a network with {length}: take a table")
    chosen = [int(place) for place in read_positions(list(value), name, length, name)]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise InputError(f"{name} must be two different ones, got {value}: a picture has two axes")
    return chosen


def _from_to(length: int, noun: str) -> str:
    if not length:
        return f"one of the {noun}, of which there are none"
    return f"from 0 to {length - 1}, or from -1 to {-length} counted from the end"
