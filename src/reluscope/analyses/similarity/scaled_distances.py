"""Mean squared distance of coefficients after each network's are divided by their largest entry.

``1 / (m s (n + 1)) sum_j |C_1j / a_1 - C_2j / a_2|_F^2``, equations 7.5 and 7.6 of [sattelberg2026]_, where a is the
largest entry. If all entries are negative that turns signs, and a large negative one does not count: the largest
absolute entry is the scale that does what was meant.
"""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.analyses.similarity.streamed_samples import Entries, entries_of
from reluscope.arguments import read_arguments
from reluscope.findings import Finding
from reluscope.geometry.numbers.scales import times_power

INVARIANCES = frozenset({Invariance.UNIT_PERMUTATION, Invariance.UNIT_RESCALING, Invariance.SCALING})


@read_arguments
def scaled_distance(
    first: Float[np.ndarray, "m s c"], second: Float[np.ndarray, "m s c"], *, absolute: bool = False
) -> Finding | None:
    """Return the mean squared distance of scaled coefficients.

    Parameters
    ----------
    first, second : (m, s, n + 1) arrays
        Coefficients of every output.
    absolute : bool
        Scale by the largest absolute entry instead of the largest entry.

    Returns
    -------
    Finding or None
        ESTIMATE in float64. None if a scale is not positive: for a network of zero coefficients or, without
        `absolute`, of negative coefficients. Also None if a scale is so small relative to the other entries that
        the distance is not a float64 number.

    References
    ----------
    .. [sattelberg2026] Equations 7.5 and 7.6.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> print(rs.similarity.scaled_distance(np.array([[[1.0, 0.0]]]), np.array([[[2.0, -4.0]]])))
    2 (ESTIMATE)
    >>> print(rs.similarity.scaled_distance(np.array([[[1.0, 0.0]]]), np.array([[[2.0, -4.0]]]), absolute=True))
    0.625 (ESTIMATE)
    """
    metric = SCALED_DISTANCE_ABSOLUTE if absolute else SCALED_DISTANCE
    return metric.measure(entries_of(first, second), 0, 1)


def _by_largest(entries: Entries, first: int, second: int) -> Finding | None:
    return _distance(SCALED_DISTANCE, entries.largest, entries, first, second)


def _by_largest_absolute(entries: Entries, first: int, second: int) -> Finding | None:
    scales = entries.largest_absolute
    return _distance(SCALED_DISTANCE_ABSOLUTE, scales, entries, first, second)


def _distance(metric: Metric, scales: np.ndarray, entries: Entries, first: int, second: int) -> Finding | None:
    if scales[first] <= 0 or scales[second] <= 0:
        return None
    a, b = times_power(scales, -entries.exponents)[[first, second]]
    squares = entries.products
    with np.errstate(over="ignore", invalid="ignore"):
        total = squares[first, first] / a / a - 2 * squares[first, second] / a / b + squares[second, second] / b / b
    if not np.isfinite(total):
        return None
    return Finding.estimate(
        max(0.0, float(total)) / entries.number,
        name=metric.title,
        definition=metric.definition,
        domain=f"{entries.number:,} coefficients",
        method="sums of products in float64",
        source=metric.publication,
    )


SCALED_DISTANCE = Metric(
    "scaled_distance",
    "mean squared distance by largest entry",
    "mean squared difference of coefficients, each network's divided by its largest entry",
    Source.ENTRIES,
    _by_largest,
    INVARIANCES,
    publication="sattelberg2026",
)
SCALED_DISTANCE_ABSOLUTE = Metric(
    "scaled_distance_absolute",
    "mean squared distance by largest absolute entry",
    "mean squared difference of coefficients, each network's divided by its largest absolute entry",
    Source.ENTRIES,
    _by_largest_absolute,
    INVARIANCES,
    publication="sattelberg2026",
)
