"""Numbers between ends that were computed in float64: where the ends agree, the number is known up to a rounding."""

from typing import Any

import numpy as np

from reluscope.findings import Finding


def finding_within(
    value: float, lower: float, upper: float, *, rounding: float, scale: float | None = None, **fields: Any
) -> Finding:
    """Return a number as a finding whose claim follows from its ends.

    A number whose ends are within ``rounding`` of each other may be off by that; other arguments are as of
    `Finding.of`.
    """
    if np.isfinite(value) and upper - lower <= rounding:
        return Finding.within(value, rounding, scale=scale, **fields)
    return Finding.of(value, lower, upper, scale=scale, **fields)
