"""Evaluation of a network at a batch of points; every quantity is computed once, when it is first asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reluscope.arguments import Count, read_arguments
from reluscope.codes.packed import Codes
from reluscope.interruption import step_point
from reluscope.needed_memory import need
from reluscope.networks.evaluation.codes_at import codes_at
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.evaluation.linearize import all_weights, linearize
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.rounded_forward import RoundedForward, rounded_forward
from reluscope.networks.evaluation.unit_half_spaces import Rows, largest_entries, rows_of_own
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import GateNode
from reluscope.networks.graph.points import chunks
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.magnitudes import GradientMagnitudes, gradients_of_inputs
from reluscope.networks.passes.numbers import HeldNumbers
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded, RoundedNumbers
from reluscope.networks.passes.rounding import in_doubt, reaches_breakpoint
from reluscope.shown import Shown, one_line
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    from reluscope.networks.network import Network

BUDGET = 256 * 2**20
# Of half-spaces, while they are made and chosen, about so many tables are in memory.
COPIES = 2


class PointStatus(StrEnum):
    """How certain the code of a point is."""

    CERTAIN = "every unit is farther from its breakpoints than rounding reaches"
    TIED = "a unit is on a breakpoint, and the tie rule decides its piece"
    IN_DOUBT = "rounding decides the piece of a unit"


class GateValues(NamedTuple):
    """Pieces and pre-activations of the units of one gate at points.

    Parameters
    ----------
    pieces : (s, u) tensor
    preactivations, errors : (s, u) or (s, u, k) tensors
        Minus infinity and 0 at padding.
    """

    pieces: Tensor
    preactivations: Tensor
    errors: Tensor

    def __repr__(self) -> str:
        return one_line(self)


class _HalfSpaces(NamedTuple):
    """Half-spaces of every gate, and the affine maps of the outputs, computed in the same pass."""

    rows: tuple[Rows, ...]
    maps: AffineMaps


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """A network at points: codes, outputs, pre-activations, affine maps, half-spaces, and their rounding.

    Made by ``Network.at`` for a batch of points. Every attribute is computed at first access, and then kept. Codes
    and outputs are computed in chunks. `gates`, `maps` and `half_spaces` are large, and computed for the whole
    batch; `blocks` yields parts that fit into memory, with results already computed.

    Parameters
    ----------
    network : Network
    points : (s, *input_shape) tensor
        Taken as exact.
    tolerance : Tolerance
        Its ``rounding`` scales all bounds on rounding.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, -1.0]], [0.0]), ([[2.0]], [1.0])])
    >>> at = net.at([[3.0, 1.0], [0.0, 0.0], [1.0, 1.0 + 2**-52]])
    >>> at.outputs.ravel(), at.codes.to_array().ravel()
    (array([5., 1., 1.]), array([1, 0, 0], dtype=uint8))
    >>> [status.name for status in at.status]
    ['CERTAIN', 'TIED', 'IN_DOUBT']
    """

    network: "Network"
    points: Tensor
    tolerance: Tolerance

    def __len__(self) -> int:
        return len(self.points)

    @property
    def jumps(self) -> tuple[str, ...]:
        """Names of the network's gates that are not continuous."""
        return self.network.jumps

    @read_arguments
    def __getitem__(self, rows: slice) -> "Evaluation":
        """Return the evaluation of some of the points, with what is known of them."""
        part = Evaluation(self.network, self.points[rows], self.tolerance)
        known = vars(self)
        for name in ("codes", "maps"):
            if name in known:
                vars(part)[name] = known[name][rows]
        if "_passed" in known:
            gates, output = self._passed
            cut = tuple(GateValues(*(table[rows] for table in gate)) for gate in gates)
            vars(part)["_passed"] = cut, Rounded(*(table[rows] for table in output))
        if "forward" in known:
            whole = known["forward"]
            vars(part)["forward"] = RoundedForward(whole.outputs[rows], whole.errors[rows], whole.doubtful[rows])
        return part

    @read_arguments
    def blocks(self, bytes_per_point: Count, memory: Count | None = None) -> Iterator[tuple[slice, "Evaluation"]]:
        """Yield blocks of points that take so many bytes each, with their positions, as memory holds them."""
        for rows in chunks(len(self), bytes_per_point, BUDGET if memory is None else memory):
            yield rows, self if rows == slice(0, len(self)) else self[rows]

    @cached_property
    def codes(self) -> Codes:
        """The code of every point."""
        if "_passed" in vars(self):
            pieces = [gate.pieces.cpu().numpy() for gate in self.gates]
            return Codes.from_pieces(pieces, self.network.layout, num_codes=len(self))
        return codes_at(self.network, self.points)

    @cached_property
    def forward(self) -> RoundedForward:
        """The outputs, bounds on their rounding, and whether rounding could change codes, in one pass."""
        if "_passed" not in vars(self):
            return rounded_forward(self.network, self.points, tolerance=self.tolerance)
        stages = self.network.stages
        doubts = [
            in_doubt(stage.gate, gate.preactivations, gate.errors).cpu().numpy()
            for stage, gate in zip(stages, self.gates, strict=True)
        ]
        doubtful = np.stack(doubts, axis=1) if doubts else np.zeros((len(self), 0), dtype=bool)
        outputs, errors = (part.reshape(len(self), -1).cpu().numpy() for part in self._passed[1])
        return RoundedForward(outputs, errors, doubtful)

    @property
    def outputs(self) -> Float[np.ndarray, "s m"]:
        """The flattened outputs."""
        return self.forward.outputs

    @property
    def errors(self) -> Float[np.ndarray, "s m"]:
        """Bounds on the rounding of the outputs."""
        return self.forward.errors

    @property
    def is_in_doubt(self) -> Bool[np.ndarray, " s"]:
        """Whether rounding decides the piece of some unit."""
        return np.asarray(self.forward.doubtful.any(axis=1))

    @cached_property
    def status(self) -> tuple[PointStatus, ...]:
        """Status of each point: how certain its code is."""
        is_tied = np.zeros(len(self), dtype=bool)
        for rows, part in self.blocks(bytes_of_gates(self.network)):
            for stage, gate in zip(self.network.stages, part.gates, strict=True):
                is_tied[rows] |= _is_on_breakpoint(stage.gate, gate).cpu().numpy()
        names = np.where(self.is_in_doubt, "IN_DOUBT", np.where(is_tied, "TIED", "CERTAIN"))
        return tuple(PointStatus[name] for name in names)

    @property
    def gates(self) -> tuple[GateValues, ...]:
        """Pieces and pre-activations of every gate, with bounds on rounding: as many numbers as units, per point."""
        return self._passed[0]

    def with_gates(self) -> "Evaluation":
        """Return the same evaluation with its `gates` computed, so that all its blocks share them."""
        assert len(self.gates) == len(self.network.stages)
        return self

    @cached_property
    @torch.no_grad()
    def _passed(self) -> tuple[tuple[GateValues, ...], Rounded]:
        carrier = RoundedNumbers(self.tolerance.unit)
        *arrived, output = carry(self.network, carrier, Rounded.exactly(self.points))
        stages = self.network.stages
        gates = (GateValues(stage.gate.pieces(seen.value), *seen) for stage, seen in zip(stages, arrived, strict=True))
        return tuple(gates), output

    @property
    def pieces(self) -> list[Tensor]:
        """The piece of every unit, one tensor ``(s, u)`` per gate: from `gates` if they are known, else from codes."""
        if "_passed" in vars(self):
            return [gate.pieces for gate in self.gates]
        device = self.network.device
        return [torch.as_tensor(np.ascontiguousarray(table), device=device) for table in pieces_of(self.codes)]

    @cached_property
    def maps(self) -> AffineMaps:
        """The affine map of the network on the region of each point."""
        if "_tables" in vars(self):
            return self._tables.maps
        return linearize(self.network, self.points, None, BUDGET, self.pieces)

    @property
    def half_spaces(self) -> tuple[Rows, ...]:
        """Where each unit would leave its piece, one table for each gate: as many numbers as units times inputs."""
        return self._tables.rows

    def forget_half_spaces(self) -> None:
        """Keep the maps, and let go of the tables of `half_spaces`, which may be gigabytes."""
        assert self.maps is not None
        vars(self).pop("_tables", None)

    @cached_property
    def map_errors(self) -> Float[np.ndarray, "s m"]:
        """Bounds on the rounding of the maps' weights: on the sum of the errors of each row's entries.

        Two forward passes. A row's entries together are at most the sum over all paths from the inputs of the absolute
        products of weights, and their errors are followed through the network beside it.
        """
        found = np.empty((len(self), self.network.num_outputs))
        for rows, pieces in self._pieces_by_blocks():
            number = rows.stop - rows.start
            _, errors = gradient_errors(self.network, pieces, [None] * len(pieces), number, self.tolerance.unit)
            found[rows] = errors.cpu().numpy()
        return found

    @cached_property
    @torch.no_grad()
    def constant_errors(self) -> Float[np.ndarray, "s m"]:
        """Bounds on the rounding of the maps' constants: two forward passes."""
        found = np.empty((len(self), self.network.num_outputs))
        for rows, pieces in self._pieces_by_blocks():
            origin = Rounded.exactly(torch.zeros_like(self.points[rows]))
            errors = carry_to_output(self.network, HeldRoundedNumbers(self.tolerance.unit, pieces), origin).error
            found[rows] = errors.reshape(len(origin.value), -1).cpu().numpy()
        return found

    def _pieces_by_blocks(self) -> Iterator[tuple[slice, list[Tensor]]]:
        """Yield the pieces of the units at blocks of points through which a pass with errors fits the memory."""
        for rows, part in self.blocks(4 * self.network.bytes_per_point):
            yield rows, part.pieces

    @cached_property
    @torch.no_grad()
    def _tables(self) -> _HalfSpaces:
        network, number, pieces = self.network, len(self), [gate.pieces for gate in self.gates]
        num_rows = sum(_num_rows(stage.gate) for stage in network.stages)
        need(
            COPIES * 8 * number * num_rows * network.num_inputs,
            f"{num_rows:,} half-spaces in {network.num_inputs:,} inputs",
            "ask on a Plane or a Segment, or about fewer inputs",
        )
        *constants, bias = carry(network, HeldNumbers(pieces), torch.zeros_like(self.points))
        weights, last = all_weights(network, pieces, number)
        of_gradients = GradientMagnitudes(self.tolerance.unit)
        start = gradients_of_inputs(number, network.input_shape, network.device)
        rounding, rows = carry(network, of_gradients, start), []
        for stage, gate, weight, constant in zip(network.stages, self.gates, weights, constants, strict=True):
            error = next(rounding).error
            of_gradients.hold(gate.pieces, torch.from_numpy(largest_entries(weight, -1)).to(network.device))
            step_point()
            rows.append(
                rows_of_own(
                    stage.gate,
                    stage.index,
                    pieces=gate.pieces.cpu().numpy(),
                    pre=gate.preactivations.cpu().numpy(),
                    maps=(weight, constant.cpu().numpy()),
                    noise=gate.errors.cpu().numpy(),
                    map_noise=error.cpu().numpy(),
                )
            )
        maps = AffineMaps(last.to(network.device), bias.reshape(number, -1).contiguous())
        return _HalfSpaces(tuple(rows), maps)


def _num_rows(gate: GateNode) -> int:
    """Return how many half-spaces a gate gives a region at most."""
    if isinstance(gate, TopK):
        return gate.num_rows
    if isinstance(gate, Max):
        return gate.num_units * (gate.index.shape[1] - 1)
    return gate.num_units * min(2, gate.num_pieces - 1)


@torch.no_grad()
def held_to(evaluation: Evaluation, pieces: Sequence[Tensor]) -> Evaluation:
    """Return the evaluation of the same points with every unit held to a piece ``(s, u)``, one table per gate."""
    carrier = HeldRoundedNumbers(evaluation.tolerance.unit, pieces)
    *arrived, output = carry(evaluation.network, carrier, Rounded.exactly(evaluation.points))
    held = Evaluation(evaluation.network, evaluation.points, evaluation.tolerance)
    gates = tuple(GateValues(which, *seen) for which, seen in zip(pieces, arrived, strict=True))
    vars(held)["_passed"] = gates, output
    return held


def bytes_of_gates(network: "Network") -> int:
    """Return the memory that `Evaluation.gates` take at one point."""
    gates = [stage.gate for stage in network.stages]
    candidates = sum(gate.index.numel() if isinstance(gate, Max) else gate.num_units for gate in gates)
    return 3 * 8 * candidates + 4 * network.bytes_per_point


def _is_on_breakpoint(gate: object, values: GateValues) -> Tensor:
    """Return whether some unit of a gate is on a breakpoint, or ties, in float64."""
    pre = values.preactivations
    if isinstance(gate, Max):
        return ((pre == pre.amax(-1, keepdim=True)).sum(-1) > 1).any(1)
    return reaches_breakpoint(gate, pre, torch.zeros_like(pre)).any(1)  # pyright: ignore[reportArgumentType]
