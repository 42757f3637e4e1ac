"""Packed codes of points, from forward passes of some points at a time."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reluscope.codes.packed import Codes
from reluscope.networks.graph.points import chunks
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.network_graph import BUDGET, NetworkGraph
from reluscope.networks.passes.numbers import NUMBERS

# Bytes of blocks of codes, whose values pass through the caches.
CODES_BYTES = BUDGET // 4


@torch.no_grad()
def codes_at(network: NetworkGraph, x: Float[Tensor, "s ..."], memory: int = CODES_BYTES) -> Codes:
    """Return the codes of points, with so many bytes for the values of one block."""
    layout = network.layout
    words = np.zeros((len(x), layout.num_words), dtype=np.uint64)
    # Beside the values of one stage, the pieces of every gate are alive until they are packed.
    for rows in chunks(len(x), network.bytes_per_point + layout.num_units, memory):
        passed = zip(network.stages, carry(network, NUMBERS, x[rows]), strict=False)
        pieces = [stage.gate.pieces(pre).cpu().numpy() for stage, pre in passed]
        words[rows] = Codes.from_pieces(pieces, layout, num_codes=rows.stop - rows.start).words
    return Codes(words, layout)
