"""The commands that prove properties, find counterexamples, or all of them, and follow closed loops."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reluscope.cli.reading.loading_options import LoadingOptions
from reluscope.cli.reading.parsing import read_box, read_numbers
from reluscope.cli.reading.shared_options import Force, JsonFile, Model, path_of
from reluscope.cli.terminal.application import app
from reluscope.cli.terminal.common_options import Common, command

if TYPE_CHECKING:
    from reluscope.budget import Budget

PropertyFile = Annotated[
    str, typer.Argument(metavar="PROPERTY", help="A .vnnlib file: what no input may do.", show_default=False)
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

    def budget(self) -> "Budget | None":
        """Return the budget, None if nothing was said."""
        from reluscope.budget import Budget

        is_given = self.regions is not None or self.seconds is not None
        return Budget(regions=self.regions, seconds=self.seconds) if is_given else None


class Split(StrEnum):
    """What is split."""

    AUTO = "auto"
    INPUTS = "inputs"
    UNITS = "units"


@command(app, "Prove a property of VNN-LIB, or find a counterexample.")
def verify(
    model: Model,
    safe: PropertyFile,
    split: Annotated[
        Split,
        typer.Option("--split", help="What is split where bounds do not suffice: inputs are best up to about ten."),
    ] = Split.AUTO,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Keep why the property holds, and check it in whole numbers by code that shares nothing with the "
            "search; for pointwise gates without jumps.",
        ),
    ] = False,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="What --json prints (.json), the result as the competition of verifiers reads it (.txt), or with "
            "--certify what proves that the property holds (.proof); may be given several times.",
        ),
    ] = None,
    force: Force = False,
    *,
    effort: SearchEffort,
    loading: LoadingOptions,
    common: Common,
) -> int:
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
    given = loading.read(model)

    from reluscope.cli.properties.verify_command import verify as run

    return run(
        given,
        Path(safe),
        split=split.value,
        certify=certify,
        budget=effort.budget(),
        files=[Path(one) for one in output or ()],
        force=force,
        common=common,
    )


@command(app, "Check a proof or a counterexample anew, whoever has it from whom.", without=("seed",))
def check(
    model: Model,
    safe: PropertyFile,
    claimed: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A .proof of reluscope verify --certify, or a result of any verifier with its counterexample, as the "
            "competition of verifiers has it (.txt, .counterexample).",
            show_default=False,
        ),
    ],
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="Stop checking a proof after this time."),
    ] = None,
    output: JsonFile = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
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
    given = loading.read(model)

    from reluscope.budget import Budget
    from reluscope.cli.properties.check import check as run

    return run(
        given,
        Path(safe),
        Path(claimed),
        budget=None if seconds is None else Budget(seconds=seconds),
        output=path_of(output),
        force=force,
        common=common,
    )


@command(app, "Find all inputs that violate a property of VNN-LIB, and their volume.", without=("seed",))
def violations(
    model: Model,
    safe: PropertyFile,
    inputs: Annotated[
        str, typer.Option("--inputs", metavar="I,J", help="The inputs that become the axes of a picture.")
    ] = "0,1",
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A row for each polyhedron (.csv, .parquet), all of it for rs.verification.Violations.load (.arrow), "
            "a picture (.svg, .png, .pdf), or what --json prints (.json); may be given several times.",
        ),
    ] = None,
    force: Force = False,
    *,
    effort: SearchEffort,
    loading: LoadingOptions,
    common: Common,
) -> int:
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
    places = read_numbers(inputs, "--inputs") or ()
    if len(places) != 2:
        raise typer.BadParameter(f"give two inputs, as in 0,1, not {inputs!r}", param_hint="--inputs")
    given = loading.read(model)

    from reluscope.cli.properties.violations_command import violations as run

    return run(
        given,
        Path(safe),
        budget=effort.budget(),
        inputs=places,
        files=[Path(one) for one in output or ()],
        force=force,
        common=common,
    )


@command(app, "Find all states of a network in closed loop with a linear plant.", without=("seed",))
def reach(
    model: Model,
    plant: Annotated[
        str,
        typer.Argument(
            metavar="PLANT",
            help='A .json file of x\' = A x + B u + c, as in {"A": [[1, 0.1], [0, 1]], "B": [[0], [0.1]]}.',
            show_default=False,
        ),
    ],
    box: Annotated[
        list[str],
        typer.Option(
            "--box",
            metavar="LO,HI",
            help="First states between two values; once, or once for each state.",
            show_default=False,
        ),
    ],
    steps: Annotated[int, typer.Option("--steps", min=0, metavar="N", help="How many steps to follow.")] = 10,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--within",
            metavar="LO,HI",
            help="Where states are to stay; once, or once for each state: sets the exit code.",
        ),
    ] = None,
    states: Annotated[
        str, typer.Option("--states", metavar="I,J", help="The states that become the axes of a picture.")
    ] = "0,1",
    regions: Annotated[
        int | None,
        typer.Option(
            "--regions",
            min=1,
            metavar="N",
            help="Regions of a step up to which it is exact, 10,000 by default; at most so many boxes, and 256, "
            "enclose a step that is not.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", min=0.0, metavar="S", help="After this time steps are enclosed by few boxes."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A row for each step (.csv, .parquet), all of it for rs.reachability.ReachableSets.load (.arrow), "
            "a picture (.svg, .png, .pdf), or what --json prints (.json); may be given several times.",
        ),
    ] = None,
    force: Force = False,
    *,
    loading: LoadingOptions,
    common: Common,
) -> int:
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
    places = read_numbers(states, "--states") or ()
    if len(places) != 2:
        raise typer.BadParameter(f"give two states, as in 0,1, not {states!r}", param_hint="--states")
    first = tuple(read_box(one) for one in box)
    kept = tuple(read_box(one, "--within") for one in within or ())
    given = loading.read(model)

    from reluscope.budget import Budget
    from reluscope.cli.properties.reach_command import reach as run

    is_limited = regions is not None or seconds is not None
    return run(
        given,
        Path(plant),
        box=first,
        within=kept,
        steps=steps,
        states=places,
        budget=Budget(regions=regions, seconds=seconds) if is_limited else None,
        files=[Path(one) for one in output or ()],
        force=force,
        common=common,
    )
