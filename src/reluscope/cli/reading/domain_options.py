"""The options for the domain, shared by all commands that ask a question about a part of the input space."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from reluscope.cli.reading.model_arguments import check_data
from reluscope.cli.reading.parsing import complete_data, read_box, read_numbers
from reluscope.cli.reading.shared_options import DATA_HELP, Box, path_of

if TYPE_CHECKING:
    from reluscope.cli.reading.domain_arguments import DomainArguments


@dataclass(frozen=True)
class DomainOptions:
    """A domain: a plane or a segment through points, or a box."""

    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help=DATA_HELP, autocompletion=complete_data)
    ] = None
    samples: Annotated[
        str | None,
        typer.Option(
            "--samples",
            metavar="I,J,K",
            help="Samples of the data, counted from 0: two make a segment, three a plane. "
            "By default --seed chooses three.",
        ),
    ] = None
    plane: Annotated[
        str | None, typer.Option("--plane", metavar="FILE", help="The plane through the three points in a file.")
    ] = None
    segment: Annotated[
        str | None, typer.Option("--segment", metavar="FILE", help="The segment between the two points in a file.")
    ] = None
    box: Box = None
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            metavar="I,J",
            help="Which inputs --box is about; the others are 0, or as in --data FILE --samples I.",
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

    def read(self, *, or_else: str = "") -> "DomainArguments":
        """Return the options for the domain, checked as far as possible without the model and the data.

        Nothing given, or too much, raises BadParameter. `or_else` is a further option that says where to look, named in
        that message.
        """
        rows = read_numbers(self.samples, "--samples")
        chosen = read_numbers(self.inputs, "--inputs")
        boxes = tuple(read_box(one) for one in self.box or ())
        if self.samples is not None and self.data is None:
            raise typer.BadParameter("samples are rows of --data DATA, and there are none", param_hint="--samples")
        if self.inputs is not None and not boxes:
            raise typer.BadParameter("inputs are those of a box: add --box LO,HI", param_hint="--inputs")
        ways = {"--plane": self.plane, "--segment": self.segment, "--box": boxes or None, "--data": self.data}
        given = [name for name, value in ways.items() if value is not None]
        if not given:
            named = ["--data", "--plane", "--segment", "--box", *([or_else] if or_else else [])]
            raise typer.BadParameter(f"say where to look, with one of {', '.join(named[:-1])} or {named[-1]}")
        if len(given) > 1 and not (given == ["--box", "--data"] and self.inputs is not None and rows is not None):
            raise typer.BadParameter(f"{' and '.join(given)} were given, but there is one place to look: leave one out")
        if self.margin is not None and boxes:
            raise typer.BadParameter("a box has none: make it larger", param_hint="--margin")

        check_data(self.plane or self.segment or self.data)

        from reluscope.cli.reading.domain_arguments import DomainArguments

        points = path_of(self.plane or self.segment)
        return DomainArguments(self.data, rows, points, 3 if self.plane else 2, boxes, chosen, self.margin)
