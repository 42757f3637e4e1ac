"""Arguments read by the annotations of the function that takes them."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from reluscope.arguments.annotations import ForEach, Reader, Sizes, reader_of
from reluscope.arguments.jumping import refuse_jumps, refuses_jumps
from reluscope.errors import BudgetExceededError, ReluscopeError
from reluscope.moved_names import refuse_argument
from reluscope.progress import LongCall, is_told, told
from reluscope.time_limits import OutOfTime, first_asked, is_driven, time_limit

Public = TypeVar("Public", bound=Callable[..., Any])
# The parameters by which calls that may take long are limited and watched.
WAITING = ("budget", "progress")


def read_arguments(public: Public) -> Public:
    """Read every argument of a public function, or of a constructor, by its annotation before it runs.

    A wrong one raises InputError or ShapeError with one sentence. Axes of arrays with one letter must be equally long.
    Missing and unknown arguments, and values equal to the default, are left to Python; TypeError says what is written
    in place of one that moved.

    The seconds of an argument ``budget`` limit all that the function does. Loops that drive work keep what they have;
    BudgetExceededError if the time is over before there is anything to keep. A call without ``budget`` and without
    ``progress`` warns when it takes long, see `LongCall`.
    """
    if isinstance(public, type):
        public.__init__ = read_arguments(public.__init__)
        return public  # pyright: ignore[reportReturnType]
    return _reading(public, has_gaps=False)


def read_drawn(public: Public) -> Public:
    """Read the arguments of a picture as `read_arguments` does; arrays may hold NaN for unknown numbers."""
    return _reading(public, has_gaps=True)


def _reading(public: Public, *, has_gaps: bool) -> Public:
    function: Any = public
    plan: _Plan | None = None
    refuses, asked = refuses_jumps(function), function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def read_and_call(*args: Any, **kwargs: Any) -> Any:
        nonlocal plan
        __tracebackhide__ = True  # of errors further down, notebooks and pytest leave this frame out
        if plan is None:  # annotations may name classes that are defined further down
            plan = _Plan(function, has_gaps)
        try:
            found, named = plan.positional(args, sizes := {}), plan.by_name(kwargs, sizes)
            if refuses:
                for value in (*found[plan.num_own :], *named.values()):
                    refuse_jumps(asked, value)
        except ReluscopeError as error:
            # Whoever reads where a sentence comes from is to see their own call, and not the way through readers.
            raise error.with_traceback(None)  # noqa: B904
        if not plan.may_wait:
            return function(*found, **named)
        if not is_told() and plan.is_unwatched(found, named):
            named["progress"] = LongCall(asked, has_budget=plan.has_budget)
        if (seconds := plan.seconds(found, named)) is None:
            with told():
                return function(*found, **named)
        try:
            with told(), time_limit(seconds, asked=asked):
                return function(*found, **named)
        except OutOfTime:
            if is_driven():  # as a step of other work, which keeps what it has
                raise
            first = first_asked() or time_limit(seconds, asked=asked)
            raise BudgetExceededError(
                f"{first.asked} found nothing within its budget of {first.seconds:g} s: give it more seconds, or ask "
                "about less"
            ) from None

    return read_and_call  # pyright: ignore[reportReturnType]


class _Plan:
    """The readers of a function's parameters."""

    def __init__(self, function: Callable[..., Any], has_gaps: bool) -> None:
        signature = inspect.signature(function)
        self._asked = function.__qualname__
        # An object's own network is for its methods to look at.
        self.num_own = int(next(iter(signature.parameters), "") == "self")
        self._places: list[tuple[str, Reader | None, Any]] = []
        self._names: dict[str, tuple[Reader | None, Any]] = {}
        self._rest: tuple[str, Reader | None, Any] | None = None
        # The place of a budget that is one for all that the function does.
        self._budget: int | None = None
        # The places of what limits and watches calls that may take long.
        self._waiting = {name: place for place, name in enumerate(signature.parameters) if name in WAITING}
        self.may_wait, self.has_budget = bool(self._waiting), "budget" in self._waiting
        for place, (name, parameter) in enumerate(signature.parameters.items()):
            annotation = _resolve(parameter.annotation, function)
            if name == "budget" and not _is_for_each(annotation):
                self._budget = place
            reader = None if annotation is inspect.Parameter.empty else reader_of(annotation, has_gaps=has_gaps)
            if parameter.kind is parameter.VAR_POSITIONAL:
                self._rest = (name, reader, inspect.Parameter.empty)
            elif parameter.kind is not parameter.VAR_KEYWORD:
                if parameter.kind is not parameter.KEYWORD_ONLY:
                    self._places.append((name, reader, parameter.default))
                self._names[name] = (reader, parameter.default)

    def positional(self, args: tuple[Any, ...], sizes: Sizes) -> list[Any]:
        places = self._places
        if self._rest is not None:
            places = places + [self._rest] * (len(args) - len(places))
        read = [
            value if reader is None or value is default else reader.read(value, name, sizes)
            for value, (name, reader, default) in zip(args, places, strict=False)
        ]
        return read + list(args[len(read) :])

    def by_name(self, kwargs: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
        for name, value in kwargs.items():
            if name not in self._names:
                refuse_argument(self._asked, name)
            reader, default = self._names.get(name, (None, None))
            if reader is not None and value is not default:
                kwargs[name] = reader.read(value, name, sizes)
        return kwargs

    def is_unwatched(self, found: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """Whether the function tells how far it is, and a call says nothing of that, and sets no budget."""
        if "progress" not in self._waiting:
            return False
        given = {**{name: found[place] for name, place in self._waiting.items() if place < len(found)}, **named}
        return "progress" not in given and given.get("budget") is None

    def seconds(self, found: Sequence[Any], named: Mapping[str, Any]) -> float | None:
        """Return the seconds of the function's budget, None without one."""
        if self._budget is None:
            return None
        budget = named.get("budget", found[self._budget] if self._budget < len(found) else None)
        return getattr(budget, "seconds", None)


def _is_for_each(annotation: Any) -> bool:
    """Whether a budget, or the budget of an alternative, is one for each of several things."""
    return isinstance(annotation, ForEach) or any(_is_for_each(part) for part in get_args(annotation))


def _resolve(annotation: Any, function: Callable[..., Any]) -> Any:
    """Return what an annotation in quotes stands for; what only static checkers see allows everything."""
    known = {"os": os, "np": np} | inspect.unwrap(function).__globals__
    try:
        return get_type_hints(SimpleNamespace(__annotations__={"it": annotation}), known, include_extras=True)["it"]
    except NameError:
        return Any
