"""Cells of hyperplane arrangements in general position (Zaslavsky 1975): the count for one layer."""

from math import comb


def num_cells(num_hyperplanes: int, dim: int) -> int:
    """Return sum_{j <= d} C(m, j)."""
    return sum(comb(num_hyperplanes, j) for j in range(dim + 1))


def num_central_cells(num_hyperplanes: int, dim: int) -> int:
    """Return 2 sum_{j < d} C(m - 1, j), for hyperplanes through the origin."""
    return 2 * sum(comb(num_hyperplanes - 1, j) for j in range(dim)) if num_hyperplanes else 1


def num_bounded_cells(num_hyperplanes: int, dim: int) -> int:
    """Return C(m - 1, d)."""
    return comb(num_hyperplanes - 1, dim) if num_hyperplanes else 0
