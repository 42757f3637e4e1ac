"""Objects that print as one line: numbers as they are, arrays by type and shape, so that thousands of rows stay unseen.

A dataclass with arrays prints all it holds, which for a region of an image classifier is pages. `Shown` is the base of
those that users meet and that have no better line of their own: ``Ball(center=float64 (784,), radius=0.31, ...)``.
"""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

import numpy as np

from reluscope import markup

# Arrays and sequences of at most so many numbers are written out, and what is longer than so many characters is not.
FEW, LONGEST = 4, 60


class Shown:
    """Base of dataclasses that print as one line; a subclass is declared with ``@dataclass(repr=False)``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(repr=False)
    ... class Cloud(Shown):
    ...     points: np.ndarray
    ...     center: np.ndarray
    ...     name: str
    >>> Cloud(np.zeros((1000, 2)), np.array([0.5, 1 / 3]), "first")
    Cloud(points=float64 (1000, 2), center=[0.5, 0.333333], name='first')
    """

    def __repr__(self) -> str:
        return one_line(self)

    def _repr_html_(self) -> str:
        """Return the same as a table, for a notebook; what is empty is left out."""
        values = [(name, getattr(self, name)) for name in _names(self)]
        rows = [(name.replace("_", " "), _in_words(value)) for name, value in values if not _is_empty(value)]
        return markup.figure(type(self).__name__, markup.terms(rows))


def one_line(value: Any) -> str:
    """Return a dataclass or a named tuple in one line, as ``__repr__`` of named tuples with arrays."""
    return f"{type(value).__name__}({', '.join(f'{name}={_brief(getattr(value, name))}' for name in _names(value))})"


def _names(value: Any) -> list[str]:
    return getattr(value, "_fields", None) or [field.name for field in fields(value) if field.repr]


def _in_words(value: Any) -> str:
    """Return a value in a cell of a table, where text stands without quotes."""
    return str(value) if isinstance(value, str) and len(value) <= LONGEST else _brief(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple | list | Mapping) and not value)


def _brief(value: Any) -> str:
    """Return a value in a few words."""
    if _is_array(value):
        if value.ndim == 1 and len(value) <= FEW:
            return "[" + ", ".join(_brief(number) for number in value.tolist()) + "]"
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Enum):
        return str(value)
    text = repr(value)
    if len(text) <= LONGEST and "\n" not in text and not _holds_arrays(value):
        return text
    if isinstance(value, Mapping | tuple | list | set | frozenset):
        return f"{len(value):,} {'item' if len(value) == 1 else 'items'}"
    if isinstance(value, str):
        return f"{text[: LONGEST - 3]}..."
    return text if isinstance(value, Shown) else f"{type(value).__name__}(...)"


def _is_array(value: Any) -> bool:
    # Of NumPy or of torch, which is not imported to find out.
    return isinstance(value, np.ndarray) or (hasattr(value, "dtype") and hasattr(value, "ndim") and value.ndim > 0)


def _holds_arrays(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(_is_array(part) for part in value)
