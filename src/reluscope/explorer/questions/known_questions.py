"""Questions in, answers out: what the explorer knows of a network, whatever carries it.

A question is a mapping with ``ask``, its name; an answer is a header of plain values and arrays. What is wrong with a
question is an answer, too: a session goes on whatever it is asked.
"""

import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from reluscope.errors import ReluscopeError
from reluscope.explorer.exchange.answers import Answer, plain
from reluscope.explorer.exchange.asked import Asked, quoted
from reluscope.explorer.exchange.listening import Listener, never, nobody
from reluscope.explorer.questions.ball_radius import answer_radius
from reluscope.explorer.questions.cards import answer_region
from reluscope.explorer.questions.code_space import answer_code_space
from reluscope.explorer.questions.exporting import answer_export
from reluscope.explorer.questions.hello import answer_hello
from reluscope.explorer.questions.lessons import (
    answer_learn,
    answer_lesson,
    answer_move_unit,
    answer_teach,
    answer_unit_weights,
)
from reluscope.explorer.questions.locating import answer_locate
from reluscope.explorer.questions.plane_partition import answer_certify, answer_partition
from reluscope.explorer.questions.sample_lists import answer_samples
from reluscope.explorer.questions.segment_outputs import answer_segment
from reluscope.explorer.questions.spaces import answer_space
from reluscope.explorer.questions.values import answer_values
from reluscope.explorer.scene.asked_view import GoneError
from reluscope.explorer.scene.looked_training import answer_epochs
from reluscope.explorer.scene.rooms import has_space
from reluscope.explorer.scene.session import Session
from reluscope.explorer.scene.solid_slices import has_solids
from reluscope.version import __version__

__all__ = ["QUESTIONS", "Answer", "answer"]


def _hello(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Say what there is to look at, and which questions there are about it."""
    found = answer_hello(session, asked, listener)
    missing = {"epochs"} if session.records is None else set()
    missing |= set(LESSON_QUESTIONS) if session.course is None else set()
    missing |= set() if len(session.points) else {"samples", "code_space"}
    missing |= set() if has_space(session) or has_solids(session) else {"space"}
    return Answer({**found.header, "features": [name for name in QUESTIONS if name not in missing]}, found.arrays)


QUESTIONS: dict[str, Callable[[Session, Asked, Listener], Answer]] = {
    "hello": _hello,
    "partition": answer_partition,
    "space": answer_space,
    "certify": answer_certify,
    "values": answer_values,
    "region": answer_region,
    "radius": answer_radius,
    "locate": answer_locate,
    "samples": answer_samples,
    "segment": answer_segment,
    "code_space": answer_code_space,
    "epochs": answer_epochs,
    "export": answer_export,
    "lesson": answer_lesson,
    "learn": answer_learn,
    "teach": answer_teach,
    "unit_weights": answer_unit_weights,
    "move_unit": answer_move_unit,
}
LESSON_QUESTIONS = ("lesson", "learn", "teach", "unit_weights", "move_unit")


def answer(
    session: Session,
    question: Mapping[str, Any],
    *,
    progress: Callable[[float, int], None] = nobody,
    cancelled: Callable[[], bool] = never,
) -> Answer:
    """Answer a question, whatever it is; errors are answers, too.

    The header begins with ``answer``, the question's ``ask``, and ``seq``. On failure ``answer`` is "error", with
    ``kind`` "input", "gone" (picture no longer kept) or "internal". A cancelled answer has what was found.
    """
    seq = question.get("seq") if isinstance(question, Mapping) else None
    seq = seq if isinstance(seq, int) and not isinstance(seq, bool) and abs(seq) < 2**53 else None
    try:
        if not isinstance(question, Mapping):
            return _error(seq, "input", f"a question must be an object with the field ask, got {quoted(question)}")
        name = question.get("ask")
        if not isinstance(name, str) or name not in QUESTIONS:
            known = ", ".join(QUESTIONS)
            return _error(seq, "input", f"ask must be one of {known}, got {quoted(name)}")
        asked = Asked(question, f"the question {name}", free=("ask", "seq"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = QUESTIONS[name](session, asked, Listener(progress, cancelled))
        return Answer(plain({"answer": name, "seq": seq, **found.header}), found.arrays)
    except GoneError as error:
        return _error(seq, "gone", str(error))
    except ReluscopeError as error:
        return _error(seq, "input", str(error))
    except Exception:
        # Whatever happens, the session goes on; what happened is for whoever opened it.
        traceback.print_exc()
        return _error(
            seq, "internal", f"this failed inside reluscope {__version__}: please report what the terminal says"
        )


def _error(seq: int | None, kind: str, message: str) -> Answer:
    return Answer({"answer": "error", "seq": seq, "kind": kind, "message": message}, {})
