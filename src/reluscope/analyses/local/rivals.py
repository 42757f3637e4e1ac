"""Classes and their rivals in one region: proofs that a class is nowhere ahead, and nearest points that are as likely.

Both are nearest-point programs over the half-spaces of the region and of the differences of logits.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
import torch

from reluscope.errors import SolverError
from reluscope.geometry.numbers.resolutions import SUMS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.nearest_point import NearestPoint, nearest_point
from reluscope.regions.region import Region

# The logarithm of a probability may be below its maximum by so much, or by this share of it.
GAP = 1e-7


@dataclass(frozen=True)
class Rivals:
    """A region and its logits, for questions that are asked of one class at a time by the active-set method.

    Few rows of these programs are tight: some hundred among thousands.
    """

    A: np.ndarray
    b: np.ndarray
    weight: np.ndarray
    bias: np.ndarray
    point: np.ndarray
    domain: Box

    @classmethod
    def of(cls, region: Region, weight: torch.Tensor, bias: torch.Tensor, point: torch.Tensor, domain: Box) -> "Rivals":
        """Return the region of a point, which has these logits, for questions within a domain."""
        own = region.polyhedron
        return cls(own.A, own.b, weight.cpu().numpy(), bias.cpu().numpy(), point.cpu().numpy(), domain)

    def of_classes(self, which: np.ndarray) -> "Rivals":
        """Return the same region with some of the classes only."""
        return replace(self, weight=self.weight[which], bias=self.bias[which])

    def most_ahead(self, one: int) -> float:
        """Return an upper bound on how far a class is ahead of all others; infinite where none is proved."""
        rows, offsets = self._behind(one, np.zeros(len(self.bias) - 1))
        nearest = self._nearest(rows, offsets)
        if nearest is None or not nearest.is_empty:
            return np.inf
        # A combination of the rivals' leads and of rows, which is nowhere in the box as small as these rows ask for.
        multipliers = np.maximum(nearest.multipliers, 0.0)
        of_rows, of_rivals = multipliers[: len(self.b)], multipliers[len(self.b) :]
        normal = self.A.T @ of_rows + rows.T @ of_rivals
        terms = np.minimum(normal * self.domain.lo, normal * self.domain.hi)
        least = terms.sum() - of_rows @ self.b - of_rivals @ offsets
        rounding = SUMS * (np.abs(terms).sum() + of_rows @ np.abs(self.b) + of_rivals @ np.abs(offsets))
        return -float((least - rounding) / of_rivals.sum()) if of_rivals.any() else np.inf

    def classes(self, points: np.ndarray) -> np.ndarray:
        """Return the class of every point."""
        return (points @ self.weight.T + self.bias).argmax(axis=1)

    def nearest(
        self, found: np.ndarray, doubt: np.ndarray, is_every: bool, until: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nearest points (m, n) as likely as those found, distances (m,) and their gaps.

        The farthest come first: of the others it does not matter for the distortion how much nearer they are. When
        ``time.perf_counter`` is past a time, those that are left stay where they were found.
        """
        logits, number = found @ self.weight.T + self.bias, len(self.bias)
        distances = np.linalg.norm(found - self.point, axis=1)
        points, gaps, farthest = found.copy(), distances.copy(), 0.0
        for one in np.argsort(-distances).tolist():
            if (distances[one] <= farthest and not is_every) or time.perf_counter() > until:
                break
            # Rivals with next to no probability need not have less.
            behind = np.delete(logits[one] - logits[one, one], one)
            nearest = self._nearest(*self._behind(one, np.maximum(behind, np.log(GAP / (2 * number))) + doubt[one]))
            if nearest is not None and nearest.distance <= distances[one]:
                points[one], distances[one], gaps[one] = nearest.point, nearest.distance, nearest.gap
            farthest = max(farthest, distances[one])
        return points, distances, gaps

    def _behind(self, one: int, leads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return half-spaces on which no other class is ahead by more than its lead."""
        rows = np.delete(self.weight, one, axis=0) - self.weight[one]
        return rows, leads - np.delete(self.bias, one) + self.bias[one]

    def _nearest(self, rows: np.ndarray, offsets: np.ndarray) -> NearestPoint | None:
        A, b = np.concatenate([self.A, rows]), np.concatenate([self.b, offsets])
        try:
            return nearest_point(A, b, self.point, lower=self.domain.lo, upper=self.domain.hi)
        except SolverError:
            return None
