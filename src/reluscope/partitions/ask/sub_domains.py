"""Parts of a bounded domain: smaller ones about a point, and what of it lies in a box."""

from dataclasses import dataclass

import numpy as np

from reluscope.errors import DegenerateGeometryError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron


@dataclass(frozen=True)
class SubDomains:
    """Where parts of a bounded domain are taken from."""

    domain: Domain
    window: Box | Polyhedron  # the domain in coordinates of its own
    center: np.ndarray  # (d,) midpoint of a box, else center of a largest ball
    low: np.ndarray  # (d,) lower bounds of the window
    high: np.ndarray  # (d,) upper bounds of the window

    @classmethod
    def of(cls, domain: Domain) -> "SubDomains":
        """Return where parts of a domain are taken from.

        Raises DegenerateGeometryError if the domain is unbounded, empty or flat.
        """
        window = domain.window if isinstance(domain, Slice) else domain
        if isinstance(window, Space) or not window.is_bounded():
            raise DegenerateGeometryError(f"parts are taken of bounded domains, got {domain.describe()}: give a Box")
        if isinstance(window, Box):
            return cls(domain, window, window.center, window.lo, window.hi)
        ball, axes = window.insphere(), np.eye(window.dim)
        if not ball.radius > 0:
            raise DegenerateGeometryError(f"the domain must have an interior, got {domain.describe()}: give a Slice")
        low = np.array([-window.maximize(-axis).value for axis in axes])
        high = np.array([window.maximize(axis).value for axis in axes])
        return cls(domain, window, ball.center, low, high)

    def about_center(self, scale: float) -> Domain:
        """Return the domain scaled about its center, in the same coordinates; itself for scale 1."""
        if scale == 1:
            return self.domain
        center, window = self.center, self.window
        if isinstance(window, Box):
            return self._like(Box(center + scale * (window.lo - center), center + scale * (window.hi - center)))
        at_center = window.A @ center
        return self._like(Polyhedron(window.A, at_center + scale * (window.b - at_center)))

    def inside(self, low: np.ndarray, high: np.ndarray) -> Domain | None:
        """Return the part of the domain between bounds, None if it has no interior."""
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        if not (low < high).all():
            return None
        box = Box(low, high)
        if isinstance(self.window, Box):
            return self._like(box)
        both = self.window.intersect(box.polyhedron)
        return self._like(both) if both.insphere().radius > 0 else None

    def _like(self, window: Box | Polyhedron) -> Domain:
        domain = self.domain
        return Slice(domain.origin, domain.basis, window) if isinstance(domain, Slice) else window
