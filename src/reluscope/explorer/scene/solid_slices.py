"""A solid: the three-dimensional slice through four points that a network of more inputs is seen in.

Its coordinates have A as their origin, B on the first axis, C above it and D before both.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.scene.anchors import Anchor, read_anchors
from reluscope.explorer.scene.session import Session

CORNERS = 4
# Directions that add less than this share of the longest lie in what the others span.
FLAT = 1e-9
# A plane is in a solid if its directions are, up to this.
INSIDE = 1e-6


@dataclass(frozen=True, eq=False)
class Solid:
    """A slice of three dimensions."""

    anchors: tuple[Anchor, ...]  # four that are not in one plane
    basis: Float[np.ndarray, "3 n"]  # orthonormal
    places: Float[np.ndarray, "4 3"]  # the anchors in its coordinates

    @property
    def origin(self) -> Float[np.ndarray, " n"]:
        """The first anchor."""
        return self.anchors[0].point

    def lift(self, places: Float[np.ndarray, "k 3"]) -> Float[np.ndarray, "k n"]:
        """Return places as points of the input space."""
        return self.origin + places @ self.basis

    def anchor_at(self, place: tuple[float, ...]) -> Anchor:
        """Return a point of the solid as an anchor: the same combination of the four, here and in a program."""
        weights = np.linalg.solve(self.places[1:].T, np.array(place))
        weights = np.array([1.0 - weights.sum(), *weights])
        point = sum((weight * one.point for weight, one in zip(weights, self.anchors, strict=True)), np.zeros(1))
        program = " + ".join(
            f"{float(weight)!r} * ({one.program})" for weight, one in zip(weights, self.anchors, strict=True)
        )
        said = f"place ({', '.join(f'{one:.3g}' for one in place)}) of the solid"
        return Anchor(point, ("inside", *place, *(one.key for one in self.anchors)), said, program)

    def frame_within(self, origin: Float[np.ndarray, " n"], basis: Float[np.ndarray, "2 n"]) -> dict[str, Any] | None:
        """Return a plane in coordinates of the solid, None if it leaves it."""
        directions = basis @ self.basis.T
        start = self.basis @ (origin - self.origin)
        away = max(
            np.abs(directions @ self.basis - basis).max(),
            np.abs(self.lift(start[None])[0] - origin).max() / max(1.0, np.abs(self.places).max()),
        )
        return None if away > INSIDE else {"origin": start.tolist(), "basis": directions.tolist()}


def has_solids(session: Session) -> bool:
    """Tell whether there is more than space: slices of three dimensions."""
    return session.network.num_inputs >= CORNERS


def read_solid(session: Session, asked: Asked) -> Solid | None:
    """Return the solid that a question names, None if it names none.

    InputError if what it names is no solid, or flat, or the network has no room for one.
    """
    value = asked.given("solid")
    if value is None:
        return None
    if not has_solids(session):
        raise InputError(
            f"a solid is a slice of more than three inputs, and this network has {session.network.num_inputs}: leave "
            "the solid out"
        )
    anchors = read_anchors(session, value, number=CORNERS)
    directions = np.stack([one.point - anchors[0].point for one in anchors[1:]])
    orthonormal, places = np.linalg.qr(directions.T)
    signs = np.where(np.diag(places) < 0, -1.0, 1.0)
    if np.abs(np.diag(places)).min() <= FLAT * np.linalg.norm(directions, axis=1).max():
        raise InputError("A, B, C and D lie in a plane, and a solid needs four points that do not: choose another one")
    return Solid(anchors, signs[:, None] * orthonormal.T, np.vstack([np.zeros(3), (signs[:, None] * places).T]))


def fourth_anchor(session: Session, anchors: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a point beside three: a sample, of a class that they have not, where there is one."""
    rows = [anchor["row"] for anchor in anchors if anchor["kind"] == "sample"]
    others = np.setdiff1d(np.arange(len(session.points)), rows)
    if not len(others):
        return {"kind": "random", "seed": session.seed + 3}
    is_other = ~np.isin(session.classes[others], session.classes[rows])
    return {"kind": "sample", "row": int(others[is_other.argmax()])}
