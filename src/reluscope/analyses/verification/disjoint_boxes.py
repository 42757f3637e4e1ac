"""The boxes of a property's cases, cut into boxes that do not overlap, each with all that is unsafe on it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.property import Case
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


class Unsafe(NamedTuple):
    """Unsafe outputs, and where a property names them."""

    case: int  # the case that names them
    place: int  # the polyhedron within the case
    outputs: Polyhedron


class UnsafeBox(NamedTuple):
    """A box of inputs, and the outputs that are unsafe there."""

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    unsafe: tuple[Unsafe, ...]


def disjoint_boxes(cases: Sequence[Case]) -> list[UnsafeBox]:
    """Return boxes whose interiors do not meet, that cover all cases; those of the first case first."""
    found: list[UnsafeBox] = []
    for number, case in enumerate(cases):
        own = tuple(Unsafe(number, index, one) for index, one in enumerate(case.unsafe))
        left, parts = [(case.lower, case.upper)], list[UnsafeBox]()
        for box in found:
            for apart in _without(box.lower, box.upper, case.lower, case.upper):
                parts.append(UnsafeBox(*apart, box.unsafe))
            lower, upper = np.maximum(box.lower, case.lower), np.minimum(box.upper, case.upper)
            if (lower <= upper).all():
                parts.append(UnsafeBox(lower, upper, (*box.unsafe, *own)))
                left = [one for rest in left for one in _without(*rest, lower, upper)]
        found = parts + [UnsafeBox(*one, own) for one in left]
    return found


def _without(
    lower: np.ndarray, upper: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return boxes that a box consists of where another one is taken away."""
    if (np.maximum(lower, low) > np.minimum(upper, high)).any():
        return [(lower, upper)]
    parts = []
    lower, upper = lower.copy(), upper.copy()
    for axis in range(len(lower)):
        if lower[axis] < low[axis]:
            end = upper.copy()
            end[axis] = low[axis]
            parts.append((lower.copy(), end))
            lower[axis] = low[axis]
        if upper[axis] > high[axis]:
            start = lower.copy()
            start[axis] = high[axis]
            parts.append((start, upper.copy()))
            upper[axis] = high[axis]
    return parts
