"""What is drawn of space: convex polygons with their colours, in a box with names along its sides."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.partitions.levels.level_polygons import following
from reluscope.plots.space.view_directions import View


@dataclass(frozen=True)
class Scene:
    """Polygons in a box.

    Polygon i has the corners ``points[ids[offsets[i] : offsets[i + 1]]]`` in cyclic order.
    """

    points: Float[np.ndarray, "v 3"]
    offsets: Int[np.ndarray, " p1"]
    ids: Int[np.ndarray, " _"]
    colors: Float[np.ndarray, "p 4"]  # red, green, blue and opacity
    low: Float[np.ndarray, " 3"]  # lower corner of the box
    high: Float[np.ndarray, " 3"]  # upper corner of the box
    names: tuple[str, str, str] | None  # labels along the box; without them no box is drawn
    stretch: tuple[float, float, float] = (1.0, 1.0, 1.0)  # how much longer a unit of each axis is drawn

    def __len__(self) -> int:
        """Return the number of polygons."""
        return len(self.offsets) - 1

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges of polygons, each once, as pairs of points, and the largest opacity of a polygon beside each."""
        ends = np.sort(np.stack([self.ids, following(self.offsets, self.ids)], axis=1), axis=1)
        keys, edge = np.unique(ends[:, 0] * max(1, len(self.points)) + ends[:, 1], return_inverse=True)
        opacity = np.zeros(len(keys))
        np.maximum.at(opacity, edge, np.repeat(self.colors[:, 3], np.diff(self.offsets)))
        return np.stack(np.divmod(keys, max(1, len(self.points))), axis=1), opacity

    def seen(self, points: Float[np.ndarray, "k 3"], view: View) -> Float[np.ndarray, "k 3"]:
        """Return points as they are seen: to the right, upwards, and towards the viewer, from the middle of the box."""
        return ((points - (self.low + self.high) / 2) * self.stretch) @ view.frame.T

    @property
    def corners(self) -> Float[np.ndarray, "8 3"]:
        """The corners of the box."""
        which = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
        return np.where(which == 1, self.high, self.low)


def names_of(domain: Domain) -> tuple[str, str, str]:
    """Return what is along the axes of a domain."""
    kind = "direction" if isinstance(domain, Slice) else "input"
    return f"{kind} 0", f"{kind} 1", f"{kind} 2"
