"""Domains much longer along some axes than along others, in units in which they are about as long as wide.

The resolution of an engine is a share of the diameter of its domain, and a short axis may be below it. Units are powers
of two, so that nothing is rounded on the way there and back.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.axis_rows import read_bounds
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron

# Sides that differ by no larger factor are left as they are. In many dimensions engines solve programs, whose rows have
# length one whatever the units.
LARGEST_RATIO, MAX_DIMENSIONS = 2.0**12, 10


def sides_of(domain: Domain) -> Float[np.ndarray, " d"] | None:
    """Return the units of an elongated domain whose rows give it a box, or of a slice with such a window, else None."""
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or not 1 < window.dim <= MAX_DIMENSIONS:
        return None
    ends = (window.lo, window.hi) if isinstance(window, Box) else read_bounds(window.A, window.b)[1:]
    widths = ends[1] - ends[0]
    if not (np.isfinite(widths).all() and 0 < LARGEST_RATIO * widths.min() < widths.max()):
        return None
    exponents = np.frexp(widths)[1]
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
