"""Jacobians of all prefixes of a network on the region of one point, carried forward together.

The n columns of the identity run through the affine nodes and, held to the pieces of the point, through the gates.
Beside them goes a running error analysis in one row: a row of J of length r, known up to e, gives ``gamma |W| r`` and
``sqrt(W^2 e^2)`` after an affine node, where errors of different roundings add up as independent ones do (as in
`reluscope.networks.stages`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from reluscope.analyses.stability.layers import is_step
from reluscope.networks.carriers.maps import Derivatives
from reluscope.networks.graph import GateNode, Pointwise
from reluscope.networks.linearize import Pieces
from reluscope.networks.network import Network
from reluscope.networks.points import chunks
from reluscope.networks.rounding import affine_error
from reluscope.networks.stages import Finish, Stage, Values

CHUNK_BYTES = 64 * 2**20
# A convolution unfolds its input before it multiplies: about as many copies as its kernel has places.
COPIES = 12


@dataclass(frozen=True, eq=False)
class Step:
    """The Jacobian before a gate, and how the gate scales its rows; or that of one layer alone.

    Parameters
    ----------
    before, after : int or None
        Positions among the layers of the value in ``columns``, and of the gate's output.
    columns : (n, *shape) tensor
        Derivatives by each input. Overwritten when the next step is asked for.
    scale : (m,) tensor or None
        Absolute slope of each unit; None without ``after``.
    errors : (float, float)
        Bounds on the Frobenius norm of the rounding in both Jacobians.
    """

    before: int | None
    after: int | None
    columns: Tensor
    scale: Tensor | None
    errors: tuple[float, float]


@torch.no_grad()
def carried(network: Network, pieces: Pieces, *, gamma: float) -> Iterator[Step]:
    """Carry the identity forward.

    Parameters
    ----------
    network : Network
    pieces : list of (1, u) tensors
        See `reluscope.networks.linearize.point_pieces`.
    gamma : float
        Rounding of a sum, relative to the sum of its absolute terms.

    Yields
    ------
    Step
        Layer after layer.

    Notes
    -----
    Costs n evaluations; the tables of the values that later layers read are alive.
    """
    n = network.num_inputs
    identity = torch.eye(n, dtype=torch.float64, device=network.device)
    values: Values = {0: identity.reshape(n, *network.input_shape)}
    errors: Values = {0: identity.new_zeros(1, *network.input_shape)}
    position = 0
    for stage, piece in zip(network.stages, pieces, strict=True):
        values, errors = _advance(stage, values, errors, gamma)
        target = stage.leg.target
        columns, error = values[target], errors[target].flatten()
        before = position if is_step(stage.leg.plan) else None
        position += before is not None
        if isinstance(stage.gate, Pointwise):
            scale = stage.gate.slope(piece)[0].abs()
            passed = scale * error
            yield Step(before, position, columns, scale, (_norm(error), _norm(passed)))
        else:
            if before is not None:
                yield Step(before, None, columns, None, (_norm(error), 0.0))
            passed = error[stage.gate.source(piece)[0]]
        output = through_gate(stage.gate, piece, columns, in_place=target not in stage.keeps)
        if not isinstance(stage.gate, Pointwise):
            yield Step(position, None, output, None, (_norm(passed), 0.0))
        position += 1
        values = {kept: values[kept] for kept in stage.keeps} | {stage.position: output}
        errors = {kept: errors[kept] for kept in stage.keeps} | {stage.position: passed.reshape(1, *stage.gate.shape)}
        del columns, output
    if is_step(network.finish.leg.plan):
        values, errors = _advance(network.finish, values, errors, gamma)
        yield Step(position, None, values[network.output], None, (_norm(errors[network.output]), 0.0))


def prefix_values(network: Network, pieces: Pieces, directions: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Apply all prefix Jacobians to a few directions.

    Parameters
    ----------
    network : Network
    pieces : list of (1, u) tensors
    directions : (c, *input_shape) tensor

    Yields
    ------
    (layer, (c, *shape) tensor)
        Layer after layer. Gradients flow back to the directions.
    """
    values: Values = {0: directions}
    position = 0
    for stage, piece in zip(network.stages, pieces, strict=True):
        values = _run(stage, values)
        columns = values[stage.leg.target]
        if is_step(stage.leg.plan):
            yield position, columns
            position += 1
        output = through_gate(stage.gate, piece, columns)
        yield position, output
        position += 1
        values = {kept: values[kept] for kept in stage.keeps} | {stage.position: output}
    if is_step(network.finish.leg.plan):
        yield position, _run(network.finish, values)[network.output]


def through_gate(gate: GateNode, piece: Tensor, columns: Tensor, *, in_place: bool = False) -> Tensor:
    """Return what a gate that is held to its pieces makes of derivatives ``(c, *shape)``."""
    if isinstance(gate, Pointwise):
        slope = gate.slope(piece).reshape(1, *columns.shape[1:])
        return columns.mul_(slope) if in_place else columns * slope
    source = gate.source(piece)[0]  # pyright: ignore[reportAttributeAccessIssue]
    return columns.flatten(1)[:, source].reshape(len(columns), *gate.shape)


def _run(part: Stage | Finish, values: Values) -> Values:
    ran = part.leg.carry(Derivatives(()), {source: value.unsqueeze(0) for source, value in values.items()})
    return {position: value.squeeze(0) for position, value in ran.items()}


def _advance(part: Stage | Finish, values: Values, errors: Values, gamma: float) -> tuple[Values, Values]:
    """Run a stage's affine nodes on all columns, a chunk at a time, and the error analysis beside them."""
    leg = part.leg
    wanted = {leg.target, *(part.keeps if isinstance(part, Stage) else ())}
    some = next(iter(values.values()))
    made = {position: some.new_empty(len(some), *node.shape) for position, node in leg.plan if position in wanted}
    per_column = 8 * COPIES * sum(node.size for _, node in leg.plan)
    for part_of in chunks(len(some), per_column, CHUNK_BYTES) if made else ():
        ran = _run(part, {source: values[source][part_of] for source in leg.reads})
        for position, table in made.items():
            table[part_of] = ran[position]
    lengths = {source: torch.linalg.vector_norm(values[source], dim=0, keepdim=True) for source in leg.reads}
    errors = dict(errors)
    for position, node in leg.plan:
        sizes, carried = [lengths[source] for source in node.inputs], [errors[source] for source in node.inputs]
        lengths[position] = node.magnitudes.linear(*sizes)
        errors[position] = affine_error(node, sizes, carried, gamma, has_constant=False)
    return {position: value for position, value in {**values, **made}.items() if position in wanted}, errors


def _norm(errors: Tensor) -> float:
    return float(torch.linalg.vector_norm(errors))
