"""Options that all commands share, declared once, and the way a function becomes a command."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, NoReturn, get_type_hints

import typer

from reluscope.cli.failures import finish
from reluscope.cli.threads import limit_threads


@dataclass(frozen=True)
class Common:
    """Shared options; commands in which one of them would do nothing do not have it."""

    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Decides which samples are chosen.")] = 0
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

    Parameters
    ----------
    app : Typer
    short_help : str
        For the list of commands.
    without : tuple of str
        Shared options that would do nothing here.

    Returns
    -------
    callable
        A decorator. The function returns an exit code; what it raises becomes one sentence.
    """
    hints = get_type_hints(Common, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(Common)
        if field.name not in without
    ]

    def register(function: Command) -> Command:
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(function, eval_str=True).parameters.values()
            if parameter.name != "common"
        ]

        @wraps(function)
        def run(**given: Any) -> NoReturn:
            common = Common(**{parameter.name: given.pop(parameter.name) for parameter in shared})
            limit_threads(common.threads)
            finish(lambda: function(**given, common=common), debug=common.debug)

        run.__signature__ = inspect.Signature([*own, *shared])  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
        app.command(function.__name__, short_help=short_help)(run)
        return function

    return register
