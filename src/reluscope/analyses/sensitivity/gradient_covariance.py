"""Active subspaces: the directions along which an output varies most, over samples.

For output j with the gradients g_i at s samples, the eigenvectors of ``E[g g'] = sum_i g_i g_i' / s`` to the largest
eigenvalues span the active subspace, see [constantine2014]_ and [sattelberg2026]_, section 6.4. The gradients are rows
of exact local maps. Samples of one region share a gradient, and the problem is solved on its smallest side: inputs,
regions, or the row space of the first layer, in which all gradients lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.coefficients.matrices import BLOCKS_IN_MEMORY, MEMORY, matrix
from reluscope.analyses.sensitivity.gradient_spectra import (
    TABLES_IN_MEMORY,
    _by_products,
    _by_regions,
    _rank_upper,
    _row_space,
    _Spectrum,
)
from reluscope.arguments import Count, read_arguments, read_position
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress, ProgressFunction, share_done
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False, repr=False)
class ActiveSubspaces(Shown):
    """Eigenvalues and eigenvectors of the mean products of gradients, for each output.

    Parameters
    ----------
    outputs : tuple of int
        Indices of the flattened outputs.
    eigenvalues : (m, k) float64
        In descending order; all further eigenvalues are zero.
    directions : (m, d, n) float64
        The first eigenvectors, of length 1, along which the output does not decrease, on average over the samples.
        Zero where the eigenvalue is no larger than what rounding in sums and decompositions leaves of zero.
        ESTIMATES where the eigenvalue is not above its error: rounding bounds of gradients grow with depth faster
        than rounding, and are uninformative for networks of a hundred layers.
    traces : (m,) float64
        Mean squared length of the gradient, the sum of all eigenvalues.
    errors : (m,) float64
        Bounds on the rounding error of each eigenvalue, and of the trace.
    center : (n,) float64
        Mean of the samples.
    rank_upper : int
        Upper bound on every rank: the minimum of inputs, different regions, and the dimension that the first layer
        lets through.
    num_samples : int
    """

    outputs: tuple[int, ...]
    eigenvalues: Float[np.ndarray, "m k"]
    directions: Float[np.ndarray, "m d n"]
    traces: Float[np.ndarray, " m"]
    errors: Float[np.ndarray, " m"]
    center: Float[np.ndarray, " n"]
    rank_upper: int
    num_samples: int

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def ranks(self) -> np.ndarray:
        """Number of eigenvalues of each output above their rounding: (m,) int64."""
        return (self.eigenvalues > self.errors[:, None]).sum(axis=1)

    @read_arguments
    def rank(self, j: int) -> Finding:
        """Return the dimension of the span of the j-th output's gradients.

        Returns
        -------
        Finding
            EXACT if all eigenvalues that may be positive are above their rounding; else LOWER.
        """
        j = read_position(j, "j", len(self), "outputs")
        certain = int(self.ranks[j])
        return Finding.of(
            certain,
            upper=self.rank_upper,
            name=f"dimension of the gradients' span, output {self.outputs[j]}",
            definition="rank of E[g g'], g the gradient of the output by the sample's float64 code",
            domain=self._domain,
            num_samples=self.num_samples,
            method="eigenvalues above their rounding; at most as many as inputs, regions, and units that read inputs",
            source="sattelberg2026",
            resolution=float(self.errors[j]),
        )

    @read_arguments
    def share(self, j: int, dim: Count = 1) -> Finding:
        """Return the share of the j-th output's variation that its first directions explain.

        Parameters
        ----------
        j : int
            Position among the outputs.
        dim : int
            Number of directions.

        Returns
        -------
        Finding
            EXACT within its tolerance. Where rounding could account for all of it, as in very deep networks, the value
            is the share of the computed eigenvalues, and the interval is all of 0 to 1. It is 0 for a constant output.
        """
        j = read_position(j, "j", len(self), "outputs")
        if dim < 1:
            raise InputError(f"expected at least one direction, got {dim}")
        trace, error = float(self.traces[j]), float(self.errors[j])
        top = float(self.eigenvalues[j, :dim].sum())
        known = trace > 2 * error
        value = min(1.0, top / trace) if trace > 0 else 0.0
        # Where rounding could be all there is, nothing is known.
        error = (dim + 1) * error / (trace - error) if known else 1.0
        return Finding.of(
            value,
            max(0.0, value - error),
            min(1.0, value + error),
            name=f"share of the first {'direction' if dim == 1 else f'{dim} directions'}, output {self.outputs[j]}",
            definition=f"sum of the {dim} largest eigenvalues of E[g g'] over the sum of all, g by float64 codes",
            domain=self._domain,
            num_samples=self.num_samples,
            method="gradients from exact local maps",
            source="sattelberg2026",
            is_share=True,
        )

    @property
    def shares(self) -> Float[np.ndarray, "m k"]:
        """Share of the variation that the first 1, 2, ... directions explain, as computed; zero for constants."""
        traces = np.where(self.traces > 0, self.traces, np.inf)
        return np.minimum(1.0, np.cumsum(self.eigenvalues, axis=1) / traces[:, None])

    @property
    def _domain(self) -> str:
        return f"{self.num_samples:,} samples"


@read_arguments
def active_subspaces(
    network: Network,
    x: Points,
    *,
    outputs: Sequence[int] | None = None,
    num_directions: Count = 10,
    budget: MemoryBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> ActiveSubspaces:
    """Return the directions of input space along which every output varies most, over samples.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Samples; gradients are those of their codes in float64.
    outputs : sequence of int, optional
        Indices of the flattened outputs; by default all.
    num_directions : int
        Number of directions to keep.
    budget : Budget, optional
        Bytes for gradients and tables of products; outputs that do not fit together require one pass each.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Its safety factor for rounding.

    Returns
    -------
    ActiveSubspaces

    Raises
    ------
    InputError
        If the memory suffices for no table.

    Notes
    -----
    Let k be the minimum of inputs, different regions and units of the first layer. The cost is one gradient for
    every region and output, k squared products for each gradient, two forward passes for rounding bounds, and one
    eigenvalue decomposition of a k x k matrix for every output.

    References
    ----------
    .. [constantine2014] Constantine, Dow and Wang, "Active subspace methods in theory and practice", 2014.
    .. [sattelberg2026] Section 6.4.

    Examples
    --------
    A network that depends only on the sum of its inputs:

    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([0.0, -1.0])), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.sensitivity.active_subspaces(net, [[1.0, 1.0], [2.0, -1.9], [3.0, 0.0]])
    >>> found.directions[0, 0].round(6), print(found.share(0), found.rank(0))
    1 (EXACT) 1 (LOWER, in [1, 2])
    (array([0.707107, 0.707107]), None)
    """
    if num_directions < 1:
        raise InputError(f"expected at least one direction, got {num_directions}")
    memory = (budget or Budget()).memory_or(MEMORY)
    # Nothing is computed here but codes; a block of one output is the least that is needed below.
    every = matrix(network, x, outputs=outputs, budget=Budget(memory=max(memory, _one_sample(network))))
    _, first, counts = every.regions()
    basis = _row_space(network) if network.gates else None
    widest = min(network.num_inputs, len(first))
    if basis is not None and len(basis) >= widest:
        basis = None
    is_thin = basis is None and len(first) < network.num_inputs
    side = widest if basis is None else len(basis)
    numbers = side * (network.num_inputs if is_thin else side)
    at_once = min(memory // (TABLES_IN_MEMORY * 8 * numbers), memory // (_one_sample(network) // network.num_outputs))
    if at_once < 1:
        raise InputError(
            f"expected memory for one table of {numbers:,} numbers and the work on it, "
            f"{TABLES_IN_MEMORY * 8 * numbers:,} bytes, got {memory:,}: give more memory"
        )
    tolerance = tolerance or Tolerance()
    weights = torch.as_tensor(counts / len(every), device=network.device)
    errors = network.at(every.inputs[first], tolerance=tolerance).map_errors[:, list(every.outputs)]
    # Root mean square over the samples.
    deltas = np.sqrt(counts / len(every) @ errors**2)
    found: list[_Spectrum] = []
    with share_done("active subspaces", progress) as report:
        for start in range(0, every.num_outputs, at_once):
            chosen = every.outputs[start : start + at_once]
            delta = deltas[start : start + at_once]
            part = partial(_report_part, report, start / every.num_outputs, len(chosen) / every.num_outputs)
            group = matrix(network, every.inputs[first], outputs=chosen, budget=Budget(memory=memory), progress=part)
            if is_thin:
                found += _by_regions(group, weights, num_directions, tolerance.unit, delta)
            else:
                found += _by_products(group, weights, basis, num_directions, tolerance.unit, delta)
    return ActiveSubspaces(
        every.outputs,
        np.stack([one.eigenvalues for one in found]),
        np.stack([one.directions for one in found]),
        np.array([one.trace for one in found]),
        np.array([one.error for one in found]),
        every.points.mean(0).cpu().numpy(),
        min(widest, _rank_upper(network)),
        len(every),
    )


def _one_sample(network: Network) -> int:
    """Return the bytes of a block of one sample and all outputs, with the work on it."""
    return BLOCKS_IN_MEMORY * 8 * network.num_outputs * (network.num_inputs + 1)


def _report_part(report: ProgressFunction, start: float, part: float, share: float) -> None:
    report(start + part * share)
