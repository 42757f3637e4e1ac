"""Powers of two that bring numbers to about one, so that squares and products of any numbers stay in range.

Float64 holds numbers from 1e-308 to 1e308, and the squares of those from 1e-154 to 1e154 only. Multiplying by a power
of two changes the exponent and no digit, so what is computed from scaled numbers is, digit for digit, what exponents
without bounds would give.
"""

import numpy as np
from jaxtyping import Float, Int

# Squares of lengths in between, and of every entry that matters beside them, keep all their digits.
SHORTEST, LONGEST = 2.0**-400, 2.0**400
# Powers of two that are normal numbers, like their inverses.
WIDEST = 1022


def exponents(values: Float[np.ndarray, "..."], axis: int | None = None) -> Int[np.ndarray, "..."]:
    """Return the least e with ``|v| < 2^e`` for all values, or for those along an axis; 0 for zeros."""
    return np.asarray(np.frexp(np.abs(values).max(axis=axis, initial=0.0))[1], dtype=np.int64)


def times_power(values: Float[np.ndarray, "..."], exponent: int | Int[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return values times 2^e, exact as long as the results are normal numbers.

    Results beyond the range of float64 are infinite.
    """
    with np.errstate(over="ignore", under="ignore"):
        if np.abs(exponent).max(initial=0) <= WIDEST:
            return np.asarray(values * np.ldexp(1.0, exponent))
        return np.asarray(np.ldexp(values, exponent))


def lengths(vectors: Float[np.ndarray, "..."], axis: int = -1) -> Float[np.ndarray, "..."]:
    """Return Euclidean lengths along an axis, of vectors of any scale.

    Infinite only where no float64 is so large.
    """
    with np.errstate(over="ignore", under="ignore"):
        found = np.asarray(np.linalg.norm(vectors, axis=axis))
        if ((found > SHORTEST) & (found < LONGEST)).all() or np.isnan(found).any():
            return found
        exponent = exponents(vectors, axis)
        scaled = times_power(vectors, -np.expand_dims(exponent, axis))
        return times_power(np.asarray(np.linalg.norm(scaled, axis=axis)), exponent)


def length(vector: Float[np.ndarray, " n"]) -> float:
    """Return the Euclidean length of one vector of any scale."""
    return float(lengths(vector))


def units(vectors: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch n"]:
    """Return vectors divided by their lengths; zero vectors stay."""
    scaled = times_power(vectors, -exponents(vectors, -1)[..., None])
    found = lengths(scaled)[..., None]
    return np.divide(scaled, found, out=np.zeros_like(scaled), where=found > 0)
