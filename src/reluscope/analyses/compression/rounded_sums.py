"""Sums of products of floats, rounded once, with what the rounding took away."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.tolerance import EPSILON

# Above so many products, bounds take the place of fractions.
MAX_FRACTIONS = 200_000
# Relative to a sum of errors: the rounding of the sum itself.
SUMMED = 2.0**-30


def combined(
    base: Float[np.ndarray, "*shape"],
    factors: Sequence[Fraction],
    terms: Sequence[Float[np.ndarray, "*shape"]],
) -> tuple[Float[np.ndarray, "*shape"], Float[np.ndarray, "*shape"]]:
    """Return ``base + sum of factors times terms`` in float64, and a bound on its rounding, 0 if none."""
    values, errors = np.array(base, dtype=np.float64), np.zeros(np.shape(base))
    touched = np.zeros(np.shape(base), dtype=bool)
    for term in terms:
        touched |= term != 0
    for place in map(tuple, np.argwhere(touched).tolist()):
        exact = sum((f * Fraction(float(t[place])) for f, t in zip(factors, terms, strict=True)), Fraction(base[place]))
        values[place] = float(exact)
        errors[place] = upwards(abs(exact - Fraction(values[place])))
    return values, errors


def multiplied(
    left: Float[np.ndarray, "a b"], right: Float[np.ndarray, "b c"]
) -> tuple[Float[np.ndarray, "a c"], Float[np.ndarray, "a c"]]:
    """Return a product of matrices, and a bound on its rounding.

    The bound comes from fractions if the product is small, else it is a priori.
    """
    product = left @ right
    if left.size * right.shape[1] > MAX_FRACTIONS:
        return product, gamma(left.shape[1]) * (np.abs(left) @ np.abs(right))
    rows = [[Fraction(float(entry)) for entry in row] for row in left]
    columns = [[Fraction(float(entry)) for entry in column] for column in right.T]
    errors = np.zeros(product.shape)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            exact = sum((a * b for a, b in zip(row, column, strict=True) if a and b), Fraction(0))
            product[i, j] = float(exact)
            errors[i, j] = upwards(abs(exact - Fraction(product[i, j])))
    return product, errors


def gamma(num_terms: int) -> float:
    """Return how far a sum of products may be off, relative to the sum of magnitudes.

    This holds in whatever order the products are summed.
    """
    return (num_terms + 2) * EPSILON


def upwards(value: Fraction) -> float:
    """Return the fraction as a float that is not below it."""
    rounded = float(value)
    return rounded if Fraction(rounded) >= value else float(np.nextafter(rounded, np.inf))


def summed_errors(errors: np.ndarray) -> np.ndarray:
    """Return sums of errors with room for the rounding of the sums themselves."""
    return errors * (1 + SUMMED)


def times_sizes(weights: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return sums of weights times sizes of channels, where 0 times infinity is 0."""
    by_channel = weights.sum(axis=2)
    return np.where(by_channel == 0, 0.0, by_channel * np.where(by_channel == 0, 0.0, sizes[None, :])).sum(axis=1)
