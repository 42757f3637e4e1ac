"""The sets that topology is asked about, as faces of a complex that is cut by the functions they are made of."""

from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool

from reluscope.arguments import describe, read_position
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.networks.network import Network
from reluscope.partitions.faces.face_walk import Heights, find_faces
from reluscope.partitions.faces.faces import Faces
from reluscope.partitions.partition_in_memory import Partition

SetName = Literal["all", "sublevel", "superlevel", "level", "decision", "class"]
Masks = tuple[Bool[np.ndarray, " _"], ...]


def read_function(output: int | tuple[int, int], number: int) -> tuple[int, ...]:
    """Return the output that a function is, or the two whose difference it is.

    Negative numbers count from the end. InputError if there is no such output, or it is the same one twice.
    """
    chosen = output if isinstance(output, tuple) else (output,)
    found = tuple(read_position(one, "output", number, "outputs") for one in chosen)
    if len(set(found)) < len(found):
        raise InputError(f"output must be one output, or two different ones, got {describe(output)}")
    return found


def faces_of_part(
    part: Partition,
    effort: Effort,
    network: Network | None = None,
    heights: Heights | None = None,
) -> Faces:
    """Return the faces of a partition, or those cut by functions of a network's outputs: kept ones, or found now."""
    if heights is None and "faces" in vars(part):
        return part.faces
    return find_faces(
        network or part.network_on_domain,
        part.window,
        heights,
        effort=replace(effort, tolerance=part.tolerance),
    )


def heights_of(network: Network, name: SetName, level: float, outputs: tuple[int, ...]) -> Heights | None:
    """Return the functions of outputs by which a complex has to be cut so that a set is made of faces.

    For the decision boundary and a class the network has to be one of scores. Two ``outputs`` stand for their
    difference; of a class ``outputs`` is the class.
    """
    if name == "all":
        return None
    number = network.num_outputs
    if name == "class" and number > 1:
        weight = -torch.eye(number, dtype=torch.float64)
        weight[:, outputs[0]] += 1.0
        weight = weight[torch.arange(number) != outputs[0]]
        return weight, torch.zeros(number - 1, dtype=torch.float64)
    if name == "class":
        sign = 1.0 if outputs == (1,) else -1.0
        return torch.tensor([[sign]], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    if name == "decision" and number > 1:
        pairs = _pairs(number)
        weight = torch.zeros(len(pairs), number, dtype=torch.float64)
        for row, (one, other) in enumerate(pairs):
            weight[row, one], weight[row, other] = 1.0, -1.0
        return weight, torch.zeros(len(pairs), dtype=torch.float64)
    weight = torch.zeros(1, number, dtype=torch.float64)
    if name == "decision":
        outputs, level = (0,), 0.0
    for output, sign in zip(outputs, (1.0, -1.0), strict=False):
        weight[0, output] = sign
    return weight, torch.tensor([-level], dtype=torch.float64)


def faces_of(faces: Faces, name: SetName, num_scores: int) -> Masks:
    """Return which faces of every dimension a set is made of: a closed subcomplex."""
    if name == "all":
        return faces.among(np.ones(len(faces.vertices), dtype=bool))
    if name == "decision" and num_scores > 1:
        return _ties(faces, num_scores)
    if name == "class":
        return faces.among(np.all(faces.heights >= 0, axis=1))
    height = faces.heights[:, 0]
    if name == "sublevel":
        return faces.among(height <= 0)
    return faces.among(height >= 0 if name == "superlevel" else height == 0)


def num_unordered(faces: Faces, name: SetName, num_scores: int) -> int:
    """Return at how many vertices scores are tied with some of the largest but not with all, or none is the largest.

    There are such vertices only where scores cross within the resolution.
    """
    if name != "decision" or num_scores < 2:
        return 0
    is_largest = _largest(faces, num_scores)
    is_unordered = ~is_largest.any(axis=0)
    for row, (one, other) in enumerate(_pairs(num_scores)):
        is_unordered |= (faces.heights[:, row] == 0) & (is_largest[one] != is_largest[other])
    return int(is_unordered.sum())


def _largest(faces: Faces, num_scores: int) -> Bool[np.ndarray, "m v"]:
    """Return which scores are the largest at each vertex."""
    is_largest = np.ones((num_scores, len(faces.vertices)), dtype=bool)
    for row, (one, other) in enumerate(_pairs(num_scores)):
        is_largest[one] &= faces.heights[:, row] >= 0
        is_largest[other] &= faces.heights[:, row] <= 0
    return is_largest


def _ties(faces: Faces, num_scores: int) -> Masks:
    """Return the faces on which two of the largest scores are equal."""
    is_largest = _largest(faces, num_scores)
    number = [np.zeros(count, dtype=np.int64) for count in faces.num_faces]
    for score in is_largest:
        for total, where in zip(number, faces.among(score), strict=True):
            total += where
    return tuple(total > 1 for total in number)


def _pairs(number: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(number) for other in range(one + 1, number)]
