"""Intersections of a ball around the origin, a box around it and a half-space, and bounds of linear forms over them.

Over ball and box two bounds meet: that of the box in which both lie, and the radius times the dual norm of the form,
from which the coordinates are left out that the box does not let go the form's way. The half-space ``cut u >= level``
comes in by its multiplier: ``g u <= (g + m cut) u - m level`` for every m >= 0.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.norms import Norm

# Multipliers of the cut that are tried in l1 and linf, for forms of size 1.
MULTIPLIERS = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class CutBall:
    """All u with ``|u| <= radius``, ``lower <= u <= upper`` and ``cut u >= level``."""

    radius: float  # may be infinite
    norm: Norm
    lower: Float[np.ndarray, " n"]  # at most 0, -inf where there is no bound
    upper: Float[np.ndarray, " n"]  # at least 0, inf where there is no bound
    cut: Float[np.ndarray, " n"] | None = None  # of dual norm 1
    level: float = 0.0

    @property
    def reach(self) -> float:
        """Bound on the coordinates; infinite where there is none."""
        return min(self.radius, float(np.maximum(-self.lower, self.upper).max(initial=0.0)))

    def extent(self, forms: Float[np.ndarray, "f n"]) -> tuple[Float[np.ndarray, " f"], Float[np.ndarray, " f"]]:
        """Return a lower and an upper bound of ``g u`` for every form g.

        Infinite where nothing bounds a form.
        """
        least, most = self._without_cut(forms)
        if self.cut is None or not np.isfinite(self.radius):
            return least, most
        for m in self._multipliers(-forms):
            least = np.maximum(least, self._without_cut(forms - np.outer(m, self.cut))[0] + m * self.level)
        for m in self._multipliers(forms):
            most = np.minimum(most, self._without_cut(forms + np.outer(m, self.cut))[1] - m * self.level)
        return least, most

    def _multipliers(self, forms: np.ndarray) -> list[np.ndarray]:
        """Return multipliers of the cut for the largest value of forms; in l2 those that are best without the box."""
        lengths = self.norm.dual.size(forms)
        if self.norm.order != 2:
            return [lengths * multiplier for multiplier in MULTIPLIERS]
        along = forms @ self.cut
        across = np.sqrt(np.maximum(lengths**2 - along**2, 0.0))
        rest = np.sqrt(max(self.radius**2 - self.level**2, 1e-6 * self.radius**2))
        return [np.maximum(across * self.level / rest - along, 0.0)]

    def _without_cut(self, forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rising = np.maximum(forms, 0.0)
        falling = rising - forms
        up, down = np.minimum(self.upper, self.radius), np.minimum(-self.lower, self.radius)
        most, least = _sum(rising, up) + _sum(falling, down), _sum(rising, down) + _sum(falling, up)
        if self.norm.order < np.inf and np.isfinite(self.radius):
            goes_up, goes_down = (self.upper > 0).astype(float), (self.lower < 0).astype(float)
            if self.norm.order == 2:
                rising, falling = rising**2, falling**2
                longest = np.sqrt(rising @ goes_up + falling @ goes_down)
                lowest = np.sqrt(rising @ goes_down + falling @ goes_up)
            else:
                longest, lowest = (
                    np.maximum(rising * one, falling * other).max(axis=-1, initial=0.0)
                    for one, other in ((goes_up, goes_down), (goes_down, goes_up))
                )
            most, least = np.minimum(most, self.radius * longest), np.minimum(least, self.radius * lowest)
        return -least, most


def _sum(parts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return ``parts @ lengths`` where 0 times infinity is 0."""
    endless = np.isinf(lengths)
    total = parts @ np.where(endless, 0.0, lengths)
    return np.where(parts @ endless.astype(float) > 0, np.inf, total) if endless.any() else total
