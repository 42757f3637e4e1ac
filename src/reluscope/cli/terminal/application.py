"""The application that commands register with, and what ``reluscope`` without a command prints."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from reluscope.moved_names import MOVED_COMMANDS
from reluscope.version import __version__


class _WithPackages(TyperGroup):
    """Our commands, then those of installed packages, which are looked for where ours do not answer."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None and (offered := _offered().get(cmd_name)):
            found = typer.main.get_command(offered.load())
        if found is None and (package := MOVED_COMMANDS.get(cmd_name)) and not ctx.resilient_parsing:
            ctx.fail(f"The command {cmd_name} comes with the package {package}: pip install {package}")
        return found

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(_offered())]


def _offered() -> dict[str, Any]:
    """Return entry points of commands by name; each stands for a `typer.Typer` with that one command."""
    from importlib.metadata import entry_points

    return {one.name: one for one in entry_points(group="reluscope.commands")}


def new_app(**settings: Any) -> typer.Typer:
    """Return an application for commands, with the settings that all of ours have."""
    return typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


app = new_app(name="reluscope", cls=_WithPackages, add_completion=True, no_args_is_help=True)


def _version(wanted: bool) -> bool:
    if wanted:
        print(f"reluscope {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find the exact linear regions of neural networks, and say what every number claims.

    \b
    Start with:
      reluscope demo                                  a report on an embedded network
      reluscope explore --demo                        the same network to look at, on a page of this machine
      reluscope analyze net.onnx --data x.npy         a report on yours
      reluscope explore net.onnx --data x.npy         yours to look at
      reluscope info net.onnx                         what is in a model
      reluscope codes net.onnx --data x.npy           which units are on, and how many patterns there are
      reluscope region net.onnx --data x.npy --sample 7
                                                      the region of one sample, and which classes live in it
      reluscope compare a.onnx b.onnx --data x.npy    how similar two models are
      reluscope partition net.onnx --data x.npy -o plane.svg
                                                      the regions of a plane through samples
      reluscope surface net.onnx --box -1,1 -o body.ply
                                                      where an output is 0, as a mesh of exact polygons
      reluscope verify net.onnx property.vnnlib       whether a property holds, or where it does not
      reluscope count net.onnx --box 0,1              how many regions there are
      reluscope bounds --arch 784,11,11               how many there can be
      reluscope track-report run.parquet              a report on a run that a Tracker recorded
      reluscope reproduce                             studies of published papers
    """  # noqa: D301
    del version
