"""Which units bound the linear region of a point: of all hyperplanes those that touch it in a facet."""

from dataclasses import dataclass
from math import inf

import numpy as np
from jaxtyping import Int

from reluscope.arguments import read_arguments
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.regions.regions import region
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

# So many half-spaces in so many dimensions at most take about a second.
QUICK_INPUTS, QUICK_ROWS = 128, 1_000


@dataclass(frozen=True, repr=False)
class RegionFacets(Shown):
    """The facets of the region of one point.

    Parameters
    ----------
    sources : (f, 3) int64
        Gate, unit and the piece beyond, as in `Region.sources`; the first of several units on one hyperplane. Sides
        of the domain have gate -1.
    num_half_spaces : int
        Number of rows, sides of the domain included.
    domain : str
        Domain with which the region was intersected.
    is_whole : bool
        False if rounding hides rows in a network too large for fractions.
    """

    sources: Int[np.ndarray, "f 3"]
    num_half_spaces: int
    domain: str
    is_whole: bool = True

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def units(self) -> Int[np.ndarray, "u 3"]:
        """The facets where units change their pieces, without sides of the domain."""
        return self.sources[self.sources[:, 0] >= 0]

    def number(self) -> Finding:
        """Return how many units bound the region."""
        return Finding.of(
            len(self.units),
            *(() if self.is_whole else (0, inf)),
            resolution=FACETS,
            name="hyperplanes that are facets",
            definition="hyperplanes of units that meet the region in a facet; one for units that share a hyperplane",
            domain=f"one region, {self.domain}",
            method=f"rays, pushed points and linear programs over {self.num_half_spaces:,} half-spaces",
        )


@read_arguments
def region_facets(
    network: Network, x: Points, *, domain: Box | None = None, tolerance: Tolerance | None = None
) -> RegionFacets:
    """Return the facets of the region of one point.

    Parameters
    ----------
    network : Network
    x : (1, *input_shape) or (n,)
    domain : Box, optional
        The region is cut to it; by default it is not cut.
    tolerance : Tolerance, optional

    Returns
    -------
    RegionFacets
        At a resolution of 1e-9 of the inscribed ball.

    Raises
    ------
    DegenerateGeometryError
        If the point lies on a kink and its code has no region with an interior.
    InputError
        If the point lies outside the domain.

    Notes
    -----
    See `Polyhedron.facets`, and `facets_are_quick`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.local.region_facets(net, [[3.0, -1.0]], domain=rs.Box(-4, 4, 2))
    >>> found.units.tolist(), len(found)
    ([[0, 0, 0], [0, 1, 1]], 4)
    """
    found = region(network, x, domain=domain, tolerance=tolerance)
    groups = found.polyhedron.facets(FACETS)
    rows = np.array([group[0] for group in groups], dtype=np.int64)
    where = "in input space" if domain is None else f"cut down to {domain.describe()}"
    everywhere = np.full(network.num_inputs, inf)
    ends = (-everywhere, everywhere) if domain is None else (domain.lo, domain.hi)
    return RegionFacets(found.sources[rows], len(found.sources), where, found.is_whole_within(*ends))


def facets_are_quick(network: Network) -> bool:
    """Whether the facets of a region within a box take about a second at most."""
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates) + 2 * network.num_inputs
    return network.num_inputs <= QUICK_INPUTS and rows <= QUICK_ROWS
