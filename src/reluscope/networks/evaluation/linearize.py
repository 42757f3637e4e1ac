"""Exact affine maps of a network on the region of each point.

With every unit held to its piece the network is affine, ``f(z) = W z + b``. The constant b is its value at zero, so no
``f(x) - W x`` cancels; W is carried forward from the inputs or backward from the outputs, whichever are fewer.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import accumulate, islice, pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.interruption import step_point
from reluscope.needed_memory import need_at_once
from reluscope.networks.evaluation.backward import Recording
from reluscope.networks.evaluation.choices import read_outputs
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import GateNode
from reluscope.networks.graph.points import Points, chunks, steps
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.maps import Derivatives, candidates_of, flat_entries
from reluscope.networks.passes.numbers import NUMBERS, HeldNumbers
from reluscope.networks.passes.stages import Stage
from reluscope.single_threaded import one_thread

if TYPE_CHECKING:
    from reluscope.networks.passes.network_graph import NetworkGraph

Pieces = list[Tensor]

# Values of points on one node, and the size of that node, from which outputs are carried back one after the other.
LARGE_NODE, LARGE_VALUES = 512, 2**17
# Bytes of a chunk of points then: larger ones leave the processor's caches, and allocations come to dominate.
CLOSE_BUDGET = 32 * 2**20
# Bytes of all values up to which a second thread costs more than it saves: much more where it has to wait for a core.
FEW_BYTES = 2**20
# Bytes of memory that are made at once.
PAGE = 4096


@torch.no_grad()
def linearize(
    network: "NetworkGraph", x: Points, outputs: Sequence[int] | None, memory: int, pieces: Pieces | None = None
) -> AffineMaps:
    """Return the affine map of every point's region, for all outputs or some; see ``Network.linearize``.

    With ``pieces``, one tensor ``(s, u)`` per gate, those are held to; else they are those of the points.
    """
    x = network.points(x)
    columns = min(network.num_inputs, network.num_outputs if outputs is None else len(outputs))
    is_small = len(x) * columns * network.bytes_per_point <= FEW_BYTES
    with one_thread() if is_small else nullcontext():
        return _linearize(network, x, outputs, memory, pieces)


def _linearize(
    network: "NetworkGraph", x: Tensor, outputs: Sequence[int] | None, memory: int, pieces: Pieces | None
) -> AffineMaps:
    """Carry the inputs forward, or the outputs backward, whichever are fewer."""

    def pieces_at(rows: slice) -> Pieces:
        return point_pieces(network, x[rows]) if pieces is None else [table[rows] for table in pieces]

    wanted = list(read_outputs(outputs, network.num_outputs))
    need_at_once(
        8 * len(wanted) * network.num_inputs,
        f"the map of a point, of {len(wanted):,} outputs and {network.num_inputs:,} inputs,",
        "ask for fewer outputs",
    )
    forward = network.num_inputs <= len(wanted)
    weight = x.new_empty(len(x), len(wanted), network.num_inputs)
    bias = x.new_empty(len(x), len(wanted))
    columns = network.num_inputs if forward else len(wanted)
    if forward:
        per_column = network.bytes_per_point
        for rows in chunks(len(x), min(columns, 64) * per_column, memory):
            held = pieces_at(rows)
            bias[rows] = _at_zero(network, held, x[rows])[:, wanted]
            for part in chunks(columns, (rows.stop - rows.start) * per_column, memory):
                weight[rows, :, part] = _forward(network, held, part)[..., wanted].mT
        return AffineMaps(weight, bias)
    # Backward, autograd keeps what every node needs, on top of the cotangents.
    per_column = network.bytes_per_point + 8 * network.num_inputs
    tape = 8 * sum(node.size for node in network.nodes)
    one_by_one = _one_by_one(network, len(x))
    each, limit = (
        (tape + 2 * per_column, CLOSE_BUDGET) if one_by_one else (tape + min(columns, 64) * per_column, memory)
    )
    for rows in chunks(len(x), each, min(limit, memory)):
        together = 1 if one_by_one else max(1, memory // ((rows.stop - rows.start) * per_column))
        weight[rows], bias[rows] = _backward(network, pieces_at(rows), x[rows], wanted, together)
    return AffineMaps(weight, bias)


def _one_by_one(network: "NetworkGraph", num_points: int) -> bool:
    """Whether outputs are carried back one after the other: where one of them keeps the processor busy.

    Together they share the overhead of a call, but convolutions and gathers take longer, twice as long as one by one.
    """
    largest = max(node.size for node in network.nodes)
    return largest >= LARGE_NODE and num_points * largest >= LARGE_VALUES


def unit_maps(network: "NetworkGraph", x: Points) -> list[tuple[Tensor, Tensor]]:
    """Return the pre-activations of every gate as affine maps of the input; see ``Network.unit_maps``."""
    return list(each_unit_maps(network, x))


@torch.no_grad()
def each_unit_maps(network: "NetworkGraph", x: Points) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield what `unit_maps` returns gate by gate, so that no more than one gate's table need be in memory."""
    x = network.points(x)
    pieces = point_pieces(network, x)
    constants = gate_values(network, HeldNumbers(pieces), torch.zeros_like(x))
    derivatives = carry(network, Derivatives(pieces), identity(network, slice(0, network.num_inputs)))
    for stage, constant in zip(network.stages, constants, strict=True):
        yield weight_of_units(stage.gate, next(derivatives), len(x)), constant


@torch.no_grad()
def maps_of_pieces(
    network: "NetworkGraph", pieces: Pieces, origin: Float[Tensor, "s ..."], inputs: slice
) -> tuple[list[tuple[Tensor, Tensor]], tuple[Tensor, Tensor]]:
    """Return pre-activations and outputs as affine maps with every unit held to a piece.

    Whether a point has these pieces is not asked. ``value(y) = weight (y - origin) + constant``. Weights have the
    columns ``inputs``.
    """
    number = len(origin)
    *constants, outputs = carry(network, HeldNumbers(pieces), origin)
    *weights, last = carry(network, Derivatives(pieces), identity(network, inputs))
    maps = [
        (weight_of_units(stage.gate, weight, number), constant)
        for stage, weight, constant in zip(network.stages, weights, constants, strict=True)
    ]
    return maps, (flat_entries(last).expand(number, -1, -1).mT, outputs.reshape(number, -1))


@torch.no_grad()
def all_weights(
    network: "NetworkGraph", pieces: Pieces, number: int
) -> tuple[list[Float[np.ndarray, "s *u n"]], Float[Tensor, "s m n"]]:
    """Return derivatives of what all units see, ``(s, u, n)`` or ``(s, u, k, n)``, and of the outputs, ``(s, m, n)``.

    Row after row, on the CPU. Some inputs at a time: of large networks the rest of the work is small beside the result.
    Tables of one point follow each other in memory, so that they can become one without a copy.
    """
    gates = [stage.gate for stage in network.stages]
    shapes = [tuple(gate.index.shape) if isinstance(gate, Max) else (gate.num_units,) for gate in gates]
    last = torch.empty(number, network.num_outputs, network.num_inputs, dtype=torch.float64)
    ends = list(accumulate((number * prod(shape) for shape in shapes), initial=0))
    every = np.empty((ends[-1], network.num_inputs))
    tables = [
        every[start:end].reshape(number, *shape, network.num_inputs)
        for (start, end), shape in zip(pairwise(ends), shapes, strict=True)
    ]
    for inputs in chunks(network.num_inputs, number * network.bytes_per_point, CLOSE_BUDGET):
        walk = carry(network, Derivatives(pieces), identity(network, inputs))
        for gate, table in zip(gates, tables, strict=True):
            weights = weight_of_units(gate, next(walk), number).numpy(force=True)
            # The first columns touch every page of the table, which takes seconds for gigabytes; pages may be large.
            touched = PAGE if inputs.start else 8 * network.num_inputs
            for units in steps(table.shape[1], touched * number * prod(table.shape[2:-1]), CLOSE_BUDGET):
                table[:, units, ..., inputs] = weights[:, units]
        last[..., inputs] = flat_entries(next(walk)).expand(number, -1, -1).mT
    return tables, last


def weight_of_units(gate: GateNode, derivatives: Tensor, number: int) -> Tensor:
    """Return derivatives ``(s or 1, c, size)`` of what a gate sees as weights ``(s, u, c)`` or ``(s, u, k, c)``.

    They are zero at padding.
    """
    seen = candidates_of(gate, derivatives)
    weight = seen.movedim(1, -1).expand(number, *seen.shape[2:], seen.shape[1])
    if isinstance(gate, Max) and gate.padding is not None:
        weight = weight.masked_fill(gate.padding.unsqueeze(-1), 0.0)
    return weight


@torch.no_grad()
def pull_back(
    network: "NetworkGraph", x: Points, gate: int, cotangents: Float[Tensor, "r ..."]
) -> Float[Tensor, "r n"]:
    """Return combinations of the gradients of one gate's pre-activations at one point.

    That is ``cotangents @ weight`` with the weight of `unit_maps`, without a table of it: each combination is carried
    back to the inputs. Cotangents have to be zero at padding.
    """
    x = network.points(x)
    recording = Recording(network, torch.zeros_like(x), HeldNumbers(point_pieces(network, x)))
    seen = next(islice(recording.values(), gate, None))
    return recording.pull_back(seen, cotangents.unsqueeze(1)).squeeze(1)


def point_pieces(network: "NetworkGraph", x: Float[Tensor, "s ..."]) -> Pieces:
    """Return the piece of every unit at points, one tensor ``(s, u)`` per gate."""
    return [stage.gate.pieces(pre) for stage, pre in gate_values_in_turn(network, NUMBERS, x)]


def gate_values_in_turn(network: "NetworkGraph", carrier: Any, start: Any) -> Iterator[tuple[Stage, Any]]:
    """Yield stages and what arrives at their gates, without the way from the last one to the output."""
    return zip(network.stages, carry(network, carrier, start), strict=False)


def gate_values(network: "NetworkGraph", carrier: Any, start: Any) -> list[Any]:
    """Return what arrives at the gates; see `gate_values_in_turn`."""
    return [arrived for _, arrived in gate_values_in_turn(network, carrier, start)]


def identity(network: "NetworkGraph", inputs: slice) -> Tensor:
    """Return the derivatives ``(1, c, *input_shape)`` of the inputs by some of them, from which `Derivatives` start."""
    columns = inputs.stop - inputs.start
    ones = torch.zeros(columns, network.num_inputs, dtype=torch.float64, device=network.device)
    ones[torch.arange(columns), torch.arange(inputs.start, inputs.stop)] = 1.0
    return ones.reshape(1, columns, *network.input_shape)


def _at_zero(network: "NetworkGraph", pieces: Pieces, x: Tensor) -> Tensor:
    return carry_to_output(network, HeldNumbers(pieces), torch.zeros_like(x)).reshape(len(x), -1)


def _forward(network: "NetworkGraph", pieces: Pieces, part: slice) -> Tensor:
    """Return ``(s, columns, m)``: how all outputs answer to some inputs."""
    size = len(pieces[0]) if pieces else 1
    last = flat_entries(carry_to_output(network, Derivatives(pieces), identity(network, part)))
    return last.expand(size, *last.shape[1:])


def _backward(
    network: "NetworkGraph", pieces: Pieces, x: Tensor, wanted: list[int], together: int
) -> tuple[Tensor, Tensor]:
    """Return ``(s, outputs, n)`` and ``(s, outputs)``: derivatives and values at zero, of all points at once.

    So many outputs are carried back in one call.
    """
    result = x.new_empty(len(x), len(wanted), network.num_inputs)
    recording = Recording(network, torch.zeros_like(x), HeldNumbers(pieces))
    output = deque(recording.values(), maxlen=1)[0]
    for start in range(0, len(wanted), together):
        step_point()
        rows = wanted[start : start + together]
        cotangents = output.new_zeros(len(rows), len(x), network.num_outputs)
        cotangents[torch.arange(len(rows)), :, rows] = 1.0
        is_last = start + together >= len(wanted)
        gradients = recording.pull_back(output, cotangents.reshape(len(rows), *output.shape), is_last=is_last)
        result[:, start : start + together] = gradients.movedim(0, 1)
    return result, output.detach().reshape(len(x), -1)[:, wanted]
