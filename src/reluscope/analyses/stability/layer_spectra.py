"""Singular values of a network's linearisation through all its layers (Behrmann et al. 2018, section 3).

On the region of a sample the value after every layer is an affine function of the input; the singular values of its
Jacobian say how much directions are stretched on the way there, and how unstable it is to go back.
"""

import os
from collections.abc import MutableMapping
from dataclasses import dataclass

import numpy as np
import torch

from reluscope.analyses.samples.measuring import KeptRows, Measured, key_of, measure
from reluscope.analyses.stability.jacobians import carried
from reluscope.analyses.stability.lanczos import prefix_extremes
from reluscope.analyses.stability.layer_jacobians import NetworkLayer, layers
from reluscope.analyses.stability.singular_values import (
    EPS,
    SingularValues,
    before_and_after,
    singular_values,
)
from reluscope.analyses.stability.stability_measures import Spectrum, measured
from reluscope.arguments import Count, NonNegative, Seed, read_arguments
from reluscope.budget import BlockBudget, Budget, TimeBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.files.kept_results import Record
from reluscope.findings import Findings
from reluscope.networks.evaluation.linearize import point_pieces
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

MEMORY = 6 * 2**30
STEPS = 64


@read_arguments
def spectra(
    network: Network,
    x: Points,
    *,
    nonzero: NonNegative | None = None,
    population: Count | None = None,
    checkpoint: str | os.PathLike[str] | MutableMapping[str, Record] | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the singular values of the Jacobian after every affine step and after every gate.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order if time may not suffice for all.
    nonzero : float, optional
        A singular value counts as nonzero if it exceeds this share of the largest; by default ``2 r max(m, n) eps``
        for a Jacobian of m rows, r the tolerance's factor of rounding.
    population : int, optional
        Size of the population, if the samples are a random sample from it.
    checkpoint : path or mapping of records, optional
        A folder that stores finished samples, so that interrupted work can be resumed.
    budget : Budget, optional
        Memory for the Jacobians of one sample, by default 6 GB. If they require more, only the extreme singular
        values of every layer are computed (see `extremes`), as the detail ``method`` reports.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    Findings
        For every sample and layer ``largest_singular_value``, ``smallest_nonzero_singular_value``,
        ``condition_number``, ``num_nonzero_singular_values``, ``stable_rank`` and ``effective_rank``, with
        intervals for rounding. If all singular values are zero, the smallest nonzero one and the condition number
        are undefined. Details: ``singular_values``, all in descending order, with bounds on their ``errors``; the
        ``kind`` ("affine" or "gate") and the ``size`` of the layer; the share of the largest value above which a
        value counts as ``nonzero``; the ``method``.

    Raises
    ------
    InputError
        If the network has no layer, a point is not finite, or ``nonzero`` is not between 0 and 1.

    Notes
    -----
    Per sample n evaluations. Per layer, one QR factorisation and the singular values of its factor (shorter side up
    to 768), or the eigenvalues of one Gram matrix if they are accurate enough. Both sides of a ReLU gate share most
    of the work. The first affine step is the same for all samples and computed once.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> found = rs.stability.spectra(net, [[1.0, 2.0], [-1.0, 2.0]])
    >>> gate = found.where(layer=net.gates[0].name)
    >>> [values.round(9).tolist() for values in gate.details["singular_values"]]
    [[3.0, 1.0], [1.0, 0.0]]
    >>> print(gate.median("num_nonzero_singular_values"))
    1.5 (EXACT)
    """
    tolerance, budget = tolerance or Tolerance(), budget or Budget()
    every, memory = layers(network), budget.memory_or(MEMORY)
    shares = _shares(every, network.num_inputs, nonzero, tolerance)
    needed, gamma = jacobian_bytes(network), tolerance.rounding * EPS
    work, note = _All(network, every, gamma), ""
    if needed > memory:
        work = _Extremes(network, every, gamma, STEPS, 0)
        note = (
            f" (the Jacobians of one sample take {needed / 2**30:.1f} GB, more than the {memory / 2**30:.1f} GB "
            "allowed)"
        )
    points = network.points(x)
    kept = None
    if checkpoint is not None:
        kept = KeptRows(checkpoint, key_of(network, points, work=type(work).__name__, shares=shares, gamma=gamma))
    effort = Effort(Budget(seconds=budget.seconds), progress=progress)
    return _of_samples(points, work, shares, effort, note=note, population=population, kept=kept)


@read_arguments
def extremes(
    network: Network,
    x: Points,
    *,
    steps: Count = STEPS,
    population: Count | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return the largest and the smallest nonzero singular value after every layer, without any Jacobian.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    steps : int
        Number of products with every Jacobian and its transpose, at least 2.
    population, budget, progress, tolerance
        As for `spectra`; no memory limit applies.
    seed : int
        Of the random starts.

    Returns
    -------
    Findings
        As from `spectra`, without ranks. The largest value and the condition number are lower bounds (LOWER). The
        detail ``likely_upper`` is a number that the largest value exceeds with a probability of at most 0.001. The
        smallest nonzero value is an upper bound (UPPER). Where the steps exhaust the row space, all values are
        EXACT within rounding. The bounds include the rounding of the steps, relative to the largest value, but not
        cancellation within the layers; `spectra` includes both.

    Raises
    ------
    InputError
        If the network has no layer, a point is not finite, or there are fewer than two steps.

    Notes
    -----
    ``2 steps`` passes per layer and sample, and ``steps`` vectors of the layer's size in memory. The largest value
    converges in a few dozen steps; the smallest hardly converges where the condition number is large.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.diag([3.0, 1.0]), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.stability.extremes(net, [[1.0, 1.0]]).where(layer=net.gates[0].name)
    >>> print(found.finding("largest_singular_value"), found.finding("smallest_nonzero_singular_value"))
    3 (EXACT) 1 (EXACT)
    """
    if steps < 2:
        raise InputError(f"expected at least 2 steps, got {steps}: leave it out for {STEPS}")
    tolerance = tolerance or Tolerance()
    every = layers(network)
    shares = _shares(every, network.num_inputs, None, tolerance)
    work = _Extremes(network, every, tolerance.rounding * EPS, steps, seed)
    return _of_samples(network.points(x), work, shares, Effort.of(budget, None, progress), population=population)


@read_arguments
def jacobian_bytes(network: Network) -> int:
    """Return about how much memory the Jacobians of one sample take while they are carried through the network."""
    n, widest = network.num_inputs, 0
    for stage in network.stages:
        held = {*stage.reads, *stage.keeps, stage.leg.target, stage.position}
        widest = max(widest, sum(network.nodes[position].size for position in held))
    finish = {*network.finish.reads, network.output}
    widest = max(widest, sum(network.nodes[position].size for position in finish))
    # Besides them half a dozen square tables: Gram matrices or triangular factors, and what LAPACK needs.
    return 8 * n * widest + 6 * 8 * n * n


@dataclass(eq=False)
class _All:
    """All singular values of one sample after another."""

    network: Network
    layers: tuple[NetworkLayer, ...]
    gamma: float
    first: SingularValues | None = None

    def __call__(self, point: torch.Tensor) -> list[Spectrum]:
        found: dict[int, SingularValues] = {}
        for step in carried(self.network, point_pieces(self.network, point), gamma=self.gamma):
            if step.before is not None and step.after is None:
                found[step.before] = singular_values(step.columns, gamma=self.gamma, error=step.errors[0])
            elif step.scale is not None and step.after is not None:
                # The first affine step has one Jacobian for all samples.
                is_known = step.before == 0 and self.first is not None
                before, found[step.after] = before_and_after(
                    step.columns,
                    step.scale,
                    gamma=self.gamma,
                    errors=step.errors,
                    before=step.before is not None and not is_known,
                )
                if step.before is not None:
                    known = self.first if is_known else before
                    assert known is not None
                    found[step.before] = known
        if self.layers[0].kind == "affine":
            self.first = found[0]
        return [_spectrum(found[index]) for index in range(len(self.layers))]


def _spectrum(found: SingularValues) -> Spectrum:
    lower = np.maximum(0.0, found.values - found.errors)
    return Spectrum(found.values, lower, found.values + found.errors, found.method)


@dataclass(eq=False)
class _Extremes:
    """The extreme singular values of one sample after another."""

    network: Network
    layers: tuple[NetworkLayer, ...]
    gamma: float
    steps: int
    seed: int

    def __call__(self, point: torch.Tensor) -> list[Spectrum]:
        pieces, rows = point_pieces(self.network, point), []
        for layer in self.layers:
            largest, smallest, exhausted = prefix_extremes(
                self.network, pieces, layer, steps=self.steps, seed=self.seed, gamma=self.gamma
            )
            # Certain is only that the largest one is not smaller, as long as there are directions left.
            upper = np.array([largest.upper if exhausted else np.inf, smallest.upper])
            rows.append(
                Spectrum(
                    np.array([largest.value, smallest.value]),
                    np.array([largest.lower, smallest.lower]),
                    upper,
                    "Lanczos, row space exhausted" if exhausted else "Lanczos",
                    is_complete=False,
                    likely_upper=np.nan if exhausted else largest.upper,
                )
            )
        return rows


def _of_samples(
    points: torch.Tensor,
    work: _All | _Extremes,
    shares: tuple[float, ...],
    effort: Effort,
    *,
    note: str = "",
    population: int | None,
    kept: KeptRows | None = None,
) -> Findings:
    """Work on samples one after another, and put what was found into one table."""

    def ask(block: slice) -> Measured:
        samples = [work(points[row : row + 1]) for row in range(block.start, block.stop)]
        return measured(samples, work.layers, shares, note)

    keys = {"layer": [layer.name for layer in work.layers]}
    return measure(len(points), ask, effort, keys=keys, population=population, checkpoint=kept)


def _shares(
    every: tuple[NetworkLayer, ...], num_inputs: int, nonzero: float | None, tolerance: Tolerance
) -> tuple[float, ...]:
    """Return per layer above which share of the largest a singular value counts as nonzero."""
    if nonzero is not None and not 0 <= nonzero < 1:
        raise InputError(f"expected nonzero from 0 to below 1, a share of the largest value, got {nonzero:g}")
    if nonzero is not None:
        return (nonzero,) * len(every)
    return tuple(2 * tolerance.rounding * max(layer.size, num_inputs) * EPS for layer in every)
