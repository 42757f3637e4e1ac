"""Bounds that others can check: from short dual numbers alone, with ranges of units that were found so, too.

`reluscope.checking.dual_bounds` says what duals are and finds the same bounds exactly; here they are found in float64,
rounding included. Duals are those of lines that were chosen by gradient, rounded: any numbers prove a bound.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.checking.proofs import SeenOnBox
from reluscope.errors import InputError
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.best_multipliers import NUM_STEPS, Bound
from reluscope.networks.bounds.holding import Holding
from reluscope.networks.bounds.lines_back import DualsBack
from reluscope.networks.network import Network
from reluscope.networks.passes.stages import Stage

# Duals are whole numbers below 2^BITS times a power of two, which float32 holds.
BITS = 20
# Numbers in the duals of ranges, at most.
MAX_DUALS = 2**22


def check_number_of_duals(network: Network) -> None:
    """Refuse networks the ranges of whose units take too many numbers to prove.

    InputError if there are more than `MAX_DUALS`, two for each pair of units of different gates.
    """
    units = np.array([stage.gate.num_units for stage in network.stages])
    number = 2 * int((units * (np.cumsum(units) - units)).sum())
    if number > MAX_DUALS:
        raise InputError(
            f"expected at most {MAX_DUALS:,} numbers that prove what units see for certify=True, two for each pair of "
            f'units of different gates, got {number:,}: leave it out, or take split="inputs"'
        )


class CheckableBounds(BackwardBounds):
    """Ranges of all units on a box, each with duals that prove it.

    ``proved`` has the ranges of all gates, as float32 that are no narrower.
    """

    def __init__(self, network: Network, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]) -> None:
        self.proved: list[SeenOnBox] = []
        super().__init__(network, lower, upper)

    @property
    def is_finite(self) -> bool:
        """Whether float32 holds all that proves the ranges."""
        return all(np.isfinite(table).all() for one in self.proved for table in (*one[:2], *one.below, *one.above))

    def seen(self, stage: Stage) -> tuple[Tensor, Tensor]:
        """Return what the units of a gate see, and keep what proves it."""
        ends, kept = [], []
        for sign in (1.0, -1.0):
            found = [
                self._shortly(rows, self.best(rows, stage, NUM_STEPS), stage)
                for _, rows in self.rows_of_units(stage, sign)
            ]
            ends.append(_below(torch.cat([one.values for one in found])))
            tables = zip(*(one.duals for one in found), strict=True)
            kept.append(tuple(torch.cat(one).cpu().numpy().astype(np.float32) for one in tables))
        low, high = ends[0], -ends[1]
        self.proved.append(SeenOnBox(low.cpu().numpy(), high.cpu().numpy(), *kept))
        return low.double(), high.double()

    def by_duals(
        self, rows: Float[Tensor, "k m"], duals: list[Tensor], held: Holding, *, position: int | None = None
    ) -> Bound:
        """Return lower bounds of linear functions of a value from given duals.

        The value is that of the node at ``position``, by default the output. Cost: a product of k rows with each
        matrix.
        """
        return self.carried_to_box(DualsBack(self, held, len(rows), duals), rows, position)

    def _shortly(self, rows: Tensor, found: Bound, stage: Stage) -> Bound:
        """Return the bounds of what a gate sees by short duals."""
        with torch.no_grad():
            return self.by_duals(rows, shortened(found.duals), self.unheld(len(rows)), position=stage.leg.target)


def shortened(duals: list[Tensor]) -> list[Tensor]:
    """Return numbers near by, in each row whole ones below 2^BITS times a power of two."""
    short = []
    for one in duals:
        most = one.abs().amax(dim=-1, keepdim=True)
        unit = torch.exp2(torch.floor(torch.log2(torch.where(most > 0, most, 1.0))) + 1 - BITS)
        short.append((torch.round(one / unit) * unit).float().double())
    return short


def _below(values: Tensor) -> Tensor:
    """Return the largest float32 numbers that are not above."""
    near = values.float()
    return torch.where(near.double() > values, torch.nextafter(near, torch.full_like(near, -torch.inf)), near)
