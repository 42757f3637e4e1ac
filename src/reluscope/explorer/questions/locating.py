"""Which regions points of a picture lie in: exact where what is drawn is rounded."""

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import classes_of_outputs
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.asked_view import read_places, view_of
from reluscope.explorer.scene.planes import AnsweredView
from reluscope.explorer.scene.session import Session
from reluscope.networks.evaluation.held_maps import held_maps

MOST_POINTS = 10_000


def answer_locate(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return region and class of some points, -1 where there is none."""
    del listener
    view = view_of(session, asked)
    places = read_places(asked, view, "points", 1, MOST_POINTS)
    asked.end()
    rows = view.part.locate(places)
    classes = np.full(len(rows), -1, dtype=np.int32)
    if session.is_classifier:
        inside = rows >= 0
        classes[inside] = classes_at(view, rows[inside], places[inside])
    return Answer({"version": view.version}, {"rows": rows.astype(np.int32), "classes": classes})


def classes_at(
    view: AnsweredView, rows: Int[np.ndarray, " k"], places: Float[np.ndarray, "k 2"]
) -> Int[np.ndarray, " k"]:
    """Return the classes at points of regions, by the affine maps of these."""
    if not len(rows):
        return np.zeros(0, dtype=np.int64)
    weight, bias = held_maps(view.part.network_on_domain.scores, view.part.codes[rows])
    return classes_of_outputs((weight @ places[:, :, None])[:, :, 0] + bias)
