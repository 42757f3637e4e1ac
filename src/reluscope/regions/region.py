"""One linear region: where it is, which units bound it, and what the network is there."""

from dataclasses import dataclass, field
from math import inf

import numpy as np
from jaxtyping import Float, Int64

from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Region(Shown):
    """A full-dimensional activation region, restricted to the given domain.

    Parameters
    ----------
    code : Codes
        The piece of every unit, as a batch of one.
    polyhedron : Polyhedron
        Closure of the region, ``{z : A z <= b}``. Rows are outward normals, not normalised, redundant rows
        included: an active unit p z + q gives (-p, q), an inactive one (p, -q); units in order, then the rows of
        the domain. The rows are rounded; results of the polyhedron hold for the region, see `Polyhedron`.
    map : AffineMaps
        The network on the region, ``f(z) = weight z + bias``, as a batch of one.
    witness : (n,) array
        A strictly interior point.
    sources : (h, 3) array
        Origin of each row of A: gate, unit within the gate, and the piece of the unit beyond it. Rows of the domain
        have gate -1, their number within the domain, and piece -1. For a gate that keeps the k largest, the last
        number is the unit that replaces the other one.
    errors : (h, 2) array
        Bounds on the rounding error of each row: of its slack near the given point, and of each entry of its
        normal.
    clear : float
        Points at an l1 distance from the witness below it lie in the region if they are in the polyhedron. It is
        finite in networks too large for fractions where slopes of a unit are below the rounding of their terms: the
        polyhedron lacks a row of that unit.
    """

    code: Codes
    polyhedron: Polyhedron
    map: AffineMaps
    witness: Float[np.ndarray, " n"]
    sources: Int64[np.ndarray, "h 3"]
    errors: Float[np.ndarray, "h 2"]
    clear: float = field(default=inf, repr=False)

    def is_whole_within(self, low: Float[np.ndarray, " n"], high: Float[np.ndarray, " n"]) -> bool:
        """Return whether no row that rounding hides cuts the polyhedron in a box around the witness."""
        far = np.maximum(np.abs(low - self.witness), np.abs(high - self.witness)).sum()
        return self.clear == inf or bool(far < self.clear)

    def row_errors(self, low: Float[np.ndarray, " n"], high: Float[np.ndarray, " n"]) -> Float[np.ndarray, " h"]:
        """Return bounds on what rounding makes of the slack of each row on a box around the point asked about."""
        return self.errors[:, 0] + self.errors[:, 1] * float((high - low).sum())
