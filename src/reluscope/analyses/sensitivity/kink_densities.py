"""Local complexity by gradients: how dense the bends of the units are around a point if biases were a little noisy.

With noise of standard deviation sigma on its bias, a unit of pre-activation z bends at x with the density
``|grad z(x)| p(t - z(x))`` per unit of length, p the density of the noise and t its breakpoint (the co-area formula).
"""

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import BlockBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, declare
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.evaluation.linearize import weight_of_units
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.maps import Derivatives
from reluscope.networks.point_evaluation import Evaluation, bytes_of_gates
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

MEMORY = 64 * 2**20
KINK_DENSITY = declare(
    "kink_density",
    "sum over units of the length of the gradient of the pre-activation, times the density with which a normal noise "
    "on the unit's bias puts a breakpoint there",
    source="patel2025",
)


@read_arguments
def kink_density(
    network: Network,
    x: Points,
    deviation: Positive = 1.0,
    *,
    num_directions: Count | None = None,
    num_noises: Count | None = None,
    population: Count | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Return the density of bends at points, ``sum_u |grad z_u(x)| sum_t p(t - z_u(x))``; see `local_complexity`.

    The mean over a unit's own noise is ``int p(x) |grad z(x)| phi(t - z(x)) dx`` by the co-area formula.
    """
    whole = network.at(x, tolerance=tolerance)
    generator = np.random.default_rng(seed)
    size = (num_directions or 0, network.num_inputs)
    directions = torch.as_tensor(generator.normal(size=size), device=network.device)
    noisy = None if num_noises is None else [_with_noise(network, deviation, generator) for _ in range(num_noises)]
    has_max = any(not isinstance(stage.gate, Pointwise) for stage in network.stages)

    @torch.no_grad()
    def ask(block: slice) -> Measured:
        at = whole[block].with_gates()
        if noisy is not None:
            values = [_at_noise(one, at, directions if num_directions else None, deviation) for one in noisy]
            value, low, high = np.mean(values, axis=0), np.zeros(len(at)), np.full(len(at), np.inf)
        elif num_directions is None:
            squares = _squares(at, None)
            slack, _ = gradient_errors(network, at.pieces, [None] * len(at.pieces), len(at), at.tolerance.unit)
            value, low, high = _densities(at, [one.sqrt() for one in squares], slack, deviation)
        else:
            lengths = [one.sqrt() / _mean_length(num_directions) for one in _squares(at, directions)]
            value, low, high = _densities(at, lengths, [torch.zeros_like(one) for one in lengths], deviation)
            low, high = np.zeros_like(value), np.full_like(value, np.inf)
        in_doubt = at.is_in_doubt
        column = Column.of(
            KINK_DENSITY,
            value,
            np.where(in_doubt, 0.0, low),
            np.where(in_doubt, np.inf, high),
            method=(
                "derivatives by all inputs, float64"
                if num_directions is None
                else f"derivatives in {num_directions} random directions"
            )
            + ("" if noisy is None else f", {len(noisy)} draws of the noise of earlier gates"),
            given=f"of deviation {deviation:g}" + (", max gates left out" if has_max else ""),
        )
        return Measured((column,))

    effort, per_sample = Effort.of(budget, None, progress), 2 * bytes_of_gates(network)
    return measure(len(whole), ask, effort, population=population, bytes_per_sample=per_sample, memory=MEMORY)


def _with_noise(network: Network, deviation: float, generator: np.random.Generator) -> Network:
    """Return a network with noise e on the bias of every pointwise unit: ``g(z + e)`` in the place of ``g(z)``."""
    nodes = list(network.nodes)
    for place, node in enumerate(nodes):
        if isinstance(node, Pointwise):
            noise = torch.as_tensor(generator.normal(scale=deviation, size=node.num_units), device=network.device)
            intercepts = node.intercepts + node.slopes * noise
            tables = {"breakpoints": node.breakpoints - noise, "intercepts": intercepts}
            slopes = node.slopes.expand_as(intercepts).contiguous()
            nodes[place] = replace(node, slopes=slopes, **tables)
    return replace(network, nodes=tuple(nodes), trace=None, verification=None)


def _at_noise(noisy: Network, plain: Evaluation, directions: Tensor | None, deviation: float) -> np.ndarray:
    """Return the sums over units where earlier gates have noise; that of a unit itself is in the density."""
    at = noisy.at(plain.points, tolerance=plain.tolerance).with_gates()
    scale = 1.0 if directions is None else _mean_length(len(directions))
    lengths = [one.sqrt() / scale for one in _squares(at, directions)]
    return _densities(at, lengths, [torch.zeros_like(one) for one in lengths], deviation, plain.network)[0]


def _squares(at: Evaluation, directions: Tensor | None) -> list[Tensor]:
    """Return for every gate ``(s, u)`` sums of squares of derivatives of its pre-activations, in all directions.

    Max gates have a table without entries.
    """
    network, number = at.network, len(at)
    total = network.num_inputs if directions is None else len(directions)
    found: list[Tensor] = []
    together = max(1, MEMORY // max(1, number * bytes_of_gates(network)))
    for first in range(0, total, together):
        last = min(first + together, total)
        if directions is None:
            start = torch.zeros(last - first, network.num_inputs, dtype=torch.float64, device=network.device)
            start[torch.arange(last - first), torch.arange(first, last)] = 1.0
        else:
            start = directions[first:last]
        walk = carry(network, Derivatives(at.pieces), start.reshape(1, -1, *network.input_shape))
        for place, (stage, derivatives) in enumerate(zip(network.stages, walk, strict=False)):
            if isinstance(stage.gate, Pointwise):
                part = weight_of_units(stage.gate, derivatives, number).square().sum(-1)
            else:
                part = torch.zeros(number, 0, dtype=torch.float64, device=network.device)
            if first:
                found[place] += part
            else:
                found.append(part)
    return found


def _densities(
    at: Evaluation, lengths: list[Tensor], slack: list[Tensor], deviation: float, network: Network | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums over all units, and between which ends rounding leaves them, by a network's own breakpoints."""
    sums = torch.zeros(3, len(at), dtype=torch.float64, device=at.network.device)
    for stage, values, length, error in zip((network or at.network).stages, at.gates, lengths, slack, strict=True):
        if not isinstance(stage.gate, Pointwise):
            continue
        for threshold in stage.gate.breakpoints:
            gap = (values.preactivations - threshold).abs()
            near, far = (gap - values.errors).clamp_min(0.0), gap + values.errors
            sums[0] += (length * _normal(gap, deviation)).sum(1)
            sums[1] += ((length - error).clamp_min(0.0) * _normal(far, deviation)).sum(1)
            sums[2] += ((length + error) * _normal(near, deviation)).sum(1)
    # What the sums themselves round.
    unit = at.tolerance.unit
    value, low, high = sums.cpu().numpy()
    return value, low * (1 - unit), high * (1 + unit)


def _normal(gap: Tensor, deviation: float) -> Tensor:
    return torch.exp(-0.5 * (gap / deviation).square()) / (deviation * math.sqrt(2 * math.pi))


def _mean_length(number: int) -> float:
    """Return the mean length of a standard normal vector: what makes the estimate of a length unbiased."""
    return math.sqrt(2) * math.exp(math.lgamma((number + 1) / 2) - math.lgamma(number / 2))
