"""Sizes of the affine maps that a network is near its samples, and how many of them differ.

For ``f(z) = W z + b`` on the region of a sample: the spectral norm (the most by which the outputs move per unit of
input, within the region), the Frobenius norm, and for classifiers the length of the margin's gradient.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
import torch

from reluscope.analyses.coefficients.margins import MARGIN_SLOPE, margins_of_maps, slope_errors
from reluscope.analyses.coefficients.probability_jacobians import probability_norms
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, read_arguments
from reluscope.budget import BlockBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Column, Findings, Kind, Quantity, declare
from reluscope.needed_memory import need_at_once
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import bytes_of_gates
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
    of: Literal["outputs", "probabilities"] = "outputs",
    margins: bool = False,
    population: Count | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the norms of the local affine maps of the network, or of the Jacobians of its probabilities.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order if the time may not suffice for all.
    of : {"outputs", "probabilities"}
        "probabilities" reads the outputs as logits, a single output z as the logits 0 and z, and differentiates
        their softmax.
    margins : bool
        Read the outputs as classes and measure the slope of the margin as well.
    population : int, optional
        Population size if the samples are a random draw; by default the samples are all.
    budget : Budget, optional
        Seconds, and bytes for the maps of a block, by default 64 MB.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    Findings
        ``spectral_norm``, ``frobenius_norm`` and with margins ``margin_slope`` at every sample, as intervals that
        include rounding. Nothing is certain if rounding could change the code of a sample, and with it the map. For
        all samples together ``num_different_maps``: the number of maps that differ by more than rounding, up to the
        number of codes. Of probabilities: ``probability_jacobian_norm`` and ``logit_jacobian_norm``, the Frobenius
        norms of both Jacobians.

    Raises
    ------
    InputError
        If margins are asked of probabilities.

    Notes
    -----
    Cost: ``min(m, n)`` passes, five more for bounds on rounding, and one singular value decomposition per sample.
    Rounding is bounded through sums of absolute products along the paths that are active at the sample, which is a
    wide bound for deep networks. The Frobenius norm of the probabilities' Jacobian at test points correlates with
    generalisation, see [novak2018]_: it is small where the network is sure, however steep the logits are.

    References
    ----------
    .. [novak2018] Novak et al., "Sensitivity and generalization in neural networks: an empirical study", 2018.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 4.0]]), np.zeros(1))])
    >>> found = rs.coefficients.local_norms(net, [[1.0, 1.0], [1.0, -1.0]])
    >>> print(found.finding("spectral_norm", 0), found.median("spectral_norm"), found.finding("num_different_maps"))
    5 (EXACT) 4 (EXACT) 2 (EXACT)
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 0.0], [-1.0, 0.0]]), np.array([0.0, 0.0]))])
    >>> found = rs.coefficients.local_norms(net, [[1e-12, 1.0], [9.0, 1.0]], of="probabilities")  # undecided, and sure
    >>> found["logit_jacobian_norm"].value.round(6), found["probability_jacobian_norm"].value.round(6)
    (array([3.162278, 3.162278]), array([1.414214, 0.      ]))
    """
    if of == "probabilities":
        if margins:
            raise InputError('of="probabilities" takes no margins: leave them out, or take the norms of outputs')
        return probability_norms(network, x, Effort.of(budget, None, progress, tolerance), population)
    points = network.points(x)
    size = network.num_outputs * network.num_inputs
    need_at_once(
        8 * size * (PROJECTIONS + 2),
        f"projections of the map of {network.num_outputs:,} outputs and {network.num_inputs:,} inputs",
        "ask of a part of the network with fewer outputs",
    )
    directions = torch.as_tensor(
        np.random.default_rng(0).normal(size=(size + network.num_outputs, PROJECTIONS)), device=network.device
    )
    directions /= torch.linalg.vector_norm(directions, dim=0)

    def ask(block: slice) -> Measured:
        at = network.at(points[block], tolerance=tolerance).with_gates()
        maps = at.maps
        flat = torch.cat([maps.weight.flatten(1), maps.bias], dim=1)
        spectral = torch.linalg.svdvals(maps.weight)[:, 0].cpu().numpy()
        frobenius = torch.linalg.vector_norm(maps.weight, dim=(1, 2)).cpu().numpy()
        # Of another code than that in float64 nothing is known.
        rows = np.where(at.is_in_doubt[:, None], np.inf, at.map_errors)
        weights = np.linalg.norm(rows, axis=1)
        columns = [
            _within(weights, SPECTRAL_NORM, spectral, "LAPACK, float64"),
            _within(weights, FROBENIUS_NORM, frobenius, "float64"),
        ]
        if margins:
            found = margins_of_maps(at.outputs, maps.weight)
            columns.append(_within(slope_errors(found, rows), MARGIN_SLOPE, found.slopes, "float64"))
        sizes = torch.linalg.vector_norm(flat, dim=1).cpu().numpy()
        errors = np.hypot(weights, np.linalg.norm(at.constant_errors, axis=1)) + at.tolerance.unit * sizes
        return Measured(tuple(columns), {"projected": (flat @ directions).cpu().numpy(), "errors": errors})

    with share_done("norms", progress) as report_progress:
        effort, per_sample = Effort.of(budget, None, report_progress), 8 * size + bytes_of_gates(network)
        found = measure(len(points), ask, effort, population=population, bytes_per_sample=per_sample, memory=MEMORY)
    projected, errors = (found.details[name][found.is_done] for name in ("projected", "errors"))
    is_certain = np.isfinite(errors)
    done = points[: len(projected)]
    # Samples whose codes are in doubt may have any code, but some code.
    known = len(network.codes(done[torch.as_tensor(is_certain)]).unique()) if is_certain.any() else 0
    apart = max(1, min(_num_apart(projected[is_certain], errors[is_certain]), known))
    number = Column.of(
        NUM_MAPS,
        [apart],
        upper=[known + int((~is_certain).sum())],
        method="random projections of (W, b) that differ by more than rounding; codes",
    )
    summary = Findings.of(number, domain=f"{len(projected):,} samples", num_samples=len(projected))
    return replace(found, details={}, summary=summary)


def _within(error: np.ndarray, quantity: Quantity, values: np.ndarray, method: str) -> Column:
    return Column.of(quantity, values, np.maximum(values - error, 0.0), values + error, method=method)


def _num_apart(values: np.ndarray, errors: np.ndarray) -> int:
    """Return how many groups of rows there are that differ from all others by more than their errors in some column."""
    if not len(values):
        return 0
    groups = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        low, high = column - errors, column + errors
        ranks = np.empty(len(values), dtype=np.int64)
        by_rank = np.lexsort((high, groups))
        ranks[by_rank] = np.arange(len(values))
        order = np.lexsort((low, groups))
        # The highest end of the group so far: ranks of later groups are above those of all before.
        reached = high[by_rank[np.maximum.accumulate(ranks[order])]]
        new = (np.diff(groups[order]) != 0) | (low[order][1:] > reached[:-1])
        groups[order] = np.concatenate([[0], np.cumsum(new)])
    return int(groups.max()) + 1
