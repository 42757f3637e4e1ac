"""``reluscope verify``: whether a property of VNN-LIB holds, with a counterexample where it does not."""

from typing import Any

import numpy as np

from reluscope.analyses.verification import Verdict, read_property
from reluscope.analyses.verification.deciding import verify as decide
from reluscope.analyses.verification.verdict import Counterexample, Verified, asked_network
from reluscope.cli.properties.competition import Replayed, competition_result, in_float32
from reluscope.cli.properties.verifying import VerifyOptions
from reluscope.cli.reading.opened_models import describe_model, open_model
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import about, interrupted, warn
from reluscope.cli.terminal.outputs import conclude, plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_numbers, say, several_parts
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.errors import InputError
from reluscope.files.whole_files import make_folder
from reluscope.stopping import is_interrupted

FORMAT = "reluscope verify 1"
CODES = {Verdict.HOLDS: 0, Verdict.VIOLATED: 3, Verdict.OPEN: 4}
KINDS = {
    ".json": "what --json prints",
    ".txt": "the result as the competition of verifiers reads it",
    ".proof": "with --certify, what proves that the property holds",
}


def verify(given: VerifyOptions) -> int:
    """Decide, print the verdict, and return the exit code."""
    model, path, common = given.model, given.safe, given.common
    planned = plan_outputs(given.output, KINDS, force=given.force)
    if planned.of(".proof") and not given.certify:
        raise InputError(f"{planned.of('.proof')[0]} is to hold a proof: add --certify, which makes one")
    safe = read_property(path)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network = open_model(model, device, bar)
        with about(path):
            asked_network(network, safe)
        tell = bar.telling("Looking for a proof or a counterexample")
        with keeping_results():
            found = decide(
                network,
                safe,
                split=given.split,
                budget=given.effort.budget,
                progress=tell,
                seed=common.seed,
                certify=given.certify,
            )
    replayed = None if found.counterexample is None else in_float32(model, network, safe, found.counterexample)
    plain = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "property": {"name": path.name, "cases": len(safe.cases)},
        "verdict": str(found.verdict),
        "counterexample": _counterexample(found.counterexample, replayed),
        "findings": [found.undecided.to_dict()],
        "proof_parts": None if found.proof is None else len(found.proof),
        "stopped": found.stopped,
    }
    what = f"{model.name} and {path.name}"
    conclude(plain, planned, common, lambda: _print(found, plain["counterexample"], replayed, what))
    write_all({one: competition_result(found, replayed) for one in planned.of(".txt")})
    for one in planned.of(".proof"):
        if found.proof is None:
            warn(f"{one} was not written: there is a proof of what HOLDS alone, and the verdict is {found.verdict}")
        else:
            make_folder(one.parent)
            found.proof.save(one)
    if is_interrupted(found.stop):
        return interrupted("the verdict is open")
    return CODES[found.verdict]


def _counterexample(one: Counterexample | None, replayed: Replayed | None) -> dict[str, Any] | None:
    if one is None:
        return None
    plain: dict[str, Any] = {"case": one.case, "inputs": one.point.tolist(), "outputs": one.outputs.tolist()}
    plain["exact_inputs"] = None if one.exact is None else [str(entry) for entry in one.exact]
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
    parts = several_parts(int(number), kind)
    match found.verdict:
        case Verdict.HOLDS:
            say(console, f"HOLDS: proved for all inputs, by bounds on {parts}.")
            if found.proof is not None:
                size = several_parts(len(found.proof), found.proof.kind)
                say(console, f"The proof, of {size}, was checked in whole numbers.")
        case Verdict.VIOLATED:
            assert counterexample is not None
            say(console, f"VIOLATED, at an input found {f'after {parts}' if number else 'before any box was bounded'}:")
            say(console, f"inputs {_numbers(counterexample['inputs'])}")
            say(console, f"outputs {_numbers(counterexample['outputs'])}")
            if counterexample["exact_inputs"] is not None:
                say(console, "Exactly so at an input near this one that no float64 holds: --json has it in fractions.")
            if replayed is not None:
                say(console, f"In float32, by onnxruntime: {_said(replayed)}.")
        case Verdict.OPEN:
            say(
                console,
                f"OPEN: neither proved nor violated after {parts} ({found.stopped or 'nothing is left to split'}).",
            )
            print_numbers(console, [found.undecided])


def _numbers(values: list[float]) -> str:
    shown = ", ".join(f"{value:.9g}" for value in values[:20])
    return f"({shown}{', ...' if len(values) > 20 else ''})"
