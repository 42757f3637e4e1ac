"""Questions of a lesson: steps, settings, and weights that are moved by hand.

Each names the lesson that its page shows: one that another page has begun in the meantime is not changed unseen.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.learning.lesson import begins_anew, read_lesson
from reluscope.explorer.learning.unit_weights import Move
from reluscope.explorer.scene.looked_lesson import (
    begin_lesson,
    check_lesson,
    lesson_header,
    progress_header,
    show_newest,
)
from reluscope.explorer.scene.session import Session

if TYPE_CHECKING:
    from reluscope.explorer.learning.course import Course

MOST_STEPS = 1_000
MOST_STEP, MOST_WEIGHT = 10**9, 1e6


def answer_lesson(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Say what the lesson is, and how far."""
    del listener
    asked.end()
    _course(session)
    return Answer(lesson_header(session), {})


def answer_learn(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Take steps, and return what was measured since then."""
    course = _course(session, asked)
    steps, since = asked.whole("steps", 1, MOST_STEPS), asked.whole("since", -1, MOST_STEP, -1)
    asked.end()
    try:
        course.training.learn(steps, listener.cancelled)
    finally:
        show_newest(session)
    return Answer(progress_header(session, since), {})


def answer_teach(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Change settings: those of the optimiser at once, others, and other data, by a new lesson; so does ``anew``."""
    del listener
    course = _course(session, asked)
    problem, anew = asked.choice("problem", tuple(course.problems), course.problem), asked.truth("anew", False)
    settings = asked.given("settings")
    asked.end()
    if not isinstance(settings, Mapping | None):
        raise asked.wrong("settings", "an object", settings)
    before = course.training.lesson
    lesson = read_lesson(settings or {}, "settings", before, own_layers=course.given is None)
    if anew or problem != course.problem or begins_anew(before, lesson):
        begin_lesson(session, lesson, problem)
    else:
        course.training.adjust(lesson)
    return Answer(lesson_header(session), {})


def answer_unit_weights(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return the weights and the bias of one unit after a step."""
    del listener
    course, (gate, unit, step) = _course(session, asked), _unit(asked)
    asked.end()
    found = course.training.unit(gate, unit, step)
    return Answer(
        {"gate": gate, "unit": unit, "bias": found.bias, "scale": found.scale, "step": step},
        {"weights": found.weights},
    )


def answer_move_unit(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Move weights of a unit, as they were after a step; where nothing is moved, only return to that step."""
    del listener
    course, since = _course(session, asked), asked.whole("since", -1, MOST_STEP, -1)
    if asked.has("gate"):
        gate, unit, step = _unit(asked)
        move = _move(asked)
        asked.end()
        course.training.move(gate, unit, move, step)
    else:
        step = asked.whole("epoch", 0, MOST_STEP)
        asked.end()
        course.training.return_to(step)
    show_newest(session)
    return Answer(progress_header(session, since), {})


def _course(session: Session, asked: Asked | None = None) -> "Course":
    """Return the lessons of a session, after checking that the question is about the one that is there."""
    course = session.course
    if course is None:
        raise InputError("there is no training here: open the explorer with --train, or with train=")
    if asked is not None:
        check_lesson(session, asked)
    return course


def _unit(asked: Asked) -> tuple[int, int, int | None]:
    step = asked.whole("epoch", 0, MOST_STEP) if asked.has("epoch") else None
    return asked.whole("gate", 0, MOST_STEP), asked.whole("unit", 0, MOST_STEP), step


def _move(asked: Asked) -> Move:
    bias, scale = (
        asked.number(name, low, MOST_WEIGHT) if asked.has(name) else None
        for name, low in (("bias", -MOST_WEIGHT), ("scale", 0.0))
    )
    if not asked.has("weight"):
        return Move(bias, scale)
    fields = asked.inner("weight")
    weight = fields.whole("from", 0, MOST_STEP), fields.number("value", -MOST_WEIGHT, MOST_WEIGHT)
    fields.end()
    return Move(bias, scale, weight)
