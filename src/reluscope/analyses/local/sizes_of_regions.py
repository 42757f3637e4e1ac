"""How large the linear regions of points are: inradius, minimal width and diameter, each exact or between bounds."""

import numpy as np

from reluscope.analyses.bodies.inscribed_balls import INRADIUS
from reluscope.analyses.bodies.region_bodies import regions_inside
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.arguments import read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, declare
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

WIDTH = declare(
    "minimal_width", "least distance of two parallel hyperplanes with the linear region between them", unit="input"
)
DIAMETER = declare("diameter", "largest distance of two points of the linear region", unit="input")
METHODS = {
    INRADIUS: "linear program",
    WIDTH: "differences of vertices in up to five dimensions; else from 2 r up to the least of the extents in some "
    "directions and Steinhagen's bound, r the inradius",
    DIAMETER: "distances of vertices in up to five dimensions; else from two points found by linear programs up to the "
    "diagonal of an enclosing box",
}


@read_arguments
def region_sizes(
    network: Network,
    x: Points,
    *,
    domain: Box | None = None,
    budget: TimeBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Findings:
    """Return the sizes of the linear regions of points: inradius, minimal width and diameter.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    domain : Box, optional
        Regions are cut to it; by default they are not cut, and many are unbounded.
    budget : Budget, optional
        Its seconds: no further point is begun after them; one is always finished.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional

    Returns
    -------
    Findings
        ``inradius``, ``minimal_width`` and ``diameter`` of the region of each point. A radius is the lower end of
        the gap of its program, a width the upper end of its interval, a diameter the lower end. A point whose code
        has no region with an interior in the domain is undefined.

    Notes
    -----
    Computed from the vertices in up to five dimensions, where they are few. Elsewhere each region costs a largest
    ball and up to twelve linear programs: about a minute for 784 inputs and 3,072 units on one core, and minutes
    without a domain, to decide whether the region is bounded.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[4.0, 3.0]], [-12.0]), ([[1.0]], [0.0])])
    >>> found = rs.local.region_sizes(net, [[1.0, 1.0]], domain=rs.Box(0, 9, 2))  # a triangle of sides 3, 4, 5
    >>> print(found.finding("inradius"), found.finding("minimal_width"), found.finding("diameter"))
    1 (EXACT) 2.4 (EXACT) 5 (EXACT)
    """
    points = network.points(x)
    window = None if domain is None else domain.polyhedron

    def ask(block: slice) -> Measured:
        regions = regions_inside(network, points[block], tolerance)
        inside = regions[0].polyhedron if regions else None
        if inside is not None and window is not None:
            inside = inside.intersect(window)
        ends = np.full((3, 2), np.nan)
        if inside is not None and (ball := inside.insphere()).radius > 0:
            width, diameter = inside.width(), inside.diameter()
            ends = np.array(
                [(ball.radius, ball.radius + ball.gap), (width.lower, width.upper), (diameter.lower, diameter.upper)]
            )
            witness = regions[0].witness
            if not regions[0].is_whole_within(witness - diameter.upper, witness + diameter.upper):
                ends[:, 0] = 0.0
        return Measured(
            tuple(
                Column.of(quantity, [low if quantity is not WIDTH else high], [low], [high], method=METHODS[quantity])
                for quantity, (low, high) in zip((INRADIUS, WIDTH, DIAMETER), ends, strict=True)
            )
        )

    where = "input space" if domain is None else domain.describe()
    return measure(len(points), ask, Effort.of(budget, None, progress), domain=where, most=1)
