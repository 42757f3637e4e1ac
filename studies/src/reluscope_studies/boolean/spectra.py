"""The Walsh-Fourier spectrum of a Boolean function and what is read off it.

With signs, f = sum over S of c_S chi_S for chi_S(x) = prod of x_i over i in S and c_S = 2^-n sum over x of f(x)
chi_S(x); the squares add to 1 (Parseval). Sattelberg's equations 3.5 and A.22 lack the factor 2^-n, without which 3.6
and 3.7 do not hold. See O'Donnell, "Analysis of Boolean functions", 2014.
"""

import numpy as np
from jaxtyping import Float, Integer

from reluscope import Finding
from reluscope.arguments import Share, read_arguments
from reluscope.errors import InputError
from reluscope_studies.boolean.function import BooleanFunction, all_inputs

_SOURCE = "sattelberg2026"


@read_arguments
def spectrum(function: BooleanFunction) -> Float[np.ndarray, " size"]:
    """Return the Walsh-Fourier coefficients, exactly.

    Parameters
    ----------
    function : BooleanFunction

    Returns
    -------
    (2^n,) array
        The coefficient of the set S at the position whose binary digits say, from x1 on, which inputs are in S. Inputs
        and values 0 and 1 stand for -1 and 1. Whole multiples of 2^-n, without rounding.

    Notes
    -----
    n 2^n additions.

    Examples
    --------
    >>> spectrum(BooleanFunction.of_formula("x1 & x2")).tolist()
    [-0.5, 0.5, 0.5, 0.5]
    """
    return transform(function) / function.size


def transform(function: BooleanFunction) -> Integer[np.ndarray, " size"]:
    """Return 2^n times the spectrum, as whole numbers."""
    table = 2 * function.values.astype(np.int64) - 1
    for axis in range(function.num_inputs):
        pairs = table.reshape(1 << axis, 2, -1)
        low, high = pairs[:, 0].copy(), pairs[:, 1]
        pairs[:, 0] += high
        pairs[:, 1] = high - low
    return table


def set_sizes(num_inputs: int) -> Integer[np.ndarray, " size"]:
    """Return the sizes of all sets of inputs, in the order of the spectrum."""
    return all_inputs(num_inputs).sum(axis=1)


@read_arguments
def degree(function: BooleanFunction) -> Finding:
    """Return the largest size of a set whose coefficient is not zero.

    Returns
    -------
    Finding
        EXACT: coefficients are whole numbers.

    Examples
    --------
    >>> print(degree(BooleanFunction(4, 7128)))
    2 (EXACT)
    """
    value = int(set_sizes(function.num_inputs)[transform(function) != 0].max())
    return _finding(value, "Fourier degree", "largest set with a coefficient that is not 0")


@read_arguments
def influences(function: BooleanFunction) -> Float[np.ndarray, " n"]:
    """Return for each input the share of points where flipping it changes the value; whole multiples of 2^(1 - n).

    Examples
    --------
    >>> influences(BooleanFunction.of_formula("x1 & x2 | x3")).tolist()
    [0.25, 0.25, 0.75]
    """
    values = function.values.reshape((2,) * function.num_inputs)
    axes = range(function.num_inputs)
    return np.array([np.mean(values.take(0, axis) != values.take(1, axis)) for axis in axes], dtype=float)


@read_arguments
def total_influence(function: BooleanFunction) -> Finding:
    """Return the sum of the influences, sum over S of |S| c_S^2 (equation 3.6).

    Returns
    -------
    Finding
        EXACT, without rounding: from 0 (constants) to n (parity).

    Examples
    --------
    >>> print(total_influence(BooleanFunction(4, 27030)))
    4 (EXACT)
    """
    value = float(influences(function).sum())
    return _finding(value, "total influence", "expected number of inputs whose flip changes the value")


@read_arguments
def entropy(function: BooleanFunction) -> Finding:
    """Return the Shannon entropy of the squared spectrum in bits, sum of c_S^2 log2(1 / c_S^2) (equation 3.7).

    Returns
    -------
    Finding
        EXACT within its tolerance, which is that of summing 2^n terms in float64.

    Examples
    --------
    >>> print(entropy(BooleanFunction(4, 1)))
    1.70124 (EXACT)
    """
    squares = spectrum(function) ** 2
    squares = squares[squares > 0]
    value = abs(float(-(squares * np.log2(squares)).sum()))
    return _finding(value, "Fourier entropy", "entropy of the squared spectrum, bits", error=_rounding(function))


@read_arguments
def noise_sensitivity(function: BooleanFunction, rate: Share) -> Finding:
    """Return how often the value changes when every input is flipped on its own with a given probability.

    Parameters
    ----------
    function : BooleanFunction
    rate : float
        The probability of a flip, from 0 to 1.

    Returns
    -------
    Finding
        EXACT within its tolerance: (1 - sum over S of (1 - 2 rate)^|S| c_S^2) / 2.

    Examples
    --------
    >>> print(noise_sensitivity(BooleanFunction.of_formula("x1 ^ x2"), 0.25))
    0.375 (EXACT)
    """
    if not 0 <= rate <= 1:
        raise InputError(f"expected a probability of a flip from 0 to 1, got {rate}")
    kept = (1.0 - 2.0 * rate) ** set_sizes(function.num_inputs)
    value = float(0.5 - 0.5 * (kept * spectrum(function) ** 2).sum())
    name = f"noise sensitivity at {rate:g}"
    return _finding(value, name, "chance that noise changes the value", "odonnell2014", _rounding(function))


def _rounding(function: BooleanFunction) -> float:
    # Terms of at most n bits each that add to at most n, one rounding of the logarithm and of the sum per term.
    return 4.0 * np.finfo(float).eps * function.size * (1 + function.num_inputs)


def _finding(value: float, name: str, definition: str, source: str = _SOURCE, error: float = 0.0) -> Finding:
    method = "fast Walsh-Hadamard transform in whole numbers"
    if not error:
        return Finding.of(value, name=name, definition=definition, method=method, source=source)
    return Finding.within(value, error, scale=1.0, name=name, definition=definition, method=method, source=source)
