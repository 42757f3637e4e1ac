"""Which regions are bounded: those whose recession cone {r : a . r >= 0 for all rows a that the code imposes} is {0}.

The rows are gradients of affine functions, known up to rounding. A direction strictly inside all of them proves that a
region is unbounded; a combination of rows with positive weights that cancels, of rows that span everything, proves that
it is bounded. Where neither is beyond rounding, because sides are parallel or nearly so, rational arithmetic decides,
as long as that is cheap; what is left is not proved, and says so.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer, UInt64

from reluscope import _kernels
from reluscope.codes.packing import unpack_pieces
from reluscope.geometry.numbers.row_scales import scaled_rows
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import safe_point
from reluscope.kernel_threads import kernel_threads
from reluscope.networks.evaluation.affine_values import advance_affinely, affine_input, close_affinely
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.network import Network
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# Numbers of a chunk of regions, and rows of one from which threads pay.
CHUNK_NUMBERS, THREADED_ROWS = 2**22, 2**12


class Boundedness(NamedTuple):
    """Which regions are bounded, and for which that is proved whatever rounding did to their rows."""

    is_bounded: Bool[np.ndarray, " r"]
    is_proved: Bool[np.ndarray, " r"]  # where False, the opposite may be true

    @classmethod
    def everywhere(cls, number: int) -> "Boundedness":
        """Return that all of so many regions are bounded."""
        return cls(np.ones(number, dtype=np.bool_), np.ones(number, dtype=np.bool_))

    @property
    def ends(self) -> tuple[int, int]:
        """Between which numbers the number of bounded regions lies."""
        bounded, proved = self
        return int(np.count_nonzero(bounded & proved)), int(np.count_nonzero(bounded | ~proved))


def boundedness(
    network: Network, domain: Domain, words: UInt64[np.ndarray, "r w"], *, tolerance: Tolerance | None = None
) -> Boundedness:
    """Return which regions are bounded.

    A region of which nothing is proved is called unbounded, unless its rows in floats bound it. Cones thinner than
    rounding cost n + 1 rational evaluations of the network and a linear program in whole numbers.
    """
    tolerance = Tolerance() if tolerance is None else tolerance
    window = domain.window if isinstance(domain, Slice) else domain
    if window.is_bounded():
        return Boundedness.everywhere(len(words))
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    layout = inner.layout
    table = unpack_pieces(words, layout)
    pieces = [table[:, layout.units(gate)] for gate in range(len(layout))]
    found = Boundedness(np.zeros(len(words), dtype=np.bool_), np.zeros(len(words), dtype=np.bool_))
    size = max(1, CHUNK_NUMBERS // ((inner.num_inputs + 1) * (1 + table.shape[1])))
    walls, exact = _walls(window), ExactRows(inner, window)
    for start in range(0, len(words), size):
        safe_point()
        rows = slice(start, min(start + size, len(words)))
        cones = recession_cones(
            inner,
            [piece[rows] for piece in pieces],
            walls,
            number=rows.stop - start,
            gamma=tolerance.rounding * EPSILON,
        )
        found.is_bounded[rows], found.is_proved[rows] = decide(*cones)
    for row in np.flatnonzero(~found.is_proved).tolist():
        safe_point()
        proved = exact.is_bounded([piece[row] for piece in pieces])
        if proved is not None:
            found.is_bounded[row], found.is_proved[row] = proved, True
    return found


def decide(rows: Float[np.ndarray, "r h d"], errors: Float[np.ndarray, "r h d"]) -> Boundedness:
    """Return for which cones {r : a . r >= 0 for all rows a} nothing but 0 is in them.

    Rows of zeros say nothing.
    """
    number, height, dim = rows.shape
    return Boundedness(
        *_kernels.recession(
            np.arange(0, number * height + 1, height) if height else np.zeros(number + 1, dtype=np.int64),
            np.ascontiguousarray(rows.reshape(number * height, dim)),
            np.ascontiguousarray(errors.reshape(number * height, dim)),
            num_threads=kernel_threads(number * height, THREADED_ROWS),
        )
    )


def recession_cones(
    network: Network,
    pieces: list[Integer[np.ndarray, "r _"]],
    walls: Float[np.ndarray, "k d"],
    *,
    number: int,
    gamma: float,
) -> tuple[Float[np.ndarray, "r h d"], Float[np.ndarray, "r h d"]]:
    """Return the rows that are at least 0 at regions' directions, and bounds on their entries' errors.

    ``pieces`` has the codes gate by gate, ``walls`` the domain's rows, exact; ``gamma`` is the relative rounding of a
    sum.
    """
    rows = [np.broadcast_to(walls, (number, *walls.shape))]
    errors = [np.zeros_like(rows[0])]
    values = affine_input(network, number)
    for stage, chosen in zip(network.stages, pieces, strict=True):
        maps, doubts, values = advance_affinely(stage, values, gamma)
        gate, slopes, doubt = stage.gate, maps[:, :, :-1], doubts[:, :, :-1]
        if isinstance(gate, Max):
            slopes, doubt = _of_maximum(gate, slopes, doubt, chosen)
        elif isinstance(gate, TopK):
            best, other = (part.numpy() for part in gate.pairs(torch.from_numpy(chosen.astype(np.int64))))
            regions = np.arange(len(chosen))[:, None]
            slopes, doubt = slopes[regions, best] - slopes[regions, other], doubt[regions, best] + doubt[regions, other]
        else:
            slopes, doubt = _of_breakpoints(gate, slopes, doubt, chosen)
        rows.append(slopes)
        errors.append(doubt)
        if stage is not network.stages[-1]:
            values = close_affinely(stage, values, chosen, gamma)
    return np.concatenate(rows, axis=1), np.concatenate(errors, axis=1)


def _of_breakpoints(
    gate: Pointwise, slopes: np.ndarray, errors: np.ndarray, pieces: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes with the side on which units are of the breakpoints next to their pieces; zeros without these."""
    levels = gate.breakpoints.cpu().numpy()
    units = np.arange(pieces.shape[1])
    bounds = np.concatenate([np.full((1, len(units)), -np.inf), np.broadcast_to(levels, (len(levels), len(units)))])
    bounds = np.concatenate([bounds, np.full((1, len(units)), np.inf)])
    pieces = pieces.astype(np.int64)
    is_above, is_below = np.isfinite(bounds[pieces, units]), np.isfinite(bounds[pieces + 1, units])
    if not (is_above & is_below).any():  # one row for each unit
        side = is_above.astype(np.float64) - is_below
        return side[:, :, None] * slopes, np.abs(side)[:, :, None] * errors
    sides = np.concatenate([is_above, -1.0 * is_below], axis=1)[:, :, None]
    return sides * np.tile(slopes, (1, 2, 1)), np.abs(sides) * np.tile(errors, (1, 2, 1))


def _of_maximum(gate: Max, slopes: np.ndarray, errors: np.ndarray, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the chosen entries of a gate rise faster than all others."""
    index = gate.index.cpu().numpy()
    regions = np.arange(len(pieces))[:, None]
    best = index[np.arange(len(index)), pieces.astype(np.int64)]
    rows, doubts = [], []
    for column in index.T:
        is_other = (column >= 0) & (column != best)
        others = np.where(column >= 0, column, 0)
        row = np.where(is_other[:, :, None], slopes[regions, best] - slopes[:, others], 0.0)
        rows.append(row)
        # What the difference itself loses is less than the kernel allows for lengths.
        doubts.append(np.where(is_other[:, :, None], errors[regions, best] + errors[:, others], 0.0))
    return np.concatenate(rows, axis=1), np.concatenate(doubts, axis=1)


def _walls(window: Box | Polyhedron | Space) -> np.ndarray:
    """Return the rows of a domain, scaled by powers of two."""
    if isinstance(window, Space):
        return np.zeros((0, window.dim))
    rows, ends = window.polyhedron.inequalities()
    rows, _ = scaled_rows(rows, np.zeros_like(ends))
    return -rows
