"""Numbers between ends that were computed in float64: where the ends agree, the number is known up to a rounding."""

from typing import Any

import numpy as np

from reluscope.findings import Finding


def finding_within(
    value: float, lower: float, upper: float, *, rounding: float, scale: float | None = None, **fields: Any
) -> Finding:
    """Return a number whose claim follows from its ends; ends within the rounding of each other may be off by it.

    Parameters
    ----------
    value, lower, upper : float
    rounding : float
        What a number whose ends agree may be off by.
    scale : float, optional
        As of `Finding.of`.
    **fields
        As of `Finding.of`.

    Examples
    --------
    >>> finding_within(2.0, 2.0, 2.0, rounding=1e-9), finding_within(2.0, 2.0, 3.0, rounding=1e-9)
    (Finding(2 (EXACT)), Finding(2 (LOWER, in [2, 3])))
    """
    if np.isfinite(value) and upper - lower <= rounding:
        return Finding.within(value, rounding, scale=scale, **fields)
    return Finding.of(value, lower, upper, scale=scale, **fields)
