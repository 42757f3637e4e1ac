"""Products with the linear map of a point's region, of which no table is made.

On the region of x a network is ``f(z) = W z + b``. A table of W has inputs times outputs entries; W v takes one pass
forward, u W one forward and one backward, whatever their numbers.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.arguments import read_array
from reluscope.errors import InputError, ShapeError
from reluscope.networks.evaluation.backward import Recording
from reluscope.networks.evaluation.linearize import point_pieces
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.passes.carry import carry_to_output
from reluscope.networks.passes.maps import Derivatives, flat_entries
from reluscope.networks.passes.numbers import HeldNumbers

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from reluscope.networks.passes.network_graph import NetworkGraph

MEMORY = 256 * 2**20


@torch.no_grad()
def jvp(network: "NetworkGraph", x: Points, v: Points) -> Float[Tensor, "s m"]:
    """Return W v for every point; see ``Network.jvp``."""
    points, directions = _paired(network.points(x), v, network.num_inputs, "v", "inputs")
    found = points.new_empty(len(points), network.num_outputs)
    for rows in chunks(len(points), 2 * network.bytes_per_point, MEMORY):
        pieces = point_pieces(network, points[rows])
        start = directions[rows].reshape(-1, 1, *network.input_shape)
        found[rows] = flat_entries(carry_to_output(network, Derivatives(pieces), start))[:, 0]
    return found


@torch.no_grad()
def vjp(network: "NetworkGraph", x: Points, u: Points) -> Float[Tensor, "s n"]:
    """Return u W for every point; see ``Network.vjp``."""
    points, weights = _paired(network.points(x), u, network.num_outputs, "u", "outputs")
    found = points.new_empty(len(points), network.num_inputs)
    tape = 8 * sum(node.size for node in network.nodes)
    for rows in chunks(len(points), tape + 2 * network.bytes_per_point, MEMORY):
        held = HeldNumbers(point_pieces(network, points[rows]))
        recording = Recording(network, torch.zeros_like(points[rows]), held)
        *_, output = recording.values()
        found[rows] = recording.pull_back(output, weights[rows].reshape(1, *output.shape))[0]
    return found


def local_operator(network: "NetworkGraph", x: Points) -> "LinearOperator":
    """Return W as a linear operator; see ``Network.local_operator``."""
    from scipy.sparse.linalg import LinearOperator  # a tenth of a second that few need

    point = network.points(x)
    if len(point) != 1:
        raise InputError(f"an operator is that of one point, got {len(point):,}: take x[:1]")

    def forward(v: np.ndarray) -> np.ndarray:
        return jvp(network, point, torch.as_tensor(v.reshape(1, -1))).cpu().numpy()[0]

    def backward(u: np.ndarray) -> np.ndarray:
        return vjp(network, point, torch.as_tensor(u.reshape(1, -1))).cpu().numpy()[0]

    shape = (network.num_outputs, network.num_inputs)
    return LinearOperator(shape, matvec=forward, rmatvec=backward, dtype=np.float64)  # pyright: ignore[reportCallIssue]


def _paired(points: Tensor, given: Points, size: int, name: str, entries: str) -> tuple[Tensor, Tensor]:
    """Return points and a row of numbers for each of them; a single one of either serves all of the others."""
    array = read_array(given.detach().cpu() if isinstance(given, Tensor) else given, name)
    if array.size == 0 or array.size % size:
        raise ShapeError(f"{name} must have one number for each of {size:,} {entries}, got shape {array.shape}")
    rows = torch.as_tensor(np.array(array, dtype=np.float64).reshape(-1, size), device=points.device)
    if 1 not in (len(points), len(rows)) and len(points) != len(rows):
        raise ShapeError(f"expected one row of {name} for each of {len(points):,} points, got {len(rows):,}")
    number = max(len(points), len(rows))
    return points.expand(number, *points.shape[1:]), rows.expand(number, size)
