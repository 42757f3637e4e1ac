"""A lower bound of networks that fold the regions of a zonotope, whose construction has a size of its own."""

from math import comb, inf

from reluscope import Finding
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError


@read_arguments
def arora_lower(num_inputs: Count, *, zonotope: Count, width: Count, depth: Count) -> Finding:
    """Return sum_{j < n} C(m - 1, j) * w^k: regions of a zonotope's support function under a sawtooth.

    A first layer of 2 m units computes the gauge of a zonotope of m segments in n dimensions, which has that many
    rays of regions. Each of k further layers of w units folds them w times.

    Parameters
    ----------
    num_inputs : int
        n.
    zonotope, width, depth : int
        m, w and k: segments, units of each further layer, and number of further layers; all positive.

    Returns
    -------
    Finding
        LOWER on the largest number of regions over all weights with k + 1 hidden layers and 2 m + w k units.

    Raises
    ------
    InputError
        If a number is not positive.

    Notes
    -----
    Serra, Tjandraatmadja and Ramalingam (2018) count layers differently; here k counts layers after the first.

    Examples
    --------
    >>> print(arora_lower(2, zonotope=3, width=4, depth=2))
    48 (LOWER)
    """
    if min(num_inputs, zonotope, width, depth) < 1:
        raise InputError("inputs, segments, width and depth must be positive: give numbers from 1 up")
    value = sum(comb(zonotope - 1, j) for j in range(num_inputs)) * width**depth
    return Finding.of(
        value,
        upper=inf,
        name="zonotopes under a sawtooth",
        definition="largest number of linear regions over all weights",
        domain=f"{num_inputs} inputs, {depth + 1} hidden layers, {2 * zonotope + width * depth} units",
        method="gauge of a zonotope, folded by every further layer",
        source="arora2018",
    )
