"""Slopes and multipliers that lower bounds hold under, and those under which they are largest, by gradient ascent."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.bounds.holding import Holding

if TYPE_CHECKING:
    from reluscope.networks.bounds.backward_bounds import BackwardBounds

# Of Adam's steps, relative to nothing: keeps them finite where a gradient is 0.
LEAST_SPREAD = 1e-12


# Steps of the gradient for ranges of units, and their length.
NUM_STEPS, STEP, SHRINK = 12, 0.2, 0.97


# Relative to what a step was to gain: what the next one is, where it gained nothing.
SHORTER = 0.7


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
            pull = torch.where(bounds.is_held(gate, held), 0.5 * share * scale * moves[len(slopes) + gate], 0.0)
            pulls[gate] = pulls[gate].detach() + pull
        ways.begin([*slopes, *pulls])
    chosen = held._replace(slopes=best[0], multipliers=best[1])
    with torch.no_grad():
        return bounds.lower_bounds(rows, chosen, position=position), chosen


def raised(
    bounds: "BackwardBounds", rows: Float[Tensor, "k m"], held: Holding, *, aim: Float[Tensor, " k"], steps: int
) -> tuple[Bound, Holding]:
    """Return lower bounds of the output that are nearer to an aim than those of what is held, and their holding.

    Steps go along the gradient, smoothed and in units of its spread, so far that a concave function like its tangent
    would reach the aim; where the bound does not rise, the aim of the next step is nearer (Polyak).
    """
    number = len(held.slopes)
    tables = [one.detach().clone() for one in (*held.slopes, *held.multipliers)]
    best, values = [one.clone() for one in tables], rows.new_full((len(rows),), -torch.inf)
    rise, ways = torch.zeros_like(values), _SmoothWays()
    for step in range(steps + 1):
        found, slopes = _with_gradient(bounds, rows, held, tables, aim)
        better = found.values > values
        rise = torch.where(better, rise, SHORTER * rise) if step else (aim - found.values).clamp(min=0)
        values = torch.where(better, found.values, values)
        for kept, new in zip(best, tables, strict=True):
            kept[better] = new[better]
        if step == steps or slopes is None or bool((values > aim).all()):
            break
        # Multipliers move in units of the weights that they are to outweigh.
        units = [one.new_ones(()) for one in held.slopes] + [w.abs().amax(dim=-1, keepdim=True) for w in found.weights]
        moves, climb = ways.next([unit * slope for unit, slope in zip(units, slopes, strict=True)])
        length = ((values + rise - found.values).clamp(min=0) / climb).nan_to_num(0.0, 0.0, 0.0)[:, None]
        tables = [table + length * move * unit for table, move, unit in zip(tables, moves, units, strict=True)]
        tables[:number] = [bounds.clamp_slopes(gate, one) for gate, one in enumerate(tables[:number])]
    chosen = held._replace(slopes=best[:number], multipliers=best[number:])
    with torch.no_grad():
        return bounds.lower_bounds(rows, chosen), chosen


def _with_gradient(
    bounds: "BackwardBounds", rows: Tensor, held: Holding, tables: list[Tensor], aim: Tensor
) -> tuple[Bound, list[Tensor] | None]:
    """Return bounds by slopes and multipliers, and how they rise with these, where these may move.

    None if they do not rise, or need not. Slopes at their end go no farther; multipliers are of units that are held.
    """
    number = len(held.slopes)
    with torch.enable_grad():
        free = [one.detach().requires_grad_() for one in tables]
        tried = held._replace(slopes=free[:number], multipliers=free[number:])
        found = bounds.lower_bounds(rows, tried, is_sure=False)
        missing = torch.where(found.values.isfinite() & (found.values <= aim), found.values, 0.0).sum()
    found = found._replace(values=found.values.detach())
    if not missing.requires_grad:
        return found, None
    slopes = [
        torch.zeros_like(table) if one is None else one
        for table, one in zip(tables, torch.autograd.grad(missing, free, allow_unused=True), strict=True)
    ]
    for gate, table in enumerate(tables[:number]):
        (least, most), slope = bounds.slope_ends(gate), slopes[gate]
        slopes[gate] = torch.where((table <= least) & (slope < 0) | (table >= most) & (slope > 0), 0.0, slope)
        slopes[number + gate] = torch.where(bounds.is_held(gate, held), slopes[number + gate], 0.0)
    return found, slopes


class _SmoothWays:
    """Means of gradients, in units of their spread."""

    def __init__(self) -> None:
        self._means: list[Tensor] = []
        self._squares: list[Tensor] = []

    def next(self, slopes: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        """Return the next way, and how much a function of these slopes rises along it."""
        squares = [one**2 for one in slopes]
        if self._means:
            squares = [0.9 * old + 0.1 * new for old, new in zip(self._squares, squares, strict=True)]
        number = sum(one.shape[1] for one in squares)
        mean = torch.stack([one.sum(dim=1, keepdim=True) for one in squares]).sum(dim=0) / number
        spread = 0.1 * mean.sqrt() + LEAST_SPREAD
        scaled = [one / (square.sqrt() + spread) for one, square in zip(slopes, squares, strict=True)]
        if self._means:
            scaled = [0.5 * (old + new) for old, new in zip(self._means, scaled, strict=True)]
        self._means, self._squares = scaled, squares
        return scaled, torch.stack([(way * one).sum(dim=1) for way, one in zip(scaled, slopes, strict=True)]).sum(dim=0)


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
