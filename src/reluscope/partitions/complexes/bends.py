"""Values at the vertices of a chunk as combinations of an affine function and of bends, one for each unit that bends.

On a polygon the input of a network is ``x_0 + s x_1 + t x_2``, with coordinates s and t of a vertex. What lies between
two gates keeps such a form: rows go through it, and the *shares* that vertices take of them stay. At a gate a unit that
is on one piece at all cells keeps it too. One that is not, some in ten thousand in a small window, leaves its rows and
gets a row of its own, a one at its place, of which vertices take what the gate gives them. So there are three rows and
as many more as units have bent, while there are vertices wherever two of their lines cross: a forward pass of the rows
is what a partition costs, and signs are looked at of those units alone that bounds over the chunk leave open,

    |z - m| <= sum_k r_k |row_k|,    with the value m of the middle of the shares, and their radii r_k.

Values are what they would be vertex by vertex, up to rounding, which is bounded in the same way: a row that is off by
``unit |W| |row_k|`` is taken at most ``max |share_k|`` times, so that ``sum_k max |share_k| |row_k|`` takes the place
of the largest values.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope import _kernels
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.networks.passes.combinations import COMBINATIONS, with_rows
from reluscope.networks.passes.stages import Stage, Values

EPSILON = float(np.finfo(np.float64).eps)
# Rows pay from so many units and so many multiplications in a forward pass on.
LEAST_UNITS, LEAST_PRODUCTS = 2**12, 2**20
# Directions in which points differ by less than this of what they do in others are none.
FLAT = 1e-12
# Rows are left out where at most such a share of them is needed.
MOST_NEEDED = 0.8


def pay(network: Network) -> bool:
    """Tell whether a network is so large, and so continuous, that combinations are the cheaper way through it."""
    if network.num_units < LEAST_UNITS or sum(stage.leg.products for stage in network.stages) < LEAST_PRODUCTS:
        return False
    pointwise = (stage.gate for stage in network.stages if isinstance(stage.gate, Pointwise))
    return all(gate.is_continuous and not isinstance(gate, TopK) for gate in pointwise)


def first_rows(inputs: Tensor, points: Float[np.ndarray, "v d"]) -> tuple[Tensor, Float[np.ndarray, "v k"], Tensor]:
    """Return an affine function as rows, of a network's inputs at points in few dimensions.

    Rows: the value at one point, and the differences from it to at most d others; then each point's shares of them (v,
    k), and how far combinations are from the inputs (1, *shape).
    """
    away = points - points[0]
    # The points that span the largest simplex, one after the other.
    upper, order = _pivoted(away.T)
    lengths = np.abs(np.diag(upper))
    chosen = order[: int((lengths > FLAT * lengths.max(initial=0.0)).sum())]
    found = np.linalg.lstsq(away[chosen].T, away.T, rcond=None)[0].T
    shares = np.column_stack([np.ones(len(points)), found])
    shares[0, 1:] = 0.0
    shares[chosen, 1:] = np.eye(len(chosen))
    rows = torch.cat([inputs[:1], inputs[torch.from_numpy(chosen)] - inputs[:1]])
    errors = (inputs - combined(rows, shares)).abs().amax(0, keepdim=True)
    return rows, shares, errors + EPSILON * taken(rows, shares)


def combined(rows: Tensor, shares: Float[np.ndarray, "v k"]) -> Tensor:
    """Return what points take of rows, ``(v, *shape)``."""
    weights = torch.from_numpy(shares[:, : len(rows)]).to(rows.device)
    return (weights @ rows.flatten(1)).reshape(len(shares), *rows.shape[1:])


def taken(rows: Tensor, shares: Float[np.ndarray, "v k"]) -> Tensor:
    """Return bounds ``(1, *shape)`` on what points take of rows in absolute value."""
    return _absolute(np.abs(shares).max(axis=0, initial=0.0), rows)


def _absolute(weights: Float[np.ndarray, " k"], rows: Tensor) -> Tensor:
    """Return ``sum_k weights_k |rows_k|``, of non-negative weights."""
    found = torch.zeros_like(rows[:1])
    for weight, row in zip(weights.tolist(), rows, strict=False):
        if weight:
            found[0].add_(row.abs(), alpha=weight)
    return found


class Sent(NamedTuple):
    """What of rows has come to a gate: `Stage.advance` and `Stage.advance_errors` for combinations.

    ``carried`` bounds errors before combinations are rounded, ``proved`` those of combinations.
    """

    rows: Tensor
    live: Values
    errors: Values
    sizes: Values
    size: np.ndarray
    carried: np.ndarray
    proved: np.ndarray


def arrive(stage: Stage, values: Values, shares: Float[np.ndarray, "v k"], errors: Values, unit: float) -> Sent:
    """Send rows to the gate of a stage, with bounds on the errors of what points make of them."""
    sizes = {position: taken(values[position], shares) for position in stage.reads}
    size, carried, passed = stage.advance_errors(sizes, errors, unit)
    rows, live = stage.advance(values, COMBINATIONS)
    proved = carried + max(unit, shares.shape[1] * EPSILON) * size
    return Sent(with_rows(rows, shares.shape[1]), live, passed, sizes, size, carried, proved)


def row_bytes(stage: Stage, values: Values, shares: Float[np.ndarray, "v k"]) -> int:
    """Return the memory of rows before a stage, and of what it makes of them."""
    made = sum(node.size for _, node in stage.leg.plan) + stage.gate.num_units
    return 8 * (shares.shape[1] * made + sum(value.numel() for value in values.values()))


@dataclass(frozen=True, eq=False)
class Arrived:
    """Rows that have come to a gate of which some units may bend.

    Bounds are on all pre-activations, before combinations of rows are rounded.
    """

    rows: Tensor  # (k, size) of the gate's flattened input
    units: Int[np.ndarray, " c"]  # the units that are looked at, in order
    steady: np.ndarray  # (u,) the pieces of the other units on all cells
    size: np.ndarray  # (u,) or (u, k) bounds on pre-activations
    error: np.ndarray  # (u,) or (u, k) bounds on their errors


class SharedRanges:
    """Bounds on a gate's pre-activations over all points that take shares of rows."""

    def __init__(self, gate: Pointwise | Max, rows: Tensor, shares: Float[np.ndarray, "v k"]) -> None:
        low, high = shares.min(axis=0)[: len(rows)], shares.max(axis=0)[: len(rows)]
        self.gate = gate
        self.middle = combined(rows, ((low + high) / 2)[None])[0].cpu().numpy()
        self.radius = _absolute((high - low) / 2, rows)[0].cpu().numpy()

    def steady(self) -> np.ndarray:
        """Return the pieces of all units at the middle."""
        gate = self.gate
        if not isinstance(gate, Max):
            return gate.pieces(torch.from_numpy(self.middle)[None].to(gate.slopes.device))[0].cpu().numpy()
        # The lowest of equal ones.
        return self._of_candidates(self.middle, -np.inf).argmax(axis=1).astype(np.min_scalar_type(gate.num_pieces - 1))

    def open_units(self, error: np.ndarray, unit: float, share: float) -> np.ndarray:
        """Return which units may be on another piece than at the middle.

        ``unit`` is the rounding of one sum; units up to ``share`` of what a pre-activation may be are looked at in any
        case.
        """
        gate = self.gate
        if not isinstance(gate, Max):
            found = np.zeros(gate.num_units, dtype=bool)
            for threshold in gate.breakpoints.cpu().numpy():
                away = np.abs(self.middle - threshold)
                margin = np.maximum(error + unit * np.abs(threshold), share * (away + self.radius))
                # A function without terms is zero.
                is_near = (away - self.radius <= margin) & ((away + self.radius > 0) | (margin > 0))
                found |= is_near & np.isfinite(threshold)
            return found
        middle = self._of_candidates(self.middle, -np.inf)
        radius = self._of_candidates(self.radius, 0.0)
        margin = radius + np.maximum(error, share * (np.where(np.isfinite(middle), np.abs(middle), 0.0) + radius))
        rows, first = np.arange(len(middle)), middle.argmax(axis=1)
        least = (middle[rows, first] - margin[rows, first])[:, None]
        reaches = (middle + margin >= least) & ((margin > 0) | (margin[rows, first] > 0)[:, None])
        reaches[rows, first] = False
        return np.asarray(reaches.any(axis=1))

    def _of_candidates(self, entries: np.ndarray, padding: float) -> np.ndarray:
        assert isinstance(self.gate, Max)
        index = self.gate.index.cpu().numpy()
        return np.where(index < 0, padding, entries[index])


def narrowed(stage: Stage, units: Int[np.ndarray, " c"]) -> Stage:
    """Return a stage with some units of its gate alone."""
    gate, which = stage.gate, torch.from_numpy(units)
    if isinstance(gate, Max):
        return replace(stage, gate=replace(gate, shape=(len(units),), index=gate.index[which.to(gate.index.device)]))
    tables = {
        name: table if table.shape[1] == 1 else table[:, which.to(table.device)]
        for name in ("breakpoints", "slopes", "intercepts")
        for table in [getattr(gate, name)]
    }
    return replace(stage, gate=replace(gate, shape=(len(units),), **tables))


def heights(gate: Pointwise | Max, arrived: Arrived, shares: Float[np.ndarray, "v k"]) -> np.ndarray:
    """Return the pre-activations ``(v, c)`` or ``(v, c, k)`` of the units that are looked at."""
    units = torch.from_numpy(arrived.units).to(arrived.rows.device)
    if not isinstance(gate, Max):
        return combined(arrived.rows[:, units], shares).cpu().numpy()
    index = gate.index[units]
    found = combined(arrived.rows[:, index.clamp_min(0).flatten()], shares).reshape(len(shares), *index.shape)
    return found.masked_fill(index < 0, -torch.inf).cpu().numpy()


def behind(
    stage: Stage, arrived: Arrived, pieces: np.ndarray, pre: np.ndarray
) -> tuple[Tensor, Float[np.ndarray, "v b"]]:
    """Return a gate's output as rows, and what vertices take of those that are new.

    ``pieces`` and ``pre`` are those of the units that were looked at, on the cells and at the vertices.
    """
    gate, rows, steady = stage.gate, arrived.rows, arrived.steady.copy()
    steady[arrived.units] = pieces[0]
    bends = np.flatnonzero((pieces != pieces[:1]).any(axis=0))
    kept, which = len(rows), torch.from_numpy(steady.astype(np.int64))[None].to(rows.device)
    found = rows.new_zeros(kept + len(bends), gate.num_units)
    if isinstance(gate, Max):
        torch.index_select(rows, 1, gate.source(which)[0], out=found[:kept])
    else:
        torch.mul(rows, gate.slope(which), out=found[:kept])
        found[0] += gate.intercept(which)[0]
    given = np.zeros((len(pre), 0))
    if len(bends):
        units = arrived.units[bends]
        given = narrowed(stage, units).gate.apply(torch.from_numpy(pre[:, bends]).to(rows.device)).cpu().numpy()
        places = torch.from_numpy(units).to(rows.device)
        found[:, places] = 0.0
        found[torch.arange(kept, len(found), device=rows.device), places] = 1.0
    return found.reshape(-1, *gate.shape), given


def table_in_use(gate: Pointwise | Max, arrived: Arrived, pieces: np.ndarray) -> np.ndarray:
    """Return pieces ``(p, u)`` among which every unit has those that it is on, and no others."""
    if isinstance(gate, Max):
        return arrived.steady[None]
    table = np.tile(arrived.steady, (gate.num_pieces, 1))
    pieces = np.ascontiguousarray(pieces.astype(table.dtype, copy=False))
    in_use = _kernels.pieces_in_use(pieces, gate.num_pieces)
    table[:, arrived.units] = np.where(in_use, np.arange(gate.num_pieces)[:, None], in_use.argmax(axis=0))
    return table


def fewer_rows(
    values: Values, shares: Float[np.ndarray, "v k"], errors: Values
) -> tuple[Values, Float[np.ndarray, "v j"], Values]:
    """Return values, shares and errors by the rows that are needed, where these are far fewer.

    An interpolative decomposition of the shares less those of one vertex, up to what is below rounding; by how much it
    is off is added to the errors. Column 0 of shares must be one everywhere.
    """
    number = shares.shape[1]
    full = {at: with_rows(value, number) for at, value in values.items()}
    largest = np.zeros(number)
    for value in full.values():
        largest = np.maximum(largest, value.flatten(1).abs().amax(1).cpu().numpy())
    away, weight = shares[:, 1:] - shares[:1, 1:], largest[1:]
    upper, order = _pivoted(away * weight)
    diagonal = np.abs(np.diag(upper))
    rank = int((diagonal > 8 * EPSILON * max(largest[0], diagonal.max(initial=0.0))).sum())
    if rank + 1 > MOST_NEEDED * number and number <= len(shares):
        return values, shares, errors
    kept = order[:rank]
    made = np.zeros((rank, number - 1))
    made[:, kept] = np.eye(rank)
    others = order[rank:][weight[order[rank:]] > 0]
    solved = scipy.linalg.solve_triangular(upper[:rank, :rank], upper[:rank, rank:][:, weight[order[rank:]] > 0])
    made[:, others] = solved * weight[kept][:, None] / weight[others]
    taken_now = away[:, kept]
    # What is left of every column, and what rounding makes of it on the way.
    lost = np.abs(away - taken_now @ made).max(axis=0)
    lost += number * EPSILON * (np.abs(taken_now).max(axis=0) @ np.abs(made) + np.abs(shares[:, 1:]).max(axis=0))
    mixed = np.zeros((rank + 1, number))
    mixed[0], mixed[1:, 1:] = shares[0], made
    matrix, lost = torch.from_numpy(mixed), np.append(EPSILON, lost)
    return (
        {at: (matrix.to(value.device) @ value.flatten(1)).reshape(-1, *value.shape[1:]) for at, value in full.items()},
        np.column_stack([np.ones(len(shares)), taken_now]),
        {at: error + _absolute(lost, full[at]) if at in full else error for at, error in errors.items()},
    )


def _pivoted(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangular factor of a matrix with pivoted columns, and their order."""
    upper, order = scipy.linalg.qr(matrix, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    return np.asarray(upper), np.asarray(order)
