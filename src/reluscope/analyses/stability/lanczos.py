"""The largest and the smallest nonzero singular value of a map that is too large for a table, from products only.

Golub and Kahan's bidiagonalisation with full reorthogonalisation, started at ``J^T u`` with u random, so that it
stays in the row space of J: after k steps the singular values of a small bidiagonal matrix lie between those of J.
The largest is a lower bound; by Kuczynski and Wozniakowski ("Estimating the largest eigenvalue by the power and
Lanczos algorithms with a random start", 1992) the true square is larger by a share e with probability at most ``1.648
sqrt(m) exp(-(2k - 1) sqrt(e))``. The smallest is an upper bound on the smallest nonzero one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.stability.layer_jacobians import NetworkLayer
from reluscope.networks.evaluation.backward import Recording
from reluscope.networks.evaluation.linearize import Pieces
from reluscope.networks.network import Network
from reluscope.networks.passes.carrier import Carrier
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.maps import Derivatives
from reluscope.networks.passes.numbers import HeldNumbers

FAILURE = 1e-3


@dataclass(frozen=True)
class Extreme:
    """A singular value, and bounds on the true one."""

    value: float
    lower: float
    upper: float


def extreme_singular_values(
    forward: Callable[[Tensor], Tensor],
    backward: Callable[[Tensor], Tensor],
    *,
    num_rows: int,
    steps: int,
    generator: torch.Generator,
    gamma: float,
) -> tuple[Extreme, Extreme, bool]:
    """Return the largest and the smallest nonzero singular value of a linear map, and if it was exhausted.

    The largest's upper end fails with a probability of 0.001 at most; the smallest's lower end is zero unless
    exhausted: then the values span all that a random start can reach, and both are known up to rounding.
    """
    start = torch.randn(num_rows, dtype=torch.float64, generator=generator)
    first = backward(start)
    length = float(torch.linalg.vector_norm(first))
    if length == 0.0:
        return Extreme(0.0, 0.0, 0.0), Extreme(np.nan, np.nan, np.nan), True
    right, left, alphas, betas = [first / length], [], [], []
    exhausted = False
    while len(alphas) < steps:
        u = _apart(forward(right[-1]), left)
        alpha = float(torch.linalg.vector_norm(u))
        negligible = np.sqrt(num_rows) * gamma * max([alpha, *alphas, *betas])
        # Nothing new but rounding: the space is exhausted.
        if alpha <= negligible:
            exhausted = True
            break
        alphas.append(alpha)
        left.append(u / alpha)
        v = _apart(backward(left[-1]), right)
        beta = float(torch.linalg.vector_norm(v))
        if beta <= negligible:
            exhausted = True
            break
        betas.append(beta)
        right.append(v / beta)
    size = len(alphas)
    bidiagonal = np.diag(alphas) + np.diag(betas[: size - 1], 1)
    if exhausted and len(betas) == size:
        bidiagonal = np.column_stack([bidiagonal, np.eye(size)[:, -1] * betas[-1]])
    found = np.linalg.svd(bidiagonal, compute_uv=False)
    rounding = np.sqrt(num_rows) * gamma * found[0]
    if exhausted:
        ends = tuple(
            Extreme(float(one), max(0.0, float(one - rounding)), float(one + rounding)) for one in found[[0, -1]]
        )
        return ends[0], ends[1], True
    share = (np.log(1.648 * np.sqrt(num_rows) / FAILURE) / (2 * size - 1)) ** 2
    above = found[0] / np.sqrt(1 - share) if share < 1 else np.inf
    return (
        Extreme(float(found[0]), float(found[0] - rounding), float(above + rounding)),
        Extreme(float(found[-1]), 0.0, float(found[-1] + rounding)),
        False,
    )


def prefix_extremes(
    network: Network, pieces: Pieces, layer: NetworkLayer, *, steps: int, seed: int, gamma: float
) -> tuple[Extreme, Extreme, bool]:
    """Return the extremes of one prefix Jacobian, by forward and backward passes with the pieces held.

    See `extreme_singular_values`.
    """
    derivatives, numbers = Derivatives(pieces), HeldNumbers(pieces)
    zero = torch.zeros(1, *network.input_shape, dtype=torch.float64, device=network.device)
    recording = Recording(network, zero, numbers)
    with torch.enable_grad():
        recorded = _value_of_layer(network, layer, numbers, recording.values()).flatten()

    @torch.no_grad()
    def forward(direction: Tensor) -> Tensor:
        walk = carry(network, derivatives, direction.reshape(1, 1, *network.input_shape))
        return _value_of_layer(network, layer, derivatives, walk).flatten()

    def backward(cotangent: Tensor) -> Tensor:
        return recording.pull_back(recorded, cotangent.to(zero.device)[None], is_last=False).flatten()

    generator = torch.Generator().manual_seed(seed)
    return extreme_singular_values(
        forward, backward, num_rows=layer.size, steps=steps, generator=generator, gamma=gamma
    )


def _value_of_layer(network: Network, layer: NetworkLayer, carrier: Carrier, walk: Iterator[Any]) -> Tensor:
    """Return the value after a layer, by what arrives at the gates and last at the output."""
    arrived = next(islice(walk, layer.index, None))
    return arrived if layer.kind == "affine" else carrier.leave(network.stages[layer.index], arrived)


def _apart(vector: Tensor, others: list[Tensor]) -> Tensor:
    """Return a vector made orthogonal to others, twice, so that rounding does not bring them back."""
    if others:
        basis = torch.stack(others)
        for _ in range(2):
            vector = vector - basis.T @ (basis @ vector)
    return vector
