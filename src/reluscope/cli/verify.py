"""``reluscope verify``: whether a property of VNN-LIB holds, with a counterexample where it does not."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification import Counterexample, Property, Verdict, Verified, read_property
from reluscope.analyses.verification import verify as decide
from reluscope.analyses.verification.deeper import deeper
from reluscope.analyses.verification.verdict import surely_in
from reluscope.budget import INTERRUPTED as STOPPED
from reluscope.budget import Budget
from reluscope.cli.devices import open_device
from reluscope.cli.failures import warn
from reluscope.cli.interruption import INTERRUPTED, keeping_results
from reluscope.cli.model_arguments import ModelArguments
from reluscope.cli.opening import describe_model, open_model
from reluscope.cli.options import Common
from reluscope.cli.outputs import plan_outputs, write_all
from reluscope.cli.printing import open_console, print_json, print_numbers, say, several, to_json
from reluscope.cli.progress import show_progress
from reluscope.cli.runtime import run_in_float32
from reluscope.networks.network import Network

FORMAT = "reluscope verify 1"
CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 3, Verdict.OPEN: 4}
KINDS = {".json": "what --json prints", ".txt": "the result as the competition of verifiers reads it"}
# How the competition of verifiers says it.
RESULTS = {Verdict.HOLDS: "unsat", Verdict.VIOLATED: "sat", Verdict.OPEN: "unknown"}


def verify(
    model: ModelArguments,
    path: Path,
    *,
    split: Literal["auto", "inputs", "units"],
    budget: Budget | None,
    files: list[Path],
    force: bool,
    common: Common,
) -> int:
    """Decide, print the verdict, and return the exit code."""
    planned = plan_outputs(
        files,
        {".json": "what --json prints", ".txt": "the result as the competition of verifiers reads it"},
        force=force,
    )
    safe = read_property(path)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network = open_model(model, device, bar)
        bar.say("Looking for a proof or a counterexample")
        with keeping_results():
            found = decide(network, safe, split=split, budget=budget, seed=common.seed)
    replayed = None if found.counterexample is None else _in_float32(model, network, safe, found.counterexample)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "property": {"name": path.name, "cases": len(safe.cases)},
        "verdict": str(found.verdict),
        "counterexample": _counterexample(found.counterexample, replayed),
        "findings": [found.undecided.to_dict()],
        "stopped": found.stopped,
    }
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        _print(found, plain["counterexample"], replayed, f"{model.name} and {path.name}")
    write_all({one: to_json(plain) + "\n" for one in planned.of(".json")})
    write_all({one: competition_result(found, replayed) for one in planned.of(".txt")})
    if found.stopped == STOPPED:
        warn("interrupted; the verdict is open")
        return INTERRUPTED
    return CODES[found.verdict]


def competition_result(found: Verified, replayed: "Replayed | None" = None) -> str:
    """Return the result in the form of the competition of verifiers: sat, unsat or unknown, and the counterexample.

    The counterexample is the one of float32, where there is one: that is what the competition runs.
    """
    lines = [RESULTS[found.verdict]]
    if (one := found.counterexample) is not None:
        point, outputs = one.point, one.outputs
        if replayed is not None and replayed.violates:
            point, outputs = replayed.point, replayed.outputs
        values = [(f"X_{place}", value) for place, value in enumerate(point.tolist())]
        values += [(f"Y_{place}", value) for place, value in enumerate(outputs.tolist())]
        lines.append("(" + "\n".join(f"({name} {value!r})" for name, value in values) + ")")
    return "\n".join(lines) + "\n"


class Replayed(NamedTuple):
    """What onnxruntime gives in float32.

    Parameters
    ----------
    point, outputs : (n,) and (m,) float64
        The first input tried that violates the property there, else the one that is nearest to the counterexample.
    violates : bool
    distance : float
        In the largest coordinate, from the counterexample.
    num_tried : int
    """

    point: Float[np.ndarray, " n"]
    outputs: Float[np.ndarray, " m"]
    violates: bool
    distance: float
    num_tried: int


def _in_float32(model: ModelArguments, network: Network, safe: Property, one: Counterexample) -> Replayed | None:
    """Return what float32 makes of a counterexample, or of points near by where it is none there."""
    case = safe.cases[one.case]
    unsafe = next((each for each in case.unsafe if (each.A @ one.outputs <= each.b).all()), case.unsafe[0])
    points = deeper(network, case, unsafe, one.point)
    outputs = run_in_float32(model, points)
    if outputs is None or not len(points) or outputs.shape[1] != len(one.outputs):
        return None
    bad = np.any([surely_in(each, outputs, 0 * outputs) for each in case.unsafe], axis=0)
    row = int(bad.argmax())
    distance = float(np.abs(points[row] - one.point).max())
    return Replayed(points[row], outputs[row], bool(bad[row]), distance, len(points))


def _counterexample(one: Counterexample | None, replayed: Replayed | None) -> dict[str, Any] | None:
    if one is None:
        return None
    plain: dict[str, Any] = {"case": one.case, "inputs": one.point.tolist(), "outputs": one.outputs.tolist()}
    plain["float32_inputs"] = plain["float32_outputs"] = plain["float32_violates"] = None
    if replayed is not None:
        plain["float32_inputs"], plain["float32_outputs"] = replayed.point.tolist(), replayed.outputs.tolist()
        plain["float32_violates"] = replayed.violates
    return plain


def _said(replayed: Replayed) -> str:
    if not replayed.violates:
        return f"not violated, nor at {replayed.num_tried - 1} inputs near by"
    near = float(np.finfo(np.float32).eps) * max(1.0, float(np.abs(replayed.point).max()))
    return "violated, too" if replayed.distance <= near else f"violated, too, at a distance of {replayed.distance:.3g}"


def _print(found: Verified, counterexample: dict[str, Any] | None, replayed: Replayed | None, what: str) -> None:
    console = open_console()
    say(console, what, style="bold")
    ((kind, number),) = found.undecided.work.items()
    boxes = several(int(number), "box").replace("boxs", "boxes")
    if kind == "sets":
        boxes = several(int(number), "set") + " of regions"
    match found.verdict:
        case Verdict.HOLDS:
            say(console, f"HOLDS: proved for all inputs, by bounds on {boxes}.")
        case Verdict.VIOLATED:
            assert counterexample is not None
            say(console, f"VIOLATED, at an input found after {boxes}:")
            say(console, f"inputs {_numbers(counterexample['inputs'])}")
            say(console, f"outputs {_numbers(counterexample['outputs'])}")
            if replayed is not None:
                say(console, f"In float32, by onnxruntime: {_said(replayed)}.")
        case Verdict.OPEN:
            say(
                console,
                f"OPEN: neither proved nor violated after {boxes} ({found.stopped or 'nothing is left to split'}).",
            )
            print_numbers(console, [found.undecided])


def _numbers(values: list[float]) -> str:
    shown = ", ".join(f"{value:.9g}" for value in values[:20])
    return f"({shown}{', ...' if len(values) > 20 else ''})"
