"""Eigenvalues of mean products of gradients, with bounds on their errors."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from reluscope.analyses.coefficients.matrices import CoefficientMatrices
from reluscope.networks.evaluation.linearize import each_unit_maps
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network

EPSILON = float(np.finfo(np.float64).eps)


# A table of products, its eigenvectors and the work of the decomposition.
TABLES_IN_MEMORY = 4


class _Spectrum(NamedTuple):
    """Eigenvalues, directions and trace of one output, with a bound on their rounding."""

    eigenvalues: np.ndarray
    directions: np.ndarray
    trace: float
    error: float


def _by_products(
    group: CoefficientMatrices, weights: Tensor, basis: Tensor | None, number: int, gamma: float, deltas: np.ndarray
) -> Iterator[_Spectrum]:
    """Add up products of gradients, in coordinates of a basis if there is one, block by block."""
    side = group.num_inputs if basis is None else len(basis)
    products = weights.new_zeros(group.num_outputs, side, side)
    means = weights.new_zeros(group.num_outputs, group.num_inputs)
    for rows, values in group.blocks():
        gradients, share = values[..., :-1], weights[rows]
        means += torch.einsum("r,mrn->mn", share, gradients)
        coordinates = gradients if basis is None else gradients @ basis.mT
        scaled = coordinates * share.sqrt()[:, None]
        products.baddbmm_(scaled.mT, scaled)
    for table, mean, delta in zip(products, means, deltas.tolist(), strict=True):
        values, vectors = torch.linalg.eigh(table)
        top = vectors[:, -number:].flip(1).mT
        directions = top if basis is None else top @ basis
        yield _spectrum(values.flip(0), directions, mean, float(table.trace()), gamma, delta)


def _by_regions(
    group: CoefficientMatrices, weights: Tensor, number: int, gamma: float, deltas: np.ndarray
) -> Iterator[_Spectrum]:
    """Decompose the products of regions with regions, which have the same eigenvalues above zero."""
    gradients = weights.new_empty(group.num_outputs, len(group), group.num_inputs)
    for rows, values in group.blocks():
        gradients[:, rows] = values[..., :-1]
    for rows, delta in zip(gradients, deltas.tolist(), strict=True):
        mean = weights @ rows
        scaled = rows * weights.sqrt()[:, None]
        values, vectors = torch.linalg.eigh(scaled @ scaled.mT)
        directions = vectors[:, -number:].flip(1).mT @ scaled
        yield _spectrum(values.flip(0), directions, mean, float((scaled**2).sum()), gamma, delta)


def _spectrum(values: Tensor, directions: Tensor, mean: Tensor, trace: float, gamma: float, delta: float) -> _Spectrum:
    """Bound the rounding, and give directions their length and side.

    Gradients with errors of root mean square delta change the table by ``2 delta sqrt(trace) + delta^2``; its sums by
    gamma times the trace, and the eigenvalues of k x k numbers by k epsilon times the largest.
    """
    of_sums = (gamma + len(values) * EPSILON) * trace
    error = delta * (2 * trace**0.5 + delta) + of_sums
    lengths = torch.linalg.vector_norm(directions, dim=1, keepdim=True)
    is_there = (values[: len(directions)] > of_sums)[:, None] & (lengths > 0)
    side = torch.where(directions @ mean < 0, -1.0, 1.0)[:, None]
    unit = torch.where(is_there, side * directions / torch.where(is_there, lengths, 1.0), 0.0)
    return _Spectrum(values.clamp_min(0.0).cpu().numpy(), unit.cpu().numpy(), trace, error)


def _row_space(network: Network) -> Tensor | None:
    """Return an orthonormal basis (q, n) of a space that holds all gradients, if the first gate alone reads inputs."""
    if _readers(network) != [0]:
        return None
    first = network.stages[0].gate
    if isinstance(first, Max) or first.num_units >= network.num_inputs:
        return None
    origin = torch.zeros(1, network.num_inputs, dtype=torch.float64, device=network.device)
    weight = next(iter(each_unit_maps(network, origin)))[0].reshape(-1, network.num_inputs)
    return torch.linalg.qr(weight.mT).Q.mT


def _readers(network: Network) -> list[int]:
    """Return which gates read the input directly, and the number of gates if the output does."""
    found = [index for index, stage in enumerate(network.stages) if 0 in stage.reads]
    return found + [len(network.stages)] * (0 in network.finish.reads)


def _rank_upper(network: Network) -> int:
    """Return an upper bound on the rank: the rows of the maps that read the input, and one for the output's own."""
    stages = network.stages
    total = 0
    for index in _readers(network):
        gate = stages[index].gate if index < len(stages) else None
        total += 1 if gate is None else gate.index.numel() if isinstance(gate, Max) else gate.num_units
    return total
