"""Checks of the entries of a file before they are used: a digest notices damage, not content that is wrong.

Each function returns an entry that is what it should be and raises ValueError otherwise; who reads the file makes one
InputError of that.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# What reading content of the wrong form ends in; wrong lengths and depths ask for all memory or the whole stack.
MALFORMED = (
    *(KeyError, ValueError, TypeError, AttributeError, LookupError, ArithmeticError),
    *(MemoryError, RecursionError, NotImplementedError, SystemError),
)


def array(
    arrays: Mapping[str, np.ndarray],
    name: str,
    kind: type,
    shape: tuple[int | None, ...],
    *,
    least: float | None = None,
    below: float | None = None,
) -> np.ndarray:
    """Return a stored array of finite numbers, or raise ValueError if it is not as described.

    For whole numbers any signed type will do. None in `shape` is any length; entries are at least `least` and below
    `below`.
    """
    found = arrays[name]
    fits = found.dtype.kind == "i" if kind is np.int64 else found.dtype == kind
    if not fits or not found.dtype.isnative or found.ndim != len(shape):
        raise ValueError(f"{name} are {found.dtype} of shape {found.shape}")
    if any(size is not None and size != there for size, there in zip(shape, found.shape, strict=True)):
        raise ValueError(f"{name} are of shape {found.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"{name} are not finite")
    if found.size and ((least is not None and found.min() < least) or (below is not None and found.max() >= below)):
        raise ValueError(f"{name} are not from {least} to below {below}")
    return found


def offsets(arrays: Mapping[str, np.ndarray], name: str, number: int, total: int) -> np.ndarray:
    """Return stored offsets of a number of groups, none of them empty, of a total of entries."""
    found = array(arrays, name, np.int64, (number + 1,))
    if found[0] != 0 or found[-1] != total or (np.diff(found) < 1).any():
        raise ValueError(f"{name} do not part {total} entries")
    return found


def whole(described: Mapping[str, Any], name: str, *, least: int = 0) -> int:
    """Return a stored whole number."""
    found = described[name]
    if type(found) is not int or not least <= found < 2**63:
        raise ValueError(f"{name} is {found!r}")
    return found


def text(described: Mapping[str, Any], name: str) -> str:
    """Return a stored text."""
    found = described[name]
    if type(found) is not str:
        raise ValueError(f"{name} is {found!r}")
    return found


def truth(described: Mapping[str, Any], name: str) -> bool:
    """Return a stored truth value."""
    found = described[name]
    if type(found) is not bool:
        raise ValueError(f"{name} is {found!r}")
    return found


def number(described: Mapping[str, Any], name: str) -> float:
    """Return a stored finite number."""
    found = described[name]
    if type(found) not in (int, float) or not math.isfinite(found):
        raise ValueError(f"{name} is {found!r}")
    return found


def numbers(described: Mapping[str, Any], name: str) -> dict[str, float]:
    """Return stored finite numbers by name."""
    found = described[name]
    if type(found) is not dict:
        raise ValueError(f"{name} is {found!r}")
    return {key: number(found, key) for key in found}
