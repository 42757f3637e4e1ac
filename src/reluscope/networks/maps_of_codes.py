"""Networks whose units are held to given pieces: affine maps by code, without a point of the region at hand.

Regions may be thinner than floats can name a point of, so their maps are computed from their codes.
"""

import numpy as np
import torch
from jaxtyping import Bool, Float

from reluscope.codes.packed import Codes
from reluscope.networks.affine_values import affine_input
from reluscope.networks.carriers.carry import carry
from reluscope.networks.carriers.maps import RoundedMaps, flat_entries
from reluscope.networks.graph import Affine, Max, Pointwise
from reluscope.networks.maps import AffineMaps
from reluscope.networks.network import Network
from reluscope.networks.points import chunks
from reluscope.networks.rounding import ANY_ORDER

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
        With few inputs: 2 (n + 1) evaluations per code.
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
    carrier = RoundedMaps(ANY_ORDER, has_constant=True)
    for rows in chunks(number, 4 * (size + 1) * network.bytes_per_point, BUDGET):
        count = rows.stop - rows.start
        walk = carry(network, carrier, affine_input(network, count)[0])
        for table in pieces_of(codes[rows]):
            next(walk)
            carrier.hold(torch.as_tensor(table, device=network.device))
        maps, bounds = (flat_entries(part).cpu() for part in next(walk))
        weight[rows], bias[rows] = maps[:, :-1].mT, maps[:, -1]
        errors[rows] = bounds.amax(1).numpy()
    return AffineMaps(weight, bias), errors


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
