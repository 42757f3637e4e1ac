"""Lower bounds on the largest number of regions: networks that fold space, layer upon layer."""

from math import prod

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.arrangements import cells
from reluscope.analyses.bounds.bound_findings import at_least, need
from reluscope.arguments import read_arguments
from reluscope.findings import Finding


@read_arguments
def pascanu_lower(source: Source) -> Finding:
    """Return prod_{l < L} floor(n_l / n_0) * Z(n_L, n_0).

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        ReLU layers of at least n_0 units each; see `Architecture.of`.

    Returns
    -------
    Finding
        LOWER on the largest number of regions over all weights.

    Raises
    ------
    NotApplicableError
        If a layer is narrower than the input, or the network is not a chain of ReLU layers.

    Examples
    --------
    >>> print(pascanu_lower([2, 8, 8]))
    148 (LOWER)
    """
    architecture = _chain(source, 1)
    n0, widths = architecture.num_inputs, architecture.widths
    value = prod(width // n0 for width in widths[:-1]) * cells(widths[-1], n0)
    return at_least(
        architecture,
        value,
        name="folding by layers",
        method="floor(n_l / n_0) times for each layer but the last; layers at least as wide as the input",
        source="pascanu2013",
    )


@read_arguments
def montufar_lower(source: Source) -> Finding:
    """Return prod_{l < L} floor(n_l / n_0)^n_0 * Z(n_L, n_0).

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        ReLU layers of at least n_0 units each; see `Architecture.of`.

    Returns
    -------
    Finding
        LOWER on the largest number of regions over all weights.

    Raises
    ------
    NotApplicableError
        If a layer is narrower than the input, or the network is not a chain of ReLU layers.

    Examples
    --------
    >>> print(montufar_lower([2, 8, 8]))
    592 (LOWER)
    """
    architecture = _chain(source, 1)
    n0, widths = architecture.num_inputs, architecture.widths
    value = prod((width // n0) ** n0 for width in widths[:-1]) * cells(widths[-1], n0)
    return at_least(
        architecture,
        value,
        name="folding by coordinates",
        method="floor(n_l / n_0)^n_0 times for each layer but the last; layers at least as wide as the input",
        source="montufar2014",
    )


@read_arguments
def serra_lower(source: Source) -> Finding:
    """Return prod_{l < L} (floor(n_l / n_0) + 1)^n_0 * Z(n_L, n_0).

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        ReLU layers of at least 3 n_0 units each; see `Architecture.of`.

    Returns
    -------
    Finding
        LOWER on the largest number of regions over all weights; with one input it equals that number.

    Raises
    ------
    NotApplicableError
        If a layer has fewer than 3 n_0 units, or the network is not a chain of ReLU layers.

    Examples
    --------
    >>> print(serra_lower([2, 8, 8]), serra_lower([1, 3, 3]))
    925 (LOWER) 16 (LOWER)
    """
    architecture = _chain(source, 3)
    n0, widths = architecture.num_inputs, architecture.widths
    value = prod((width // n0 + 1) ** n0 for width in widths[:-1]) * cells(widths[-1], n0)
    return at_least(
        architecture,
        value,
        name="zigzag by coordinates",
        method="(floor(n_l / n_0) + 1)^n_0 times for each layer but the last; layers of 3 n_0 or more units",
        source="serra2018",
    )


def _chain(source: Source, factor: int) -> Architecture:
    architecture = Architecture.of(source)
    wide = all(width >= factor * architecture.num_inputs for width in architecture.widths)
    least = "n_0" if factor == 1 else f"{factor} n_0"
    need(
        bool(architecture.layers) and architecture.is_relu and wide,
        f"a chain of ReLU layers of at least {least} units each",
        architecture,
    )
    return architecture
