"""What a number says about the truth, and how that follows from the ends between which the truth lies.

A real number is EXACT if its error is at most `PRECISION` of its absolute value, or at most `AGREEMENT` of the *scale*
of the question, which says when a value is small. The error is the distance to the farther end; the ends hold
everything that can be wrong: rounding of inputs, corners and rows, and what was dropped. An analysis gives its ends and
the scale of its question (``Column.of(..., scale=)``, ``Finding.of(..., scale=)``), and no tolerance of its own.

=====================================  ======================================================
question                               scale
=====================================  ======================================================
share, correlation                     1, by default (the largest value, where that is finite)
distance from a point                  largest absolute coordinate of the point
distance between sets                  diameter of what holds both
volume of a part of a bounded domain   volume of the domain
volume of an image                     volume of the least box around it
value of an output                     largest absolute value of the outputs on the domain
anything else                          0, by default: then the error is relative to the value
=====================================  ======================================================
"""

from enum import StrEnum
from math import inf
from typing import Any

import numpy as np

# The largest error of an EXACT real number, as a share of its absolute value,
PRECISION = 1e-6
# or as a share of the scale of the question.
AGREEMENT = 1e-9


class Claim(StrEnum):
    """What a number says about the truth.

    EXACT on an integer: equal to the truth at the stated resolution. EXACT on a real number: the truth within 1e-6 of
    it, or within 1e-9 of the scale of the question where it is small.
    LOWER and UPPER: the truth is not below, not above. ESTIMATE: close to the truth in the sense of
    the finding's interval, if it has one.
    """

    EXACT = "EXACT"
    LOWER = "LOWER"
    UPPER = "UPPER"
    ESTIMATE = "ESTIMATE"


def claim_of(value: float, lower: float, upper: float, tolerance: float) -> Claim:
    """Return the claim of a value between two certain ends, with ``lower <= value <= upper``.

    EXACT where no end is farther from the value than the tolerance, which `largest_error` gives; LOWER or UPPER where
    the value is that end; else ESTIMATE.
    """
    # Of whole numbers too large for floats nothing but comparisons is defined with infinity.
    if lower == upper or (lower != -inf and upper != inf and max(upper - value, value - lower) <= tolerance):
        return Claim.EXACT
    if value == lower:
        return Claim.LOWER
    return Claim.UPPER if value == upper else Claim.ESTIMATE


def largest_error(value: Any, scale: Any = 0.0) -> Any:
    """Return the largest error that an EXACT real number may have; 0 where the value is not finite.

    The scale of the question is not negative; one that is not finite says nothing.
    """
    of_scale = AGREEMENT * np.where(np.isfinite(scale), scale, 0.0)
    return np.where(np.isfinite(value), np.maximum(PRECISION * np.abs(value), of_scale), 0.0)
