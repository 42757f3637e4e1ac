"""Singular values of a network's linearisation through all its layers (Behrmann et al. 2018, section 3).

On the region of a sample the value after every layer is an affine function of the input; the singular values of its
Jacobian say how much directions are stretched on the way there, and how unstable it is to go back.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from reluscope.analyses.pacing import Pace, read_population, until_interrupted
from reluscope.analyses.stability.jacobians import carried
from reluscope.analyses.stability.lanczos import prefix_extremes
from reluscope.analyses.stability.layers import Layer, layers
from reluscope.analyses.stability.singular_values import (
    EPS,
    SingularValues,
    before_and_after,
    singular_values,
)
from reluscope.analyses.stability.table import Spectra
from reluscope.arguments import Count, NonNegative, Seconds, Seed, read_arguments
from reluscope.errors import InputError
from reluscope.networks.linearize import point_pieces
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance

MEMORY = 6 * 2**30
STEPS = 64
# Values, lower and upper bounds of one layer, and how they were computed.
Row = tuple[np.ndarray, np.ndarray, np.ndarray, str]


@read_arguments
def spectra(
    network: Network,
    x: Points,
    *,
    nonzero: NonNegative | None = None,
    population: Count | None = None,
    seconds: Seconds = np.inf,
    memory: Count = MEMORY,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> Spectra:
    """Return the singular values of the Jacobian after every affine step and after every gate.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        In random order, if there may not be time for all.
    nonzero : float, optional
        A singular value counts as nonzero if it is larger than this share of the largest; by default ``2 r max(m, n)
        eps`` for a Jacobian of m rows, r the tolerance's factor of rounding.
    population : int, optional
        How many samples these were drawn from, for the claims of medians; by default these are all.
    seconds : float
        When to stop; at least one sample is done.
    memory : int
        Bytes that the Jacobians of one sample may take. Where they take more, only the extremes of every layer are
        found (see `extremes`), and a note says so.
    tolerance : Tolerance, optional
        Its safety factor for rounding.
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    Spectra
        Of fewer samples if there was no time, or on Ctrl-C after the first. Every value comes with bounds on rounding.

    Raises
    ------
    InputError
        If the network has no layer, a point is not finite, or ``nonzero`` is not between 0 and 1.

    Notes
    -----
    Per sample n evaluations, and for every layer one QR factorisation and the singular values of its factor (shorter
    side up to 768) or the eigenvalues of one Gram matrix, if they are accurate enough. Both sides of a ReLU gate
    share most of the work. The first affine step is the same for all samples and done once.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> found = spectra(net, [[1.0, 2.0], [-1.0, 2.0]])
    >>> [table.round(9).tolist() for table in found.values[:2]]
    [[[3.0, 1.414213562], [3.0, 1.414213562]], [[3.0, 1.0], [1.0, 0.0]]]
    >>> print(found.median(1, "num_nonzero"))
    1.5 (EXACT)
    """
    tolerance = tolerance or Tolerance()
    every = layers(network)
    shares = _shares(every, network.num_inputs, nonzero, tolerance)
    needed, gamma = jacobian_bytes(network), tolerance.rounding * EPS
    if needed > memory:
        note = (
            f"The Jacobians of one sample take {needed / 2**30:.1f} GB, more than the {memory / 2**30:.1f} GB allowed, "
            "so only the extreme singular values were found."
        )
        work = _Extremes(network, every, gamma, STEPS, 0)
        return _of_samples(network, x, work, shares, population, seconds, tell, (note,))
    return _of_samples(network, x, _All(network, every, gamma), shares, population, seconds, tell)


@read_arguments
def extremes(
    network: Network,
    x: Points,
    *,
    steps: Count = STEPS,
    seed: Seed = 0,
    population: Count | None = None,
    seconds: Seconds = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> Spectra:
    """Return the largest and the smallest nonzero singular value after every layer, without any Jacobian.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    steps : int
        Products with every Jacobian and its transpose, at least 2.
    seed : int
        Of the random starts.
    population, seconds, tolerance, tell
        As for `spectra`.

    Returns
    -------
    Spectra
        The largest value is a lower bound (LOWER), with an upper one that fails with a probability of 0.001; the
        smallest nonzero value is an upper bound (UPPER). Where the steps exhaust the row space, both ends of the
        intervals are within rounding. The bounds allow for the rounding of the steps, relative to the largest value,
        not for cancellation within the layers; `spectra` follows that.

    Raises
    ------
    InputError
        If the network has no layer, a point is not finite, or there are fewer than two steps.

    Notes
    -----
    ``2 steps`` passes per layer and sample, and ``steps`` vectors of the layer's size in memory. The largest value
    converges in a few dozen steps; the smallest hardly where the condition number is large.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.diag([3.0, 1.0]), np.ones(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = extremes(net, [[1.0, 1.0]])
    >>> found.values[0].round(9).tolist()
    [[3.0, 1.0]]
    """
    if steps < 2:
        raise InputError(f"expected at least 2 steps, got {steps}: leave it out for {STEPS}")
    tolerance = tolerance or Tolerance()
    every = layers(network)
    shares = _shares(every, network.num_inputs, None, tolerance)
    work = _Extremes(network, every, tolerance.rounding * EPS, steps, seed)
    return _of_samples(network, x, work, shares, population, seconds, tell)


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
    layers: tuple[Layer, ...]
    gamma: float
    first: SingularValues | None = None
    complete: bool = True

    def __call__(self, point: torch.Tensor) -> list[Row]:
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
        return [_row(found[index]) for index in range(len(self.layers))]


def _row(found: SingularValues) -> Row:
    return found.values, np.maximum(0.0, found.values - found.errors), found.values + found.errors, found.method


@dataclass(eq=False)
class _Extremes:
    """The extreme singular values of one sample after another."""

    network: Network
    layers: tuple[Layer, ...]
    gamma: float
    steps: int
    seed: int
    complete: bool = False

    def __call__(self, point: torch.Tensor) -> list[Row]:
        pieces, rows = point_pieces(self.network, point), []
        for index, layer in enumerate(self.layers):
            largest, smallest, exhausted = prefix_extremes(
                self.network,
                pieces,
                layer=index,
                num_rows=layer.size,
                steps=self.steps,
                seed=self.seed,
                gamma=self.gamma,
            )
            columns = ((end.value, end.lower, end.upper) for end in (largest, smallest))
            values, lower, upper = (np.array(column) for column in zip(*columns, strict=True))
            rows.append((values, lower, upper, "Lanczos, row space exhausted" if exhausted else "Lanczos"))
        return rows


def _of_samples(
    network: Network,
    x: Points,
    work: _All | _Extremes,
    shares: tuple[float, ...],
    population: int | None,
    seconds: float,
    tell: Callable[[float], None] | None,
    notes: tuple[str, ...] = (),
) -> Spectra:
    """Work on samples as long as there is time, and put what was found into one table."""
    began = time.perf_counter()
    points = network.points(x)
    population = read_population(population, len(points))
    pace = Pace(len(points), seconds=seconds, progress=tell)
    samples: list[list[Row]] = []

    def look() -> None:
        for block in pace.blocks():
            for sample in range(block.start, block.stop):
                samples.append(work(points[sample : sample + 1]))

    stopped = until_interrupted(look, samples)
    by_layer = list(zip(*samples, strict=True))
    values, lower, upper = (tuple(np.stack([row[part] for row in rows]) for rows in by_layer) for part in range(3))
    return Spectra(
        work.layers,
        values,
        lower,
        upper,
        (work.complete,) * len(work.layers),
        tuple(" or ".join(dict.fromkeys(row[3] for row in rows)) for rows in by_layer),
        network.num_inputs,
        shares,
        population,
        notes,
        stopped or pace.stopped,
        time.perf_counter() - began,
    )


def _shares(
    every: tuple[Layer, ...], num_inputs: int, nonzero: float | None, tolerance: Tolerance
) -> tuple[float, ...]:
    """Return per layer above which share of the largest a singular value counts as nonzero."""
    if nonzero is not None and not 0 <= nonzero < 1:
        raise InputError(f"expected nonzero from 0 to below 1, a share of the largest value, got {nonzero:g}")
    if nonzero is not None:
        return (nonzero,) * len(every)
    return tuple(2 * tolerance.rounding * max(layer.size, num_inputs) * EPS for layer in every)
