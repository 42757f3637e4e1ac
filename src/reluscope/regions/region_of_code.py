"""The region of a code, seen from any point: half-spaces and affine map of units held to their pieces.

`regions` starts from a point of the region; here the code is all there is, and the point may lie anywhere. Rows are
scaled to length 1 and moved so that the point is the origin: ``rows u <= slack`` for ``u = y - x``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, Integer

from reluscope.needed_memory import need_at_once
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.evaluation.linearize import maps_of_pieces
from reluscope.networks.evaluation.unit_half_spaces import Rows, gate_rows
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class CodeRegion:
    """A code's region around a point, in steps u away from the point.

    The closure is ``rows u <= slack``, the network on it ``weight u + outputs``. Steps shorter than ``clear`` in l1
    cross no hyperplane of a unit whose slopes are below their rounding.
    """

    pieces: tuple[Integer[np.ndarray, " _"], ...]  # the code, one array per gate
    rows: Float[np.ndarray, "h n"]  # outward normals of length 1
    slack: Float[np.ndarray, " h"]  # signed distances of the point, negative if beyond
    noise: Float[np.ndarray, " h"]  # bounds on the rounding of ``slack``
    entries: Float[np.ndarray, " h"]  # bounds on the rounding of the entries of ``rows``
    sources: Int[np.ndarray, "h 3"]  # gate, unit, and its piece beyond the row
    still: Int[np.ndarray, "c 3"]  # the same of constant units on a breakpoint
    clear: float
    weight: Float[np.ndarray, "m n"]
    outputs: Float[np.ndarray, " m"]
    errors: Float[np.ndarray, " m"]  # bounds on the rounding of ``outputs``
    weight_error: float  # bound on the rounding of entries of ``weight``
    is_empty: bool  # a constant unit is on the wrong side: no such points


def table_bytes(network: Network) -> int:
    """Return the bytes of the half-spaces of a region, and of the derivatives that they are made of."""
    return 8 * network.num_inputs * (2 * network.num_units + network.num_inputs)


@torch.no_grad()
def region_of_code(
    network: Network,
    point: Float[np.ndarray, " n"],
    pieces: Sequence[Integer[np.ndarray, " _"]],
    *,
    tolerance: Tolerance | None = None,
) -> CodeRegion:
    """Return the region of a code, seen from a point.

    The point need not have the code. Costs the derivatives of all units by all inputs, about n forward passes.
    """
    unit = (tolerance or Tolerance()).unit
    need_at_once(
        table_bytes(network),
        f"half-spaces of {network.num_units:,} units in {network.num_inputs:,} inputs, and their derivatives,",
        "ask on a Plane or a Segment",
    )
    x = network.points(point)
    held = [torch.as_tensor(piece[None].astype(np.int64), device=network.device) for piece in pieces]
    maps, (weight, outputs) = maps_of_pieces(network, held, x, slice(0, network.num_inputs))
    *seen, final = carry(network, HeldRoundedNumbers(unit, held), Rounded.exactly(x))
    largest = [gradients.abs().amax(-1) if gradients.shape[-1] else gradients.sum(-1) for gradients, _ in maps]
    of_maps, of_outputs = gradient_errors(network, held, largest, 1, unit)
    tables = [
        gate_rows(
            stage.gate,
            stage.index,
            pieces=piece.cpu().numpy(),
            pre=pre.cpu().numpy(),
            maps=(normals.cpu().numpy(), constant.cpu().numpy()),
            noise=noise.cpu().numpy(),
            map_noise=of_map.cpu().numpy(),
        )
        for stage, piece, (normals, constant), (pre, noise), of_map in zip(
            network.stages, held, maps, seen, of_maps, strict=True
        )
    ]
    dim = network.num_inputs
    empty = Rows(*(np.zeros((1, 0, *rest)) for rest in ((dim,), (), (3,), (), (), (), ())))
    normals, _, sources, exists, slack, noise, constant_below = (
        np.concatenate(columns, axis=1)[0] for columns in zip(empty, *tables, strict=True)
    )
    exists = exists.astype(bool)
    constant = exists & (np.abs(normals).max(axis=1, initial=0.0) <= constant_below)
    kept = exists & ~constant
    lengths = np.linalg.norm(normals[kept], axis=1)
    # A constant without any rounding has no hyperplane.
    hidden = constant & (constant_below > 0)
    clear = np.maximum(slack[hidden] - noise[hidden], 0.0) / (2 * constant_below[hidden])
    return CodeRegion(
        tuple(pieces),
        normals[kept] / lengths[:, None],
        slack[kept] / lengths,
        noise[kept] / lengths,
        constant_below[kept] / lengths,
        sources[kept].astype(np.int64),
        sources[constant & (np.abs(slack) <= noise)].astype(np.int64),
        float(clear.min(initial=np.inf)),
        weight[0].cpu().numpy(),
        outputs[0].cpu().numpy(),
        final.error.reshape(-1).cpu().numpy(),
        float(of_outputs.max()),
        bool((constant & (slack < -noise)).any()),
    )
