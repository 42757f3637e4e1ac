"""`decision_surface`: where the class of a network changes, as an exact mesh in the plane or in space."""

import time
import warnings
from functools import partial

import numpy as np
import torch

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packed import Codes
from reluscope.codes.packing import unpack_pieces
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Domain, Slice, Space
from reluscope.interruption import has_struck
from reluscope.needed_memory import need_at_once
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.network import Network
from reluscope.partitions.complexes.chunks import Chunk
from reluscope.partitions.complexes.incidence import num_left
from reluscope.partitions.complexes.level_gate import with_last_gate
from reluscope.partitions.levels.decision_surfaces import DecisionSurface
from reluscope.partitions.levels.level_assembly import LevelPieces
from reluscope.partitions.levels.level_pieces import find_pieces
from reluscope.partitions.levels.level_polygons import oriented
from reluscope.stopping import INTERRUPTED, is_interrupted


def decision_surface(network: Network, domain: Domain, effort: Effort) -> DecisionSurface:
    """Return the exact set where the class of a network changes: polygons in space, segments in the plane.

    The differences of all scores are one more gate after the network.
    """
    read_domain(domain, network.num_inputs)
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or window.dim not in (2, 3):
        raise InputError(
            f"decision surfaces are found on bounded domains of two or three dimensions, got {domain.describe()}: give "
            "a Box, or a Slice of two or three directions"
        )
    began = time.perf_counter()
    inner = (network.restrict(domain) if isinstance(domain, Slice) else network).scores
    weight = _differences(network.num_outputs)
    asked = with_last_gate(inner, weight, torch.zeros(len(weight), dtype=torch.float64))
    number = max(2, network.num_outputs)
    with effort.counting("decision surface") as count:
        pieces, walked, _ = find_pieces(
            asked,
            window,
            sides=partial(_classes_of_cells, layout=CodeLayout((asked.layout.gates[-1],)), number=number),
            settle=partial(_proved_classes, number=number),
            label=np.asarray,
            num_words=inner.layout.num_words,
            effort=count,
        )
    classes = np.stack([pieces.sides[pieces.below], pieces.sides[pieces.above]], axis=1).astype(np.int64) - 1
    ids, normals = _directed(inner, pieces, classes)
    found = DecisionSurface(
        domain=domain,
        vertices=pieces.vertices,
        blur=pieces.blur,
        offsets=pieces.offsets,
        ids=ids,
        classes=classes,
        normals=normals,
        codes=Codes(pieces.words[pieces.above], network.layout),
        witnesses=pieces.witnesses[pieces.above],
        border=pieces.border,
        num_undecided=walked.num_undecided + pieces.num_unmatched,
        num_open=int(num_left(walked, 1)[0]),
        tolerance=effort.tolerance,
        fingerprint=network.fingerprint,
        stop=INTERRUPTED if has_struck() else walked.stop,
        work={**walked.work, "seconds": time.perf_counter() - began},
    )
    if is_interrupted(found.stop):
        warnings.warn("interrupted: the decision surface holds the pieces finished so far", stacklevel=5)
    return found


def _pairs(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of classes in the order of the units, the lower ones first."""
    return np.triu_indices(number, 1)


def _differences(num_outputs: int) -> torch.Tensor:
    """Return the weights of units that are active where the higher class of a pair is ahead of the lower one."""
    if num_outputs == 1:
        return torch.ones(1, 1, dtype=torch.float64)
    need_at_once(
        2 * 8 * num_outputs * num_outputs * (num_outputs - 1) / 2,
        f"differences of every two of {num_outputs:,} classes",
        "ask of a network with fewer outputs",
    )
    low, high = _pairs(num_outputs)
    one = np.eye(num_outputs)
    return torch.from_numpy(one[high] - one[low])


def _classes_of_cells(chunk: Chunk, layout: CodeLayout, number: int) -> np.ndarray:
    """Return 1 more than the class of every cell of a finished chunk."""
    is_ahead = unpack_pieces(np.asarray(chunk.words[-1]), layout) > 0
    unit = {pair: row for row, pair in enumerate(zip(*(ends.tolist() for ends in _pairs(number)), strict=True))}
    best = np.zeros(len(chunk), dtype=np.int64)
    for one in range(1, number):
        for held_by in range(one):
            rows = np.flatnonzero(best == held_by)
            best[rows[is_ahead[rows, unit[held_by, one]]]] = one
    return best + 1


def _proved_classes(low: np.ndarray, high: np.ndarray, number: int) -> np.ndarray:
    """Return 1 more than the class that a cell has for certain, 0 where that is open."""
    lower, higher = _pairs(number)
    found = np.zeros(len(low), dtype=np.int8)
    for one in range(number):
        is_ahead = (low[:, higher == one] > 0).all(axis=1) & (high[:, lower == one] < 0).all(axis=1)
        # Nothing is done with the number itself, and so many classes are rare.
        found[is_ahead] = min(one + 1, 127)
    return found


def _directed(network: Network, pieces: LevelPieces, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of pieces in the sense that goes with their normals, and these, towards the second class."""
    words = pieces.words[pieces.above]
    if not len(words):
        return pieces.ids, np.zeros((0, pieces.vertices.shape[1]))
    distinct, row = np.unique(words, axis=0, return_inverse=True)
    maps, _ = maps_of_codes(network, Codes(distinct, network.layout))
    weight, row = maps.weight.numpy(), row.reshape(-1)
    is_single = weight.shape[1] == 1
    gradients = weight[row, 0] if is_single else weight[row, classes[:, 1]] - weight[row, classes[:, 0]]
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    normals = gradients / np.where(lengths > 0, lengths, 1.0)
    return oriented(pieces.vertices, pieces.offsets, pieces.ids, normals), normals
