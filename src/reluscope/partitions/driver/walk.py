"""The one driver of long exact work: cells take steps until all are finished, or a budget is spent, or Ctrl-C struck.

An engine says what a cell is, how it takes a step, what is kept of a finished one, and how waiting cells become
independent tasks. Budgets, Ctrl-C, lack of memory, executors, checkpoints and progress are the driver's, and are here
alone. The state is replaced by one assignment: wherever work ends, each cell is either waiting or finished.
"""

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import torch

from reluscope.budget import ENDS, Budget, why_ended
from reluscope.effort import Effort
from reluscope.interruption import deferred, safe_point
from reluscope.kernel_threads import beside_others
from reluscope.partitions.driver.parallel import run_tasks
from reluscope.progress import RegionProgress
from reluscope.stopping import OUT_OF_MEMORY, Stop, is_interrupted, most_serious
from reluscope.time_limits import driven, look_at_clock, time_limit

_NO_WORK: Mapping[str, float] = MappingProxyType({})


class CellBatch(Protocol):
    """Cells that take their steps together; ``len`` is their number, a lower bound on the number of regions in them."""

    @property
    def is_finished(self) -> bool:
        """Whether the cells are regions."""
        ...

    @property
    def level(self) -> Any:
        """How far the cells have come; asked for where work is broken up, which goes level by level."""
        ...

    def __len__(self) -> int: ...


class Step(NamedTuple):
    """What one step has made of some cells."""

    cells: Sequence[Any]  # cells left, the ones to go on with last
    num_found: int = 0  # regions found that are not among ``cells``
    num_undecided: int = 0  # questions that stayed open
    work: Mapping[str, float] = _NO_WORK  # what was counted on the rules


Take = Callable[[Any, float], Step]
Split = Callable[[Sequence[Any]], Sequence[Any] | None]


@dataclass(frozen=True)
class Walked:
    """What a walk has found."""

    parts: list[Any] = field(default_factory=list)  # kept of finished cells, in the order of finishing
    num_found: int = 0  # regions
    num_undecided: int = 0  # questions that stayed open
    left: tuple[Any, ...] = ()  # what ``left`` of `walk` says of unfinished cells
    stop: Stop | None = None  # why work stopped early
    work: Mapping[str, float] = field(default_factory=dict)

    def within(self, most: float, left: Callable[[Any], Any]) -> "Walked":
        """Return the same without the parts at the end that exceed a number of regions: they count as left."""
        parts, number, dropped = list(self.parts), self.num_found, list(self.left)
        while parts and number - len(parts[-1]) >= most:
            number -= len(parts[-1])
            dropped.append(left(parts.pop()))
        return replace(self, parts=parts, num_found=number, left=tuple(dropped))

    def joined(self, others: Iterable["Walked"]) -> "Walked":
        """Return this together with what walks through other cells have found."""
        everything = [self, *others]
        return Walked(
            [part for one in everything for part in one.parts],
            sum(one.num_found for one in everything),
            sum(one.num_undecided for one in everything),
            tuple(left for one in everything for left in one.left),
            self.stop,
            _sum(one.work for one in everything),
        )


Store = Callable[[Sequence[Any]], object]
Checkpoint = Callable[[Sequence[Any]], MutableMapping[str, Walked]]


def walk(
    start: Sequence[Any],
    step: Take,
    *,
    split: Split | None = None,
    finish: Callable[[Any], Any] | None = None,
    store: Store | None = None,
    left: Callable[[Any], Any] = len,
    effort: Effort,
    checkpoint: Checkpoint | None = None,
) -> Walked:
    """Let cells take steps, the last of them first, until all are finished or the budget is spent.

    Work goes on to a first region unless a limit of time ends its step; lack of memory and interrupts stop it like a
    budget. Without ``finish`` or with ``store`` no parts are returned. With ``checkpoint`` tasks do not depend on the
    budget.
    """
    began = time.time() if effort.began is None else effort.began
    rules = _Rules(step, finish, store, left, effort.budget, began)
    state = _State(_waiting(start, 1.0))
    with deferred(), torch.no_grad():
        if split is None or (effort.executor is None and checkpoint is None):
            found = _here(rules, state, effort.count)
        else:
            found = _in_tasks(rules, state, split, effort, checkpoint)
    return found if found.left else replace(found, stop=None)  # the last region was found just in time


@dataclass(frozen=True)
class _Rules:
    """How cells are taken to their end, and since when."""

    step: Take
    finish: Callable[[Any], Any] | None
    store: Store | None
    left: Callable[[Any], Any]
    budget: Budget
    began: float

    def for_tasks(self, num_found: int) -> "_Rules":
        """Return the rules of tasks, which may be done elsewhere: their parts are kept here, when they come."""
        return replace(self, store=None, budget=self.budget.after(num_found))

    def spent(self, num_found: int) -> Stop | None:
        return self.budget.spent(num_found, self.began)


class _Waiting(NamedTuple):
    """Cells that wait for their next step, and their share of the work."""

    cells: Any
    share: float


class _State(NamedTuple):
    """What waits, the last on top, and what was found: the last part with all those before it."""

    waiting: tuple[_Waiting, ...]
    parts: tuple[Any, ...] = ()
    num_found: int = 0
    num_undecided: int = 0
    work: Mapping[str, float] = _NO_WORK

    def walked(self, left: Callable[[Any], Any], stopped: Stop | None) -> Walked:
        parts, before = [], self.parts
        while before:
            part, before = before
            parts.append(part)
        not_done = tuple(left(one.cells) for one in self.waiting if len(one.cells))
        return Walked(parts[::-1], self.num_found, self.num_undecided, not_done, stopped, dict(self.work))


def _waiting(several: Sequence[Any], share: float) -> tuple[_Waiting, ...]:
    """Return cells with their parts of a share."""
    number = sum(map(len, several))
    return tuple(_Waiting(cells, share * len(cells) / number if number else 0.0) for cells in several)


def _here(rules: _Rules, state: _State, progress: RegionProgress | None, stopped: Stop | None = None) -> Walked:
    """Do in this process what is left, or only as much as there has to be of work that was stopped."""
    if not stopped:
        state, stopped = _depth_first(rules, state, progress)
    if rules.budget.first_is_due(state.num_found, stopped):
        state, again = _depth_first(replace(rules, budget=Budget(regions=1)), state, progress)
        stopped = again if is_interrupted(again) else stopped
    return state.walked(rules.left, stopped)


def _depth_first(rules: _Rules, state: _State, progress: RegionProgress | None) -> tuple[_State, Stop | None]:
    """Let the last cells take steps until there are none; return what there is then, and why it is not the end."""
    return _steps(rules, state, lambda waiting: len(waiting) - 1, rules.budget.room, progress)


def _steps(
    rules: _Rules,
    state: _State,
    choose: Callable[[tuple[_Waiting, ...]], int | None],
    room: Callable[[int], float],
    progress: RegionProgress | None,
) -> tuple[_State, Stop | None]:
    """Let the chosen cells take steps until there are none; return what there is then, and why it is not the end."""
    try:
        while state.waiting:
            safe_point()
            if stopped := rules.spent(state.num_found):
                return state, stopped
            if (index := choose(state.waiting)) is None:
                break
            # One assignment: wherever Ctrl-C falls, cells are either still waiting or finished, and never both.
            with driven():
                look_at_clock()
                state, number, share = _advanced(rules, state, index, room(state.num_found))
            if progress is not None and (number or share):
                progress(number, share)
    except ENDS as end:
        return state, why_ended(end)
    return state, None


def _advanced(rules: _Rules, state: _State, index: int, room: float) -> tuple[_State, int, float]:
    """Return the state after a step of some cells, how many regions more it has, and what share of the work is done."""
    cells, share = state.waiting[index]
    others = (*state.waiting[:index], *state.waiting[index + 1 :])
    if not cells.is_finished:
        made = rules.step(cells, room)
        following = _State(
            (*others, *_waiting(made.cells, share)),
            state.parts,
            state.num_found + made.num_found,
            state.num_undecided + made.num_undecided,
            _sum((state.work, made.work)),
        )
        return following, made.num_found, 0.0 if made.cells else share
    number, parts = len(cells), state.parts
    if rules.finish is not None:
        part = rules.finish(cells)
        number = len(part)
        if rules.store is None:
            parts = (part, state.parts)
        else:
            rules.store([part])
    undecided = state.num_undecided + len(cells) - number
    return _State(others, parts, state.num_found + number, undecided, state.work), number, share


def _in_tasks(rules: _Rules, state: _State, split: Split, effort: Effort, checkpoint: Checkpoint | None) -> Walked:
    """Break the work into independent tasks here, then hand them out."""
    state, stopped = _broken_up(rules, state, split, checkpoint is not None, effort.count)
    shares: dict[int, Walked] = {}
    if not stopped:
        stopped = _handed_out(rules, state, shares, effort, checkpoint)
        state = state._replace(waiting=tuple(one for row, one in enumerate(state.waiting) if row not in shares))
    if state.num_found or any(share.num_found for share in shares.values()):
        found = state.walked(rules.left, stopped)
    else:
        found = _here(rules, state, effort.count, stopped)
    return found.joined(share for _, share in sorted(shares.items()))


def _broken_up(
    rules: _Rules, state: _State, split: Split, whatever_the_budget: bool, progress: RegionProgress | None
) -> tuple[_State, Stop | None]:
    """Let cells take steps, level by level, until what waits are tasks; return it, or why work stopped before."""
    tasks: list[_Waiting] = []

    def choose(waiting: tuple[_Waiting, ...]) -> int | None:
        finished = next((row for row, one in enumerate(waiting) if one.cells.is_finished), None)
        if finished is not None:
            return finished
        if (parts := split([one.cells for one in waiting])) is not None:
            tasks[:] = _waiting(parts, sum(one.share for one in waiting))
            return None
        lowest = min(one.cells.level for one in waiting)
        return max(row for row, one in enumerate(waiting) if one.cells.level == lowest)

    room = (lambda _: float("inf")) if whatever_the_budget else rules.budget.room
    state, stopped = _steps(rules, state, choose, room, progress)
    return (state._replace(waiting=tuple(tasks)) if tasks else state), stopped


def _handed_out(
    rules: _Rules,
    state: _State,
    shares: dict[int, Walked],
    effort: Effort,
    checkpoint: Checkpoint | None,
) -> Stop | None:
    """Put in what tasks have found, as it comes; return why some are not there, or have left something behind."""
    tasks, found, reasons = state.waiting, state.num_found, list[Stop | None]()
    executor, progress = effort.executor, effort.count
    if tasks and (hopeless := rules.budget.foresee()):
        return hopeless
    try:
        kept = {} if checkpoint is None else checkpoint([one.cells for one in tasks])
        for name, known in kept.items():
            index = int(name)
            shares[index] = known
            found += known.num_found
            if progress is not None:
                progress(known.num_found, tasks[index].share)
        before, rest = len(shares), [index for index in range(len(tasks)) if index not in shares]
        # Each may find all the regions that are left to find. In this process it tells of them itself.
        left, live = rules.for_tasks(found), progress if executor is None else None
        report = None if progress is None else lambda done, _: progress.show_tasks(before + done, len(tasks))
        calls = [(left, tasks[index], live, executor is not None) for index in rest]
        for position, made in run_tasks(_task, calls, executor, report=report):
            index = rest[position]
            reasons.append(made.stop)
            # Of a task that was given up, or came to no region, what it was to do is still to be done.
            if isinstance(made, Walked) and (made.num_found or not made.left):
                made = made.within(rules.budget.room(found), rules.left)
                if rules.store is not None:
                    rules.store(made.parts)
                    made = replace(made, parts=[])
                if checkpoint is not None and not made.left:
                    kept[task_name(index)] = made
                shares[index] = made
                found += made.num_found
                if progress is not None and executor is not None:
                    progress(made.num_found, tasks[index].share)
            if is_interrupted(made.stop) or not rules.budget.room(found):
                break
    except ENDS as end:
        return why_ended(end)
    worst = most_serious(reasons)
    return worst if is_interrupted(worst) else rules.spent(found) or worst


def _task(rules: _Rules, waiting: _Waiting, progress: RegionProgress | None, is_one_of_many: bool) -> Walked:
    limit = time_limit(rules.budget.seconds_allowed, time.time() - rules.began)
    with limit, deferred(), torch.no_grad(), beside_others() if is_one_of_many else nullcontext():
        state, stopped = _depth_first(rules, _State((waiting,)), progress)
    if stopped == OUT_OF_MEMORY:
        raise MemoryError  # to be tried once more, where there may be more of it
    return state.walked(rules.left, stopped)


def task_name(index: int) -> str:
    """Return the name under which a checkpoint keeps what a task has found."""
    return f"{index:04d}"


def _sum(counts: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    total: dict[str, float] = {}
    for one in counts:
        for name, amount in one.items():
            total[name] = total.get(name, 0) + amount
    return total
