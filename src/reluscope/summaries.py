"""Results as one line and as a small table: arrays by their shapes, other things as they are."""

from collections.abc import Mapping, Sized
from dataclasses import fields
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np

from reluscope import markup

Class = TypeVar("Class", bound=type)
# Arrays of so many numbers are shown whole; other things in so many letters.
WHOLE, LONGEST = 4, 100


def summarized(kind: Class) -> Class:
    """Give a dataclass a ``repr`` of one line, and the same as a table in notebooks.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @summarized
    ... @dataclass(frozen=True)
    ... class Found:
    ...     points: np.ndarray
    ...     nearest: np.ndarray
    ...     note: str = ""
    >>> Found(np.zeros((30, 2)), np.array([0.25, 1.0]))
    Found(points=float64 (30, 2), nearest=[0.25, 1])
    >>> "<td" in Found(np.zeros(9), np.zeros(2))._repr_html_()
    True
    """

    def as_line(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in _entries(self))})"

    def as_table(self: Any) -> str:
        return markup.figure(
            type(self).__name__, markup.terms((name.replace("_", " "), text) for name, text in _entries(self))
        )

    kind.__repr__ = as_line  # pyright: ignore[reportAttributeAccessIssue]
    kind._repr_html_ = as_table
    return kind


def _entries(result: Any) -> list[tuple[str, str]]:
    """Return names and words of the fields that hold something."""
    values = [(field.name, getattr(result, field.name)) for field in fields(result) if field.repr]
    return [(name, _in_words(value)) for name, value in values if value is not None and not _is_empty_text(value)]


def _is_empty_text(value: Any) -> bool:
    return isinstance(value, str | tuple) and not value


def _in_words(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= WHOLE:
            return np.array2string(value, separator=", ", precision=6)
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple | list | Mapping) and _is_long(value):
        return f"{len(value):,} entries"
    return shorten(repr(value), LONGEST, placeholder=" ...")


def _is_long(value: Sized) -> bool:
    return len(value) > WHOLE or len(repr(value)) > LONGEST
