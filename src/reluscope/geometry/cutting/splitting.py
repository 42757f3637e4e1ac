"""Subdivision of a complex by functions that are affine on each of its cells.

Cutting by a zero set needs one sign per vertex and nothing else: a face with both strict signs falls into two halves,
and the new face between them is bounded by the ridges that the two halves share. Line, plane and space are the same
code, and coincident or concurrent cuts are ordinary input, because no general position is assumed.

Two scales of error are kept apart. A cut function is known up to its *rounding*, so that its zero set is known up to
rounding over slope: this is the *skew* of an edge along it. Where an edge is cut, the same error is divided by the
slope of the cut function along the edge, which is small where the two are nearly parallel: this is the *blur* of the
new vertex. The sign of a function at a vertex is in doubt up to its rounding plus its slope times the blur.
"""

from dataclasses import dataclass

import numpy as np

from reluscope import _kernels
from reluscope.geometry.cutting.complexes import Complex

# Sides of a face: the strict signs on it. Without any the cut function is zero on the face, and the signs that its
# values had before they were decided to be zero are kept as noise; exact zeros leave nothing.
PLUS, MINUS, BOTH = 1, 2, 3
NOISE_PLUS, NOISE_MINUS, NOISE = 4, 8, 12


@dataclass(frozen=True)
class Placement:
    """Where the faces of a complex lie, and how exactly that is known.

    Parameters
    ----------
    points : (v, d) float64
        Vertices.
    blur : (v,) float64
        How far a vertex may be from where the zero sets truly meet.
    skew : (edges,) float64
        How far an edge may be from the true zero set that it lies on.
    factor : (v,) float64
        How many times their rounding functions may be off at a vertex.
    drift : (v,) float64
        Up to what they change along so much they may be off beside that.
    """

    points: np.ndarray
    blur: np.ndarray
    skew: np.ndarray
    factor: np.ndarray
    drift: np.ndarray

    @classmethod
    def exact(cls, cells: Complex, points: np.ndarray) -> "Placement":
        """Return vertices that are where they should be."""
        none = np.zeros(len(points))
        return cls(points, none, np.zeros(int(cells.size[1])), np.ones(len(points)), none)


@dataclass(frozen=True)
class Subdivision:
    """A complex after some cuts, and how it came from the one before.

    Parameters
    ----------
    complex : Complex
        Old faces keep their ids (as the half where the cut function is positive); new ones follow.
    seams : (facets,) int64
        The seam that each facet lies on, inherited by the halves of a facet, -1 for the facets made here.
    parent : (cells,) int64
        Cell of the old complex that each cell lies in.
    sides : (cells, cuts) uint8
        PLUS or MINUS: the sign of the cut function inside the cell. Neither if it is *flat*: zero at all vertices, so
        that nothing is known of its inside; then NOISE_PLUS and NOISE_MINUS say which signs were decided to be zero.
        Only the first ``num_done`` columns are meaningful.
    tail, head : (new vertices,) int64; share : (new vertices,) float64
        A new vertex lies at ``(1 - share) * tail + share * head``, two vertices that precede it.
    heights : (vertices, cuts) float64
        Cut functions at all vertices; what was decided to be zero is exactly zero, in the first ``num_done`` columns.
    snapped : (cuts,) float64
        Largest absolute value that was decided to be zero.
    placement : Placement
        Of all vertices and edges.
    num_done : int
        Cuts that were made before the number of cells passed the limit.
    num_undecided : int
        Vertices beside a strict sign whose own sign was taken as zero although that may hide more than the resolution
        allows. Flat cells are not counted.
    """

    complex: Complex
    seams: np.ndarray
    parent: np.ndarray
    sides: np.ndarray
    tail: np.ndarray
    head: np.ndarray
    share: np.ndarray
    heights: np.ndarray
    snapped: np.ndarray
    placement: Placement
    num_done: int
    num_undecided: int

    @property
    def positive(self) -> np.ndarray:
        """Whether each cut function is positive inside each cell, ``(cells, cuts)``."""
        return is_positive(self.sides)


def is_positive(sides: np.ndarray) -> np.ndarray:
    """Return whether functions are positive, as far as floats can tell: on a flat cell noise decides, if it agrees."""
    return (sides & PLUS > 0) | (sides == NOISE_PLUS)


def subdivide(
    cells: Complex,
    placement: Placement,
    seams: np.ndarray,
    heights: np.ndarray,
    *,
    rounding: np.ndarray,
    slopes: np.ndarray,
    floor: np.ndarray,
    limit: int,
) -> Subdivision:
    """Cut a complex by the zero sets of functions that are affine on each of its cells.

    Parameters
    ----------
    cells : Complex
    placement : Placement
        Of its vertices and edges.
    seams : (facets,) int64
    heights : (v, c) float64
        Value of every cut function at every vertex.
    rounding : (c,) float64
        Bound on the rounding error of every cut function.
    slopes : (c,) float64
        The steepest slope of every cut function on any cell.
    floor : (c,) float64
        Values up to this size count as zero because of the resolution.
    limit : int
        Stop after the first cut with more cells than this.

    Returns
    -------
    Subdivision

    Notes
    -----
    A sign is strict if the value exceeds both the floor and its error, ``rounding * factor +
    slopes * (blur + drift)``. Other values count
    as zero. At a vertex of cells that have a strict sign this is *undecided* if the value exceeds its error (the sign
    is known, and the resolution hides it), or the resolution ``floor / slopes`` times the slope of the least steep of
    these cells (a region thicker than the resolution may be hidden), or if the error exceeds the floor more than 32
    times (it is not known well enough). The slope of a cell is here the largest one along its edges.

    A cut looks at the faces that it splits, and at all of them only where it is zero at a vertex; signs are taken of
    every face for 64 cuts at a time.
    """
    parts, *columns, places, done, undecided = _kernels.subdivide(
        cells.start,
        cells.count,
        cells.pool,
        cells.size,
        placement.points,
        placement.blur,
        placement.skew,
        placement.factor,
        placement.drift,
        seams,
        heights,
        rounding,
        slopes,
        floor,
        limit,
    )
    seams, parent, sides, tail, head, share, values, snapped = columns
    return Subdivision(
        Complex(*parts),
        seams,
        parent,
        sides,
        tail,
        head,
        share,
        values,
        snapped,
        Placement(*places),
        done,
        undecided,
    )
