"""Integrated gradients, exactly: the mean gradient along a segment, from its linear regions instead of sampled steps.

The attribution of input i to the change of an output from a baseline b to x is ``(x_i - b_i)`` times the mean of the
derivative by i over the segment between them. On a segment the gradient is constant between crossings, so that the mean
is a finite sum; all attributions add up to ``f(x) - f(b)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.sensitivity.saliency_maps import chosen_outputs
from reluscope.arguments import read_arguments
from reluscope.errors import BudgetExceededError, ShapeError
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.networks.evaluation.linearize import linearize
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.network_graph import BUDGET
from reluscope.partitions.ask.dispatch import partition
from reluscope.progress import Progress, share_done
from reluscope.shown import Shown
from reluscope.stopping import is_interrupted
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False, repr=False)
class IntegratedGradients(Shown):
    """Attributions of the inputs to the change of an output between a baseline and each sample.

    Parameters
    ----------
    outputs : (s,) int64
        Index of the output for each sample.
    attributions : (s, n) float64
        They add up to ``changes``.
    changes : (s,) float64
        The output at the sample minus that at the baseline.
    num_regions : (s,) int64
        Linear regions on the segment.
    """

    outputs: Int[np.ndarray, " s"]
    attributions: Float[np.ndarray, "s n"]
    changes: Float[np.ndarray, " s"]
    num_regions: Int[np.ndarray, " s"]

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def gaps(self) -> Float[np.ndarray, " s"]:
        """By how much the sums of attributions miss the changes: what rounding has left, and nothing else."""
        return np.abs(self.attributions.sum(axis=1) - self.changes)


@read_arguments
def integrated_gradients(
    network: Network,
    x: Points,
    baseline: Points | None = None,
    *,
    outputs: Sequence[int] | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> IntegratedGradients:
    """Return ``(x_i - b_i)`` times the mean derivative of an output by each input on the segment from b to x.

    Parameters
    ----------
    network : Network
        Continuous.
    x : (s, *input_shape) or (s, n)
    baseline : one point, or as many as samples, optional
        By default zero.
    outputs : sequence of int, optional
        One for each sample; by default the output of its class, the largest one.
    progress : bool or callable
        Show the finished share of the samples.
    tolerance : Tolerance, optional
        Of the partitions.

    Returns
    -------
    IntegratedGradients
        As exact as the partitions of the segments: `gaps` is what rounding has left.

    Raises
    ------
    ShapeError
        If there is not one output for each sample, or the number of baselines differs.
    InputError
        If an output does not exist.
    BudgetExceededError
        If a segment could not be partitioned completely.

    Notes
    -----
    One partition of a segment per sample, about one forward pass per crossing, and one gradient per region.

    References
    ----------
    Sundararajan, Taly and Yan, "Axiomatic attribution for deep networks" (ICML 2017).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.array([0.0, -1.0])), (np.array([[2.0, 3.0]]), np.zeros(1))])
    >>> found = rs.sensitivity.integrated_gradients(net, [[1.0, 2.0]])
    >>> found.attributions.round(9), found.changes, found.num_regions
    (array([[2., 3.]]), array([5.]), array([2]))
    """
    points = network.points(x)
    flat = points.reshape(len(points), -1).cpu().numpy()
    start = np.zeros((1, network.num_inputs)) if baseline is None else network.points(baseline).cpu().numpy()
    start = start.reshape(len(start), -1)
    if len(start) not in (1, len(flat)):
        raise ShapeError(f"baseline must be one point, or {len(flat)}, one for each sample, got {len(start)}")
    start = np.broadcast_to(start, flat.shape)
    values = network(points).reshape(len(flat), -1).cpu().numpy()
    chosen = chosen_outputs(network, points, outputs)
    rows = np.arange(len(flat))
    before = network(start).reshape(len(flat), -1).cpu().numpy()
    attributions, number = np.zeros_like(flat), np.ones(len(flat), dtype=np.int64)
    with share_done("integrated_gradients", progress) as tell:
        for row in range(len(flat)):
            if (flat[row] != start[row]).any():
                means, number[row] = _mean_gradient(network, start[row], flat[row], int(chosen[row]), tolerance)
                attributions[row] = (flat[row] - start[row]) * means
            tell((row + 1) / len(flat))
    return IntegratedGradients(chosen, attributions, values[rows, chosen] - before[rows, chosen], number)


def _mean_gradient(
    network: Network, start: np.ndarray, end: np.ndarray, output: int, tolerance: Tolerance | None
) -> tuple[np.ndarray, int]:
    """Return the mean gradient of an output on a segment, and how many regions there are."""
    segment = Segment(start, end)
    part = partition(network, segment, tolerance=tolerance)
    if is_interrupted(part.stop):
        raise KeyboardInterrupt
    if part.stop is not None or part.num_open:
        raise BudgetExceededError(f"a segment was not partitioned to its end: {part.stop or 'cells are left'}")
    lengths, inside = part.volumes(), segment.lift(part.witnesses)
    total = np.zeros(network.num_inputs)
    for some in chunks(len(part), 8 * network.num_inputs + network.bytes_per_point, BUDGET):
        maps = linearize(network, network.points(inside[some]), [output], BUDGET)
        total += lengths[some] @ maps.weight[:, 0].cpu().numpy()
    return total / lengths.sum(), len(part)
