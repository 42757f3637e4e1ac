"""Procrustes distance: how far two representations are apart after the best rotation or reflection.

Both are centred and divided by their Frobenius norms; ``min_Q |X - Y Q|_F = sqrt(2 - 2 |X^T Y|_*)`` over orthogonal Q,
with the sum of singular values [williams2021]_. It is a metric on representations up to shift, scale and rotation.
"""

from math import sqrt

import numpy as np
from jaxtyping import Float

from reluscope.analyses.similarity.cka import INVARIANCES
from reluscope.analyses.similarity.metric import Metric, Source
from reluscope.analyses.similarity.moments import Moments, moments_of
from reluscope.arguments import read_arguments
from reluscope.findings import Finding


@read_arguments
def procrustes_distance(first: Float[np.ndarray, "s d"], second: Float[np.ndarray, "s e"]) -> Finding | None:
    """Return the Procrustes distance of two representations of samples; the narrower one is zero-padded.

    Parameters
    ----------
    first, second : (s, d) and (s, e) arrays
        One row per sample.

    Returns
    -------
    Finding or None
        ESTIMATE in float64, from 0 to the square root of 2; distances below about 1e-8 are rounding. None if all
        rows of one representation are equal.

    Raises
    ------
    InputError, ShapeError
        If the samples differ in number, or entries are not finite.

    References
    ----------
    .. [williams2021] "Generalized Shape Metrics on Neural Representations".

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> print(rs.similarity.procrustes_distance(np.array([[1.0], [0.0], [0.0]]), np.array([[0.0], [1.0], [-1.0]])))
    1.41421 (ESTIMATE)
    """
    return _apart(moments_of(first, second), 0, 1)


def _apart(moments: Moments, first: int, second: int) -> Finding | None:
    if moments.is_constant(first) or moments.is_constant(second):
        return None
    if first == second:
        return _finding(0.0, moments)
    norms = sqrt(moments.total(first)) * sqrt(moments.total(second))
    shared = float(moments.singular_values(first, second).sum()) / norms
    return _finding(sqrt(max(0.0, 2 - 2 * shared)), moments)


def _finding(value: float, moments: Moments) -> Finding:
    return Finding.estimate(
        value,
        name=PROCRUSTES.title,
        definition=PROCRUSTES.definition,
        domain=f"{moments.num_samples:,} samples",
        num_samples=moments.num_samples,
        method="singular values of the product, float64",
        source=PROCRUSTES.publication,
    )


PROCRUSTES = Metric(
    "procrustes",
    "Procrustes distance",
    "least |X - YQ| over orthogonal Q, both centred and of Frobenius norm 1",
    Source.MOMENTS,
    _apart,
    INVARIANCES,
    high=sqrt(2),
    publication="williams2021",
)
