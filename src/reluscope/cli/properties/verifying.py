"""The commands that prove properties, find counterexamples, or all of them, and follow closed loops."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.parsing import read_box, read_numbers
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, Force, JsonFile, command

if TYPE_CHECKING:
    from reluscope.budget import Budget

PropertyFile = Annotated[
    Path,
    typer.Argument(metavar="PROPERTY", help="A .vnnlib file: what no input may do.", show_default=False),
]


@dataclass(frozen=True)
class SearchEffort:
    """When a search ends early."""

    regions: Annotated[
        int | None,
        typer.Option("--regions", min=1, metavar="N", help="Stop after so many boxes of inputs, or sets of regions."),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="Stop after this time, with what is known by then."),
    ] = None

    @property
    def budget(self) -> "Budget | None":
        """The budget, None if nothing was said."""
        return budget_of(self.regions, self.seconds)


@command(app, "Prove a property of VNN-LIB, or find a counterexample.")
@dataclass(frozen=True)
class VerifyOptions:
    """Prove that a property holds for all inputs, or find one at which it does not.

    The file of VNN-LIB, 1.0 or 2.0, describes counterexamples: bounds of inputs, and linear conditions on outputs.
    HOLDS is proved with all rounding. VIOLATED comes with an input that violates the property in spite of the rounding
    of its outputs; of an .onnx file it is replayed in float32 by onnxruntime, where that is installed. OPEN says what
    share of the inputs is left, at the end of a budget. Up to about ten inputs boxes are halved; with more, units are
    split. The exit code is 0 for HOLDS, 3 for VIOLATED, 4 for OPEN.

    \b
    Examples:
      reluscope verify net.onnx property.vnnlib
      reluscope verify net.onnx property.vnnlib --seconds 60 -o result.txt
      reluscope verify net.onnx property.vnnlib --certify -o net.proof
      reluscope verify net.onnx property.vnnlib --json | jq .verdict
    """  # noqa: D301

    safe: PropertyFile
    split: Annotated[
        Literal["auto", "inputs", "units"],
        typer.Option("--split", help="What is split where bounds do not suffice: inputs are best up to about ten."),
    ] = "auto"
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Keep why the property holds, and check it in whole numbers by code that shares nothing with the "
            "search; for pointwise gates without jumps.",
        ),
    ] = False
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="What --json prints (.json), the result as the competition of verifiers reads it (.txt), or with "
            "--certify what proves that the property holds (.proof); may be given several times.",
        ),
    ] = ()
    force: Force = False
    _: KW_ONLY
    effort: SearchEffort
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Decide, print the verdict, and return the exit code."""
        self.model.check()

        from reluscope.cli.properties.verify_command import verify

        return verify(self)


@command(app, "Check a proof or a counterexample anew, whoever has it from whom.", without=("seed",))
@dataclass(frozen=True)
class CheckOptions:
    """Check what was claimed of a property: a proof that it holds, or a counterexample.

    A proof is checked box by box, or set of regions by set, in whole numbers, by code that shares nothing with what
    made it. A counterexample is evaluated in float64 with bounds on all rounding, in rational arithmetic where that
    is close, and, of an .onnx file, in float32 by onnxruntime, where that is installed; one that violates the
    property in either is one. The exit code is 0 if the file shows what it says, 1 with a sentence if it does not,
    4 if --seconds did not suffice to tell.

    \b
    Examples:
      reluscope check net.onnx property.vnnlib net.proof --seconds 60
      reluscope check net.onnx property.vnnlib result.txt
      reluscope check net.onnx property.vnnlib result.txt --json | jq .float32_violates
    """  # noqa: D301

    safe: PropertyFile
    claimed: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .proof of reluscope verify --certify, or a result of any verifier with its counterexample, as the "
            "competition of verifiers has it (.txt, .counterexample).",
            show_default=False,
        ),
    ]
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="Stop checking a proof after this time."),
    ] = None
    _: KW_ONLY
    file: JsonFile
    model: ModelArguments
    common: Common

    def run(self) -> int:
        """Check, print what came of it, and return the exit code."""
        self.model.check()

        from reluscope.cli.properties.check import check

        return check(self)


@command(app, "Find all inputs that violate a property of VNN-LIB, and their volume.", without=("seed",))
@dataclass(frozen=True)
class ViolationsOptions:
    """Find all inputs that violate a property, as polyhedra, and their exact volume.

    Boxes of inputs are halved until outputs are all safe, all unsafe, or until a box has so few linear regions that
    each is examined exactly: for up to about six inputs that vary. Without the time for all of them the volume is an
    interval, and the table has what was found. The exit code is 0 if there are none, 3 if there are some, 4 if none
    were found and some inputs are not decided.

    \b
    Examples:
      reluscope violations net.onnx property.vnnlib
      reluscope violations net.onnx property.vnnlib --seconds 60 -o where.csv -o where.png --inputs 0,1
      reluscope violations net.onnx property.vnnlib --json | jq .findings
    """  # noqa: D301

    safe: PropertyFile
    inputs: Annotated[
        str, typer.Option("--inputs", metavar="I,J", help="The inputs that become the axes of a picture.")
    ] = "0,1"
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A row for each polyhedron (.csv, .parquet), all of it for rs.verification.Violations.load (.arrow), "
            "a picture (.svg, .png, .pdf), or what --json prints (.json); may be given several times.",
        ),
    ] = ()
    force: Force = False
    _: KW_ONLY
    effort: SearchEffort
    model: ModelArguments
    common: Common

    @property
    def axes(self) -> tuple[int, int]:
        """The inputs along the axes of a picture."""
        return _two(self.inputs, "--inputs")

    def run(self) -> int:
        """Find all violations, print their volume, write what is asked for, and return the exit code."""
        _ = self.axes  # refused, if they are no two inputs, before any work
        self.model.check()

        from reluscope.cli.properties.violations_command import violations

        return violations(self)


@command(app, "Find all states of a network in closed loop with a linear plant.", without=("seed",))
@dataclass(frozen=True)
class ReachOptions:
    """Find the states that a closed loop x' = A x + B net(x) + c can be in after each step.

    The network takes the state and gives the control. Steps are EXACT, unions of polytopes, for as long as the linear
    regions of the loop are few; from then on boxes hold all states with all rounding, UPPER. With --within the exit
    code is 0 if all states stay there after every step, 3 if some surely leave, 4 if that is not known.

    \b
    Examples:
      reluscope reach controller.onnx plant.json --box -1,1 --steps 20
      reluscope reach controller.onnx plant.json --box 0.5,1 --box -0.5,0.5 --within -2,2 -o sets.png
      reluscope reach controller.onnx plant.json --box -1,1 --json | jq '.steps[-1]'
    """  # noqa: D301

    plant: Annotated[
        Path,
        typer.Argument(
            metavar="PLANT",
            help='A .json file of x\' = A x + B u + c, as in {"A": [[1, 0.1], [0, 1]], "B": [[0], [0.1]]}.',
            show_default=False,
        ),
    ]
    box: Annotated[
        tuple[tuple[float, float], ...],
        typer.Option(
            "--box",
            metavar="LO,HI",
            help="First states between two values; once, or once for each state.",
            show_default=False,
            parser=read_box,
        ),
    ]
    steps: Annotated[int, typer.Option("--steps", min=0, metavar="N", help="How many steps to follow.")] = 10
    within: Annotated[
        tuple[tuple[float, float], ...],
        typer.Option(
            "--within",
            metavar="LO,HI",
            help="Where states are to stay; once, or once for each state: sets the exit code.",
            parser=lambda text: read_box(text, "--within"),
        ),
    ] = ()
    states: Annotated[
        str, typer.Option("--states", metavar="I,J", help="The states that become the axes of a picture.")
    ] = "0,1"
    regions: Annotated[
        int | None,
        typer.Option(
            "--regions",
            min=1,
            metavar="N",
            help="Regions of a step up to which it is exact, 10,000 by default; at most so many boxes, and 256, "
            "enclose a step that is not.",
        ),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="After this time steps are enclosed by few boxes."),
    ] = None
    output: Annotated[
        tuple[Path, ...],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A row for each step (.csv, .parquet), all of it for rs.reachability.ReachableSets.load (.arrow), "
            "a picture (.svg, .png, .pdf), or what --json prints (.json); may be given several times.",
        ),
    ] = ()
    force: Force = False
    _: KW_ONLY
    model: ModelArguments
    common: Common

    @property
    def axes(self) -> tuple[int, int]:
        """The states along the axes of a picture."""
        return _two(self.states, "--states")

    def run(self) -> int:
        """Find the states, print them step by step, write what is asked for, and return the exit code."""
        _ = self.axes  # refused, if they are no two states, before any work
        self.model.check()

        from reluscope.cli.properties.reach_command import reach

        return reach(self)


def budget_of(regions: int | None, seconds: float | None) -> "Budget | None":
    """Return a budget, None if there are no limits."""
    from reluscope.budget import Budget

    return None if regions is None and seconds is None else Budget(regions=regions, seconds=seconds)


def _two(text: str, option: str) -> tuple[int, int]:
    places = read_numbers(text, option)
    if len(places) != 2:
        what = option.removeprefix("--")
        raise typer.BadParameter(f"give two {what}, as in 0,1, not {text!r}", param_hint=option)
    return places
