"""``reluscope verify``: whether a property of VNN-LIB holds, with a counterexample where it does not."""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from reluscope.analyses.verification import Counterexample, Property, Verdict, Verified, read_property
from reluscope.analyses.verification import verify as decide
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
    replayed = None if found.counterexample is None else run_in_float32(model, found.counterexample.point)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "property": {"name": path.name, "cases": len(safe.cases)},
        "verdict": str(found.verdict),
        "counterexample": _counterexample(found.counterexample, safe, replayed),
        "findings": [found.undecided.to_dict()],
        "stopped": found.stopped,
    }
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        _print(found, plain["counterexample"], f"{model.name} and {path.name}")
    write_all({one: to_json(plain) + "\n" for one in planned.of(".json")})
    write_all({one: competition_result(found) for one in planned.of(".txt")})
    if found.stopped == STOPPED:
        warn("interrupted; the verdict is open")
        return INTERRUPTED
    return CODES[found.verdict]


def competition_result(found: Verified) -> str:
    """Return the result in the form of the competition of verifiers: sat, unsat or unknown, and the counterexample."""
    lines = [RESULTS[found.verdict]]
    if (one := found.counterexample) is not None:
        values = [(f"X_{place}", value) for place, value in enumerate(one.point.tolist())]
        values += [(f"Y_{place}", value) for place, value in enumerate(one.outputs.tolist())]
        lines.append("(" + "\n".join(f"({name} {value!r})" for name, value in values) + ")")
    return "\n".join(lines) + "\n"


def _counterexample(one: Counterexample | None, safe: Property, replayed: np.ndarray | None) -> dict[str, Any] | None:
    if one is None:
        return None
    plain: dict[str, Any] = {"case": one.case, "inputs": one.point.tolist(), "outputs": one.outputs.tolist()}
    plain["float32_outputs"] = plain["float32_violates"] = None
    if replayed is not None and len(replayed) == len(one.outputs):
        plain["float32_outputs"] = replayed.tolist()
        unsafe = safe.cases[one.case].unsafe
        plain["float32_violates"] = any(bool((each.A @ replayed <= each.b).all()) for each in unsafe)
    return plain


def _print(found: Verified, counterexample: dict[str, Any] | None, what: str) -> None:
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
            violates = counterexample["float32_violates"]
            if violates is not None:
                say(console, f"In float32, by onnxruntime: {'violated, too' if violates else 'not violated'}.")
        case Verdict.OPEN:
            say(
                console,
                f"OPEN: neither proved nor violated after {boxes} ({found.stopped or 'nothing is left to split'}).",
            )
            print_numbers(console, [found.undecided])


def _numbers(values: list[float]) -> str:
    shown = ", ".join(f"{value:.9g}" for value in values[:20])
    return f"({shown}{', ...' if len(values) > 20 else ''})"
