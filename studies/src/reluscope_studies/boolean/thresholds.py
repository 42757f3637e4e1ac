"""Threshold functions and the threshold degree: signs of a polynomial of low degree in the inputs, proved both ways."""

from dataclasses import dataclass

import numpy as np

from reluscope import Finding
from reluscope.arguments import read_arguments
from reluscope_studies.boolean.function import BooleanFunction, all_inputs, check_num_inputs
from reluscope_studies.boolean.separation import separate
from reluscope_studies.boolean.spectra import set_sizes

_MAX_INPUTS = 10
_MAX_INPUTS_DEGREE = 6


@dataclass(frozen=True)
class ThresholdTest:
    """Whether a function is a threshold function, with the proof.

    Parameters
    ----------
    is_threshold : bool
    weights : tuple of int
        If it is: the function is 1 where ``weights . x + constant`` is positive and 0 where it is negative, and it is
        never zero, for x of zeros and ones. Empty otherwise.
    constant : int
    conflict : tuple of ((n,) tuple of int, int)
        If it is not: inputs with multiplicities, such that those of value 1 and those of value 0 have the same sum,
        coordinate by coordinate, and the same number. No linear function separates them.
    """

    is_threshold: bool
    weights: tuple[int, ...]
    constant: int
    conflict: tuple[tuple[tuple[int, ...], int], ...]


@read_arguments
def threshold_test(function: BooleanFunction) -> ThresholdTest:
    """Return whether a hyperplane separates the ones of a function from its zeros.

    Parameters
    ----------
    function : BooleanFunction
        Of up to 10 inputs.

    Returns
    -------
    ThresholdTest
        Either side is checked in whole numbers.

    Raises
    ------
    InputError
        If there are more than 10 inputs.
    SolverError
        If neither answer could be proved.

    Notes
    -----
    Threshold functions are those of swaps value 0 and 1. Two linear programs of 2^n rows.

    Examples
    --------
    >>> test = threshold_test(BooleanFunction.of_formula("x1 & (x2 | x3)"))
    >>> test.weights, test.constant
    ((4, 2, 2), -5)
    >>> threshold_test(BooleanFunction.of_formula("x1 ^ x2")).conflict
    (((0, 0), 1), ((0, 1), 1), ((1, 0), 1), ((1, 1), 1))
    """
    check_num_inputs(function.num_inputs, _MAX_INPUTS, "threshold functions are recognised")
    inputs = all_inputs(function.num_inputs)
    found = separate(np.column_stack([inputs, np.ones(len(inputs), dtype=np.int64)]), function.values)
    if found.coefficients is not None:
        *weights, constant = found.coefficients.tolist()
        return ThresholdTest(True, tuple(weights), constant, ())
    assert found.multiplicities is not None
    rows = np.flatnonzero(found.multiplicities)
    conflict = tuple((tuple(inputs[row].tolist()), int(found.multiplicities[row])) for row in rows)
    return ThresholdTest(False, (), 0, conflict)


@read_arguments
def threshold_degree(function: BooleanFunction) -> Finding:
    """Return the smallest degree of a polynomial in the inputs whose sign is the function.

    Parameters
    ----------
    function : BooleanFunction
        Of up to 6 inputs.

    Returns
    -------
    Finding
        EXACT: a polynomial of that degree, and multiplicities against all of lower degree, are checked in whole
        numbers. The swaps value is at least as large.

    Examples
    --------
    >>> print(threshold_degree(BooleanFunction.of_formula("x1 ^ x2 ^ x3 & x4")))
    3 (EXACT)
    """
    n = function.num_inputs
    check_num_inputs(n, _MAX_INPUTS_DEGREE, "the threshold degree is computed")
    sizes, indices = set_sizes(n), np.arange(1 << n)
    # chi_S(x) with inputs 0 and 1 for -1 and 1: minus one to the number of zeros in S.
    characters = 1 - 2 * (set_sizes(n)[(~indices[:, None] & indices) % (1 << n)] % 2)
    value = 0
    while separate(characters[:, sizes <= value], function.values).coefficients is None:
        value += 1
    return Finding.of(
        value,
        name="threshold degree",
        definition="smallest degree of a polynomial with the signs of the function",
        method="linear programs, answers checked in whole numbers",
        source="odonnell2014",
    )
