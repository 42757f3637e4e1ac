"""Medians of a quantity over all samples, from all of them or from some drawn at random.

From k drawn samples, order statistics give an interval whatever the distribution: the median lies between the l-th and
the u-th smallest value with probability ``P(l <= B < u)``, B binomial with k draws and probability 1/2.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.stats import binom

from reluscope.findings import Claim, Finding

CONFIDENCE = 0.95


def median_finding(
    values: Float[np.ndarray, " k"], population: int, *, what: str, tolerance: float, **fields: Any
) -> Finding:
    """Return the median over a population of which some are known.

    Parameters
    ----------
    values : (k,) float64
        Of the known ones, drawn at random without replacement.
    population : int
        How many there are.
    what : str
        What the values are, for the definition.
    tolerance : float
        Bound on the error of a value.
    **fields
        Further fields of the finding; ``domain`` is set here.

    Returns
    -------
    Finding
        EXACT if all are known; else ESTIMATE, from six values on with a 95 % interval.

    Examples
    --------
    >>> print(median_finding(np.arange(11.0), 1000, what="sizes", tolerance=0.0))
    5 (ESTIMATE, in [1, 9])
    """
    number = len(values)
    if number == population:
        return Finding(
            float(np.median(values)),
            Claim.EXACT,
            definition=f"median over all {number:,} samples of {what}",
            domain=f"{number:,} samples",
            tolerance=tolerance,
            **fields,
        )
    interval = _interval(np.sort(values))
    certainty = f"; the interval holds it with a probability of {CONFIDENCE:.0%}" if interval else ""
    return Finding(
        float(np.median(values)),
        Claim.ESTIMATE,
        interval=interval,
        definition=f"median over all {population:,} samples of {what}, from {number:,} drawn at random{certainty}",
        domain=f"{number:,} of {population:,} samples",
        tolerance=tolerance,
        **fields,
    )


def _interval(ordered: np.ndarray) -> tuple[float, float] | None:
    number = len(ordered)
    # The largest l with P(B < l) at most 2.5 %; the same on the other side.
    below = int(binom.ppf((1 - CONFIDENCE) / 2, number, 0.5))
    return (float(ordered[below - 1]), float(ordered[number - below])) if below else None
