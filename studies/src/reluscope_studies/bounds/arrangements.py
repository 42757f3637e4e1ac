"""Largest numbers of regions of one layer: hyperplanes in general position or through one point, and maxout units."""

from collections.abc import Sequence
from math import inf

from reluscope import Finding
from reluscope.arguments import Natural, read_arguments
from reluscope.errors import InputError
from reluscope.extending.bounds import cells, parallel_cells


@read_arguments
def zaslavsky(num_hyperplanes: Natural, dim: Natural) -> Finding:
    """Return the number of cells of hyperplanes in general position: sum_{j <= d} C(m, j).

    Parameters
    ----------
    num_hyperplanes, dim : int
        m and d, not negative.

    Returns
    -------
    Finding
        EXACT; an upper bound for any m hyperplanes. It is the number of regions of one ReLU layer of m units in
        general position on d inputs.

    Raises
    ------
    InputError
        If a number is negative.

    Examples
    --------
    >>> print(zaslavsky(8, 3))
    93 (EXACT)
    """
    _check(num_hyperplanes, dim)
    return Finding.of(
        cells(num_hyperplanes, dim),
        name="cells of hyperplanes in general position",
        definition=f"cells of {num_hyperplanes:,} hyperplanes in general position",
        domain=f"R^{dim}",
        method="sum of C(m, j) for j up to d",
        source="zaslavsky1975",
    )


@read_arguments
def central_arrangement(num_hyperplanes: Natural, dim: Natural) -> Finding:
    """Return the number of cells of hyperplanes through the origin: 2 sum_{j <= d - 1} C(m - 1, j).

    Parameters
    ----------
    num_hyperplanes, dim : int
        m and d, not negative; the hyperplanes are otherwise in general position.

    Returns
    -------
    Finding
        EXACT; the number of regions of one ReLU layer without biases.

    Raises
    ------
    InputError
        If a number is negative.

    Examples
    --------
    >>> print(central_arrangement(4, 2))
    8 (EXACT)
    """
    _check(num_hyperplanes, dim)
    number = 1 if not num_hyperplanes or not dim else 2 * cells(num_hyperplanes - 1, dim - 1)
    return Finding.of(
        number,
        name="cells of a central arrangement",
        definition=f"cells of {num_hyperplanes:,} hyperplanes through the origin, otherwise in general position",
        domain=f"R^{dim}",
        method="2 times the sum of C(m - 1, j) for j up to d - 1",
        source="zaslavsky1975",
    )


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


def _check(num_hyperplanes: int, dim: int) -> None:
    if num_hyperplanes < 0 or dim < 0:
        raise InputError(
            f"an arrangement has 0 or more hyperplanes in 0 or more dimensions, got {num_hyperplanes} in {dim}: give "
            "numbers that are not negative"
        )
