"""Options that all commands share, declared once, and the way a function becomes a command.

A parameter whose type is a dataclass stands for a group of options, one per field; those of keyword-only parameters
come last in the help.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, NoReturn, get_type_hints

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


Command = Callable[..., int | None]


def command(app: typer.Typer, short_help: str, *, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Register a function as a command that takes the shared options as its argument ``common``.

    The function returns an exit code; what it raises becomes one sentence. `without` names shared options that would do
    nothing in this command.
    """

    def register(function: Command) -> Command:
        own, groups, last = [], {}, []
        for parameter in inspect.signature(function, eval_str=True).parameters.values():
            kind = parameter.annotation
            if isinstance(kind, type) and is_dataclass(kind):
                groups[parameter.name] = kind, _options(kind, without if kind is Common else ())
                if parameter.kind is parameter.KEYWORD_ONLY:
                    last.append(parameter.name)
            else:
                own.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        options = [option for name, (_, group) in groups.items() if name not in last for option in group]
        shared = [option for name in last for option in groups[name][1]]

        @wraps(function)
        def run(**given: Any) -> NoReturn:
            made = {
                name: kind(**{option.name: given.pop(option.name) for option in group})
                for name, (kind, group) in groups.items()
            }
            common = made["common"]
            limit_threads(common.threads)
            finish(lambda: function(**given, **made), debug=common.debug)

        arguments = [one for one in own if one.default is inspect.Parameter.empty]
        others = [one for one in own if one.default is not inspect.Parameter.empty]
        parameters = [*arguments, *options, *others, *shared]
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(function.__name__.replace("_", "-"), short_help=short_help)(run)
        return function

    return register


def _options(kind: Any, left_out: tuple[str, ...]) -> list[inspect.Parameter]:
    """Return the fields of a group as options."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(kind)
        if field.name not in left_out
    ]
