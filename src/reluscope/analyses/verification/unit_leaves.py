"""A set of regions in which no unit changes its piece: the network is affine on it, and a linear program decides.

The program asks by how much all rows of unsafe outputs and all cuts must be missed. Its multipliers of the rows
are how to mix them into one, and those of the cuts are what `reluscope.networks.bounds.backward_bounds` needs for the
same bound with rounding. Where the set is empty those of the cuts suffice.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.errors import SolverError
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.bounds.backward_bounds import BackwardBounds
from reluscope.networks.bounds.holding import Holding


class Leaf(NamedTuple):
    """The result of a linear program on one set of regions."""

    point: Float[np.ndarray, " n"]  # least miss of rows and cuts, or the middle of the box
    mix: Tensor | None  # (t,) weights of the rows; None if not solved
    multipliers: list[Tensor]  # (1, u) for each gate, of its cuts


@torch.no_grad()
def least_on_leaf(bounds: BackwardBounds, held: Holding, A: Float[Tensor, "t m"], b: Float[Tensor, " t"]) -> Leaf:
    """Return where rows ``A y <= b`` of the outputs and cuts are missed least, with proving multipliers.

    `held` is of one set in which no unit is open. One linear program over the inputs, with a row for each unit that is
    cut. The multipliers prove by how much the rows are missed.
    """
    middle = ((bounds.lower + bounds.upper) / 2).cpu().numpy()
    held = held._replace(multipliers=[torch.zeros_like(one) for one in held.multipliers])
    weights, constants = bounds.forms(A, held.repeated(len(A)))
    tables, offsets = [weights], [b - constants]
    places: list[tuple[int, Tensor, Tensor]] = []
    for gate, stage in enumerate(bounds.network.stages):
        bottom, top = bounds.ends(gate, held)
        for end, sign in ((top, 1.0), (-bottom, -1.0)):
            units = torch.nonzero(end[0].isfinite()).flatten()
            rows = torch.zeros(len(units), end.shape[1], dtype=A.dtype, device=A.device)
            rows[torch.arange(len(units)), units] = sign
            weights, constants = bounds.forms(rows, held.repeated(len(units)), position=stage.leg.target)
            tables.append(weights)
            offsets.append(end[0, units] - constants)
            places.append((gate, units, torch.tensor(sign)))
    table, limits = torch.cat(tables).cpu().numpy(), torch.cat(offsets).cpu().numpy()
    # The least t by which all rows may be missed, in steps away from the middle.
    limits = limits - table @ middle
    half = (bounds.upper - bounds.lower).cpu().numpy() / 2
    most = 1.0 + float((np.abs(table) @ half + np.abs(limits)).max(initial=0.0))
    table = np.column_stack([table, -np.ones(len(table))])
    nothing = Leaf(middle, None, [torch.zeros_like(one) for one in held.multipliers])
    if not len(A) or not np.isfinite(most):
        return nothing
    program = LinearProgram(table.shape[1])
    program.set_all_bounds(np.append(-half, -most), np.append(half, most))
    program.add_rows(table, limits)
    try:
        found = program.maximize(np.append(np.zeros(len(middle)), -1.0))
    except SolverError:  # entries of very different size: others decide
        return nothing
    if found.status is not ProgramStatus.OPTIMAL or len(found.duals) != len(limits):
        return nothing
    duals = torch.as_tensor(np.maximum(np.nan_to_num(found.duals), 0.0), device=A.device)
    multipliers, start = [torch.zeros_like(one) for one in held.multipliers], len(A)
    for gate, units, sign in places:
        multipliers[gate][0, units] += sign * duals[start : start + len(units)]
        start += len(units)
    lower, upper = bounds.lower.cpu().numpy(), bounds.upper.cpu().numpy()
    return Leaf(np.clip(middle + found.point[: len(middle)], lower, upper), duals[: len(A)], multipliers)
