"""How large the linear regions of points are: inradius, minimal width and diameter, each exact or between bounds."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.bodies import regions_inside
from reluscope.analyses.pacing import Pace, until_interrupted
from reluscope.arguments import Seconds, read_arguments, read_position
from reluscope.findings import Claim, Finding
from reluscope.geometry.domains import Box
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.tolerance import Tolerance

# Bounds that agree to so many digits are one number.
AGREEMENT = 1e-9


@dataclass(frozen=True)
class RegionSizes:
    """Sizes of the regions of points.

    Parameters
    ----------
    rows : (k,) int64
        Which of the given points these are.
    inradii : (k, 2) float64
        Lower and upper bounds on the radius of a largest ball inside.
    widths : (k, 2) float64
        On the least distance of two parallel hyperplanes with the region between them.
    diameters : (k, 2) float64
        On the largest distance of two points of the region.
    without : (j,) int64
        Points whose code has no region with an interior in the domain.
    domain : Box, optional
        What regions were cut down to.
    stopped : str
        ``"time"`` or ``"interrupted"`` if not all given points were reached, else empty.
    seconds : float
    """

    rows: Int[np.ndarray, " k"]
    inradii: Float[np.ndarray, "k 2"]
    widths: Float[np.ndarray, "k 2"]
    diameters: Float[np.ndarray, "k 2"]
    without: Int[np.ndarray, " j"]
    domain: Box | None
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    @read_arguments
    def inradius(self, position: int) -> Finding:
        """Return the inradius of one region, EXACT within the gap of its program."""
        position = read_position(position, "position", len(self), "points")
        return self._finding(
            self.inradii[position],
            Claim.LOWER,
            name="inradius",
            definition="radius of a largest ball in the linear region",
            method="linear program",
        )

    @read_arguments
    def width(self, position: int) -> Finding:
        """Return the minimal width of one region: EXACT from its vertices, else the UPPER end of an interval."""
        position = read_position(position, "position", len(self), "points")
        return self._finding(
            self.widths[position],
            Claim.UPPER,
            name="minimal width",
            definition="least distance of two parallel hyperplanes with the linear region between them",
            method="differences of vertices in up to five dimensions; else from 2 r up to the least of the extents in "
            "some directions and Steinhagen's bound, r the inradius",
        )

    @read_arguments
    def diameter(self, position: int) -> Finding:
        """Return the diameter of one region: EXACT from its vertices, else the LOWER end of an interval."""
        position = read_position(position, "position", len(self), "points")
        return self._finding(
            self.diameters[position],
            Claim.LOWER,
            name="diameter",
            definition="largest distance of two points of the linear region",
            method="distances of vertices in up to five dimensions; else from two points found by linear programs up "
            "to the diagonal of an enclosing box",
        )

    def _finding(self, bounds: np.ndarray, claim: Claim, **fields: Any) -> Finding:
        low, high = (float(end) for end in bounds)
        domain = "input space" if self.domain is None else self.domain.describe()
        if low == high or high - low <= AGREEMENT * high:
            return Finding(low, Claim.EXACT, domain=domain, tolerance=AGREEMENT * low, **fields)
        value = low if claim is Claim.LOWER else high
        return Finding(value, claim, interval=(low, high), domain=domain, **fields)


@read_arguments
def region_sizes(
    network: Network,
    x: Points,
    *,
    domain: Box | None = None,
    seconds: Seconds = np.inf,
    tolerance: Tolerance | None = None,
    tell: Callable[[float], None] | None = None,
) -> RegionSizes:
    """Return how large the linear regions of points are.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    domain : Box, optional
        What regions are cut down to; by default nothing, and many are then unbounded.
    seconds : float
        When to begin with no further point; one is always done.
    tolerance : Tolerance, optional
    tell : callable, optional
        Told the share of the work done.

    Returns
    -------
    RegionSizes
        Of fewer points if there was no time, or on Ctrl-C.

    Notes
    -----
    From the vertices in up to five dimensions, where they are few. Elsewhere a largest ball and up to twelve linear
    programs for each region: about a minute for 784 inputs and 3,072 units on one core. Without a domain a simplex
    method has to tell first whether the region is bounded, which takes minutes there.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[4.0, 3.0]], [-12.0]), ([[1.0]], [0.0])])
    >>> found = rs.local.region_sizes(net, [[1.0, 1.0]], domain=rs.Box(0, 9, 2))  # a triangle of sides 3, 4, 5
    >>> print(found.inradius(0), found.width(0), found.diameter(0))
    1 (EXACT) 2.4 (EXACT) 5 (EXACT)
    """
    began = time.perf_counter()
    points = network.points(x)
    pace = Pace(len(points), seconds=seconds, most=1, tell=tell)
    found: list[np.ndarray] = []
    rows: list[int] = []
    without: list[int] = []

    def work() -> None:
        for block in pace.blocks():
            regions = regions_inside(network, points[block], tolerance)
            inside = regions[0].polyhedron if regions else None
            if inside is not None and domain is not None:
                inside = inside.intersect(domain.polyhedron)
            if inside is None or not inside.insphere().radius > 0:
                without.append(block.start)
                continue
            ball, width, diameter = inside.insphere(), inside.width(), inside.diameter()
            table = [(ball.radius, ball.radius + ball.gap), (width.lower, width.upper)]
            with deferred():
                found.append(np.array([*table, (diameter.lower, diameter.upper)]))
                rows.append(block.start)

    stopped = until_interrupted(work, rows) or pace.stopped
    table = np.array(found).reshape(-1, 3, 2)
    return RegionSizes(
        np.array(rows, dtype=np.int64),
        table[:, 0],
        table[:, 1],
        table[:, 2],
        np.array(without, dtype=np.int64),
        domain,
        stopped,
        time.perf_counter() - began,
    )
