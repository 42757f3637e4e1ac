"""Jacobians of all prefixes of a network on the region of one point, carried forward together.

The columns of the identity run through the network, held to the pieces of the point, a few at a time and side by side:
all of them reach a gate before any goes on. Beside them go bounds on the rounding of each row, by its length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from reluscope.analyses.stability.layer_jacobians import is_step
from reluscope.networks.evaluation.linearize import Pieces, identity
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.magnitudes import GradientMagnitudes, Magnitude, gradients_of_inputs
from reluscope.networks.passes.maps import Derivatives, candidates_of, flat_entries
from reluscope.networks.passes.rounding import piece_error
from reluscope.networks.passes.stages import Stage

CHUNK_BYTES = 64 * 2**20
# A convolution unfolds its input before it multiplies: about as many copies as its kernel has places.
COPIES = 12


@dataclass(frozen=True, eq=False)
class JacobianStep:
    """The Jacobian before a gate, and how the gate scales its rows; or that of one layer alone.

    ``columns`` are overwritten when the next step is asked for. ``errors`` are bounds on the Frobenius norm of the
    rounding in both Jacobians.
    """

    before: int | None  # layer position of the value in ``columns``
    after: int | None  # layer position of the gate's output
    columns: Tensor  # (n, m), derivatives by each input
    scale: Tensor | None  # (m,), absolute slope of units; None without ``after``
    errors: tuple[float, float]


class _SomeColumns(Derivatives):
    """Derivatives by some of the inputs, written into one table with those by the others.

    ``tables`` has for the gate that was reached the derivatives ``(n, m)`` of its input by all inputs; ``rows`` says
    which inputs.
    """

    def __init__(self, pieces: Sequence[Tensor], tables: dict[int, Tensor], rows: slice, num_inputs: int) -> None:
        super().__init__(pieces)
        self._tables, self._rows, self._num_inputs = tables, rows, num_inputs
        self._last_gate = -1

    def arrive(self, stage: Stage, value: Tensor) -> Tensor:
        """Return the rows of the table, with the derivatives of the gate's flattened input."""
        if not stage.leg.plan and stage.leg.target == self._last_gate and stage.leg.target not in stage.keeps:
            # A gate that reads the one before: the table stays as it is.
            self._tables[stage.index] = self._tables[stage.index - 1]
            return self._tables[stage.index][self._rows][None]
        flat = flat_entries(value)
        if stage.index not in self._tables:
            self._tables[stage.index] = flat.new_empty(self._num_inputs, flat.shape[-1])
        rows = self._tables[stage.index][self._rows]
        rows.copy_(flat[0])
        return rows[None]

    def leave(self, stage: Stage, arrived: Tensor) -> Tensor:
        """Return the derivatives of the gate's output, which take the place of those of its input in the table."""
        self._last_gate = stage.position
        rows = self._tables[stage.index][self._rows]
        if not isinstance(stage.gate, Max):  # else `carried` has chosen entries already
            rows.mul_(stage.gate.slope(self.pieces[stage.index]))
        return rows.reshape(1, len(rows), *stage.gate.shape)


class _RowErrors(GradientMagnitudes):
    """Lengths of rows with bounds on the lengths of their errors; those of a gate's whole input are kept."""

    def arrive(self, stage: Stage, value: Magnitude) -> Magnitude:
        """Return lengths and bounds of what the gate sees."""
        self.error_before = value.error.flatten()
        return super().arrive(stage, value)


@torch.no_grad()
def carried(network: Network, pieces: Pieces, *, gamma: float) -> Iterator[JacobianStep]:
    """Carry the identity forward, and yield a step layer after layer.

    Costs n evaluations, with the tables of the values that later layers read in memory. ``gamma`` is the rounding of a
    sum relative to the sum of its absolute terms.
    """
    n, tables, rounding = network.num_inputs, {}, _RowErrors(gamma)
    walks = [
        carry(network, _SomeColumns(pieces, tables, rows, n), identity(network, rows))
        for rows in chunks(n, 8 * COPIES * _widest_leg(network), CHUNK_BYTES)
    ]
    errors = carry(network, rounding, gradients_of_inputs(1, network.input_shape, network.device))
    position = 0
    for stage, piece in zip(network.stages, pieces, strict=True):
        for walk in walks:
            next(walk)
        tables.pop(stage.index - 1, None)
        columns, error = tables[stage.index], next(errors).error[0]
        lengths = torch.linalg.vector_norm(columns, dim=0, keepdim=True)
        rounding.hold(piece, candidates_of(stage.gate, lengths))
        before = position if is_step(stage.leg.plan) else None
        position += before is not None
        error_before = _norm(rounding.error_before)
        if isinstance(stage.gate, Max):
            if before is not None:
                yield JacobianStep(before, None, columns, None, (error_before, 0.0))
            passed = error.gather(-1, piece[0].long()[:, None])
            columns = tables[stage.index] = columns[:, stage.gate.source(piece)[0]]
            yield JacobianStep(position, None, columns, None, (_norm(passed), 0.0))
        else:
            scale = stage.gate.slope(piece)[0].abs()
            passed = piece_error(scale, None, lengths[0], error, gamma)
            yield JacobianStep(before, position, columns, scale, (error_before, _norm(passed)))
        position += 1
        del columns
    if is_step(network.finish.leg.plan):
        columns = torch.cat([flat_entries(next(walk))[0] for walk in walks])
        yield JacobianStep(position, None, columns, None, (_norm(next(errors).error), 0.0))


def _widest_leg(network: Network) -> int:
    """Return the most numbers that the affine nodes between two gates give at one point."""
    legs = [*(stage.leg for stage in network.stages), network.finish.leg]
    return max(sum(node.size for _, node in leg.plan) for leg in legs)


def _norm(errors: Tensor) -> float:
    return float(torch.linalg.vector_norm(errors))
