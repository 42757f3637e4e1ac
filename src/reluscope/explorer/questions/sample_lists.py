"""Samples in lists: all of them, those of a class, or those that a search puts first."""

import numpy as np
from jaxtyping import Int

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.questions.sample_search import SEARCHES, searched
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.thumbnails import thumbnail_shape, thumbnails

MOST_AT_ONCE, MOST_VALUES = 500, 8


def answer_samples(session: Session, asked: Asked, listener: Listener) -> Answer:
    """List some samples, with pictures or first numbers of them."""
    of = asked.choice("of", ("all", "class"), "all")
    one = asked.whole("class", 0, session.num_classes - 1) if of == "class" else None
    search = asked.choice("search", SEARCHES) if asked.has("search") else None
    offset = asked.whole("offset", 0, 2**53, 0)
    number = asked.whole("count", 0, MOST_AT_ONCE, 60)
    asked.end()
    rows, ordered_by, said = _of_class(session, one), None, ""
    if search is not None:
        rows, ordered_by, said = searched(session, rows, search, listener)
    shown = rows[offset : offset + number]
    labels = session.labels
    arrays = {
        "rows": shown.astype(np.int32),
        "labels": (np.full(len(shown), -1) if labels is None else labels[shown]).astype(np.int32),
        "predicted": session.classes[shown].astype(np.int32),
    }
    if ordered_by is not None:
        arrays["ordered_by"] = ordered_by[offset : offset + number].astype(np.float32)
    if thumbnail_shape(session) is not None:
        arrays["thumbnails"] = thumbnails(session, shown)
    else:
        arrays["values"] = session.points[shown, :MOST_VALUES].astype(np.float32)
    return Answer({"total": len(rows), "offset": offset, "ordered_by": said}, arrays)


def _of_class(session: Session, one: int | None) -> Int[np.ndarray, " k"]:
    if one is None:
        return np.arange(len(session.points))
    classes = session.classes if session.labels is None else session.labels
    return np.flatnonzero(classes == one)
