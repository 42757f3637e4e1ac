"""How a class of options becomes a command: types as they are used, groups, and the order of the help."""

import re
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.testing import CliRunner

from reluscope.extending.commands import Common, JsonFile, command, new_app

app, seen = new_app(), []


@dataclass(frozen=True)
class Place:
    """A group with an argument of its own."""

    place: Annotated[str, typer.Argument(metavar="PLACE")]
    ends: Annotated[
        tuple[tuple[float, float], ...],
        typer.Option("--ends", parser=lambda text: tuple(map(float, text.split(",")))),
    ] = ()


@dataclass(frozen=True)
class Looking:
    """What several commands have in common."""

    who: Annotated[str, typer.Argument(metavar="WHO")]
    how: Annotated[Literal["far", "near"] | None, typer.Option("--how")] = None
    _: KW_ONLY
    file: JsonFile
    where: Place
    common: Common


@command(app, "Look around.", without=("seed",))
@dataclass(frozen=True)
class LookAroundOptions(Looking):
    """Look around."""

    names: Annotated[tuple[str, ...], typer.Option("--name")] = ()
    shape: Annotated[
        tuple[int, ...] | None, typer.Option("--shape", parser=lambda text: tuple(map(int, text.split("x"))))
    ] = None

    def run(self):
        """Remember what was given."""
        seen.append(self)
        return 7


def run(*arguments):
    seen.clear()
    return CliRunner().invoke(app, arguments)


def test_values_are_of_the_types_that_are_declared():
    given = ("here", "me", "--how", "near", "--ends", "0,1", "--ends", "2,3", "--name", "a", "--shape", "1x2")
    assert run(*given, "-o", "found.json", "--threads", "1").exit_code == 7
    (found,) = seen
    assert found.where == Place("here", ((0.0, 1.0), (2.0, 3.0)))
    assert (found.who, found.how, found.names, found.shape) == ("me", "near", ("a",), (1, 2))
    assert type(found.how) is str
    assert found.file == JsonFile(Path("found.json"), False)
    assert found.common == Common(threads=1)


def test_what_is_not_given_has_its_default():
    assert run("here", "me").exit_code == 7
    assert seen[0] == LookAroundOptions("me", file=JsonFile(), where=Place("here"), common=Common())


def test_help_has_groups_that_are_keyword_only_at_the_end():
    text = run("--help").output
    options = [one for one in re.findall(r"^  (?:-\w, )?(--[a-z]+) ", text, re.MULTILINE) if "completion" not in one]
    own, groups = ["--how", "--name", "--shape"], ["--output", "--force", "--ends"]
    assert options == [*own, *groups, "--device", "--threads", "--json", "--quiet", "--debug", "--help"]
    assert text.index("PLACE") < text.index("WHO")


def test_a_choice_that_is_none_is_refused():
    result = run("here", "me", "--how", "never")
    assert result.exit_code == 2
    assert "'far', 'near'" in result.output
    assert not seen
