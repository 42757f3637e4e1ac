"""Pieces of a decision boundary, some regions at a time: outputs at their corners, the classes that may win, the ties.

Where two outputs are ahead of all others and tie, they do so along a chord of a region, or along a whole facet. Blocks
of neighbouring regions have few classes that may win in them, however many outputs there are.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from reluscope import _kernels
from reluscope.networks.evaluation.decisions import scores
from reluscope.networks.graph.points import chunks
from reluscope.partitions.decisions.touching_ties import TouchingTies
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.polygons import means_at_corners

# So many classes are all looked at.
FEW_CLASSES = 10
# Regions of a block, and what the scores at its corners may take.
REGIONS, MEMORY = 4096, 2**25


class BoundaryPieces(NamedTuple):
    """Chords of some regions, and facets along which two classes tie: the rows of `DecisionBoundary`."""

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]

    @classmethod
    def none(cls, dim: int) -> "BoundaryPieces":
        """Return no pieces."""
        return cls(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, dim, dim)))

    @classmethod
    def joined(cls, several: "list[BoundaryPieces]", dim: int) -> "BoundaryPieces":
        """Return pieces one after another."""
        return cls(*(np.concatenate(parts) for parts in zip(cls.none(dim), *several, strict=True)))


def scores_by_block(part: Partition) -> Iterator[tuple[Float[np.ndarray, "v k"], int]]:
    """Yield the scores of the classes at the vertices, with the number of the first that are there, until all are.

    Those that the partition has come at once; it keeps them if this comes to its end.
    """
    network, number = part.network_on_domain, len(part.vertices)
    corners = part.geometry.corners
    has_outputs = "outputs" in part.__dict__ or (corners is not None and corners.outputs is not None)
    if has_outputs or part.jumps or not number:
        yield part.scores, number
        return
    outputs = np.zeros((number, network.num_outputs))
    for rows in chunks(number, network.bytes_per_point, max(MEMORY, 32 * network.bytes_per_point)):
        outputs[rows] = network(part.vertices[rows]).reshape(-1, network.num_outputs).cpu().numpy()
        if rows.stop < number:
            yield of_classes(scores(outputs, network.decision)), rows.stop
    part.__dict__["outputs"] = outputs
    yield part.scores, number


def scores_at(part: Partition, points: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "p k"]:
    """Return the scores of the classes at points of the domain."""
    network = part.network_on_domain
    outputs = network(points).reshape(-1, network.num_outputs).cpu().numpy()
    return of_classes(scores(outputs, network.decision))


def of_classes(found: Float[np.ndarray, "v m"]) -> Float[np.ndarray, "v k"]:
    """Return scores of the classes: a single output is the score of class 1, that of class 0 is 0."""
    return found if found.shape[1] > 1 else np.concatenate([np.zeros_like(found), found], axis=1)


def tie_error(scores: Float[np.ndarray, "v k"]) -> float:
    """Return by how much scores differ at most that count as equal: relative to the largest one."""
    return 64 * np.finfo(float).eps * float(np.abs(scores).max(initial=0.0))


def blocks_of(part: Partition, num_classes: int, num_known: int) -> Iterator[tuple[int, int]]:
    """Yield the first regions, some at a time, as long as all their vertices are among the first so many."""
    offsets, ids = part.region_vertices
    is_known = np.maximum.reduceat(ids, offsets[:-1]) < num_known
    last = len(part) if is_known.all() else int(is_known.argmin())
    step = int(np.clip(MEMORY // (8 * num_classes * 4), 1, REGIONS))
    for start in range(0, last, step):
        yield start, min(start + step, last)


def pieces_of(
    part: Partition, values: Float[np.ndarray, "v k"], start: int, stop: int, error: float, touching: TouchingTies
) -> tuple[BoundaryPieces, BoundaryPieces, BoundaryPieces, float]:
    """Return the chords of some regions, the facets on the left of which they are, and those where classes touch.

    The last number is the length of facets where it stayed open whether classes touch.
    """
    offsets, ids = part.region_vertices
    offsets, ids = offsets[start : stop + 1] - offsets[start], ids[offsets[start] : offsets[stop]]
    vertices, ids = np.unique(ids, return_inverse=True)
    ids, points, dim = ids.astype(np.int32), part.vertices[vertices], part.dim
    here = values[vertices]
    chosen = contenders(here, offsets, ids, error)
    few = np.ascontiguousarray(here[:, chosen])
    regions, classes, ends = _kernels.find_chords(few, points, offsets, ids, error)
    chords = BoundaryPieces(start + regions, chosen[classes], ends.reshape(len(regions), dim, dim))
    touched = touching.beside(values, chosen, start, stop, error)
    touched, doubtful = BoundaryPieces(*touched[:3]), touched.doubtful
    facets = part.facets
    which = np.flatnonzero((facets.left >= start) & (facets.left < stop) & (facets.right >= 0))
    if not len(which):
        return chords, BoundaryPieces.none(dim), touched, doubtful
    corners, count = facets.vertices[which], len(which)
    left = facets.left[which] - start
    witness = np.concatenate([means_at_corners(few, offsets, ids), _means(part, values, facets.right[which], chosen)])
    at_corners = np.ascontiguousarray(values[corners.ravel()][:, chosen])
    flat, ties = _kernels.find_flat_facets(
        at_corners,
        witness,
        left,
        stop - start + np.arange(count),
        np.arange(corners.size).reshape(corners.shape),
        error,
    )
    return chords, BoundaryPieces(start + left[flat], chosen[ties], part.vertices[corners[flat]]), touched, doubtful


def _means(part: Partition, values: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the mean of some scores at the corners of regions."""
    offsets, ids = part.region_vertices
    sizes = np.diff(offsets)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(offsets[:-1][rows] - starts[:-1], sizes) + np.arange(starts[-1])
    at_corners = values[ids[places]][:, chosen]
    return np.add.reduceat(at_corners, starts[:-1]) / sizes[:, None]


def contenders(
    values: Float[np.ndarray, "v k"], offsets: Int[np.ndarray, " r1"], ids: Int[np.ndarray, " n"], error: float
) -> Int[np.ndarray, " c"]:
    """Return, in increasing order, the classes that may be ahead, or tie for it, in some region.

    Scores are affine on regions: a class is dropped from a region if a single other one is ahead at all its corners.
    """
    if values.shape[1] <= FEW_CLASSES:
        return np.arange(values.shape[1])
    at_corners = values[ids]
    floor = np.minimum.reduceat(at_corners, offsets[:-1]).max(axis=1)
    is_near = np.maximum.reduceat(at_corners, offsets[:-1]) >= floor[:, None] - 2 * error
    near = np.flatnonzero(is_near.any(axis=0))
    some = np.ascontiguousarray(values[:, near])
    leaders = np.unique(some.argmax(axis=1))
    is_behind = ~is_near[:, near]
    for leader in leaders.tolist():
        is_behind |= np.minimum.reduceat((some[:, [leader]] - some)[ids], offsets[:-1]) > 2 * error
    may_win = ~is_behind.all(axis=0)
    may_win[leaders] = True
    return near[may_win]
