"""Bounds for maxout layers: units that take the largest of k affine functions."""

from math import prod

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.arrangements import cells
from reluscope.analyses.bounds.bound_findings import at_most, need
from reluscope.arguments import Count, read_arguments
from reluscope.findings import Finding


@read_arguments
def maxout_serra_upper(source: Source, *, rank: Count = 2) -> Finding:
    """Return prod_l sum_{j <= d_l} C(k (k - 1) n_l / 2, j): all pairs of candidates as hyperplanes.

    The poster of the publication prints C(k - 1, j) n_l, which is smaller than the true maximum (8 for 11 with rank
    2, 2 inputs, 4 units). Counting pairs is a valid reading, and never below the sharp bound of one layer.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.
    rank : int
        Pieces of every unit where integers are given.

    Returns
    -------
    Finding
        UPPER.

    Raises
    ------
    NotApplicableError
        If units of one layer differ in rank.

    Examples
    --------
    >>> print(maxout_serra_upper([2, 3], rank=3))
    46 (UPPER)
    """
    architecture = Architecture.of(source, rank=rank)
    need(all(len(layer.ranks) == 1 for layer in architecture.layers), "layers of units of one rank", architecture)
    value = prod(
        cells(layer.ranks[0][0] * (layer.ranks[0][0] - 1) // 2 * layer.width, layer.dimension)
        for layer in architecture.layers
    )
    return at_most(
        architecture,
        value,
        name="maxout by pairs of candidates",
        method="product of the most cells of all hyperplanes where two candidates tie",
        source="serra2018",
    )
