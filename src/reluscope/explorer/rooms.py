"""The box that is looked at where a network has three inputs, and the plane that cuts it first."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from reluscope.explorer.session import Session
from reluscope.geometry.domains import Box

DIMENSION = 3
MARGIN = 0.25
# How far from the middle the points of a plane lie, as a share of the box: windows have a border of their own.
FILLS = 0.75


@dataclass(frozen=True, eq=False)
class Room:
    """A box of the input space that is looked at."""

    center: Float[np.ndarray, "3"]
    reach: Float[np.ndarray, "3"]

    @property
    def scale(self) -> float:
        """The length that relative places have as their unit."""
        return float(self.reach.max())

    @property
    def box(self) -> Box:
        """The box itself."""
        return Box(self.center - self.reach, self.center + self.reach)

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


def home_room(session: Session) -> Room:
    """Return the box that is looked at: that of the samples, and some more."""
    low, high = session.low_and_high
    border = MARGIN * float((high - low).max() or 1.0)
    return Room((low + high) / 2, (high - low) / 2 + border)


def plane_across(room: Room) -> list[dict[str, Any]]:
    """Return three points of the plane through the middle of a room, across its last input.

    Examples
    --------
    >>> plane_across(Room(np.zeros(3), np.array([1.0, 2.0, 1.0])))[2]
    {'kind': 'point', 'at': [0.0, 1.5, 0.0]}
    """
    (x, y, z), (wide, high, _) = room.center.tolist(), (FILLS * room.reach).tolist()
    places = [[x - wide, y - high, z], [x + wide, y - high, z], [x, y + high, z]]
    return [{"kind": "point", "at": place} for place in places]
