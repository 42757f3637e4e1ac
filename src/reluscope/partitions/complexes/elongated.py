"""Boxes much longer along some axes than along others, in units in which they are about as long as wide.

The resolution of an engine is a share of the diameter of its domain, and a short axis may be below it. Units are powers
of two, so that nothing is rounded on the way there and back.
"""

import numpy as np
from jaxtyping import Float

from reluscope.geometry.polyhedra.domains import Box, Domain, Slice

# Sides that differ by no larger factor are left as they are. In many dimensions engines solve programs, whose rows have
# length one whatever the units.
LARGEST_RATIO, MAX_DIMENSIONS = 2.0**12, 10


def sides_of(domain: Domain) -> Float[np.ndarray, " d"] | None:
    """Return the units of an elongated box, or of a slice whose window is one; None for other domains."""
    window = domain.window if isinstance(domain, Slice) else domain
    if not isinstance(window, Box) or not 1 < window.dim <= MAX_DIMENSIONS:
        return None
    widths = window.hi - window.lo
    if widths.max() <= LARGEST_RATIO * widths.min():
        return None
    exponents = np.frexp(widths)[1]
    return np.ldexp(1.0, exponents - exponents.max())


def in_units(domain: Domain, sides: Float[np.ndarray, " d"]) -> Slice:
    """Return a domain as a slice whose coordinates are in some units."""
    if isinstance(domain, Slice):
        origin, basis, window = domain.origin, domain.basis, domain.window
    else:
        origin, basis, window = np.zeros(len(sides)), np.eye(len(sides)), domain
    assert isinstance(window, Box)
    return Slice(origin, sides[:, None] * basis, Box(window.lo / sides, window.hi / sides))
