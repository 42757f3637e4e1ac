"""Combinatorial types of decision regions, by which vertices lie on which facets.

A polytope has the faces of a cross-polytope if its vertices come in n pairs and its facets are all 2^n ways to take one
of each pair. It has those of an expanded simplex if its vertices can be called (i, j) for different i, j of 0, ..., n
such that its facets are ``{(i, j) : i in S, j not in S}`` for all proper subsets S.
"""

from enum import StrEnum

import numpy as np
from jaxtyping import Bool

from reluscope.arguments import read_arguments
from reluscope_studies.annulus.boundary import DecisionRegion


class Shape(StrEnum):
    """Kinds of decision regions; in the plane the two solutions are quadrilaterals and hexagons."""

    QUADRILATERAL = "quadrilateral"
    HEXAGON = "hexagon"
    CROSS_POLYTOPE = "cross-polytope"
    EXPANDED_SIMPLEX = "expanded simplex"
    OTHER = "other"
    UNBOUNDED = "unbounded"
    EMPTY = "empty"


@read_arguments
def recognize(region: DecisionRegion) -> Shape:
    """Return the combinatorial type of a decision region: any quadrilateral counts as one, not the square alone.

    Parameters
    ----------
    region : DecisionRegion

    Returns
    -------
    Shape
        OTHER if it is bounded and none of the named polytopes, or not convex. As exact as the region's numbers are.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope_studies.annulus import decision_region, simplex_corner_layers
    >>> [str(recognize(decision_region(simplex_corner_layers(3, inside)))) for inside in (1, 2, 3, 4)]
    ['cross-polytope', 'other', 'other', 'expanded simplex']
    """
    if region.is_empty:
        return Shape.EMPTY
    if not region.is_bounded:
        return Shape.UNBOUNDED
    if not region.is_convex:
        return Shape.OTHER
    if region.dim == 2:
        return {4: Shape.QUADRILATERAL, 6: Shape.HEXAGON}.get(region.num_facets, Shape.OTHER)
    if _is_cross_polytope(region.incidence, region.dim):
        return Shape.CROSS_POLYTOPE
    if _is_expanded_simplex(region.incidence, region.dim):
        return Shape.EXPANDED_SIMPLEX
    return Shape.OTHER


def _is_cross_polytope(incidence: Bool[np.ndarray, "f v"], dim: int) -> bool:
    num_facets, num_vertices = incidence.shape
    if (num_facets, num_vertices) != (2**dim, 2 * dim):
        return False
    together = incidence.T.astype(int) @ incidence.astype(int)
    # All facets are different, so that 2^n of them with one vertex of each of n pairs are all there can be.
    apart = together == 0
    return bool((apart.sum(axis=1) == 1).all() and (incidence.sum(axis=1) == dim).all())


def _is_expanded_simplex(incidence: Bool[np.ndarray, "f v"], dim: int) -> bool:
    size = dim + 1
    num_facets, num_vertices = incidence.shape
    if (num_facets, num_vertices) != (2**size - 2, dim * size):
        return False
    # The facets of S = {i} have n vertices (i, j), those of all but j the n vertices (i, j); no others have n.
    small = incidence[incidence.sum(axis=1) == dim].astype(int)
    if len(small) != 2 * size:
        return False
    meet = small @ small.T > 0
    apart = np.flatnonzero(~meet[0])
    # Apart from {0} are the other {i}, of which each meets itself and "all but 0", and "all but 0", which meets all.
    starts = [0, *(one for one in apart if meet[one, apart].sum() == 2)]
    if len(starts) != size:
        return False
    ends = np.setdiff1d(np.arange(2 * size), starts)
    if (small[starts].sum(axis=0) != 1).any() or (small[ends].sum(axis=0) != 1).any():
        return False
    # Number the facets "all but i" as their partners, which alone they do not meet.
    partners = ~meet[np.ix_(starts, ends)]
    if (partners.sum(axis=1) != 1).any() or (partners.sum(axis=0) != 1).any():
        return False
    ends = ends[partners.argmax(axis=1)]
    first, second = small[starts].argmax(axis=0), small[ends].argmax(axis=0)
    for facet in incidence:
        members = np.isin(np.arange(size), first[facet])
        if not np.array_equal(facet, members[first] & ~members[second]):
            return False
    return len(np.unique(incidence, axis=0)) == num_facets
