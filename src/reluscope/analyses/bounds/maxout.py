"""Bounds for maxout layers: units that take the largest of k affine functions."""

from collections.abc import Sequence
from math import inf, prod

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.arrangements import cells, parallel_cells
from reluscope.analyses.bounds.bound_findings import need, upper
from reluscope.arguments import Count, Natural, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding


@read_arguments
def maxout_single_layer(num_inputs: Natural, ranks: Sequence[int]) -> Finding:
    """Return the maximum number of regions of one maxout layer.

    It is the sum over sets S of at most n_0 units of prod_{i in S} (k_i - 1).

    Parameters
    ----------
    num_inputs : int
        n_0, not negative.
    ranks : sequence of int
        k_i of every unit, positive.

    Returns
    -------
    Finding
        UPPER for every such layer, and attained by some. For several layers see `montufar_upper`.

    Raises
    ------
    InputError
        If a rank is not positive.

    Examples
    --------
    >>> print(maxout_single_layer(2, [3, 3, 3]))
    19 (UPPER)
    """
    if num_inputs < 0 or any(rank < 1 for rank in ranks):
        raise InputError(
            f"ranks must be positive and inputs not negative, got {num_inputs} inputs, ranks {list(ranks)}"
        )
    kinds = tuple((rank, list(ranks).count(rank)) for rank in sorted(set(ranks)))
    return Finding.of(
        parallel_cells(kinds, num_inputs),
        lower=-inf,
        name="one maxout layer",
        definition="largest number of activation regions over all weights",
        domain=f"{num_inputs} inputs, one layer of {len(ranks)} maxout units; any weights, any domain",
        method="sum over sets of units of products of ranks less one; sharp",
        source="montufar2021",
    )


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
    return upper(
        architecture,
        value,
        name="maxout by pairs of candidates",
        method="product of the most cells of all hyperplanes where two candidates tie",
        source="serra2018",
    )
