"""Numbers of cells of arrangements of hyperplanes: sums of binomial coefficients, exactly."""


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
