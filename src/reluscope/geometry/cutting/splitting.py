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

    At a vertex, functions may be off by ``factor`` times their rounding, plus their change along the length ``drift``.
    """

    points: np.ndarray  # (v, d) vertices
    blur: np.ndarray  # (v,) distance from where the zero sets truly meet
    skew: np.ndarray  # (edges,) distance from the true zero set of the edge
    factor: np.ndarray  # (v,) multiple of functions' rounding
    drift: np.ndarray  # (v,) length along which functions may change

    @classmethod
    def exact(cls, cells: Complex, points: np.ndarray) -> "Placement":
        """Return vertices that are where they should be."""
        none = np.zeros(len(points))
        return cls(points, none, np.zeros(int(cells.size[1])), np.ones(len(points)), none)


@dataclass(frozen=True)
class Subdivision:
    """A complex after some cuts, and how it came from the one before.

    Old faces keep their ids, as the half where the cut function is positive; new ones follow. A new vertex is ``(1 -
    share) * tail + share * head``. Flat cells, zero at all vertices, are not in ``num_undecided``.
    """

    complex: Complex
    seams: np.ndarray  # (facets,) inherited by halves; -1 for facets made here
    parent: np.ndarray  # (cells,) cell of the old complex that it lies in
    sides: np.ndarray  # (cells, cuts) PLUS or MINUS; of flat cells NOISE_* bits
    tail: np.ndarray  # (new vertices,) an earlier vertex
    head: np.ndarray  # (new vertices,) an earlier vertex
    share: np.ndarray  # (new vertices,)
    heights: np.ndarray  # (vertices, cuts) exactly zero where decided so
    snapped: np.ndarray  # (cuts,) largest absolute value decided to be zero
    placement: Placement  # of all vertices and edges
    num_done: int  # cuts made; later columns are meaningless
    num_undecided: int  # zero signs that may hide too much

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

    A sign is strict above ``floor`` and ``rounding * factor + slopes * (blur + drift)``, else zero, and undecided if
    that may hide too much beside strict signs. It stops after the first cut with more than `limit` cells.
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
