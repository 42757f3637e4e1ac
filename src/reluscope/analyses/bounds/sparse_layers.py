"""An upper bound from what units read: hyperplanes of units that read few inputs have few independent normals.

An arrangement of hyperplanes in R^n has at most as many cells as there are sets of hyperplanes with independent normals
(Zaslavsky, "Facing up to arrangements", 1975: the cells are counted by sets without broken circuits, which are
independent). Rows of a matrix are independent only if a determinant of them does not vanish, and so only if each can be
given an input of its own among those that it reads. By Hall's theorem a set of units can be given such inputs if every
subset of them reads at least as many inputs as it has units. For one convolutional layer this is the number of Xiong et
al. (2020), which almost all weights reach. On a region of earlier layers a unit is affine in the inputs of its
receptive field, so that layers multiply as in the other bounds.
"""

from collections import Counter
from collections.abc import Sequence
from math import comb, inf, prod
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from reluscope.analyses.bounds.architecture import Architecture
from reluscope.analyses.bounds.arrangements import parallel_cells
from reluscope.analyses.bounds.bound_findings import DEFINITION, need
from reluscope.arguments import read_arguments
from reluscope.findings import Finding
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Affine
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounding import candidate_bounds
from reluscope.networks.passes.stages import Stage

# Numbers that follow single inputs through the network: about a second.
MOST_NUMBERS = 2**28
MEMORY = 2**27
# Ways to take units from some classes that are listed one by one, some tenths of a second; of how many times as many
# conditions are expected to leave no more.
MOST_CHOICES, LISTED = 20_000, 50
# Units of classes that are given inputs together: augmenting paths are as long.
MOST_UNITS = 256
# Classes times dimensions up to which numbers of sets are multiplied: about a second.
MOST_PRODUCTS = 2**17


class UnitClass(NamedTuple):
    """Units of one gate that read the same inputs."""

    inputs: tuple[int, ...]
    pieces: int
    number: int


@read_arguments
def sparse_upper(network: Network) -> Finding:
    """Return the product over gates of how many sets of units can be given different inputs that they read.

    At most as many units as dimensions that bottlenecks let through; a unit of k pieces counts k - 1 times. For one
    convolutional layer the largest number of regions over all weights (Xiong et al., 2020).

    Parameters
    ----------
    network : Network

    Returns
    -------
    Finding
        UPPER, for every network that is zero where the weights of this one are.

    Raises
    ------
    NotApplicableError
        If every unit reads all inputs, or the network is too large to follow each input through.

    Notes
    -----
    Gates that compare entries, and those of thousands of classes, count as if their units read everything. Sets are
    listed class by class, a class of units that read the same inputs; where there are more than 20,000 ways to choose,
    classes are parted, and the bound is wider than the number of sets. `method` says so.

    References
    ----------
    Key ``xiong2020``.

    Examples
    --------
    >>> import reluscope as rs
    >>> tent = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    >>> net = rs.load([(np.repeat(tent, 2, axis=0), np.zeros(6)), (np.ones((1, 6)), np.zeros(1))])
    >>> print(sparse_upper(net))
    55 (UPPER)
    """
    architecture = Architecture.of(network)
    size = network.num_inputs * sum(node.size for node in network.nodes)
    need(size <= MOST_NUMBERS, "a network small enough to follow every input through it", architecture)
    readers = _readers(network)
    compares = [isinstance(stage.gate, Max | TopK) for stage in network.stages]
    is_sparse = any(not reads.all() and not other for reads, other in zip(readers, compares, strict=True))
    need(is_sparse, "units that do not read all inputs, of gates that do not compare them", architecture)
    value, is_whole = 1, True
    for layer, reads, other in zip(architecture.layers, readers, compares, strict=True):
        if other:
            value *= parallel_cells(layer.ranks, layer.dimension)
            continue
        ((pieces, _),) = layer.ranks
        classes = _classes(reads, pieces)
        if len(classes) * layer.dimension > MOST_PRODUCTS:
            value, is_whole = value * parallel_cells(layer.ranks, layer.dimension), False
            continue
        sizes, is_counted = independent_sets(classes, layer.dimension)
        value, is_whole = value * sum(sizes), is_whole and is_counted
    return Finding.of(
        value,
        lower=-inf,
        name="independent units",
        definition=DEFINITION,
        domain=f"{architecture.describe()}; any weights that are zero where these are, any domain",
        method="product of the numbers of sets of units that read as many inputs, all subsets included"
        + ("" if is_whole else ", of parts of the layers"),
        source="xiong2020",
    )


def independent_sets(classes: Sequence[UnitClass], most: int) -> tuple[list[int], bool]:
    """Return how many sets of 0, 1, ..., at most ``most`` units can be given inputs of their own.

    A unit of k pieces counts k - 1 times. Also whether all were counted, or bounds on the numbers of parts multiplied.
    """
    groups = _connected(classes)
    parts = [part for group in groups for part in _parts(group)]
    sizes, is_whole = [1], len(parts) == len(groups)
    for part in parts:
        found = _listed(part, most) if len(part) > 1 else None
        if found is None:
            is_whole &= len(part) == 1
            found = [1]
            for one in part:
                found = _product(found, _alone(one), most)
        sizes = _product(sizes, found, most)
    return sizes, is_whole


def _parts(classes: list[UnitClass]) -> list[list[UnitClass]]:
    """Return classes in parts, each with few enough ways to choose, where all together have too many."""
    ways = [len(_alone(one)) for one in classes]
    if prod(ways) <= LISTED * MOST_CHOICES and sum(ways) <= MOST_UNITS:
        return [classes]
    parts, number, most = list[list[UnitClass]](), inf, MOST_CHOICES // len(classes)
    for one, own in zip(classes, ways, strict=True):
        if number * own > most:
            parts.append([])
            number = 1
        parts[-1].append(one)
        number *= own
    return parts


def _connected(classes: Sequence[UnitClass]) -> list[list[UnitClass]]:
    """Return classes in groups that share no inputs, within groups by their first inputs."""
    groups: list[tuple[set[int], list[UnitClass]]] = []
    for one in sorted(classes):
        reads, members = set(one.inputs), [one]
        for group in [group for group in groups if group[0] & reads]:
            groups.remove(group)
            reads, members = reads | group[0], group[1] + members
        groups.append((reads, members))
    return [sorted(members) for _, members in groups]


def _alone(one: UnitClass) -> list[int]:
    """Return the numbers of sets of one class: at most as many units as inputs that it reads."""
    return [comb(one.number, j) * (one.pieces - 1) ** j for j in range(min(one.number, len(one.inputs)) + 1)]


def _product(left: list[int], right: list[int], most: int) -> list[int]:
    """Return the coefficients of a product of polynomials, up to some degree."""
    found = [0] * (min(most, len(left) + len(right) - 2) + 1)
    for i, one in enumerate(left[: most + 1]):
        for j, other in enumerate(right[: len(found) - i]):
            found[i + j] += one * other
    return found


def _listed(classes: list[UnitClass], most: int) -> list[int] | None:
    """Return the numbers of sets, by listing how many units of each class have inputs of their own.

    None if there are too many ways.
    """
    sizes, left = [0] * (most + 1), MOST_CHOICES

    def choose(place: int, owners: dict[int, int], taken: int, ways: int) -> bool:
        nonlocal left
        if place == len(classes):
            left -= 1
            sizes[taken] += ways
            return left >= 0
        one = classes[place]
        for number in range(min(one.number, most - taken) + 1):
            if number and not _give(classes, place, owners, set()):
                break
            factor = comb(one.number, number) * (one.pieces - 1) ** number
            if not choose(place + 1, dict(owners), taken + number, ways * factor):
                return False
        return True

    return sizes if choose(0, {}, 0, 1) else None


def _give(classes: list[UnitClass], place: int, owners: dict[int, int], asked: set[int]) -> bool:
    """Give one more unit of a class an input of its own, by an augmenting path; return whether that is possible."""
    for one in classes[place].inputs:
        if one in asked:
            continue
        asked.add(one)
        if one not in owners or _give(classes, owners[one], owners, asked):
            owners[one] = place
            return True
    return False


def _classes(reads: Bool[np.ndarray, "n u"], pieces: int) -> list[UnitClass]:
    """Return the units of a gate by the inputs that they read; those that read none cut nothing."""
    numbers = Counter(tuple(np.flatnonzero(column).tolist()) for column in reads.T)
    return [UnitClass(inputs, pieces, number) for inputs, number in numbers.items() if inputs]


class _ReadInputs:
    """Which of some inputs each value reads: 1 or 0, for one input after the other."""

    def affine(self, node: Affine, inputs: Sequence[Tensor]) -> Tensor:
        return (node.magnitudes.linear(*inputs) > 0).to(torch.float64)

    def arrive(self, stage: Stage, value: Tensor) -> Tensor:
        return candidate_bounds(stage.gate, value)

    def leave(self, stage: Stage, arrived: Tensor) -> Tensor:
        found = arrived.amax(-1) if isinstance(stage.gate, Max) else arrived
        return found.reshape(len(found), *stage.gate.shape)


@torch.no_grad()
def _readers(network: Network) -> list[Bool[np.ndarray, "n u"]]:
    """Return which inputs the units of every gate depend on; of max gates those that candidates depend on."""
    parts: list[list[np.ndarray]] = [[] for _ in network.stages]
    for rows in chunks(network.num_inputs, 4 * network.bytes_per_point, MEMORY):
        unit_vectors = torch.eye(network.num_inputs, dtype=torch.float64, device=network.device)[rows]
        start = unit_vectors.reshape(-1, *network.input_shape)
        walk = carry(network, _ReadInputs(), start)
        for found, stage in zip(parts, network.stages, strict=True):
            arrived = next(walk)
            table = arrived.amax(-1) if isinstance(stage.gate, Max) else arrived
            found.append((table.reshape(len(table), -1) > 0).cpu().numpy())
    return [np.concatenate(found) for found in parts]
