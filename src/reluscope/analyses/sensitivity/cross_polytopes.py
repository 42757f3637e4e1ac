"""Local complexity by cross-polytopes: how many units do not keep their piece at the vertices around a point.

Around a point x stands a cross-polytope with the vertices ``x + r v`` and ``x - r v`` for some orthonormal directions
v. A unit that is not on one piece at all of them bends somewhere between them. In the first layer no other unit bends
there; in deeper layers a unit may bend between vertices at which it agrees.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import Count, Positive, Seed, read_arguments
from reluscope.budget import BlockBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.networks.evaluation.choices import read_gate
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounded import NumbersRoundedAlike, Rounded
from reluscope.networks.passes.rounding import may_be_largest
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

MEMORY = 64 * 2**20
# Values, pieces, and what they are made of.
COPIES = 4
CROSSING = declare(
    "cross_polytope_complexity",
    "units that are not on one piece at all vertices of a cross-polytope around the point",
    kind=Kind.COUNT,
    source="humayun2024",
)


@read_arguments
def cross_polytope_complexity(
    network: Network,
    x: Points,
    radius: Positive,
    *,
    num_directions: Count = 20,
    gate: int | str | None = None,
    population: Count | None = None,
    budget: BlockBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> Findings:
    """Count the units that change their piece between the vertices around points; see `local_complexity`."""
    points = network.points(x)
    chosen = None if gate is None else read_gate(gate, [one.name for one in network.gates])
    frame = torch.as_tensor(_frame(network.num_inputs, num_directions, seed), device=points.device)
    steps = radius * torch.cat([frame, -frame]).reshape(1, -1, *network.input_shape)
    unit = (tolerance or Tolerance()).unit

    @torch.no_grad()
    def ask(block: slice) -> Measured:
        vertices = points[block].unsqueeze(1) + steps
        number = len(vertices)
        counts = torch.zeros(3, number, dtype=torch.int64, device=points.device)
        start = Rounded(vertices.flatten(0, 1), torch.zeros_like(points[:1]))
        for stage, arrived in zip(network.stages, carry(network, NumbersRoundedAlike(unit), start), strict=False):
            if chosen is None or stage.index == chosen:
                counts += torch.stack(_crossing(stage.gate, arrived, number))
        value, low, high = counts.cpu().numpy()
        column = Column.of(
            CROSSING,
            value,
            low,
            high,
            method=f"pieces at {steps.shape[1]} vertices, float64",
            given=f"of radius {radius:g} in {len(frame)} directions",
        )
        return Measured((column,))

    effort, per_sample = Effort.of(budget, None, progress), COPIES * network.bytes_per_point * steps.shape[1]
    return measure(len(points), ask, effort, population=population, bytes_per_sample=per_sample, memory=MEMORY)


def _frame(num_inputs: int, number: int, seed: int) -> Float[np.ndarray, "k n"]:
    """Draw orthonormal directions, evenly among all frames."""
    drawn = np.random.default_rng(seed).normal(size=(num_inputs, min(number, num_inputs)))
    return np.ascontiguousarray(np.linalg.qr(drawn)[0].T)


def _crossing(gate: Pointwise | Max, arrived: Rounded, number: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return how many units of a gate have different pieces at the vertices of each point, at least and at most so."""
    pre, error = arrived
    pieces = gate.pieces(pre).reshape(number, -1, gate.num_units)
    doubtful = _doubtful(gate, pre, error).reshape(pieces.shape)
    differ = pieces.amin(1) != pieces.amax(1)
    if not bool(doubtful.any()):
        found = differ.sum(1)
        return found, found, found
    pieces = pieces.long()
    lowest = torch.where(doubtful, gate.num_pieces, pieces).amin(1)
    highest = torch.where(doubtful, -1, pieces).amax(1)
    surely = (lowest < highest).sum(1)
    return differ.sum(1), surely, (differ | doubtful.any(1)).sum(1)


def _doubtful(gate: Pointwise | Max, pre: Tensor, error: Tensor) -> Tensor:
    """Return which units could be on another piece; exact ties are read as the ties that they nearly always are."""
    if isinstance(gate, Max):
        return (may_be_largest(pre, error) & (pre < pre.amax(-1, keepdim=True))).any(-1)
    doubt = torch.zeros_like(pre, dtype=torch.bool)
    for threshold in gate.breakpoints:
        gap = (pre - threshold).abs()
        doubt |= (gap <= error) & (gap > 0)
    return doubt
