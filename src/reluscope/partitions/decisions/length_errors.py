"""How far the length of a decision boundary may be off: pieces end at other lines, and lines are rounded."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.rounded_forward import largest_errors, rounded_forward
from reluscope.partitions.corner_errors import side_errors
from reluscope.partitions.partition_in_memory import Partition

# A line ends a piece if it is no farther from the end than so many times what both are moved.
NEAR = 8.0
# Relative to the length: what an error may be that is found from the largest errors of scores alone.
ENOUGH = 1e-8
TINY = np.finfo(float).tiny
ENTRIES = 2**20  # of an array, while errors are found


class _Lines(NamedTuple):
    """Lines that may end each piece: points where ``normals . x = levels``; those that are none have NaN."""

    normals: Float[np.ndarray, "p k 2"]  # of length one
    levels: Float[np.ndarray, "p k"]
    moved: Float[np.ndarray, "p k"]  # by rounding

    def shifts(self, ends: Float[np.ndarray, "p 2 2"], moved: Float[np.ndarray, " p"]) -> Float[np.ndarray, "p 2"]:
        """Return how far along its line each end of each piece may be off, whose line is moved itself."""
        along = ends[:, 1] - ends[:, 0]
        along = along / np.maximum(np.linalg.norm(along, axis=1), TINY)[:, None]
        reach = self.moved + moved[:, None]
        sines = np.abs(np.einsum("pkd,pd->pk", self.normals, along))
        distances = np.abs(np.einsum("pkd,ped->pek", self.normals, ends) - self.levels[:, None])
        with np.errstate(invalid="ignore", over="ignore"):
            is_near = distances <= NEAR * reach[:, None]
            shifts = np.where(is_near, (reach / np.maximum(sines, TINY))[:, None], 0.0)
        return shifts.max(axis=2, initial=0.0)


class _Maps(NamedTuple):
    """The scores on the region of each piece as affine functions, one score for each class."""

    weight: Float[np.ndarray, "r m 2"]
    bias: Float[np.ndarray, "r m"]
    place: Int[np.ndarray, " p"]  # row for each piece

    @classmethod
    def of(cls, part: Partition, regions: Int[np.ndarray, " p"]) -> "_Maps":
        """Return the maps at the interior points of regions."""
        rows, place = np.unique(regions, return_inverse=True)
        maps = scores_network(part.network_on_domain).linearize(part.witnesses[rows])
        weight, bias = (_for_classes(table.cpu().numpy()) for table in (maps.weight, maps.bias))
        return cls(weight, bias, place)


def length_error(
    part: Partition,
    regions: Int[np.ndarray, " p"],
    classes: Int[np.ndarray, "p 2"],
    ends: Float[np.ndarray, "p 2 2"],
) -> float:
    """Return how far the total length of the pieces in the plane may be off.

    A piece ends at a side of its region, or where a third output ties. Rounding moves lines, and the crossing of two by
    as much over the sine of their angle.
    """
    if not len(regions):
        return 0.0
    network, maps = scores_network(part.network_on_domain), _Maps.of(part, regions)
    largest = largest_errors(network, np.abs(part.vertices).max(axis=0), tolerance=part.tolerance)
    errors = np.broadcast_to(_for_classes(largest[None]), maps.bias.shape)
    total = _total(part, regions, classes, ends, maps, errors)
    if total <= ENOUGH * float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum()):
        return total
    offsets, ids = part.region_vertices
    corners = [ids[offsets[row] : offsets[row + 1]] for row in np.unique(regions)]
    errors = rounded_forward(network, part.vertices[np.concatenate(corners)], tolerance=part.tolerance).errors
    errors = np.maximum.reduceat(errors, np.cumsum([0, *map(len, corners[:-1])]))
    return _total(part, regions, classes, ends, maps, _for_classes(errors))


def _for_classes(table: np.ndarray) -> np.ndarray:
    """Return a table of outputs ``(r, m, ...)`` as one of classes: of a single output the score of class 0 is 0."""
    return np.concatenate([np.zeros_like(table), table], axis=1) if table.shape[1] == 1 else table


def _total(
    part: Partition,
    regions: Int[np.ndarray, " p"],
    classes: Int[np.ndarray, "p 2"],
    ends: Float[np.ndarray, "p 2 2"],
    maps: _Maps,
    errors: Float[np.ndarray, "r m"],
) -> float:
    """Return the error of all pieces, where the scores on each region have some errors."""
    width = float(np.linalg.norm(np.ptp(part.vertices, axis=0)))
    total, sides = 0.0, side_errors(part)
    block = max(1, ENTRIES // (16 + 4 * errors.shape[1]))
    for first in range(0, len(regions), block):
        rows = slice(first, first + block)
        blur = sides[regions[rows]]
        ties, moved = _ties(maps._replace(place=maps.place[rows]), errors, classes[rows], blur)
        edges = _sides(part, regions[rows], ends[rows], blur)
        shifts = np.maximum(edges.shifts(ends[rows], moved), ties.shifts(ends[rows], moved))
        total += float(np.minimum(shifts.sum(axis=1) + 4 * moved, width).sum())
    return total


def _ties(
    maps: _Maps, errors: Float[np.ndarray, "r m"], classes: Int[np.ndarray, "p 2"], blur: Float[np.ndarray, " p"]
) -> tuple[_Lines, Float[np.ndarray, " p"]]:
    """Return where the first class of each piece ties with third ones, and how far rounding moves the piece itself."""
    pieces, (one, other) = np.arange(len(classes)), classes.T
    weight, bias, errors = (table[maps.place] for table in (maps.weight, maps.bias, errors))
    weight, bias = weight[pieces, one, None] - weight, bias - bias[pieces, one, None]
    slopes = np.maximum(np.linalg.norm(weight, axis=2), TINY)
    with np.errstate(over="ignore"):
        moved = (errors + errors[pieces, one, None]) / slopes
        lines = _Lines(weight / slopes[..., None], bias / slopes, moved)
    lines.levels[pieces, one] = lines.levels[pieces, other] = np.nan  # these tie along the whole piece
    return lines, blur + moved[pieces, other]


def _sides(
    part: Partition, regions: Int[np.ndarray, " p"], ends: Float[np.ndarray, "p 2 2"], blur: Float[np.ndarray, " p"]
) -> _Lines:
    """Return the sides of the region of each piece, but the one that is the piece."""
    offsets, ids = part.region_vertices
    numbers = np.diff(offsets)[regions]
    column = np.arange(numbers.max())
    first, second = (offsets[regions][:, None] + (column + step) % numbers[:, None] for step in (0, 1))
    first, second = part.vertices[ids[first]], part.vertices[ids[second]]
    along = second - first
    lengths = np.linalg.norm(along, axis=2)
    is_piece = ((first == ends[:, None, 0]) & (second == ends[:, None, 1])).all(axis=2)
    is_piece |= ((first == ends[:, None, 1]) & (second == ends[:, None, 0])).all(axis=2)
    is_side = (column < numbers[:, None]) & (lengths > 0) & ~is_piece
    normals = np.stack([-along[..., 1], along[..., 0]], axis=2) / np.maximum(lengths, TINY)[..., None]
    levels = np.where(is_side, np.einsum("pkd,pkd->pk", normals, first), np.nan)
    return _Lines(normals, levels, np.broadcast_to(blur[:, None], levels.shape))
