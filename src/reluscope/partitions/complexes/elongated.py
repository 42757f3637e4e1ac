"""Domains much longer along some axes than along others, in units in which they are about as long as wide.

The resolution of an engine is a share of the diameter of its domain, and a short axis may be below it. Units are powers
of two, so that nothing is rounded on the way there and back.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

# Sides that differ by no more than such powers of two are left as they are, and so are those that differ by more than
# float64 holds. In many dimensions engines solve programs, whose rows have length one whatever the units.
LEAST_SPREAD, MOST_SPREAD, MAX_DIMENSIONS = 12, 1000, 10
# Boxes farther from the origin, in widths, are left, too: rounding of the place of a short side would grow with it.
FARTHEST = 2.0**20


def sides_of(domain: Domain) -> Float[np.ndarray, " d"] | None:
    """Return the units of an elongated domain whose rows give it a box, or of a slice with such a window, else None."""
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or not 1 < window.dim <= MAX_DIMENSIONS:
        return None
    ends = (window.lo, window.hi) if isinstance(window, Box) else read_bounds(window.A, window.b)[1:]
    with np.errstate(over="ignore"):
        widths = ends[1] - ends[0]
    if not (np.isfinite(widths).all() and (widths > 0).all()):
        return None
    exponents = np.frexp(widths)[1]
    is_far = (np.maximum(np.abs(ends[0]), np.abs(ends[1])) / FARTHEST > widths).any()
    if is_far or not LEAST_SPREAD < np.ptp(exponents) < MOST_SPREAD:
        return None
    return np.ldexp(1.0, exponents - exponents.max())


def in_units(domain: Domain, sides: Float[np.ndarray, " d"]) -> Slice:
    """Return a domain as a slice whose coordinates are in some units."""
    if isinstance(domain, Slice):
        origin, basis, window = domain.origin, domain.basis, domain.window
    else:
        origin, basis, window = np.zeros(len(sides)), np.eye(len(sides)), domain
    if isinstance(window, Box):
        return Slice(origin, sides[:, None] * basis, Box(window.lo / sides, window.hi / sides))
    assert isinstance(window, Polyhedron)
    return Slice(origin, sides[:, None] * basis, Polyhedron(window.A * sides, window.b))
