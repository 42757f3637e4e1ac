"""Passes over the coefficients of several networks, block by block, every Jacobian computed once for all pairs.

Sums for one output take as much memory as all networks' columns squared. Where those of all outputs do not fit, outputs
go in groups, each with a pass of its own over that group's Jacobians.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.analyses.coefficients.matrices import BLOCKS_IN_MEMORY, matrix
from reluscope.analyses.similarity.moments import Moments, MomentSum, num_columns
from reluscope.analyses.similarity.row_spaces import RowSpace
from reluscope.budget import Budget
from reluscope.errors import BudgetExceededError, InputError, ShapeError
from reluscope.geometry.numbers.scales import exponents, times_power
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done

MEMORY = 2**31
# Up to so many columns a triangular factor costs little beside the Jacobians.
FACTORED_COLUMNS = 2_048


@dataclass(frozen=True, eq=False)
class Entries:
    """Sums over all entries of the coefficients of k networks, all outputs together.

    Entries were divided by two to the network's exponent, as their squares might not be numbers of float64. The largest
    ones are as they came.
    """

    products: Float[np.ndarray, "k k"]  # sums of products of corresponding entries
    exponents: Int[np.ndarray, " k"]  # of two, by which entries were divided
    largest: Float[np.ndarray, " k"]
    largest_absolute: Float[np.ndarray, " k"]
    number: int  # entries of one network

    def __add__(self, other: "Entries") -> "Entries":
        # Zeros have no size of their own.
        own, its = (
            np.where(one.largest_absolute > 0, one.exponents, exponent)
            for one, exponent in ((self, other.exponents), (other, self.exponents))
        )
        most = np.maximum(own, its)
        return Entries(
            _divided(self.products, most - own) + _divided(other.products, most - its),
            most,
            np.maximum(self.largest, other.largest),
            np.maximum(self.largest_absolute, other.largest_absolute),
            self.number + other.number,
        )


def entries_of(*coefficients: Float[np.ndarray, "m s c"]) -> Entries:
    """Return the sums of coefficients that are in memory, one array per network.

    ShapeError if their shapes differ, InputError if entries are not finite.
    """
    if len({one.shape for one in coefficients}) > 1:
        raise ShapeError(f"expected arrays of one shape, got {', '.join(str(one.shape) for one in coefficients)}")
    flat = [one.reshape(-1) for one in coefficients]
    if not all(np.isfinite(one).all() for one in flat):
        raise InputError("expected finite coefficients, got NaN or infinite ones: scale the networks' outputs")
    powers = np.array([int(exponents(one)) for one in flat])
    scaled = [times_power(one, -int(power)) for one, power in zip(flat, powers, strict=True)]
    return Entries(
        np.array([[one @ other for other in scaled] for one in scaled]),
        powers,
        np.array([one.max() for one in flat]),
        np.array([max(one.max(), -one.min()) for one in flat]),
        len(flat[0]),
    )


def _divided(products: np.ndarray, powers: np.ndarray) -> np.ndarray:
    return times_power(products, -(powers[:, None] + powers))


def output_groups(spaces: Sequence[RowSpace], num_outputs: int, memory: int) -> list[tuple[int, ...]]:
    """Return outputs in groups whose sums fit three eighths of the memory.

    As much again is for their factors. BudgetExceededError if the sums of one output do not fit.
    """
    each = 8 * num_columns([space.size for space in spaces]) ** 2
    # Blocks of all networks take the last quarter, at least one sample of every output in them.
    row = BLOCKS_IN_MEMORY * 8 * max(space.num_inputs + 1 for space in spaces)
    most = min(3 * memory // 8 // each, memory // 4 // len(spaces) // row)
    if most < 1:
        raise BudgetExceededError(
            f"expected at most {memory / 2**20:,.0f} MB, but sums over the coefficients of {len(spaces)} networks take "
            f"{8 * each / 3 / 2**20:,.0f} MB: give more memory, or fewer networks at a time"
        )
    number = -(-num_outputs // most)
    return [tuple(int(one) for one in part) for part in np.array_split(np.arange(num_outputs), number)]


def coefficient_blocks(
    networks: Sequence[Network], points: Tensor, outputs: Sequence[int], memory: int, *, progress: Progress = False
) -> Iterator[tuple[slice, list[Float[np.ndarray, "m rows c"]]]]:
    """Yield the same rows of every network's coefficients, for some outputs."""
    share = memory // 4 // len(networks)
    passes = [matrix(one, points, outputs=outputs, budget=Budget(memory=share)).blocks() for one in networks]
    with share_done("coefficients", progress) as report_progress:
        for blocks in zip(*passes, strict=True):
            rows = blocks[0][0]
            yield rows, [values.cpu().numpy() for _, values in blocks]
            report_progress(rows.stop / len(points))


def coefficient_moments(
    networks: Sequence[Network],
    spaces: Sequence[RowSpace],
    points: Tensor,
    outputs: Sequence[int],
    *,
    memory: int = MEMORY,
    factored: bool | None = None,
    progress: Progress = False,
) -> tuple[list[Moments], Entries]:
    """Return the moments of some outputs' coefficients, in row space coordinates, and all entries' sums.

    One `Moments` per output. ``memory`` is bytes for blocks; see `output_groups` for sums. Triangular factors are kept
    by default where there are few columns.
    """
    sizes = [space.size for space in spaces]
    if factored is None:
        # Rows of fewer samples than columns are their own factor.
        factored = num_columns(sizes) <= FACTORED_COLUMNS or len(points) <= num_columns(sizes)
    sums = [MomentSum(sizes, factored=factored) for _ in outputs]
    entries = []
    for _, blocks in coefficient_blocks(networks, points, outputs, memory, progress=progress):
        entries.append(entries_of(*blocks))
        for place, one in enumerate(sums):
            one.add([space.coordinates(block[place]) for space, block in zip(spaces, blocks, strict=True)])
    return [one.finish() for one in sums], sum(entries[1:], entries[0])
