"""The radius of a largest ball in a region, in the whole input space: a linear program of its own."""

from reluscope.analyses.bodies.inscribed_balls import INRADIUS, inscribed_balls
from reluscope.budget import Budget
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer, finding
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.asked_view import read_row, view_of
from reluscope.explorer.scene.session import Session

SECONDS = 30.0


def answer_radius(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return the inradius of a region of a picture in the whole input space.

    InputError if the region is so thin that no float lies in it.
    """
    view = view_of(session, asked)
    row = read_row(asked, view)
    asked.end()
    point = view.domain.lift(view.part.witnesses[row])[None]
    code = view.part.codes[row : row + 1]
    if not (view.network.codes(point).words == code.words).all():
        raise InputError("the region is thinner than float64 can name a point of, so that its balls are not known")
    found = inscribed_balls(
        view.network, point, budget=Budget(seconds=SECONDS), progress=lambda share: listener.progress(share, 0)
    )
    radius = found.finding(INRADIUS)
    return Answer(
        {"version": view.version, "row": row, "radius": finding(radius), "is_unbounded": radius.value == float("inf")},
        {},
    )
