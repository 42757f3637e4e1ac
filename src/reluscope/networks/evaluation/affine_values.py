"""The values of a network as affine functions on cells, gate by gate, with bounds on the errors of their coefficients.

On a cell where the pieces of all gates so far are known, every value is affine in the input: a coefficient for every
input and a constant, as `RoundedMaps` carries them. From one gate to the next through a matrix of moderate size, cells
that are parts of one cell share most of their sums, which a kernel makes use of.
"""

import numpy as np
import torch

from reluscope import _kernels
from reluscope.kernel_threads import kernel_threads
from reluscope.needed_memory import need_at_once
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.passes.maps import AffineValue, RoundedMaps
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.stages import Stage

AffineValues = dict[int, AffineValue]
# Entries of a matrix up to which shared sums are faster than a product for each cell, and a call is short.
MAX_SHARED = 2**15
# Entries of all results from which threads pay.
THREADED_WORK = 2**15


def affine_input(network: NetworkGraph, num_cells: int, scale: float = 1.0) -> AffineValues:
    """Return the input as an affine function of coordinates in units of ``scale``, on each of some cells."""
    n = network.num_inputs
    need_at_once(
        2 * 8 * num_cells * (n + 1) * max(node.size for node in network.nodes),
        f"values of all units as functions of {n:,} inputs",
        "ask on a Plane or a Segment, or about fewer inputs",
    )
    basis = scale * torch.eye(n + 1, n, dtype=torch.float64, device=network.device).reshape(n + 1, *network.input_shape)
    coefficients = basis.expand(num_cells, *basis.shape)
    return {0: AffineValue(coefficients, torch.zeros_like(coefficients))}


def advance_affinely(stage: Stage, values: AffineValues, gamma: float) -> tuple[np.ndarray, np.ndarray, AffineValues]:
    """Return pre-activations, their errors and live values, from the affine nodes up to a pointwise gate.

    Maps and errors are (c, u, n + 1): coefficients and bounds on their errors. Live values are what later stages read,
    and the gate's input under its position.
    """
    carrier = RoundedMaps(gamma, has_constant=True)
    values = stage.leg.carry(carrier, values)
    target = values[stage.leg.target]
    maps, errors = (part.transpose(1, 2).cpu().numpy() for part in carrier.arrive(stage, target))
    return maps, errors, {position: values[position] for position in stage.keeps} | {stage.position: target}


def close_affinely(stage: Stage, values: AffineValues, pieces: np.ndarray, gamma: float) -> AffineValues:
    """Apply a gate whose units use the given pieces (c, u), or take the given candidates."""
    if isinstance(stage.gate, Max):
        return {**values, stage.position: _chosen(stage.gate, values[stage.position], pieces)}
    carrier = RoundedMaps(gamma, has_constant=True)
    value = values[stage.position]
    carrier.hold(torch.from_numpy(pieces.astype(np.int64)).to(value.coefficients.device))
    return {**values, stage.position: carrier.leave(stage, carrier.arrive(stage, value))}


def _chosen(gate: Max, value: AffineValue, pieces: np.ndarray) -> AffineValue:
    """Return the output of a max gate whose units take the given candidates (c, u)."""
    source = gate.source(torch.from_numpy(pieces.astype(np.int64)).to(value.coefficients.device))
    cells, width = value.coefficients.shape[:2]
    source = source[:, None].expand(cells, width, -1)

    def pick(part: torch.Tensor) -> torch.Tensor:
        return part.reshape(cells, width, -1).gather(2, source).reshape(cells, width, *gate.shape)

    return AffineValue(pick(value.coefficients), pick(value.errors))


def pass_affinely(
    network: NetworkGraph, index: int, values: AffineValues, cell_of: np.ndarray, pieces: np.ndarray, gamma: float
) -> tuple[np.ndarray, np.ndarray, AffineValues]:
    """Apply the pointwise gate before a stage's, and run the affine nodes up to its own.

    Returns what `advance_affinely` returns. Not for the first stage. ``values`` are those of the stage before, on cells
    of which ``cell_of`` says the one that each new cell lies in.
    """
    before, stage = network.stages[index - 1], network.stages[index]
    matrix = _matrix_between(network, index)
    if matrix is None:
        rows = torch.from_numpy(cell_of)
        taken = {position: value.take(rows.to(value.coefficients.device)) for position, value in values.items()}
        return advance_affinely(stage, close_affinely(before, taken, pieces, gamma), gamma)
    assert isinstance(before.gate, Pointwise)
    num_units = before.gate.num_units
    slopes, intercepts = (
        np.ascontiguousarray(np.broadcast_to(table.numpy(), (len(table), num_units)))
        for table in (before.gate.slopes, before.gate.intercepts)
    )
    constants = np.zeros(len(matrix.weight)) if matrix.bias is None else matrix.bias.numpy()
    arrived = values[before.position]
    maps, errors = _kernels.maps_behind(
        *(np.ascontiguousarray(part.flatten(2).transpose(1, 2).numpy()) for part in arrived),
        cell_of=cell_of,
        pieces=pieces,
        slopes=slopes,
        intercepts=intercepts,
        weights=np.ascontiguousarray(matrix.weight.T.numpy()),
        constants=np.ascontiguousarray(constants),
        rounding=gamma,
        num_threads=kernel_threads(len(pieces) * matrix.weight.numel(), THREADED_WORK),
    )
    parts = (torch.from_numpy(part).transpose(1, 2) for part in (maps, errors))
    return maps, errors, {stage.position: AffineValue(*parts)}


def _matrix_between(network: NetworkGraph, index: int) -> Linear | None:
    """Return the matrix that alone leads from one gate to the next, if it is of moderate size."""
    before, stage = network.stages[index - 1], network.stages[index]
    if stage.keeps or stage.reads != (before.position,) or len(stage.leg.plan) != 1:
        return None
    node = stage.leg.plan[0][1]
    if not isinstance(node, Linear) or len(node.shape) != 1 or len(node.input_shapes[0]) != 1:
        return None
    return node if node.weight.numel() <= MAX_SHARED and node.weight.device.type == "cpu" else None
