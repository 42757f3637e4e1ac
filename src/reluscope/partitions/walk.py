"""The one driver of long exact work: cells take steps until all are finished, a budget is spent, or somebody interrupts.

An engine says what a cell is, how it takes a step, what is kept of a finished one, and how waiting cells become
independent tasks. Budgets, Ctrl-C, lack of memory, executors, checkpoints and progress are the driver's, and are here
alone. The state is replaced by one assignment: wherever work ends, each cell is either waiting or finished.
"""

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import torch

from reluscope.interruption import deferred, safe_point
from reluscope.partitions.budget import ENDS, INTERRUPTED, OUT_OF_MEMORY, Budget, why_ended
from reluscope.partitions.parallel import Lost, run_tasks

_NO_WORK: Mapping[str, float] = MappingProxyType({})


class Cells(Protocol):
    """Cells that take their steps together; their length is their number, a lower bound on the regions in them."""

    @property
    def is_finished(self) -> bool:
        """Whether the cells are regions."""
        ...

    @property
    def level(self) -> Any:
        """How far the cells have come; work is broken up level by level."""
        ...

    def __len__(self) -> int: ...


class Step(NamedTuple):
    """What one step has made of some cells.

    Parameters
    ----------
    cells : sequence of Cells
        What is left of them, the ones to go on with last.
    num_found : int
        Regions found that are no cells here.
    num_undecided : int
        Questions that stayed open.
    work : mapping of words to numbers
        What was counted on the way.
    """

    cells: Sequence[Any]
    num_found: int = 0
    num_undecided: int = 0
    work: Mapping[str, float] = _NO_WORK


class Progress(Protocol):
    """Whoever is told how far the work is."""

    def found(self, number: int, part: Any) -> None:
        """More regions are finished; what was kept of them, if anything is."""
        ...

    def tasks(self, done: int, number: int) -> None:
        """So many of the tasks that work was broken into are done."""
        ...


@dataclass(frozen=True)
class Walked:
    """What a walk has found.

    Parameters
    ----------
    parts : tuple
        What was kept of finished cells, in the order in which they were finished.
    num_found, num_undecided : int
        Regions, and questions that stayed open.
    left : tuple
        For all cells that were not finished when work stopped, what ``left`` of `walk` says of them.
    stopped : str
        Why work stopped early, empty if it did not.
    work : mapping of words to numbers
    """

    parts: tuple[Any, ...] = ()
    num_found: int = 0
    num_undecided: int = 0
    left: tuple[Any, ...] = ()
    stopped: str = ""
    work: Mapping[str, float] = _NO_WORK

    def within(self, most: float, left: Callable[[Any], Any]) -> "Walked":
        """Return the same without the parts at the end that go beyond a number of regions: they count as left."""
        parts, number, beyond = list(self.parts), self.num_found, list(self.left)
        while parts and number - len(parts[-1]) >= most:
            number -= len(parts[-1])
            beyond.append(left(parts.pop()))
        return replace(self, parts=tuple(parts), num_found=number, left=tuple(beyond))

    def joined(self, others: Iterable["Walked"]) -> "Walked":
        """Return this with what walks through other cells have found."""
        everything = [self, *others]
        return Walked(
            tuple(part for one in everything for part in one.parts),
            sum(one.num_found for one in everything),
            sum(one.num_undecided for one in everything),
            tuple(left for one in everything for left in one.left),
            self.stopped,
            _sums(one.work for one in everything),
        )


def walk(
    start: Sequence[Any],
    step: Callable[[Any, float], Step],
    *,
    split: Callable[[Sequence[Any]], Sequence[Any] | None] | None = None,
    finish: Callable[[Any], Any] | None = None,
    left: Callable[[Any], Any] = len,
    budget: Budget,
    began: float | None = None,
    executor: Executor | None = None,
    checkpoint: Callable[[Sequence[Any]], MutableMapping[int, Walked]] | None = None,
    progress: Progress | None = None,
) -> Walked:
    """Let cells take steps, the last of them first, until all are finished or the budget is spent.

    Parameters
    ----------
    start : sequence of Cells
    step : callable
        Given cells, and how many regions are still asked for (infinity without a limit), returns a `Step`.
    split : callable, optional
        Given all waiting cells, none of them finished, returns them as independent tasks, or None while they are too
        few; the last cells of the lowest level then take a step. Without it work is not broken up.
    finish : callable, optional
        Makes of finished cells the part that is kept of them, with a length of its own: cells that are no regions after
        all count as undecided. Without it only their number is kept, and memory does not grow.
    left : callable
        What is to be known of cells, or of a part, that are left when work stops.
    budget : Budget
    began : float, optional
        When work began, by `time.time`; now, if it is not given.
    executor : concurrent.futures.Executor, optional
        Runs the tasks.
    checkpoint : callable, optional
        Given the tasks, returns a mapping of their numbers to what is known of them; finished tasks are put into it.
        Tasks are then the same whatever the budget.
    progress : Progress, optional

    Returns
    -------
    Walked
        Stopped early if the budget ran out, memory did not suffice, or the user interrupted. Whatever the time, work
        goes on to a first region.

    Examples
    --------
    Words of three letters, one letter more with each step.

    >>> class Words(list):
    ...     is_finished = property(lambda self: len(self[0]) == 3)
    >>> found = walk(
    ...     [Words([""])],
    ...     lambda words, room: Step([Words([words[0] + letter]) for letter in "ba"]),
    ...     finish=list,
    ...     budget=Budget(regions=3),
    ... )
    >>> found.parts, found.left, found.stopped
    ((['aaa'], ['aab'], ['aba']), (1, 1), 'budget of 3 regions')
    """
    task = _Task(step, finish, left, budget, time.time() if began is None else began)
    state = _State(tuple(start))
    with torch.no_grad(), deferred():
        if split is None or (executor is None and checkpoint is None):
            found = _here(task, state, progress)
        else:
            found = _in_tasks(task, state, split, executor, checkpoint, progress)
    return found if found.left else replace(found, stopped="")  # the last region was found just in time


@dataclass(frozen=True)
class _Task:
    """How cells are taken to their end, and since when."""

    step: Callable[[Any, float], Step]
    finish: Callable[[Any], Any] | None
    left: Callable[[Any], Any]
    budget: Budget
    began: float

    def spent(self, num_found: int) -> str:
        return self.budget.spent(num_found, self.began)


class _State(NamedTuple):
    """Waiting cells, the last on top, and what was found: the last part with all those before it."""

    waiting: tuple[Any, ...]
    parts: tuple[Any, ...] = ()
    num_found: int = 0
    num_undecided: int = 0
    work: Mapping[str, float] = _NO_WORK

    def walked(self, left: Callable[[Any], Any], stopped: str) -> Walked:
        parts, before = [], self.parts
        while before:
            part, before = before
            parts.append(part)
        return Walked(
            tuple(reversed(parts)),
            self.num_found,
            self.num_undecided,
            tuple(left(cells) for cells in self.waiting),
            stopped,
            self.work,
        )


def _here(task: _Task, state: _State, progress: Progress | None, stopped: str = "") -> Walked:
    """Do in this process what is left, or only as much as there has to be of work that was stopped."""
    if not stopped:
        state, stopped = _depth_first(task, state, progress)
    if task.budget.first_is_due(state.num_found, stopped):
        state, again = _depth_first(replace(task, budget=Budget(regions=1)), state, progress)
        stopped = INTERRUPTED if again == INTERRUPTED else stopped
    return state.walked(task.left, stopped)


def _depth_first(task: _Task, state: _State, progress: Progress | None) -> tuple[_State, str]:
    """Let the last cells take steps until there are none; return what there is then, and why it is not the end."""
    try:
        while state.waiting:
            safe_point()
            if stopped := task.spent(state.num_found):
                return state, stopped
            room = task.budget.room(state.num_found)
            # One assignment: wherever Ctrl-C falls, cells are either still waiting or finished, and never both.
            state, number, part = _advanced(task, state, len(state.waiting) - 1, room)
            if progress is not None and number:
                progress.found(number, part)
    except ENDS as end:
        return state, why_ended(end)
    return state, ""


def _advanced(task: _Task, state: _State, index: int, room: float) -> tuple[_State, int, Any]:
    """Return the state after a step of some cells, how many regions that has found, and what is kept of them."""
    cells = state.waiting[index]
    waiting = (*state.waiting[:index], *state.waiting[index + 1 :])
    if not cells.is_finished:
        made = task.step(cells, room)
        return (
            _State(
                (*waiting, *made.cells),
                state.parts,
                state.num_found + made.num_found,
                state.num_undecided + made.num_undecided,
                _sums((state.work, made.work)),
            ),
            made.num_found,
            None,
        )
    if task.finish is None:
        return state._replace(waiting=waiting, num_found=state.num_found + len(cells)), len(cells), None
    part = task.finish(cells)
    undecided = state.num_undecided + len(cells) - len(part)
    return (
        _State(waiting, (part, state.parts), state.num_found + len(part), undecided, state.work),
        len(part),
        part,
    )


def _in_tasks(
    task: _Task,
    state: _State,
    split: Callable[[Sequence[Any]], Sequence[Any] | None],
    executor: Executor | None,
    checkpoint: Callable[[Sequence[Any]], MutableMapping[int, Walked]] | None,
    progress: Progress | None,
) -> Walked:
    """Break the work into independent tasks here, then hand them out."""
    state, stopped = _broken_up(task, state, split, checkpoint is not None, progress)
    shares: dict[int, Walked] = {}
    if state.waiting and not stopped:
        stopped = _hand_out(task, state, shares, executor, checkpoint, progress)
        state = state._replace(waiting=tuple(one for row, one in enumerate(state.waiting) if row not in shares))
    if not state.num_found and not any(share.num_found for share in shares.values()):
        found = _here(task, state, progress, stopped)
    else:
        found = state.walked(task.left, stopped)
    return found.joined(share for _, share in sorted(shares.items()))


def _broken_up(
    task: _Task,
    state: _State,
    split: Callable[[Sequence[Any]], Sequence[Any] | None],
    whatever_the_budget: bool,
    progress: Progress | None,
) -> tuple[_State, str]:
    """Let cells take steps, level by level, until those that wait are tasks; return them, or why they are none."""
    try:
        while state.waiting:
            safe_point()
            if stopped := task.spent(state.num_found):
                return state, stopped
            index = next((row for row, one in enumerate(state.waiting) if one.is_finished), None)
            if index is None:
                if (tasks := split(state.waiting)) is not None:
                    return state._replace(waiting=tuple(tasks)), ""
                lowest = min(one.level for one in state.waiting)
                index = max(row for row, one in enumerate(state.waiting) if one.level == lowest)
            room = float("inf") if whatever_the_budget else task.budget.room(state.num_found)
            state, number, part = _advanced(task, state, index, room)
            if progress is not None and number:
                progress.found(number, part)
    except ENDS as end:
        return state, why_ended(end)
    return state, ""


def _hand_out(
    task: _Task,
    state: _State,
    shares: dict[int, Walked],
    executor: Executor | None,
    checkpoint: Callable[[Sequence[Any]], MutableMapping[int, Walked]] | None,
    progress: Progress | None,
) -> str:
    """Put the shares of tasks in as they come; return why some are not there, or left something behind."""
    tasks, found, said = state.waiting, state.num_found, set[str]()
    if hopeless := task.budget.foresee():
        return hopeless
    try:
        kept = {} if checkpoint is None else checkpoint(tasks)
        for index, share in kept.items():
            shares[index] = share
            found += share.num_found
            _tell(progress, share)
        before, rest = len(shares), [index for index in range(len(tasks)) if index not in shares]

        def tell(done: int, _: int) -> None:
            if progress is not None:
                progress.tasks(before + done, len(tasks))

        # Each task may find all the regions that are left to find.
        left = replace(task, budget=task.budget.after(found))
        calls = [(left, tasks[index], progress if executor is None else None) for index in rest]
        for position, share in run_tasks(_run, calls, executor, tell=tell):
            said.add(share.stopped)
            # Of a task that was given up, or came to no region, what it was to do is still to be done.
            if not isinstance(share, Lost) and (share.num_found or not share.left):
                share = share.within(task.budget.room(found), task.left)
                if checkpoint is not None and not share.left:
                    kept[rest[position]] = share
                shares[rest[position]] = share
                found += share.num_found
                if executor is not None:
                    _tell(progress, share)
            if share.stopped == INTERRUPTED or not task.budget.room(found):
                break
    except ENDS as end:
        return why_ended(end)
    return INTERRUPTED if INTERRUPTED in said else task.spent(found) or max(said, default="")


def _tell(progress: Progress | None, share: Walked) -> None:
    if progress is None:
        return
    for part in share.parts:
        progress.found(len(part), part)
    if not share.parts:
        progress.found(share.num_found, None)


def _run(task: _Task, cells: Any, progress: Progress | None) -> Walked:
    with torch.no_grad(), deferred():
        state, stopped = _depth_first(task, _State((cells,)), progress)
    if stopped == OUT_OF_MEMORY:
        raise MemoryError  # to be tried once more, where there may be more of it
    return state.walked(task.left, stopped)


def _sums(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in counts:
        for name, amount in one.items():
            total[name] = total.get(name, 0) + amount
    return total
