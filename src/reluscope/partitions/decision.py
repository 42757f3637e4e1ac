"""Decision boundaries: where the largest output changes, as exact pieces.

On a region every output is affine, so two of them tie along a straight chord, of which the part counts where no third
output is larger. Outputs can also tie along a whole facet, which then is a piece itself.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numba import njit

from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.interruption import held
from reluscope.partitions.table import Partition


@dataclass(frozen=True)
class DecisionBoundary:
    """Pieces of the set where the two largest outputs tie and the winner changes.

    Parameters
    ----------
    regions : (p,) int64
        Row of the region that each piece lies in (of the left one if it is a facet).
    classes : (p, 2) int64
        The two outputs that tie, the lower first. With a single output f the classes are 0 (f <= 0) and 1 (f > 0).
    ends : (p, d, d) float64
        End points in domain coordinates: two in the plane, one on a line.
    """

    regions: Int[np.ndarray, " p"]
    classes: Int[np.ndarray, "p 2"]
    ends: Float[np.ndarray, "p d d"]

    def __len__(self) -> int:
        return len(self.regions)

    @property
    def length(self) -> float:
        """Total length in domain coordinates; on a line 0."""
        if self.ends.shape[1] == 1:
            return 0.0
        return float(np.linalg.norm(self.ends[:, 0] - self.ends[:, 1], axis=1).sum())


@read_arguments
def decision_boundary(part: Partition) -> DecisionBoundary:
    """Return the exact pieces of the decision boundary on a partitioned line or plane.

    Parameters
    ----------
    part : Partition
        With its network.

    Returns
    -------
    DecisionBoundary
        Exact up to the rounding of the outputs at the vertices.

    Raises
    ------
    InputError
        If the partition is not of a bounded line or plane, or was loaded without its network.

    Notes
    -----
    Costs one forward pass over the vertices, which the partition keeps.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, -1.0]]), np.zeros(1))])
    >>> pieces = rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> pieces.ends[np.abs(pieces.ends).sum((1, 2)).argmax()].tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    if part.dim > 2 or not part.is_bounded().all():
        raise InputError(
            f"decision boundaries are found on bounded lines and planes, got {part.domain.describe()}: take a Segment "
            "or a Plane"
        )
    outputs, dim = part.outputs, part.dim
    if not len(part):
        return DecisionBoundary(np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, dim, dim)))
    if outputs.shape[1] == 1:
        outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=1)
    error = 64 * np.finfo(float).eps * float(np.abs(outputs).max())
    offsets, ids = part.region_vertices
    regions, classes, ends = _chords(outputs, part.vertices, offsets, ids, error)
    facets = part.facets
    witness = np.stack([np.add.reduceat(column[ids], offsets[:-1]) for column in outputs.T], axis=1)
    witness /= np.diff(offsets)[:, None]
    flat = _flat_facets(outputs, witness, facets.left, facets.right, facets.vertices, error)
    number = len(regions)
    return DecisionBoundary(
        np.concatenate([regions, facets.left[flat[0]]]),
        np.concatenate([classes, flat[1]]),
        np.concatenate([ends.reshape(number, dim, dim), part.vertices[facets.vertices[flat[0]]]]),
    )


@held
@njit(cache=True)
def _chords(outputs, vertices, offsets, ids, error):
    num_outputs, dim = outputs.shape[1], vertices.shape[1]
    capacity, used = 64, 0
    regions = np.empty(capacity, dtype=np.int64)
    classes = np.empty((capacity, 2), dtype=np.int64)
    ends = np.empty((capacity, dim, dim))
    where = np.empty((2, dim))
    value = np.empty((2, num_outputs))
    possible = np.empty(num_outputs, dtype=np.bool_)
    for region in range(offsets.shape[0] - 1):
        first, last = offsets[region], offsets[region + 1]
        best = np.argmax(outputs[ids[first]])
        num_possible = 0
        for c in range(num_outputs):
            # Whoever is below the winner of the first corner everywhere cannot win.
            possible[c] = c == best
            for i in range(first, last):
                possible[c] |= outputs[ids[i], c] > outputs[ids[i], best] + error
            num_possible += possible[c]
        if num_possible < 2:
            continue
        for a in range(num_outputs):
            for b in range(a + 1, num_outputs):
                if not (possible[a] and possible[b]):
                    continue
                found = _crossings(outputs, vertices, ids[first:last], a, b, error, where, value)
                if found < dim:
                    continue
                low, high = 0.0, 1.0
                if dim == 1:
                    for c in range(num_outputs):
                        if c != a and c != b and value[0, c] > value[0, a] + error:
                            high = -1.0
                else:
                    for c in range(num_outputs):
                        if c in (a, b):
                            continue
                        start, stop = value[0, a] - value[0, c], value[1, a] - value[1, c]
                        if start < -error and stop < -error:
                            high = -1.0
                        elif start < -error:
                            low = max(low, start / (start - stop))
                        elif stop < -error:
                            high = min(high, start / (start - stop))
                if high < low or (dim == 2 and high - low <= 1e-14):
                    continue
                if used == capacity:
                    capacity *= 2
                    longer_regions = np.empty(capacity, dtype=np.int64)
                    longer_classes = np.empty((capacity, 2), dtype=np.int64)
                    longer_ends = np.empty((capacity, dim, dim))
                    longer_regions[:used], longer_classes[:used], longer_ends[:used] = regions, classes, ends
                    regions, classes, ends = longer_regions, longer_classes, longer_ends
                regions[used] = region
                classes[used, 0], classes[used, 1] = a, b
                for axis in range(dim):
                    if dim == 1:
                        ends[used, 0, axis] = where[0, axis]
                    else:
                        ends[used, 0, axis] = (1 - low) * where[0, axis] + low * where[1, axis]
                        ends[used, 1, axis] = (1 - high) * where[0, axis] + high * where[1, axis]
                used += 1
    return regions[:used].copy(), classes[:used].copy(), ends[:used].copy()


@njit(cache=True)
def _crossings(outputs, vertices, corners, a, b, error, where, value):
    """Fill in where a region's boundary crosses the tie of two outputs; 0 unless the tie runs through the inside."""
    number = corners.shape[0]
    above, below, found = False, False, 0
    for i in range(number):
        tie = outputs[corners[i], a] - outputs[corners[i], b]
        above |= tie > error
        below |= tie < -error
    if not (above and below):
        return 0
    sides = number if vertices.shape[1] == 2 else 1
    for i in range(number):
        v = corners[i]
        tie = outputs[v, a] - outputs[v, b]
        if abs(tie) <= error and found < 2:
            where[found] = vertices[v]
            value[found] = outputs[v]
            found += 1
    for i in range(sides):
        v, w = corners[i], corners[(i + 1) % number]
        tie, next_tie = outputs[v, a] - outputs[v, b], outputs[w, a] - outputs[w, b]
        if ((tie > error and next_tie < -error) or (tie < -error and next_tie > error)) and found < 2:
            t = tie / (tie - next_tie)
            where[found] = (1 - t) * vertices[v] + t * vertices[w]
            value[found] = (1 - t) * outputs[v] + t * outputs[w]
            found += 1
    return found


@njit(cache=True)
def _lowest_winner(values, allowed, error):
    """Return the lowest of the allowed entries that are largest up to rounding."""
    highest = -np.inf
    for c in range(values.shape[0]):
        if allowed[c]:
            highest = max(highest, values[c])
    for c in range(values.shape[0]):
        if allowed[c] and values[c] >= highest - error:
            return c
    return 0


@held
@njit(cache=True)
def _flat_facets(outputs, witness, left, right, ends, error):
    """Return the facets along which two outputs tie for the maximum and change places, with the two outputs."""
    facets = np.empty(left.shape[0], dtype=np.int64)
    classes = np.empty((left.shape[0], 2), dtype=np.int64)
    used = 0
    tied = np.empty(outputs.shape[1], dtype=np.bool_)
    for f in range(left.shape[0]):
        tied[:] = True
        for i in range(ends.shape[1]):
            highest = outputs[ends[f, i]].max()
            for c in range(outputs.shape[1]):
                tied[c] &= outputs[ends[f, i], c] >= highest - error
        if tied.sum() < 2:
            continue
        # Outputs that tie on the facet differ beside it as they do further inside; the lowest names a tie.
        one = _lowest_winner(witness[left[f]], tied, error)
        two = _lowest_winner(witness[right[f]], tied, error)
        if one != two:
            facets[used] = f
            classes[used, 0], classes[used, 1] = min(one, two), max(one, two)
            used += 1
    return facets[:used].copy(), classes[:used].copy()
