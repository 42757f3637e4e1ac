"""What a number says about the truth, and how that follows from the ends between which the truth lies."""

from enum import StrEnum
from math import inf

# Ends that agree to so many digits are one number.
AGREEMENT = 1e-9


class Claim(StrEnum):
    """What a number says about the truth.

    EXACT on an integer: equal to the truth at the stated resolution. EXACT on a real number: within the stated
    tolerance of it. LOWER and UPPER: the truth is not below, not above. ESTIMATE: close to the truth in the sense of
    the finding's interval, if it has one.
    """

    EXACT = "EXACT"
    LOWER = "LOWER"
    UPPER = "UPPER"
    ESTIMATE = "ESTIMATE"


def claim_of(value: float, lower: float, upper: float, tolerance: float) -> Claim:
    """Return what a value between two certain ends claims.

    Parameters
    ----------
    value, lower, upper : float
        With ``lower <= value <= upper``.
    tolerance : float
        Ends that are no farther apart are one number.

    Returns
    -------
    Claim
        EXACT where the ends are one number; LOWER or UPPER where the value is that end; else ESTIMATE.

    Examples
    --------
    >>> from reluscope.findings.claims import claim_of
    >>> [str(claim_of(2.0, low, high, 1e-9)) for low, high in [(2.0, 2.0), (2.0, 3.0), (1.0, 2.0), (1.0, 3.0)]]
    ['EXACT', 'LOWER', 'UPPER', 'ESTIMATE']
    """
    # Of whole numbers too large for floats nothing but comparisons is defined with infinity.
    if lower == upper or (lower != -inf and upper != inf and upper - lower <= tolerance):
        return Claim.EXACT
    if value == lower:
        return Claim.LOWER
    return Claim.UPPER if value == upper else Claim.ESTIMATE
