"""Networks whose units are held to given pieces: affine maps by code, without a point of the region at hand.

Regions may be thinner than floats can name a point of, so their maps are computed from their codes.
"""

from math import prod

import numpy as np
import torch
from jaxtyping import Bool, Float

from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.affine_values import affine_input
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.points import chunks
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.carry_back import carry_back
from reluscope.networks.passes.maps import RoundedMaps, flat_entries
from reluscope.networks.passes.network_graph import NetworkGraph
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.networks.passes.stages import Stage

BUDGET = 128 * 2**20


def pieces_of(codes: Codes) -> list[np.ndarray]:
    """Return the pieces of codes as one array ``(s, u)`` per gate."""
    table = codes.to_array()
    return [table[:, codes.layout.units(gate)] for gate in range(len(codes.layout))]


@torch.no_grad()
def maps_of_codes(network: NetworkGraph, codes: Codes) -> tuple[AffineMaps, Float[np.ndarray, "r m"]]:
    """Return the affine map of every code, and bounds on the rounding of coefficients, one per output.

    Codes need not occur anywhere. For few inputs: 2 (n + 1) evaluations per code.
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
def units_that_matter(network: NetworkGraph, codes: Codes) -> list[Bool[np.ndarray, "r u"]]:
    """Return which units the output depends on while every unit uses its piece, one array per gate.

    A unit does not matter if every path from it to the output meets a zero weight or a piece of slope zero. Codes that
    agree on the units that matter to them have equal maps.
    """
    pieces = [torch.as_tensor(table, device=network.device) for table in pieces_of(codes)]
    found = [np.zeros((len(codes), stage.gate.num_units), dtype=bool) for stage in network.stages]
    carry_back(network, _Matters(pieces, found), np.ones((len(codes), network.num_outputs), dtype=bool))
    return found


class _Matters:
    """Whether the output depends on the entries (r, size) of each value, with the answers for units kept.

    ``found``, one (r, u) array per gate, is filled in place.
    """

    def __init__(self, pieces: list[torch.Tensor], found: list[np.ndarray]) -> None:
        self._pieces, self._found = pieces, found

    def affine_back(self, node: Affine, weights: np.ndarray) -> list[np.ndarray]:
        """Return which entries of each input have a weight in an entry that matters."""
        after = weights.astype(np.float32)
        return [np.asarray(after @ abs(one).astype(bool).astype(np.float32)) > 0 for one in node.matrix()]

    def gate_back(self, stage: Stage, weights: np.ndarray) -> np.ndarray:
        """Return which entries of the gate's input its units pass on."""
        gate, piece = stage.gate, self._pieces[stage.index]
        self._found[stage.index][:] = weights
        if not isinstance(gate, Max):
            return weights & (gate.slope(piece).expand(len(weights), -1).cpu().numpy() != 0)
        before = np.zeros((len(weights), prod(stage.leg.shapes[stage.leg.target])), dtype=bool)
        rows, units = np.nonzero(weights)
        before[rows, gate.source(piece).cpu().numpy()[rows, units]] = True
        return before

    def add(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return what matters either way."""
        return first | second
