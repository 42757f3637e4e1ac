"""How far the length of a decision boundary may be off: pieces end at other lines, and lines are rounded."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.partitions.corner_errors import side_errors
from reluscope.partitions.partition_in_memory import Partition

# A line ends a piece if it is no farther from the end than so many times what both are moved.
NEAR = 8.0
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
    width = float(np.linalg.norm(np.ptp(part.vertices, axis=0))) if len(regions) else 0.0
    total = 0.0
    block = max(1, ENTRIES // (16 + 4 * max(2, part.network_on_domain.num_outputs)))
    for first in range(0, len(regions), block):
        rows = slice(first, first + block)
        blur = side_errors(part)[regions[rows]]
        ties, moved = _ties(part, regions[rows], classes[rows], blur)
        sides = _sides(part, regions[rows], ends[rows], blur)
        shifts = np.maximum(sides.shifts(ends[rows], moved), ties.shifts(ends[rows], moved))
        total += float(np.minimum(shifts.sum(axis=1) + 4 * moved, width).sum())
    return total


def _ties(
    part: Partition, regions: Int[np.ndarray, " p"], classes: Int[np.ndarray, "p 2"], blur: Float[np.ndarray, " p"]
) -> tuple[_Lines, Float[np.ndarray, " p"]]:
    """Return where the first class of each piece ties with third ones, and how far rounding moves the piece itself."""
    rows, place = np.unique(regions, return_inverse=True)
    network, (offsets, ids) = scores_network(part.network_on_domain), part.region_vertices
    maps = network.linearize(part.witnesses[rows])
    tables = [maps.weight.cpu().numpy(), maps.bias.cpu().numpy()]
    corners = [ids[offsets[row] : offsets[row + 1]] for row in rows]
    errors = rounded_forward(network, part.vertices[np.concatenate(corners)], tolerance=part.tolerance).errors
    tables.append(np.maximum.reduceat(errors, np.cumsum([0, *map(len, corners[:-1])])))
    if network.num_outputs == 1:  # the score of class 0 is 0
        tables = [np.concatenate([np.zeros_like(table), table], axis=1) for table in tables]
    weight, bias, errors = (table[place] for table in tables)
    pieces, (one, other) = np.arange(len(regions)), classes.T
    weight, bias, errors = (
        weight[pieces, one, None] - weight,
        bias - bias[pieces, one, None],
        errors + errors[pieces, one, None],
    )
    slopes = np.maximum(np.linalg.norm(weight, axis=2), TINY)
    with np.errstate(over="ignore"):
        lines = _Lines(weight / slopes[..., None], bias / slopes, errors / slopes)
    moved = blur + lines.moved[pieces, other]
    lines.levels[pieces, one] = lines.levels[pieces, other] = np.nan  # these tie along the whole piece
    return lines, moved


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
