"""Orthogonality of the units of a layer, and of n random directions in n dimensions (Sattelberg 2026, Figure 4.7).

For two independent uniform directions the mean of the absolute scalar product is
``Gamma(n/2) / (sqrt(pi) Gamma((n + 1)/2))``, about ``sqrt(2 / (pi n))``.
"""

from dataclasses import dataclass
from math import exp, lgamma, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from reluscope import Finding
from reluscope.arguments import Count, Seed, read_arguments, read_array
from reluscope.errors import InputError
from reluscope.extending.analyses import CONFIDENCE, Shown

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class Orthogonality(Shown):
    """Absolute scalar products of the directions of different vectors.

    Parameters
    ----------
    mean, largest : Finding
        0 if all are orthogonal, 1 if parallel.
    """

    mean: Finding
    largest: Finding


@read_arguments
def orthogonality(vectors: ArrayLike) -> Orthogonality:
    """Return the mean and the largest absolute cosine between different vectors, such as a layer's rows.

    Parameters
    ----------
    vectors : (u, n) array
        At least two; those of length 0 are left out.

    Returns
    -------
    Orthogonality
        EXACT.

    Raises
    ------
    InputError
        If fewer than two have a direction.

    Examples
    --------
    >>> found = orthogonality([[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
    >>> round(found.mean.value, 6), round(found.largest.value, 6)
    (0.471405, 0.707107)
    """
    rows = read_array(vectors, "vectors", ndim=2)
    rows = rows[rows.any(axis=1)]
    if len(rows) < 2:
        raise InputError(f"expected at least two vectors that are not zero, got {len(rows)}")
    products = _products(rows[None])[0]
    about: dict[str, Any] = {
        "domain": f"{len(rows)} vectors in {rows.shape[1]} dimensions",
        "source": "sattelberg2026",
    }
    error = max(1e-12, 2 * rows.shape[1] * EPSILON)
    definition = "absolute scalar product of the unit vectors of two different rows"
    return Orthogonality(
        *(
            Finding.within(
                float(value),
                error,
                scale=1.0,
                name=f"{which} absolute cosine",
                definition=definition,
                **about,
            )
            for which, value in (("mean", products.mean()), ("largest", products.max()))
        )
    )


@read_arguments
def random_orthogonality(dim: Count, *, trials: Count = 100, seed: Seed = 0) -> Orthogonality:
    """Return mean and largest absolute scalar product of n random unit vectors in n dimensions, averaged over trials.

    Parameters
    ----------
    dim : int
        At least 2.
    trials : int
        At least 2; the dissertation has 100.
    seed : int

    Returns
    -------
    Orthogonality
        ESTIMATE, with Student's interval of the average at 95 %.

    Raises
    ------
    InputError
        If a number is below 2.

    Examples
    --------
    >>> found = random_orthogonality(8, trials=400)
    >>> low, high = found.mean.interval
    >>> low < expected_cosine(8).value < high
    True
    """
    if min(dim, trials) < 2:
        raise InputError(f"expected at least 2 dimensions and 2 trials, got {dim} and {trials}")
    products = _products(np.random.default_rng(seed).normal(size=(trials, dim, dim)))
    return Orthogonality(
        _average(products.mean(axis=1), "mean absolute cosine", dim),
        _average(products.max(axis=1), "largest absolute cosine", dim),
    )


@read_arguments
def expected_cosine(dim: Count) -> Finding:
    """Return the mean absolute cosine between two independent uniform directions.

    Parameters
    ----------
    dim : int
        At least 2.

    Returns
    -------
    Finding
        EXACT.

    Raises
    ------
    InputError
        If the dimension is below 2.

    Examples
    --------
    >>> round(expected_cosine(2).value * pi / 2, 12), round(expected_cosine(3).value, 12)
    (1.0, 0.5)
    """
    if dim < 2:
        raise InputError(f"expected at least 2 dimensions, got {dim}")
    value = _gamma_ratio(dim / 2) / sqrt(pi)
    return Finding.within(
        value,
        1e-12,
        scale=1.0,
        name="expected absolute cosine",
        definition="Gamma(n/2) / (sqrt(pi) Gamma((n + 1)/2))",
        domain=f"dimension {dim}",
    )


def _gamma_ratio(x: float) -> float:
    """Return Gamma(x) / Gamma(x + 1/2)."""
    if x < 50:
        return exp(lgamma(x) - lgamma(x + 0.5))
    # Logarithms of factorials lose digits as they grow: Stirling's series of Gamma(x + 1/2) / (Gamma(x) sqrt(x)).
    terms = (1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return 1 / (sqrt(x) * sum(term / x**power for power, term in enumerate(terms)))


def _products(vectors: np.ndarray) -> np.ndarray:
    """Return the absolute cosines of all pairs, (t, pairs)."""
    # Squares of very long or short vectors are no floats.
    vectors = vectors / np.abs(vectors).max(axis=2, keepdims=True)
    units = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    rows, columns = np.triu_indices(vectors.shape[1], 1)
    return np.minimum(np.abs(units @ units.transpose(0, 2, 1))[:, rows, columns], 1.0)


def _average(values: np.ndarray, name: str, dim: int) -> Finding:
    middle, error = float(values.mean()), float(values.std(ddof=1)) / sqrt(len(values))
    error *= float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2))
    return Finding.estimate(
        middle,
        (middle - error, middle + error),
        name=name,
        definition="over pairs of n random unit vectors, averaged over trials; Student's interval at 95 %",
        domain=f"dimension {dim}, {len(values)} trials",
        source="sattelberg2026",
    )
