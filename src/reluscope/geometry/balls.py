"""What a ball around the origin and a box around it have in common, and bounds of linear forms over it.

Two bounds meet: that of the box in which both lie, and the radius times the dual norm of the form, from which the
coordinates are left out that the box does not let go the form's way. For linf this is the exact value.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.geometry.norms import Norm


@dataclass(frozen=True, eq=False)
class BallInBox:
    """All u with ``|u| <= radius`` and ``lower <= u <= upper``.

    Parameters
    ----------
    radius : float
        May be infinite.
    norm : "l1", "l2" or "linf"
    lower, upper : (n,) arrays
        With ``lower <= 0 <= upper``, infinite where there is no bound.
    """

    radius: float
    norm: Norm
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]

    @property
    def reach(self) -> float:
        """Bound on the coordinates; infinite where there is none."""
        return min(self.radius, float(np.maximum(-self.lower, self.upper).max(initial=0.0)))

    def extent(
        self, forms: Float[np.ndarray, "*batch n"]
    ) -> tuple[Float[np.ndarray, "*batch"], Float[np.ndarray, "*batch"]]:
        """Return bounds of ``g u`` for every form g.

        Returns
        -------
        pair of (...) arrays
            Least and largest value, or beyond; infinite where nothing bounds a form.

        Examples
        --------
        >>> endless = np.full(2, np.inf)
        >>> [float(end) for end in BallInBox(2.0, "l2", -endless, endless).extent(np.array([3.0, 4.0]))]
        [-10.0, 10.0]
        >>> [float(end) for end in BallInBox(2.0, "l2", np.zeros(2), endless).extent(np.array([3.0, -4.0]))]
        [-8.0, 6.0]
        """
        rising = np.maximum(forms, 0.0)
        falling = rising - forms
        up, down = np.minimum(self.upper, self.radius), np.minimum(-self.lower, self.radius)
        most, least = _sum(rising, up) + _sum(falling, down), _sum(rising, down) + _sum(falling, up)
        if self.norm != "linf" and np.isfinite(self.radius):
            goes_up, goes_down = (self.upper > 0).astype(float), (self.lower < 0).astype(float)
            if self.norm == "l2":
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
