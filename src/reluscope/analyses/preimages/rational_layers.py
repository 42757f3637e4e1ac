"""Directions of small whole numbers near a given one: systems of whole numbers have such solutions, exactly."""

from fractions import Fraction
from math import lcm

import numpy as np
from jaxtyping import Float

MAX_DENOMINATOR, MAX_NUMBER = 64, 2**20


def snapped(direction: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"] | None:
    """Return the direction in small whole numbers, or None if there are none."""
    largest = np.abs(direction).max(initial=0.0)
    if largest == 0:
        return None
    exact = [Fraction(float(entry)).limit_denominator(MAX_DENOMINATOR) for entry in direction / largest]
    common = lcm(*(entry.denominator for entry in exact))
    whole = [int(entry * common) for entry in exact]
    return np.array(whole, dtype=float) if max(map(abs, whole)) <= MAX_NUMBER else None


def near_dyadic(point: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return the nearest point whose coordinates have 20 binary digits behind the point."""
    return np.round(point * 2.0**20) / 2.0**20 + 0.0
