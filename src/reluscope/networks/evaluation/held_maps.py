"""Affine maps of regions from their codes: right also where a region is thinner than floats can name a point of."""

import numpy as np
import torch
from jaxtyping import Float

from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.linearize import linearize
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.passes.network_graph import BUDGET, NetworkGraph


def held_maps(
    network: NetworkGraph, codes: Codes, outputs: list[int] | None = None
) -> tuple[Float[np.ndarray, "r m n"], Float[np.ndarray, "r m"]]:
    """Return weights and biases of a network with every unit held to the piece that a code says."""
    pieces = [torch.as_tensor(table, device=network.device) for table in pieces_of(codes)]
    start = torch.zeros((len(codes), *network.input_shape), dtype=torch.float64, device=network.device)
    maps = linearize(network, start, outputs, BUDGET, pieces)
    return maps.weight.cpu().numpy(), maps.bias.cpu().numpy()


def logits(outputs: Float[np.ndarray, "s m"]) -> Float[np.ndarray, "s k"]:
    """Return outputs of a classifier with one entry per class: a single output is that of class 1 beside 0."""
    return np.concatenate([np.zeros_like(outputs), outputs], axis=1) if outputs.shape[1] == 1 else outputs
