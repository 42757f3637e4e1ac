"""Slopes and multipliers that lower bounds hold under, and those under which they are largest, by gradient ascent."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

if TYPE_CHECKING:
    from reluscope.networks.bounds.backward_bounds import BackwardBounds

# Of Adam's steps, relative to nothing: keeps them finite where a gradient is 0.
LEAST_SPREAD = 1e-12


# Steps of the gradient for ranges of units, and their length.
NUM_STEPS, STEP, SHRINK = 12, 0.2, 0.97


class Holding(NamedTuple):
    """The choices for each of k bounds, gate by gate: pieces, slopes, multipliers, ranges; (k, u) or one row for all.

    Multipliers are of cuts: positive ones of the upper end of a pre-activation's range, negative ones of the lower end.
    """

    first: list[Tensor]  # first piece that each unit may have
    last: list[Tensor]  # last piece that each unit may have
    slopes: list[Tensor]  # of the lines below units
    multipliers: list[Tensor]
    low: list[Tensor]  # lower ends of the pre-activations' ranges
    high: list[Tensor]  # upper ends of the pre-activations' ranges


class Bound(NamedTuple):
    """Lower bounds of k functions on a box.

    The bound can be found again from the duals alone.
    """

    values: Tensor  # (k,); inf if units cannot have the pieces held to
    corners: Tensor  # (k, n) input of the least value of the bound
    weights: list[Tensor]  # (k, u) of each gate's outputs
    duals: list[Tensor]  # (k, u) of each gate's pre-activations

    def picked(self, rows: Tensor) -> "Bound":
        """Return some of the bounds."""
        weights, duals = ([one[rows] for one in table] for table in (self.weights, self.duals))
        return Bound(self.values[rows], self.corners[rows], weights, duals)


def maximized(
    bounds: "BackwardBounds",
    rows: Float[Tensor, "k m"],
    held: Holding,
    *,
    position: int | None = None,
    steps: int = NUM_STEPS,
    length: float = STEP,
    enough: Tensor | None = None,
) -> tuple[Bound, Holding]:
    """Return lower bounds after gradient steps on slopes and multipliers, and the holding they come from.

    Bounds above ``enough`` are not improved further. ``length`` is that of the first step, in slopes. Each step costs
    three times as much as bounds.
    """
    slopes, pulls = ([one.detach().clone() for one in table] for table in (held.slopes, held.multipliers))
    best = [one.clone() for one in slopes], [one.clone() for one in pulls]
    values = rows.new_full((len(rows),), -torch.inf)
    aim = torch.full_like(values, torch.inf) if enough is None else enough
    scales = [one.new_zeros(()) for one in slopes]
    ways = _Adam([*slopes, *pulls])
    for step in range(steps + 1):
        is_last = step == steps
        with torch.set_grad_enabled(not is_last):
            for one in (*slopes, *pulls):
                one.requires_grad_(not is_last)
            tried = held._replace(slopes=slopes, multipliers=pulls)
            found = bounds.lower_bounds(rows, tried, position=position, is_sure=False)
            missing = torch.where(found.values.isfinite() & (found.values <= aim), found.values, 0.0).sum()
        better = found.values.detach() > values
        values = torch.where(better, found.values.detach(), values)
        for kept, new in zip((*best[0], *best[1]), (*slopes, *pulls), strict=True):
            kept[better] = new.detach()[better]
        if is_last or not missing.requires_grad or bool((values > aim).all()):
            break
        if not step:  # multipliers move in units of the weights that they are to outweigh
            scales = [weights.abs().amax(dim=-1, keepdim=True) for weights in found.weights]
        moves = ways.moves(missing)
        share = length * SHRINK**step
        for gate, scale in enumerate(scales):
            slopes[gate] = bounds.clamp_slopes(gate, slopes[gate].detach() + share * moves[gate])
            pulled = pulls[gate].detach() + 0.5 * share * scale * moves[len(slopes) + gate]
            pulls[gate] = bounds.clamp_multipliers(gate, held, pulled)
        ways.begin([*slopes, *pulls])
    chosen = held._replace(slopes=best[0], multipliers=best[1])
    with torch.no_grad():
        return bounds.lower_bounds(rows, chosen, position=position), chosen


class _Adam:
    """Steps along gradients, in units of their own spread (Kingma and Ba, "Adam", ICLR 2015)."""

    def __init__(self, tables: list[Tensor]) -> None:
        self._tables, self._count = tables, 0
        self._means = [torch.zeros_like(one) for one in tables]
        self._squares = [torch.zeros_like(one) for one in tables]

    def begin(self, tables: list[Tensor]) -> None:
        """Take the tables that the next value will depend on."""
        self._tables = tables

    def moves(self, value: Tensor) -> list[Tensor]:
        """Return steps that make a value larger."""
        self._count += 1
        found = torch.autograd.grad(value, self._tables, allow_unused=True)
        moves = []
        for way, mean, square in zip(found, self._means, self._squares, strict=True):
            if way is not None:
                mean.mul_(0.9).add_(way, alpha=0.1)
                square.mul_(0.999).addcmul_(way, way, value=0.001)
            spread = (square / (1 - 0.999**self._count)).sqrt() + LEAST_SPREAD
            moves.append(mean / (1 - 0.9**self._count) / spread)
        return moves
