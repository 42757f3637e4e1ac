"""The first question: what there is to look at."""

from typing import Any

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.anchors import home_anchors
from reluscope.explorer.scene.looked_lesson import lesson_header
from reluscope.explorer.scene.looked_training import training_header
from reluscope.explorer.scene.planes import frame_of
from reluscope.explorer.scene.rooms import has_space, home_room
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import fourth_anchor, has_solids
from reluscope.explorer.scene.thumbnails import thumbnail_shape
from reluscope.palette import CATEGORIES, DARK, LIGHT, NEUTRAL, TINT, mixed_with_white
from reluscope.version import __version__


def answer_hello(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Say what the model, the data and the first picture are."""
    del listener
    asked.end()
    anchors = home_anchors(session)
    frame = frame_of(session, anchors)
    names = session.class_names
    return Answer(
        {
            "version": __version__,
            "model": _model(session),
            "data": _data(session),
            "class_names": None if names is None else list(names),
            "is_classifier": session.is_classifier,
            "plane": "inputs" if session.is_plane else "anchors",
            "home": {
                "anchors": anchors,
                "window": {"center": frame.center.tolist(), "reach": frame.reach.tolist()},
            },
            "fourth": fourth_anchor(session, anchors or []) if has_solids(session) else None,
            "space": home_room(session).header if has_space(session) else None,
            "lesson": None if session.course is None else lesson_header(session),
            "training": None if session.records is None else training_header(session),
            "budget": {"regions": session.budget.regions, "seconds": session.budget.seconds},
            "palettes": {
                "categories": list(CATEGORIES),
                "areas": [mixed_with_white(color, TINT) for color in CATEGORIES],
                "neutral": NEUTRAL,
                "dark": DARK,
                "light": LIGHT,
            },
            "still": False,
        },
        {},
    )


def _model(session: Session) -> dict[str, Any]:
    network = session.network
    return {
        "name": session.name,
        "num_inputs": network.num_inputs,
        "num_outputs": network.num_outputs,
        "num_units": network.num_units,
        "input_shape": list(network.input_shape),
        "gates": [
            {"name": gate.name, "kind": gate.kind, "units": gate.num_units, "pieces": gate.num_pieces}
            for gate in network.gates
        ],
        "fingerprint": network.fingerprint,
    }


def _data(session: Session) -> dict[str, Any] | None:
    if session.data is None:
        return None
    low, high = session.low_and_high
    shape = thumbnail_shape(session)
    return {
        "name": session.data.name,
        "num_samples": len(session.data),
        "has_labels": session.labels is not None,
        "is_image": shape is not None,
        "thumbnail": None if shape is None else list(shape),
        "low": float(low.min()),
        "high": float(high.max()),
        "num_classes": session.num_classes if session.is_classifier else 0,
    }
