"""A continuous network in the place of one that jumps, for its gradients: those of a network of steps are zero."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

# A ramp is no wider than this share of the way to the next breakpoint, on either side.
MOST_OF_GAP = 0.45


def with_ramps(network: Network, x: Points) -> Network:
    """Return the network with a ramp in the place of every jump: as far to both sides as units are from it at points.

    TopK gates stay as they are. Outputs of the result bound nothing. Cost: a forward pass.
    """
    nodes = list(network.nodes)
    for stage, seen in zip(network.stages, network.at(x).gates, strict=True):
        gate = stage.gate
        if isinstance(gate, Pointwise) and not isinstance(gate, TopK) and not gate.is_continuous:
            nodes[stage.position] = _with_ramps(gate, seen.preactivations)
    return replace(network, nodes=tuple(nodes), trace=None, verification=None)


def _with_ramps(gate: Pointwise, seen: Float[Tensor, "s u"]) -> Pointwise:
    """Return a gate with ramps in the place of its jumps; what it sees tells how wide they are."""
    levels = gate.breakpoints.expand(-1, gate.num_units)
    slopes, starts = (table.expand(len(levels) + 1, gate.num_units) for table in (gate.slopes, gate.intercepts))
    below = [slopes[:-1].clone(), starts[:-1].clone()]  # of breakpoints that coincide what is below all of them
    gaps = torch.cat([torch.full_like(levels[:1], torch.inf), levels.diff(dim=0)])
    for row in range(1, len(levels)):
        for table in below:
            table[row] = torch.where(gaps[row] == 0, table[row - 1], table[row])
    gaps = torch.where(gaps == 0, torch.inf, gaps)
    reach = (seen - levels[:, None]).abs().median(dim=1).values
    reach = torch.minimum(reach, MOST_OF_GAP * torch.minimum(gaps, torch.cat([gaps[1:], gaps[:1]])))
    is_jump = (gate.jumps.expand_as(levels) != 0) & (reach > 0)
    reach = torch.where(is_jump, reach, 0.0)
    low, high = levels - reach, levels + reach
    for row in range(len(levels) - 2, -1, -1):
        is_same = levels[row] == levels[row + 1]
        low[row] = torch.where(is_same, low[row + 1], low[row])
        high[row] = torch.where(is_same, low[row + 1], high[row])
    bottom, top = below[0] * low + below[1], slopes[1:] * high + starts[1:]
    steep = torch.where(is_jump, (top - bottom) / torch.where(is_jump, high - low, 1.0), slopes[1:])
    begin = torch.where(is_jump, bottom - steep * low, starts[1:])
    return replace(
        gate,
        breakpoints=torch.stack([low, high], dim=1).flatten(0, 1),
        slopes=_between(slopes, steep),
        intercepts=_between(starts, begin),
    )


def _between(pieces: Float[Tensor, "q u"], ramps: Float[Tensor, "p u"]) -> Float[Tensor, "r u"]:
    """Return tables of pieces and of the ramps between them as one, in their order."""
    return torch.cat([pieces[:1], torch.stack([ramps, pieces[1:]], dim=1).flatten(0, 1)])
