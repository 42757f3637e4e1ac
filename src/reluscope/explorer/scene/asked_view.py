"""Which picture a question is about."""

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session

MOST_VERSION = 2**53


class GoneError(InputError):
    """The picture that a question is about is no longer kept: it has to be asked for again."""


def view_of(session: Session, asked: Asked) -> AnsweredView:
    """Return the picture of the version that a question names; GoneError if it is no longer kept."""
    version = asked.whole("version", 0, MOST_VERSION)
    view = session.views.get(version)
    if view is None:
        raise GoneError(f"picture {version} is no longer kept: ask for the plane again")
    return view


def read_row(asked: Asked, view: AnsweredView) -> int:
    """Return the region that a question names."""
    if not len(view.part):
        raise InputError("there are no regions in this picture: ask for the plane again")
    return asked.whole("row", 0, len(view.part) - 1)


def read_places(asked: Asked, view: AnsweredView, name: str, least: int, most: int) -> Float[np.ndarray, "k 2"]:
    """Return points relative to the window as coordinates of its slice."""
    return np.array(asked.points(name, most, least)) * view.scale
