"""More functions than networks: a count that answers which swaps values networks of some size can all do.

Along the direction (2^(n-1), ..., 2, 1) all 2^n inputs lie apart, so that every choice of s of the 2^n - 1 gaps gives
two functions that change s times there: at least 2 C(2^n - 1, s) functions have a swaps value of at most s.

Networks are fewer. Of M polynomials of degree at most D in W variables, W <= M, signs come in at most 2 (2 e M D / W)^W
combinations (Warren; Anthony and Bartlett 1999, theorem 8.3). While the activity of all earlier units at all inputs
stays, what comes to the units of layer i is a polynomial of degree i in the weights up to there: layer by layer the
weights fall into so many sets, in each of which all inputs have the same codes, and last the same signs of the output
(Bartlett, Harvey, Liaw and Mehrabian 2019, theorem 7). It does not matter what slopes a unit has on its two sides.
"""

from math import comb, e, log2

# Sums of logarithms are right to many more digits; a bit is left for rounding.
SPARE = 1.0


def functions_lower(inputs: int, swaps: int) -> float:
    """Return the logarithm (base 2, rounded down) of a number of functions that swaps values up to some have.

    Examples
    --------
    >>> functions_lower(4, 1) == log2(2 * 15)
    True
    """
    number = 2 * comb(2**inputs - 1, swaps)
    return log2(number) if number < 2**50 else float(number.bit_length() - 1)


def networks_upper(inputs: int, width: int, depth: int) -> float | None:
    """Return a bound on the logarithm (base 2) of how many functions networks of a size have; None where it is void.

    Examples
    --------
    >>> networks_upper(3, 1, 1) > log2(104)
    True
    """
    points, bits, weights = 2**inputs, SPARE, 0
    for layer in range(1, depth + 2):
        units = width if layer <= depth else 1
        weights += units * ((inputs if layer == 1 else width) + 1)
        if units * points < weights:
            return None
        bits += 1 + weights * log2(2 * e * units * points * layer / weights)
    return bits


def first_excess(
    width: int, *, layers_by: int = 1, most_swaps: int = 70_000, most_inputs: int = 24
) -> tuple[int, int, int, float, float] | None:
    """Return the first depth at which some function of a swaps value below w^l has no network.

    Parameters
    ----------
    width : int
        At least 2; one unit in a layer is no more than a threshold.
    layers_by : int
        So many times as many layers are allowed: depth is this times l.
    most_swaps, most_inputs : int
        Where the search ends.

    Returns
    -------
    tuple or None
        l, inputs, the largest swaps value below w^l, and the logarithms of the numbers of functions and of networks.
    """
    power = 1
    while width**power - 1 <= most_swaps:
        swaps = width**power - 1
        for inputs in range(max(2, swaps.bit_length()), most_inputs):
            networks, functions = networks_upper(inputs, width, layers_by * power), functions_lower(inputs, swaps)
            if networks is not None and functions > networks:
                return power, inputs, swaps, functions, networks
        power += 1
    return None
