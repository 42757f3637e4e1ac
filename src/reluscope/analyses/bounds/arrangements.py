"""Numbers of cells of arrangements of hyperplanes: sums of binomial coefficients, exactly."""

from reluscope.arguments import Natural, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Finding


def cells(num_hyperplanes: int, dim: int) -> int:
    """Return sum_{j <= dim} C(num_hyperplanes, j), the most cells that hyperplanes can make."""
    return sum(binomials(num_hyperplanes, min(num_hyperplanes, dim)))


def binomials(number: int, most: int) -> list[int]:
    """Return C(number, j) for j = 0, ..., most, each computed from the one before it."""
    found = [1]
    for j in range(most):
        found.append(found[-1] * (number - j) // (j + 1))
    return found


def parallel_cells(ranks: tuple[tuple[int, int], ...], dim: int) -> int:
    """Return sum over sets S of at most ``dim`` units of prod_{i in S} (k_i - 1).

    The most cells that units of k_i pieces can make in ``dim`` dimensions: k_i - 1 parallel hyperplanes for pointwise
    units, as sharp for maxout (Montúfar, Ren, Zhang 2021). ``ranks`` has pairs (k, number of units).
    """
    coefficients = [1]
    for rank, number in ranks:
        most = min(number, dim)
        factor = [ways * (rank - 1) ** j for j, ways in enumerate(binomials(number, most))]
        product = [0] * (min(dim, len(coefficients) + most - 1) + 1)
        for i, left in enumerate(coefficients):
            for j, right in enumerate(factor[: len(product) - i]):
                product[i + j] += left * right
        coefficients = product
    return sum(coefficients)


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


def _check(num_hyperplanes: int, dim: int) -> None:
    if num_hyperplanes < 0 or dim < 0:
        raise InputError(
            f"an arrangement has 0 or more hyperplanes in 0 or more dimensions, got {num_hyperplanes} in {dim}: give "
            "numbers that are not negative"
        )
