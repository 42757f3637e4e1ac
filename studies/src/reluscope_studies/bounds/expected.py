"""Expected number of breakpoints at random initialisation: exact for the first layer on a segment."""

from math import atan, pi, sqrt

import numpy as np
from jaxtyping import Float

from reluscope import Finding
from reluscope.arguments import Count, NonNegative, Positive, read_arguments
from reluscope.errors import InputError


@read_arguments
def expected_breakpoints(
    start: Float[np.ndarray, " n"],
    end: Float[np.ndarray, " n"],
    *,
    num_units: Count,
    weight_deviation: Positive,
    bias_deviation: NonNegative,
) -> Finding:
    """Return the expected breakpoints of a first layer on a segment, for normal weights and biases.

    Along p + t u a unit is a + c t, where a = w.p + b and c = w.u are jointly normal. It vanishes at t with density
    sqrt(s_aa s_cc - s_ac^2) / (pi (s_aa + 2 t s_ac + t^2 s_cc)). The integral of the density over [0, 1] is
    (arctan((s_cc + s_ac) / r) - arctan(s_ac / r)) / pi with r = sqrt(s_aa s_cc - s_ac^2).

    Parameters
    ----------
    start, end : (n,) float64
        Different points.
    num_units : int
        Units of the layer.
    weight_deviation, bias_deviation : float
        Standard deviations: positive for weights, not negative for biases.

    Returns
    -------
    Finding
        EXACT; for the expectation, not for the count of one network.

    Raises
    ------
    InputError
        If the points are equal, or a deviation is out of range.

    Notes
    -----
    Further layers: along any line the expected number of regions at initialisation grows linearly with the number
    of units, with constants that depend on the initialisation and not on depth (Hanin and Rolnick 2019). Their
    bound for cubes is (T N)^n / n!.

    Examples
    --------
    >>> ends = np.array([-1.0]), np.array([1.0])
    >>> found = expected_breakpoints(*ends, num_units=1, weight_deviation=1, bias_deviation=1)
    >>> round(float(found), 12)
    0.5
    """
    start, end = np.asarray(start, dtype=float).ravel(), np.asarray(end, dtype=float).ravel()
    if start.shape != end.shape or not (start != end).any():
        raise InputError("expected two different points of equal size as ends of the segment: give others")
    if weight_deviation <= 0 or bias_deviation < 0 or num_units < 0:
        raise InputError("weights need a positive deviation, biases one that is not negative: give others")
    direction = end - start
    weight, bias = weight_deviation**2, bias_deviation**2
    aa = weight * float(start @ start) + bias
    cc, ac = weight * float(direction @ direction), weight * float(start @ direction)
    root = sqrt(max(0.0, aa * cc - ac * ac))
    # Without biases, on a line through the origin, every unit vanishes at the origin.
    at_origin = 1.0 if 0 <= -ac <= cc else 0.0
    share = (atan((cc + ac) / root) - atan(ac / root)) / pi if root > 0 else at_origin
    length = float(np.linalg.norm(direction))
    value = num_units * share
    error = 1e-12 * max(1.0, value)
    return Finding.within(
        value,
        error,
        scale=1.0,
        name="expected breakpoints of the first layer",
        definition="expected number of points on a segment where a unit of the first layer changes its sign",
        domain=f"a segment of length {length:.4g}, {num_units:,} units, normal weights and biases",
        method="integral of the density of zeros of a normal line",
        source="hanin2019",
    )
