"""``--box LO,HI``, once or once for each coordinate, as a box."""

from collections.abc import Sequence

import numpy as np

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box


def box_of(
    sides: Sequence[tuple[float, float]],
    number: int,
    *,
    every: str = "all inputs",
    each: str = "the {number:,} in order",
    option: str = "--box",
) -> Box:
    """Return the box with so many sides, of which one may stand for all; words are for the refusal of others."""
    given = tuple(sides) * number if len(sides) == 1 else sides
    if len(given) != number:
        each = each.format(number=number)
        raise InputError(f"give {option} once for {every}, or once for each of {each}, got {len(given)} boxes")
    low, high = (np.array(ends) for ends in zip(*given, strict=True))
    return Box(low, high)
