"""Lessons one after the other: the data may be chosen anew, and a lesson replaces the one before when it has begun."""

from torch import nn

from reluscope.datasets.dataset import Dataset
from reluscope.errors import InputError
from reluscope.explorer.learning.lesson import Lesson
from reluscope.explorer.learning.problems import PROBLEMS, open_problem, with_labels
from reluscope.explorer.learning.training import Training

# What the user's own data are called among the problems.
OWN = "own"


class Course:
    """The training that is looked at, and what others can be begun in its place.

    `data` is the name of a problem or a file, or a dataset; `given` is a module to train, in place of the lesson's.
    """

    def __init__(self, lesson: Lesson, data: Dataset | str, given: nn.Module | None = None) -> None:
        self.number, self.given = 1, given
        if isinstance(data, str):
            self.own = None if data in PROBLEMS else open_problem(data)
        else:
            self.own = with_labels(data)
        self.problem = data if isinstance(data, str) and self.own is None else OWN
        self.training = self._begun(lesson, self.problem)

    @property
    def problems(self) -> dict[str, str]:
        """Names of the data that can be learnt, by key; a model that is given keeps to its own."""
        own = {} if self.own is None else {OWN: self.own.name}
        known = (self.problem,) if self.given is not None else PROBLEMS
        return own | {name: name for name in known if name != OWN}

    def begin(self, lesson: Lesson, problem: str) -> None:
        """Begin another lesson; on InputError the one before stays."""
        if problem not in self.problems:
            raise InputError(f"problem must be one of {', '.join(self.problems)}, got {problem!r}")
        self.training = self._begun(lesson, problem)
        self.problem = problem
        self.number += 1

    def _begun(self, lesson: Lesson, problem: str) -> Training:
        data = open_problem(problem, lesson.seed) if self.own is None or problem != OWN else self.own
        return Training(lesson, data, self.given)
