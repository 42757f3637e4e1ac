"""Sizes of the affine maps that a network is near its samples, and how many of them differ.

For ``f(z) = W z + b`` on the region of a sample: the spectral norm (the most by which the outputs move per unit of
input, within the region), the Frobenius norm, and for classifiers the length of the margin's gradient.
"""

from dataclasses import replace

import numpy as np
import torch

from reluscope.analyses.coefficients.margins import MARGIN_SLOPE, margins_of_maps
from reluscope.analyses.coefficients.rounding import map_rounding, weight_rounding
from reluscope.analyses.measuring import Measured, measure
from reluscope.arguments import Count, read_arguments
from reluscope.budget import BlockBudget
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.progress import Progress, share_done
from reluscope.tolerance import Tolerance

MEMORY = 64 * 2**20
PROJECTIONS = 3
SPECTRAL_NORM = declare(
    "spectral_norm", "largest singular value of the weight of the affine map on the linear region of the point"
)
FROBENIUS_NORM = declare(
    "frobenius_norm", "root of the sum of squares of the weight of the affine map on the linear region of the point"
)
NUM_MAPS = declare(
    "num_different_maps",
    "different affine maps among the linear regions of the samples; there are at most as many as codes",
    kind=Kind.COUNT,
)


@read_arguments
def local_norms(
    network: Network,
    x: Points,
    *,
    margins: bool = False,
    population: Count | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the norms of the network's local maps.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order, if there may not be time for all.
    margins : bool
        Read the outputs as classes and measure the slope of the margin as well.
    population : int, optional
        How many samples these were drawn from at random; by default these are all.
    budget : Budget, optional
        Seconds, and bytes that the maps of a block may take, by default 64 MB.
    progress : bool or callable
        Show the share that is done, or a function that is told it, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    Findings
        ``spectral_norm``, ``frobenius_norm`` and with margins ``margin_slope`` at every sample, between what rounding
        may make of them; and of all samples together ``num_different_maps``: as many as differ by more than rounding,
        up to the number of codes.

    Notes
    -----
    ``min(m, n)`` passes and one singular value decomposition per sample. Rounding is bounded by ``gamma`` times the
    sums of absolute products along all paths, which is generous for deep networks.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 4.0]]), np.zeros(1))])
    >>> found = rs.coefficients.local_norms(net, [[1.0, 1.0], [1.0, -1.0]])
    >>> print(found.finding("spectral_norm", 0), found.median("spectral_norm"), found.finding("num_different_maps"))
    5 (EXACT) 4 (EXACT) 2 (EXACT)
    """
    points = network.points(x)
    size = network.num_outputs * network.num_inputs
    error = weight_rounding(network, tolerance or Tolerance())
    directions = torch.as_tensor(
        np.random.default_rng(0).normal(size=(size + network.num_outputs, PROJECTIONS)), device=network.device
    )
    directions /= torch.linalg.vector_norm(directions, dim=0)

    def ask(block: slice) -> Measured:
        maps = network.linearize(points[block])
        flat = torch.cat([maps.weight.flatten(1), maps.bias], dim=1)
        spectral = torch.linalg.svdvals(maps.weight)[:, 0].cpu().numpy()
        frobenius = torch.linalg.vector_norm(maps.weight, dim=(1, 2)).cpu().numpy()
        columns = [
            _within(error, SPECTRAL_NORM, spectral, "LAPACK, float64"),
            _within(error, FROBENIUS_NORM, frobenius, "float64"),
        ]
        if margins:
            found = margins_of_maps(network(points[block]).flatten(1).cpu().numpy(), maps.weight)
            columns.append(_within(2 * error, MARGIN_SLOPE, found.slopes, "float64"))
        return Measured(tuple(columns), {"projected": (flat @ directions).cpu().numpy()})

    with share_done("norms", progress) as report_progress:
        found = measure(
            len(points),
            ask,
            population=population,
            bytes_per_sample=8 * size,
            memory=MEMORY,
            budget=budget,
            progress=report_progress,
        )
    projected = found.details["projected"][found.is_done]
    most = len(network.codes(points[: len(projected)]).unique())
    number = Column.of(
        NUM_MAPS,
        [min(_num_apart(projected, 2 * map_rounding(network, tolerance or Tolerance())), most)],
        upper=[most],
        method="random projections of (W, b) that differ by more than rounding; codes",
    )
    summary = Findings.of(number, domain=f"{len(projected):,} samples")
    return replace(found, details={}, summary=summary)


def _within(error: float, quantity: Quantity, values: np.ndarray, method: str) -> Column:
    return Column.of(quantity, values, np.maximum(values - error, 0.0), values + error, method=method)


def _num_apart(values: np.ndarray, gap: float) -> int:
    """Return how many groups of rows there are that differ from all others by more than a gap in some column."""
    groups = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        order = np.lexsort((column, groups))
        new = (np.diff(groups[order]) != 0) | (np.diff(column[order]) > gap)
        groups[order] = np.concatenate([[0], np.cumsum(new)])
    return int(groups.max()) + 1
