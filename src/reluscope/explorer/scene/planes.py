"""The plane that is looked at: its frame through three points, and the part of it that a window shows.

A window is a slice of its own, whose origin is the window's centre: coordinates in it are small numbers about 0
whatever the magnification, and float32 is enough to draw them.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.scene.anchors import LETTERS, Anchor, home_anchors, read_anchors
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import Solid
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.geometry.polyhedra.slices import Plane
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition

MARGIN = 0.25
# Windows from so many parts of the home window to so many times as large are looked at.
SMALLEST, LARGEST = 1e-14, 1e6
# No window is that much longer than wide.
MOST_ASPECT = 100.0


@dataclass(frozen=True, eq=False)
class PlaneFrame:
    """Coordinates of a plane in input space, and its home window."""

    origin: Float[np.ndarray, " n"]
    basis: Float[np.ndarray, "2 n"]  # orthonormal
    anchors: tuple[Anchor, ...]  # three; none where the plane is the input space
    places: Float[np.ndarray, "3 2"] | None  # the anchors in the plane
    center: Float[np.ndarray, "2"]  # of the home window
    reach: Float[np.ndarray, "2"]  # of the home window
    solid: Solid | None = None  # that the plane is seen in

    @property
    def key(self) -> tuple[object, ...]:
        """Plain values that say which plane it is."""
        return tuple(anchor.key for anchor in self.anchors)

    def home_of(self, aspect: float) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2"]]:
        """Return centre and reach of the home window, grown to a width over height."""
        width, height = self.reach
        return self.center, np.array([max(width, aspect * height), max(height, width / aspect)])

    def window(self, center: Float[np.ndarray, "2"], reach: Float[np.ndarray, "2"]) -> Slice:
        """Return a part of the plane as a slice about its own centre."""
        return Slice(self.origin + center @ self.basis, self.basis, Box(-reach, reach))


@dataclass(frozen=True, eq=False)
class AnsweredView:
    """A picture that was answered, kept for questions about it."""

    version: int  # number of the picture
    plane_id: int  # equal for pictures of one plane and network
    network: Network  # of the session, or of an epoch
    frame: PlaneFrame
    center: Float[np.ndarray, "2"]  # of the window, in coordinates of the frame
    reach: Float[np.ndarray, "2"]  # of the window, in coordinates of the frame
    part: Partition  # in coordinates about the centre
    key: tuple[object, ...]  # plain values that say what was asked
    epoch: int | None = None  # the record of the training the network is of
    coarse: Partition | None = None  # by the first gates, if the partition is unfinished

    @property
    def scale(self) -> float:
        """The length that relative coordinates have as their unit."""
        return float(self.reach[1])

    @property
    def domain(self) -> Slice:
        """The window as a slice."""
        assert isinstance(self.part.domain, Slice)
        return self.part.domain


def frame_of(session: Session, anchors: object, solid: Solid | None = None) -> PlaneFrame:
    """Return the plane that a question asks for, perhaps one in a solid.

    Anchors that are none, or on a line, raise InputError.
    """
    if session.is_plane:
        if anchors is not None:
            raise InputError("a network of two inputs is shown on its own plane: leave the anchors out")
        return _input_plane(session)
    if solid is not None:
        given = solid.anchors[:3] if anchors is None else read_anchors(session, anchors, inside=solid.anchor_at)
        return replace(_through(given), solid=solid)
    return _through(read_anchors(session, home_anchors(session) if anchors is None else anchors))


def read_window(asked: Asked, frame: PlaneFrame) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2"]]:
    """Return centre and reach of the window that a question asks for; by default the home window's.

    A window that is none, or out of all proportion to the plane, raises InputError.
    """
    if not asked.has("window"):
        return frame.center, frame.reach
    fields = asked.inner("window")
    center, reach = np.array(fields.numbers("center", 2)), np.array(fields.numbers("reach", 2))
    fields.end()
    home = float(frame.reach.max())
    if not (reach > 0).all() or reach.max() > MOST_ASPECT * reach.min():
        raise InputError(f"reach of the window must be two positive numbers of like size, got {reach.tolist()}")
    if reach.max() > LARGEST * home or np.abs(center - frame.center).max() > LARGEST * home:
        raise InputError("the window must be near the anchors, and this one is far away: go back to the home window")
    if reach.min() < SMALLEST * home:
        raise InputError("the window is smaller than float64 can show: zoom out")
    return center, reach


def _input_plane(session: Session) -> PlaneFrame:
    low, high = session.low_and_high
    border = MARGIN * float((high - low).max() or 1.0)
    center, reach = (low + high) / 2, (high - low) / 2 + border
    return PlaneFrame(np.zeros(2), np.eye(2), (), None, center, reach)


def _through(anchors: tuple[Anchor, ...]) -> PlaneFrame:
    a, b, c = (anchor.point for anchor in anchors)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        if np.array_equal(anchors[first].point, anchors[second].point):
            raise InputError(
                f"{LETTERS[first]} and {LETTERS[second]} are the same point, and a plane needs three that are not on a "
                "line: choose another one"
            )
    try:
        plane = Plane(a, b, c, margin=MARGIN)
    except DegenerateGeometryError:
        raise InputError(
            "A, B and C lie on a line, and a plane needs three points that do not: choose another one"
        ) from None
    assert isinstance(plane.window, Box)
    # A and B lie on the first axis by construction.
    places = np.array([[0.0, 0.0], [float(np.linalg.norm(b - a)), 0.0], plane.basis @ (c - a)])
    reach = (plane.window.hi - plane.window.lo) / 2
    return PlaneFrame(plane.origin, plane.basis, anchors, places, (plane.window.lo + plane.window.hi) / 2, reach)
