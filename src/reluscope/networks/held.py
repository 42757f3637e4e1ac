"""Networks whose units are held to given pieces: affine maps by code, without a point of the region at hand.

Regions may be thinner than floats can name a point of, so their maps are computed from their codes.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reluscope.codes.packed import Codes
from reluscope.networks.graph import Affine, Max, Pointwise
from reluscope.networks.maps import AffineMaps
from reluscope.networks.network import Network
from reluscope.networks.points import chunks
from reluscope.networks.ranges import ROUNDING

BUDGET = 128 * 2**20


def pieces_of(codes: Codes) -> list[np.ndarray]:
    """Return the pieces of codes as one array ``(s, u)`` per gate."""
    table = codes.to_array()
    return [table[:, codes.layout.units(gate)] for gate in range(len(codes.layout))]


@torch.no_grad()
def maps_of_codes(network: Network, codes: Codes) -> tuple[AffineMaps, Float[np.ndarray, "r m"]]:
    """Return the affine map of every code, and a bound on its rounding.

    Parameters
    ----------
    network : Network
        With few inputs: n + 2 evaluations per code.
    codes : Codes
        They need not occur anywhere.

    Returns
    -------
    maps : AffineMaps
        weight (r, m, n), bias (r, m).
    errors : (r, m) float64
        No coefficient of an output is farther than this from the one in real arithmetic.

    Examples
    --------
    >>> from reluscope.networks.from_arrays import from_arrays
    >>> net = from_arrays([(np.array([[3.0]]), np.array([0.5])), (np.array([[2.0]]), np.zeros(1))])
    >>> maps, errors = maps_of_codes(net, net.codes([[-1.0], [1.0]]))
    >>> maps.weight.flatten(), maps.bias.flatten(), bool((errors < 1e-9).all())
    (tensor([0., 6.], dtype=torch.float64), tensor([0., 1.], dtype=torch.float64), True)
    """
    size, number = network.num_inputs, len(codes)
    weight = torch.zeros(number, network.num_outputs, size, dtype=torch.float64)
    bias = torch.zeros(number, network.num_outputs, dtype=torch.float64)
    errors = np.zeros((number, network.num_outputs))
    points = torch.cat([torch.zeros(1, size), torch.eye(size)]).double().reshape(size + 1, *network.input_shape)
    points = points.to(network.device)
    for rows in chunks(number, network.bytes_per_point, BUDGET):
        pieces = [torch.as_tensor(table, device=network.device) for table in pieces_of(codes[rows])]
        count = rows.stop - rows.start
        constant = _held(network, pieces, points[:1].expand(count, *network.input_shape)).cpu()
        bias[rows] = constant
        for axis in range(size):
            start = points[axis + 1].expand(count, *network.input_shape)
            weight[rows, :, axis] = _held(network, pieces, start).cpu() - constant
        errors[rows] = ROUNDING * _magnitude(network, pieces, count).cpu().numpy()
    return AffineMaps(weight, bias), errors


def _held(network: Network, pieces: Sequence[Tensor], x: Tensor) -> Tensor:
    values = network.start(x)
    for stage, piece in zip(network.stages, pieces, strict=True):
        pre, live = stage.advance(values)
        values = {**live, stage.position: stage.gate.select(pre, piece)}
    return network.finish(values).reshape(len(x), -1)


def _magnitude(network: Network, pieces: Sequence[Tensor], count: int) -> Tensor:
    """Return the sum of the magnitudes of all terms of the outputs, for inputs of entries at most 1."""
    values = {0: torch.ones(count, *network.input_shape, dtype=torch.float64, device=network.device)}
    held = {stage.position: piece for stage, piece in zip(network.stages, pieces, strict=True)}
    for position, node in enumerate(network.nodes[1:], start=1):
        if isinstance(node, Affine):
            values[position] = node.absolute().apply(*(values[source] for source in node.inputs))
        elif isinstance(node, Max):
            values[position] = node.select(node.candidates(values[node.inputs[0]]), held[position])
        elif isinstance(node, Pointwise):
            pre, piece = node.candidates(values[node.inputs[0]]), held[position]
            values[position] = (node.slope(piece).abs() * pre + node.intercept(piece).abs()).reshape(-1, *node.shape)
    return values[network.output].reshape(count, -1).expand(count, -1)


@torch.no_grad()
def units_that_matter(network: Network, codes: Codes) -> list[Bool[np.ndarray, "r u"]]:
    """Tell which units the output depends on while every unit uses its piece, one array per gate.

    A unit does not matter if every way from it to the output meets a zero weight or a piece of slope zero. Codes that
    agree on the units that matter to them have equal maps.

    Examples
    --------
    >>> from reluscope.networks.from_arrays import from_arrays
    >>> net = from_arrays([(np.eye(2), np.zeros(2)), (np.array([[1.0, 0.0]]), np.zeros(1))])
    >>> units_that_matter(net, net.codes([[1.0, 1.0]]))
    [array([[ True, False]])]
    """
    pieces = [torch.as_tensor(table, device=network.device) for table in pieces_of(codes)]
    held = {stage.position: piece for stage, piece in zip(network.stages, pieces, strict=True)}
    matters = [np.zeros((len(codes), node.size), dtype=bool) for node in network.nodes]
    matters[network.output][:] = True
    for position in reversed(range(1, len(network.nodes))):
        node, after = network.nodes[position], matters[position]
        if isinstance(node, Affine):
            for source, matrix in zip(node.inputs, node.matrix(), strict=True):
                matters[source] |= (
                    np.asarray(after.astype(np.float32) @ abs(matrix).astype(bool).astype(np.float32)) > 0
                )
        elif isinstance(node, Pointwise):
            slope = node.slope(held[position]).expand(len(codes), -1).cpu().numpy()
            matters[node.inputs[0]] |= after & (slope != 0)
        elif isinstance(node, Max):
            entries = node.source(held[position]).cpu().numpy()
            rows, units = np.nonzero(after)
            matters[node.inputs[0]][rows, entries[rows, units]] = True
    return [matters[stage.position] for stage in network.stages]
