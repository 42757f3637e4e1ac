"""Linear centred kernel alignment: the angle between the covariances of two representations with the samples.

``CKA(X, Y) = |Y^T X|_F^2 / (|X^T X|_F |Y^T Y|_F)`` with centred columns [kornblith2019]_. It is biased upwards with few
samples; the debiased one takes unbiased estimates of all three terms [song2012]_ and is about 0 for independent ones.
"""

from math import sqrt

import numpy as np
from jaxtyping import Float

from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.analyses.similarity.moments import Moments, moments_of
from reluscope.arguments import read_arguments
from reluscope.findings import Finding

INVARIANCES = frozenset(
    {
        Invariance.UNIT_PERMUTATION,
        Invariance.UNIT_RESCALING,
        Invariance.SCALING,
        Invariance.TRANSLATION,
        Invariance.ORTHOGONAL,
    }
)
MIN_SAMPLES = 4


@read_arguments
def linear_cka(first: Float[np.ndarray, "s d"], second: Float[np.ndarray, "s e"]) -> Finding | None:
    """Return the linear CKA of two representations of the same samples.

    Parameters
    ----------
    first, second : (s, d) and (s, e) arrays
        One row per sample.

    Returns
    -------
    Finding or None
        ESTIMATE in float64, between 0 and 1; None if all rows of one are equal, where it is 0 / 0.

    Raises
    ------
    InputError, ShapeError
        If the samples differ in number, or entries are not finite.

    References
    ----------
    .. [kornblith2019] "Similarity of Neural Network Representations Revisited", equation 4.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> print(rs.similarity.linear_cka(X, 3 * X[:, ::-1]))
    1 (ESTIMATE)
    """
    return _aligned(moments_of(first, second), 0, 1)


@read_arguments
def debiased_cka(first: Float[np.ndarray, "s d"], second: Float[np.ndarray, "s e"]) -> Finding | None:
    """Return the linear CKA from unbiased estimates: about 0 for independent data, however few samples.

    Parameters
    ----------
    first, second : (s, d) and (s, e) arrays
        One row per sample, four or more.

    Returns
    -------
    Finding or None
        ESTIMATE in float64, at most 1 and possibly below 0. None with fewer samples, or if an estimate of a
        representation with itself is not positive beyond rounding, for example if all rows but one are equal.

    References
    ----------
    .. [song2012] "Feature selection via dependence maximization", equation 5.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> X = np.random.default_rng(0).normal(size=(20, 30))
    >>> print(rs.similarity.debiased_cka(X, -2 * X))
    1 (ESTIMATE)
    """
    return _aligned_without_bias(moments_of(first, second), 0, 1)


def _aligned(moments: Moments, first: int, second: int) -> Finding | None:
    if moments.is_constant(first) or moments.is_constant(second):
        return None
    norms = sqrt(moments.product(first, first)) * sqrt(moments.product(second, second))
    return _finding(CKA, moments.product(first, second) / norms, moments)


def _aligned_without_bias(moments: Moments, first: int, second: int) -> Finding | None:
    if moments.num_samples < MIN_SAMPLES or moments.is_constant(first) or moments.is_constant(second):
        return None
    own, other = (moments.debiased_product(one, one) for one in (first, second))
    if own <= 0 or other <= 0:
        return None
    value = moments.debiased_product(first, second) / (sqrt(own) * sqrt(other))
    return _finding(DEBIASED_CKA, value, moments)


def _finding(metric: Metric, value: float, moments: Moments) -> Finding:
    return Finding.estimate(
        value,
        name=metric.title,
        definition=metric.definition,
        domain=f"{moments.num_samples:,} samples",
        num_samples=moments.num_samples,
        method="triangular factor in float64" if moments.factor is not None else "Gram matrices in float64",
        source=metric.publication,
    )


CKA = Metric(
    "cka",
    "linear CKA",
    "|Y'X|^2 / (|X'X| |Y'Y|), centred",
    Source.MOMENTS,
    _aligned,
    INVARIANCES,
    of_itself=1.0,
    high=1.0,
    grows_with_likeness=True,
    publication="kornblith2019",
)
DEBIASED_CKA = Metric(
    "debiased_cka",
    "debiased CKA",
    "unbiased estimates of the three terms of linear CKA",
    Source.MOMENTS,
    _aligned_without_bias,
    INVARIANCES,
    of_itself=1.0,
    low=-np.inf,
    high=1.0,
    grows_with_likeness=True,
    publication="song2012",
)
