"""Options that all commands share, declared once, and the way a class of options becomes a command.

A command is a frozen dataclass: its fields are the options, its docstring is the help, and ``run`` does the work. A
field whose type is a dataclass stands for a group of options; those that are keyword-only come last in the help.
"""

import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Protocol, TypeVar, get_args, get_origin, get_type_hints

import typer

from reluscope.cli.terminal.failures import finish
from reluscope.cli.terminal.threads import limit_threads


@dataclass(frozen=True)
class Common:
    """Shared options; commands in which one of them would do nothing do not have it."""

    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Decides what is chosen at random.")] = 0
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", help="Where the network is evaluated: cpu, cuda, cuda:1.")
    ] = "cpu"
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, metavar="N", help="Threads to use; by default one per core.")
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON, and nothing else.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False


Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]


@dataclass(frozen=True)
class JsonFile:
    """A file for what ``--json`` prints."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what --json prints to a .json file."),
    ] = None
    force: Force = False


class Command(Protocol):
    """The options of a command, as they were given."""

    @property
    def common(self) -> Common:
        """The shared options."""
        ...

    def run(self) -> int | None:
        """Do the work, and return the exit code; what it raises becomes one sentence."""
        ...


Declared = TypeVar("Declared", bound=Command)


def command(
    app: typer.Typer, short_help: str, *, without: tuple[str, ...] = ()
) -> Callable[[type[Declared]], type[Declared]]:
    """Register a class of options as a command: ``TrackReportOptions`` as ``track-report``.

    `without` names shared options that would do nothing in this command.
    """

    def register(declared: type[Declared]) -> type[Declared]:
        def run(**given: Any) -> NoReturn:
            made = _made(declared, given)
            limit_threads(made.common.threads)
            finish(made.run, debug=made.common.debug)

        options = [one for _, one in sorted(_options(declared, without), key=lambda ranked: ranked[0])]
        run.__doc__ = declared.__doc__
        run.__signature__ = Signature(options)  # pyright: ignore[reportFunctionMemberAccess]
        run.__annotations__ = {one.name: one.annotation for one in options}
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", declared.__name__.removesuffix("Options")).lower()
        app.command(name, short_help=short_help)(run)
        return declared

    return register


def _options(kind: Any, without: tuple[str, ...], *, is_group: bool = False) -> Iterator[tuple[int, Parameter]]:
    """Yield the options of a class and its groups with their ranks: required ones first, those of groups before others.

    Keyword-only fields follow the other ones.
    """
    hints = get_type_hints(kind, include_extras=True)
    for field in sorted(fields(kind), key=lambda one: one.kw_only is True):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from _options(hint, without, is_group=True)
        elif field.name not in without:
            rank, default = (0 if is_group else 1, Parameter.empty) if field.default is MISSING else (2, field.default)
            yield rank, Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=_for_typer(hint))


def _for_typer(hint: Any) -> Any:
    """Return an annotation for Typer: a list for ``tuple[T, ...]``, an enumeration for ``Literal``, parsed text."""
    kind, option = get_args(hint)
    is_repeated = get_origin(kind) is tuple
    if is_repeated:
        kind = get_args(kind)[0]
    for choice in (kind, *get_args(kind)):
        if get_origin(choice) is Literal:
            kind = StrEnum("Choice", [(name, name) for name in get_args(choice)])
    if Path in (kind, *get_args(kind)):
        # Not Typer's paths, which are looked at before commands say what is wrong with them.
        option = copy(option)
        option.parser = Path
    if option.parser:
        kind = str
    return Annotated[list[kind] if is_repeated else kind, option]


def _made(kind: Any, given: dict[str, Any]) -> Any:
    """Return a class of options with its groups, made of all options of a command by name."""
    made = {}
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            made[name] = _made(hint, given)
        elif name in given:
            value = given[name].value if isinstance(given[name], StrEnum) else given[name]
            made[name] = tuple(value) if isinstance(value, list) else value
    return kind(**made)
