"""Inner and outer radius of a decision region: the largest ball around the origin within it, the smallest around it."""

from functools import partial

import numpy as np

from reluscope import Claim, Finding
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.extending.analyses import nearest_point
from reluscope_studies.annulus.boundary import DecisionRegion


@read_arguments
def inner_radius(region: DecisionRegion) -> Finding:
    """Return the radius of the largest ball around the origin within a bounded decision region.

    Parameters
    ----------
    region : DecisionRegion

    Returns
    -------
    Finding
        The distance of the nearest facet, EXACT up to its tolerance, or ESTIMATE where facets are; 0 if the origin is
        not inside.

    Raises
    ------
    InputError
        If the region is empty or unbounded.

    Notes
    -----
    In a region that is not convex the nearest point of every piece of the boundary is asked for.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> region = annulus.decision_region(annulus.cross_polytope_layers(4))
    >>> print(inner_radius(region))
    0.5 (EXACT)
    """
    _check(region, "inner")
    if not region.has_origin:
        value = 0.0
    elif region.is_convex:
        value = float(region.offsets.min())
    else:
        value = min(_distance(region, row) for row in range(region.num_facets))
    return _finding(region, value, "inner radius", "radius of the largest ball around the origin within {f <= 0}")


@read_arguments
def outer_radius(region: DecisionRegion) -> Finding:
    """Return the radius of the smallest ball around the origin that holds a bounded decision region.

    Parameters
    ----------
    region : DecisionRegion

    Returns
    -------
    Finding
        The distance of the farthest vertex, EXACT up to its tolerance, or ESTIMATE where vertices are.

    Raises
    ------
    InputError
        If the region is empty or unbounded.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> region = annulus.decision_region(annulus.expanded_simplex_layers(3, radius=2.0))
    >>> print(outer_radius(region))
    2 (EXACT)
    """
    _check(region, "outer")
    value = float(np.linalg.norm(region.vertices, axis=1).max())
    return _finding(region, value, "outer radius", "radius of the smallest ball around the origin that holds {f <= 0}")


def _check(region: DecisionRegion, which: str) -> None:
    if not region.is_bounded or region.is_empty:
        state = "an empty" if region.is_empty else "an unbounded"
        raise InputError(f"expected a bounded decision region to measure the {which} radius of, got {state} one")


def _distance(region: DecisionRegion, row: int) -> float:
    """Return how far a piece of the boundary is: the part of its hyperplane in one cell."""
    network, signs = region.network, region.signs[row].astype(float)
    sides = signs != 0
    half_spaces = -signs[sides, None] * network.weight[sides]
    hyperplane = region.normals[row][None], region.offsets[row][None]
    return nearest_point(half_spaces, signs[sides] * network.bias[sides], np.zeros(region.dim), *hyperplane).distance


def _finding(region: DecisionRegion, value: float, name: str, definition: str) -> Finding:
    error = max(region.error, 1e-12 * value) if value else 0.0
    make = partial(Finding.within, value, error)
    make = make if region.claim is Claim.EXACT else partial(Finding.estimate, value)
    return make(
        name=name,
        definition=definition,
        domain=f"all of R^{region.dim}",
        method="facets and vertices of the decision region",
        source="sattelberg2026",
        num_undecided=region.num_undecided,
    )
