"""Shapes of points: positive lengths, and no more entries than a machine could hold."""

from collections.abc import Collection, Mapping, Sequence
from math import prod

import numpy as np

from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.domains import MAX_DIMENSIONS

# Of all nodes together, for one point: 4 GB in float64.
MAX_VALUES = 2**29


def check_size(shape: Sequence[int], what: str) -> None:
    """Raise InputError before memory is taken for points of an absurd shape.

    ``what`` says whose shape it is, such as "the file declares".
    """
    if prod(shape) > MAX_DIMENSIONS:
        raise InputError(
            f"expected an input of at most {MAX_DIMENSIONS:,} numbers, but {what} {tuple(shape)}: give the "
            "shape of one point"
        )


def check_total(number: int, what: str) -> None:
    """Raise InputError before memory is taken for values of an absurd size."""
    if number > MAX_VALUES:
        raise InputError(
            f"expected values of at most {MAX_VALUES:,} numbers for a point, but {what} "
            f"{float(min(number, 10**300)):.3g}: load a part of the model, or give a smaller input_shape"
        )


def read_shape(input_shape: int | Sequence[int]) -> tuple[int, ...]:
    """Return the shape of one point, as given by a user, as a tuple.

    Raises ShapeError if a length is no positive whole number, InputError if there are more entries than memory can
    hold.
    """
    lengths = (input_shape,) if isinstance(input_shape, int | np.integer) else tuple(input_shape)
    if not all(isinstance(length, int | np.integer) and length > 0 for length in lengths):
        raise ShapeError(f"expected input_shape as positive integers without the batch axis, got {input_shape}")
    shape = tuple(int(length) for length in lengths)
    check_size(shape, "input_shape is")
    return shape


def read_joined(shapes: Mapping[str, int | Sequence[int]], fixed: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of several inputs that are joined, by name.

    Raises as `read_shape`, and InputError if there is none, or one of them is held fixed, too.
    """
    if not shapes:
        raise InputError("expected input_shape with the names of the inputs to join, got an empty mapping")
    twice = next((name for name in shapes if name in fixed), None)
    if twice is not None:
        raise InputError(f"expected inputs either in input_shape or in inputs, got {twice!r} in both")
    found = {name: read_shape(shape) for name, shape in shapes.items()}
    check_size([sum(map(prod, found.values()))], "together they have")
    return found
