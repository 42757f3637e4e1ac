"""Upper bounds that multiply layers: each layer cuts every region of the layers before it.

On one region, what a layer reads is an affine image of the input of dimension d_l, and the layer's units cut it in at
most Z(n_l, d_l) cells.
"""

from math import prod

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.arrangements import parallel_cells
from reluscope.analyses.bounds.bound_findings import at_most
from reluscope.arguments import read_arguments
from reluscope.findings import Finding


@read_arguments
def naive_upper(source: Source) -> Finding:
    """Return the number of codes, prod_i k_i: 2^N for N units of two pieces.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.

    Returns
    -------
    Finding
        UPPER, for every network, domain and definition.

    Examples
    --------
    >>> print(naive_upper([2, 3, 3]))
    64 (UPPER)
    """
    architecture = Architecture.of(source)
    value = prod(rank**number for layer in architecture.layers for rank, number in layer.ranks)
    return at_most(
        architecture, value, name="all codes", method="product of the pieces of all units", source="montufar2014"
    )


@read_arguments
def product_upper(source: Source) -> Finding:
    """Return prod_l Z(n_l, n_0), where every layer cuts in the dimension of the input.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.

    Returns
    -------
    Finding
        UPPER, for every network of pointwise and max gates, shortcuts included.

    Notes
    -----
    With k_i pieces per unit, C(n, j) becomes the sum over sets of j units of prod (k_i - 1).

    Examples
    --------
    >>> print(product_upper([2, 3, 3]))
    49 (UPPER)
    """
    architecture = Architecture.of(source)
    value = prod(parallel_cells(layer.ranks, architecture.num_inputs) for layer in architecture.layers)
    return at_most(
        architecture,
        value,
        name="product over layers",
        method="product of the most cells of each layer in the dimension of the input",
        source="raghu2017",
    )


@read_arguments
def montufar_upper(source: Source) -> Finding:
    """Return prod_l Z(n_l, d_l) with d_l = min(n_0, ..., n_l).

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`. In a network with shortcuts d_l is the dimension that passes all bottlenecks.

    Returns
    -------
    Finding
        UPPER, for every network of pointwise and max gates; sharp for one maxout layer.

    Examples
    --------
    >>> print(montufar_upper([3, 4, 1, 4]))
    150 (UPPER)
    """
    architecture = Architecture.of(source)
    value = prod(parallel_cells(layer.ranks, layer.dimension) for layer in architecture.layers)
    is_relu = all(rank == 2 for layer in architecture.layers for rank, _ in layer.ranks)
    return at_most(
        architecture,
        value,
        name="product over layers with bottlenecks",
        method="product of the most cells of each layer in the smallest dimension on the way to it",
        source="montufar2017" if is_relu else "montufar2021",
    )
