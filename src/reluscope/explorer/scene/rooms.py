"""The box that is looked at where a network has three inputs or is sliced in three dimensions, and the first plane."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from reluscope.explorer.scene.session import Session
from reluscope.geometry.polyhedra.domains import Box, Slice

if TYPE_CHECKING:
    from reluscope.explorer.scene.solid_slices import Solid

DIMENSION = 3
MARGIN = 0.25
# How far from the middle the points of a plane lie, as a share of the box: windows have a border of their own.
FILLS = 0.75


@dataclass(frozen=True, eq=False)
class Room:
    """A box that is looked at: of the input space, or in the coordinates of a solid."""

    center: Float[np.ndarray, "3"]
    reach: Float[np.ndarray, "3"]
    solid: "Solid | None" = None

    @property
    def scale(self) -> float:
        """The length that relative places have as their unit."""
        return float(self.reach.max())

    @property
    def domain(self) -> Box | Slice:
        """The box itself, or the part of the slice."""
        box = Box(self.center - self.reach, self.center + self.reach)
        return box if self.solid is None else Slice(self.solid.origin, self.solid.basis, box)

    def lift(self, places: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k n"]:
        """Return places as points of the input space."""
        return places if self.solid is None else self.solid.lift(places)

    def part(self, reach: Float[np.ndarray, "3"], about: Float[np.ndarray, "3"] | None) -> "Room":
        """Return a smaller room in this one, about its middle, or as near to a place as it can be."""
        away = self.reach - reach
        center = self.center if about is None else np.clip(about, self.center - away, self.center + away)
        return Room(center, reach, self.solid)

    def relative(self, places: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k 3"]:
        """Return places as pictures have them."""
        return ((places - self.center) / self.scale).astype(np.float32)

    @property
    def header(self) -> dict[str, list[float]]:
        """The room as answers have it."""
        return {"center": self.center.tolist(), "reach": self.reach.tolist()}


def has_space(session: Session) -> bool:
    """Tell whether the input space is one that can be seen."""
    return session.network.num_inputs == DIMENSION


def home_room(session: Session, solid: "Solid | None" = None) -> Room:
    """Return the box that is looked at: that of the samples, or of the corners of a solid, and some more."""
    low, high = session.low_and_high if solid is None else (solid.places.min(axis=0), solid.places.max(axis=0))
    border = MARGIN * float((high - low).max() or 1.0)
    return Room((low + high) / 2, (high - low) / 2 + border, solid)


def plane_across(room: Room) -> list[dict[str, Any]]:
    """Return three points of the plane through the middle of a room, across its last input."""
    (x, y, z), (wide, high, _) = room.center.tolist(), (FILLS * room.reach).tolist()
    places = [[x - wide, y - high, z], [x + wide, y - high, z], [x, y + high, z]]
    return [{"kind": "point", "at": place} for place in places]
