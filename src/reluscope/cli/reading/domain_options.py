"""The options for the domain, shared by all commands that ask a question about a part of the input space."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from reluscope.cli.reading.model_arguments import check_data
from reluscope.cli.reading.parsing import read_numbers
from reluscope.cli.reading.shared_options import AnyData, Box


@dataclass(frozen=True)
class DomainOptions:
    """A domain: a plane or a segment through points, or a box.

    Two samples or points make a segment, three a plane. Beside a box, `samples` is one row, at which the other inputs
    stay.
    """

    data: AnyData = None
    samples: Annotated[
        tuple[int, ...] | None,
        typer.Option(
            "--samples",
            metavar="I,J,K",
            help="Samples of the data, counted from 0: two make a segment, three a plane. "
            "By default --seed chooses three.",
            parser=lambda text: read_numbers(text, "--samples"),
        ),
    ] = None
    plane: Annotated[
        Path | None,
        typer.Option("--plane", metavar="FILE", help="The plane through the three points in a file."),
    ] = None
    segment: Annotated[
        Path | None,
        typer.Option("--segment", metavar="FILE", help="The segment between the two points in a file."),
    ] = None
    box: Box = ()
    inputs: Annotated[
        tuple[int, ...] | None,
        typer.Option(
            "--inputs",
            metavar="I,J",
            help="Which inputs --box is about; the others are 0, or as in --data FILE --samples I.",
            parser=lambda text: read_numbers(text, "--inputs"),
        ),
    ] = None
    margin: Annotated[
        float | None,
        typer.Option(
            "--margin",
            min=0.0,
            metavar="SHARE",
            help="How far to look beyond the points, by default 0.25 for a plane and 0 for a segment.",
        ),
    ] = None

    @property
    def points(self) -> Path | None:
        """The file of points."""
        return self.plane or self.segment

    def check(self, *, or_else: str = "") -> None:
        """Check the options as far as possible without the model and the data.

        Nothing given, or too much, raises BadParameter. `or_else` is a further option that says where to look, named in
        that message.
        """
        if self.samples is not None and self.data is None:
            raise typer.BadParameter("samples are rows of --data DATA, and there are none", param_hint="--samples")
        if self.inputs is not None and not self.box:
            raise typer.BadParameter("inputs are those of a box: add --box LO,HI", param_hint="--inputs")
        ways = {"--plane": self.plane, "--segment": self.segment, "--box": self.box or None, "--data": self.data}
        given = [name for name, value in ways.items() if value is not None]
        if not given:
            named = ["--data", "--plane", "--segment", "--box", *([or_else] if or_else else [])]
            raise typer.BadParameter(f"say where to look, with one of {', '.join(named[:-1])} or {named[-1]}")
        rows = self.inputs and self.samples
        if len(given) > 1 and not (given == ["--box", "--data"] and rows):
            raise typer.BadParameter(f"{' and '.join(given)} were given, but there is one place to look: leave one out")
        if self.margin is not None and self.box:
            raise typer.BadParameter("a box has none: make it larger", param_hint="--margin")
        check_data(self.data if self.points is None else str(self.points))
