"""Exact affine maps of a network on the region of each point.

With every unit held to its piece the network is affine, ``f(z) = W z + b``. The constant b is its value at zero, so no
``f(x) - W x`` cancels; W is carried forward from the inputs or backward from the outputs, whichever are fewer.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.networks.choices import read_outputs
from reluscope.networks.graph import GateNode, Max
from reluscope.networks.maps import AffineMaps
from reluscope.networks.points import Points, chunks
from reluscope.networks.stages import Values

if TYPE_CHECKING:
    from reluscope.networks.network import Network

Pieces = list[Tensor]

# Values of points on one node, and the size of that node, from which outputs are carried back one after the other.
LARGE_NODE, LARGE_VALUES = 512, 2**17
# Bytes of a chunk of points then: larger ones leave the processor's caches, and allocations come to dominate.
CLOSE_BUDGET = 32 * 2**20


@torch.no_grad()
def linearize(network: "Network", x: Points, outputs: Sequence[int] | None, budget: int) -> AffineMaps:
    """Return the affine map of every point's region, for all outputs or some; see ``Network.linearize``."""
    x = network.points(x)
    wanted = list(read_outputs(outputs, network.num_outputs))
    forward = network.num_inputs <= len(wanted)
    weight = x.new_empty(len(x), len(wanted), network.num_inputs)
    bias = x.new_empty(len(x), len(wanted))
    columns = network.num_inputs if forward else len(wanted)
    if forward:
        per_column = network.bytes_per_point
        for rows in chunks(len(x), min(columns, 64) * per_column, budget):
            pieces = point_pieces(network, x[rows])
            bias[rows] = _at_zero(network, pieces, x[rows])[:, wanted]
            for part in chunks(columns, (rows.stop - rows.start) * per_column, budget):
                weight[rows, :, part] = _forward(network, pieces, part)[..., wanted].mT
        return AffineMaps(weight, bias)
    # Backward, autograd keeps what every node needs, on top of the cotangents.
    per_column = network.bytes_per_point + 8 * network.num_inputs
    tape = 8 * sum(node.size for node in network.nodes)
    one_by_one = _one_by_one(network, len(x))
    each, limit = (
        (tape + 2 * per_column, CLOSE_BUDGET) if one_by_one else (tape + min(columns, 64) * per_column, budget)
    )
    for rows in chunks(len(x), each, min(limit, budget)):
        pieces = point_pieces(network, x[rows])
        together = 1 if one_by_one else max(1, budget // ((rows.stop - rows.start) * per_column))
        weight[rows], bias[rows] = _backward(network, pieces, x[rows], wanted, together)
    return AffineMaps(weight, bias)


def _one_by_one(network: "Network", num_points: int) -> bool:
    """Whether outputs are carried back one after the other: where one of them keeps the processor busy.

    Together they share the overhead of a call, but convolutions and gathers take longer, twice as long as one by one.
    """
    largest = max(node.size for node in network.nodes)
    return largest >= LARGE_NODE and num_points * largest >= LARGE_VALUES


def unit_maps(network: "Network", x: Points, inputs: slice | None = None) -> list[tuple[Tensor, Tensor]]:
    """Return the pre-activations of every gate as affine maps of the input; see ``Network.unit_maps``.

    With ``inputs``, weights have the columns of these inputs only: what is summed over inputs needs no full table.
    """
    return list(each_unit_maps(network, x, inputs))


@torch.no_grad()
def each_unit_maps(network: "Network", x: Points, inputs: slice | None = None) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield what `unit_maps` returns gate by gate, so that no more than one gate's table need be in memory."""
    x = network.points(x)
    columns = slice(0, network.num_inputs) if inputs is None else inputs
    pieces = point_pieces(network, x)
    constants = [pre for pre, _ in run_fixed(network, pieces, torch.zeros_like(x))[0]]
    weights = _tangents(network, pieces, columns)
    for stage, constant in zip(network.stages, constants, strict=True):
        yield _weight(stage.gate, next(weights), len(x)), constant


@torch.no_grad()
def maps_of_pieces(
    network: "Network", pieces: Pieces, origin: Float[Tensor, "s ..."], inputs: slice
) -> tuple[list[tuple[Tensor, Tensor]], tuple[Tensor, Tensor]]:
    """Return pre-activations and outputs as affine maps when every unit is held to a piece, whether a point has it.

    Parameters
    ----------
    network : Network
    pieces : list of (s, u) tensors
        One per gate.
    origin : (s, *input_shape) tensor
        Where the constants are taken: ``value(y) = weight (y - origin) + constant``.
    inputs : slice
        Which columns the weights have.

    Returns
    -------
    list of (weight, constant)
        One per gate; see ``Network.unit_maps``.
    (weight, constant)
        ``(s, m, n)`` and ``(s, m)``, of the flattened outputs.
    """
    number = len(origin)
    passed, values = run_fixed(network, pieces, origin)
    *weights, last = _tangents(network, pieces, inputs)
    maps = [
        (_weight(stage.gate, weight, number), constant)
        for stage, weight, (constant, _) in zip(network.stages, weights, passed, strict=True)
    ]
    outputs = network.finish(values).reshape(number, -1)
    return maps, (last.expand(number, *last.shape[1:]).mT, outputs)


def _weight(gate: GateNode, tangents: Tensor, number: int) -> Tensor:
    """Return derivatives by columns of one gate as weights by units, zero at padding."""
    weight = tangents.movedim(1, -1).expand(number, *tangents.shape[2:], tangents.shape[1])
    if isinstance(gate, Max) and gate.padding is not None:
        weight = weight.masked_fill(gate.padding.unsqueeze(-1), 0.0)
    return weight


@torch.no_grad()
def pull_back(network: "Network", x: Points, gate: int, cotangents: Float[Tensor, "r ..."]) -> Float[Tensor, "r n"]:
    """Return combinations of the gradients of one gate's pre-activations at one point.

    Parameters
    ----------
    network : Network
    x : (1, *input_shape) or (n,)
    gate : int
        Position among the gates.
    cotangents : (r, u) tensor, or (r, u, k) for max gates
        Coefficients of each combination; zero at padding.

    Returns
    -------
    (r, n) tensor
        ``cotangents @ weight`` with the weight of `unit_maps`, of which no table is made: each combination is carried
        backward to the inputs.
    """
    x = network.points(x)
    pieces = point_pieces(network, x)
    with torch.enable_grad():
        zero = torch.zeros_like(x).requires_grad_()
        values = network.start(zero)
        for stage, piece in zip(network.stages[:gate], pieces, strict=False):
            pre, live = stage.advance(values)
            values = {**live, stage.position: stage.gate.select(pre, piece)}
        pre, _ = network.stages[gate].advance(values)
        if not pre.requires_grad:
            return x.new_zeros(len(cotangents), network.num_inputs)
        (gradient,) = torch.autograd.grad(
            pre, zero, cotangents.unsqueeze(1), is_grads_batched=True, materialize_grads=True
        )
    return gradient.flatten(1)


def point_pieces(network: "Network", x: Float[Tensor, "s ..."]) -> Pieces:
    """Return the piece of every unit at points, one tensor ``(s, u)`` per gate."""
    values = network.start(x)
    pieces = []
    for stage in network.stages:
        pre, live = stage.advance(values)
        pieces.append(stage.gate.pieces(pre))
        values = stage.close(live, pre)
    return pieces


def run_fixed(network: "Network", pieces: Pieces, x: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Values]:
    """Evaluate with every unit held to its piece; return (pre-activations, output) per gate, and the last values."""
    values = network.start(x)
    passed = []
    for stage, piece in zip(network.stages, pieces, strict=True):
        pre, live = stage.advance(values)
        output = stage.gate.select(pre, piece)
        values = {**live, stage.position: output}
        passed.append((pre, output))
    return passed, values


def _at_zero(network: "Network", pieces: Pieces, x: Tensor) -> Tensor:
    _, values = run_fixed(network, pieces, torch.zeros_like(x))
    return network.finish(values).reshape(len(x), -1)


def _forward(network: "Network", pieces: Pieces, part: slice) -> Tensor:
    """Return ``(s, columns, m)``: how all outputs answer to some inputs."""
    size = len(pieces[0]) if pieces else 1
    (last,) = deque(_tangents(network, pieces, part), maxlen=1)
    return last.expand(size, *last.shape[1:])


@torch.no_grad()
def _tangents(network: "Network", pieces: Pieces, part: slice) -> Iterator[Tensor]:
    """Carry some columns of the identity forward.

    Yields
    ------
    ``(s or 1, columns, u)`` or ``(s or 1, columns, u, k)`` tensors, last an ``(s or 1, columns, m)`` tensor
        Derivatives of the pre-activations and of the outputs. Before the first gate all points share them.
    """
    columns = part.stop - part.start
    identity = torch.zeros(columns, network.num_inputs, dtype=torch.float64, device=network.device)
    identity[torch.arange(columns), torch.arange(part.start, part.stop)] = 1.0
    values: Values = {0: identity.reshape(1, columns, *network.input_shape)}
    for stage, piece in zip(network.stages, pieces, strict=True):
        values = run_linear(stage.leg.plan, values)
        gate, tangent = stage.gate, values[stage.leg.target]
        flat = tangent.flatten(2) if tangent.ndim > 2 else tangent.unsqueeze(-1)
        if isinstance(gate, Max):
            yield flat[:, :, gate.index.clamp_min(0)]
            source = gate.source(piece).unsqueeze(1).expand(-1, columns, -1)
            output = flat.expand(len(piece), -1, -1).gather(-1, source)
        else:
            yield flat
            output = gate.slope(piece).unsqueeze(1) * flat
        values = {position: values[position] for position in stage.keeps}
        values[stage.position] = output.reshape(len(piece), columns, *gate.shape)
    last = run_linear(network.finish.leg.plan, values)[network.finish.leg.target]
    yield last.flatten(2) if last.ndim > 2 else last.unsqueeze(-1)


def run_linear(plan: Sequence, values: Values) -> Values:
    """Run the linear parts of affine nodes on values ``(s or 1, columns, *shape)``."""
    values = dict(values)
    for position, node in plan:
        arguments = [values[source] for source in node.inputs]
        count = max(len(argument) for argument in arguments)
        arguments = [argument.expand(count, *argument.shape[1:]) for argument in arguments]
        result = node.linear(*(argument.flatten(0, 1) for argument in arguments))
        values[position] = result.reshape(count, -1, *node.shape)
    return values


def _backward(network: "Network", pieces: Pieces, x: Tensor, wanted: list[int], together: int) -> tuple[Tensor, Tensor]:
    """Return ``(s, outputs, n)`` and ``(s, outputs)``: derivatives and values at zero, of all points at once.

    So many outputs are carried back in one call.
    """
    result = x.new_empty(len(x), len(wanted), network.num_inputs)
    with torch.enable_grad():
        zero = torch.zeros_like(x).requires_grad_()
        _, values = run_fixed(network, pieces, zero)
        output = network.finish(values).reshape(len(x), -1)
        constant = output.detach()[:, wanted]
        if not output.requires_grad:
            return result.zero_(), constant
        for start in range(0, len(wanted), together):
            rows = wanted[start : start + together]
            cotangents = output.new_zeros(len(rows), len(x), output.shape[1])
            cotangents[torch.arange(len(rows)), :, rows] = 1.0
            (gradient,) = torch.autograd.grad(
                output,
                zero,
                cotangents[0] if together == 1 else cotangents,
                retain_graph=True,
                is_grads_batched=together > 1,
                materialize_grads=True,
            )
            result[:, start : start + together] = gradient.reshape(len(rows), len(x), -1).movedim(0, 1)
    return result, constant
