"""A network that is trained while it is looked at: the session's network is that of the newest step."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from torch import nn

from reluscope.arguments import describe
from reluscope.budget import Budget
from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.errors import InputError
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.learning.lesson import AT_ONCE, NAMES, OF_LAYERS, choices_of, range_of, read_lesson
from reluscope.explorer.scene.asked_view import GoneError
from reluscope.explorer.scene.session import Session
from reluscope.networks.network import Network

if TYPE_CHECKING:
    from reluscope.explorer.learning.course import Course


def lesson_session(
    model: Any,
    data: Any,
    train: Any,
    *,
    labels: Any = None,
    class_names: Sequence[str] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> Session:
    """Return a session about a training that has not begun.

    `model` is a module, of which a copy is trained, or None for layers that `train` describes; `data` are a dataset, an
    array with `labels`, or the name of a problem or a file.
    """
    from reluscope.explorer.learning.course import Course

    if model is not None and not isinstance(model, nn.Module):
        is_read = isinstance(model, Network)
        came = "a network, which is read already and has no training mode" if is_read else describe(model)
        raise InputError(f"train= needs a torch.nn.Module, or None for layers of its own, got {came}")
    settings = {"seed": seed, **train} if hasattr(train, "keys") else {"seed": seed} if train is True else train
    lesson = read_lesson(settings, "train", own_layers=model is None)
    course = Course(lesson, _learnt(data, labels), model)
    training = course.training
    session = Session.of(
        training.network_at(), training.data, class_names=class_names, budget=budget, seed=seed, name=name_of(course)
    )
    session.course = course
    return session


def check_lesson(session: Session, asked: Asked) -> None:
    """Raise GoneError unless the lesson that a question names is the one that is there."""
    number = asked.whole("lesson", 0, 10**9)
    if session.course is None or number != session.course.number:
        raise GoneError("another page has begun a new lesson here: load this page again to see it")


def show_newest(session: Session) -> None:
    """Make the newest step of the training what the session is about."""
    assert session.course is not None
    session.show(session.course.training.network_at())


def begin_lesson(session: Session, settings: Any, problem: str) -> None:
    """Change settings: those of the optimiser hold from the next step on, others begin a new lesson.

    InputError if a setting or the problem is none; the lesson before stays then.
    """
    course = session.course
    assert course is not None
    lesson = read_lesson(settings, "settings", course.training.lesson, own_layers=course.given is None)
    course.begin(lesson, problem)
    session.begin(course.training.network_at(), course.training.data, name_of(course))


def lesson_header(session: Session) -> dict[str, Any]:
    """Return what a page has to know of the lesson: settings, their choices and ranges, and how far it is."""
    course = session.course
    assert course is not None
    training = course.training
    own_layers = course.given is None
    names = [name for name in NAMES if own_layers or name not in OF_LAYERS]
    return {
        "settings": asdict(training.lesson),
        "names": names,
        "choices": {name: list(choices) for name in names if (choices := choices_of(name))},
        "ranges": {name: list(within) for name in names if (within := range_of(name))},
        "at_once": sorted(AT_ONCE),
        "problem": course.problem,
        "problems": [{"key": key, "name": name} for key, name in course.problems.items()],
        "samples": list(training.samples),
        "is_classification": training.is_classification,
        "movable": list(training.movable),
        **progress_header(session),
    }


def progress_header(session: Session, since: int = -1) -> dict[str, Any]:
    """Return how far the lesson is, and what was measured after the steps since then."""
    course = session.course
    assert course is not None
    training = course.training
    curve = [
        [one.step, one.loss, one.unseen_loss, one.accuracy, one.unseen_accuracy]
        for one in training.curve.entries
        if one.step > since
    ]
    return {"lesson": course.number, "step": training.step, "stride": training.kept.stride, "curve": curve}


def name_of(course: "Course") -> str:
    """Return what a reader calls the model."""
    return course.training.lesson.name if course.given is None else type(course.given).__name__


def _learnt(data: Any, labels: Any) -> Dataset | str:
    if data is None:
        raise InputError(
            "train= needs data with labels: give points and labels, a dataset, or a name such as 'spirals'"
        )
    if isinstance(data, str):
        if labels is not None:
            raise InputError(f"labels go with an array of points, and {data} brings its own: leave them out")
        return data
    if isinstance(data, Dataset):
        return data if labels is None else dataset_of(data.points, labels, name=data.name)
    if hasattr(data, "detach"):
        data = data.detach().cpu().numpy()
    return dataset_of(data, labels)
