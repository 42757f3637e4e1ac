"""``reluscope check``: a proof that a property holds, or a counterexample, checked by what did not make it."""

from fractions import Fraction
from typing import Any

import numpy as np

from reluscope.analyses.verification import Proof, Property, read_counterexample, read_property, replay
from reluscope.analyses.verification.verdict import asked_network, asked_outputs, holds_at
from reluscope.budget import Budget
from reluscope.checking.property_proofs import check_proof
from reluscope.cli.properties.runtime import run_in_float32
from reluscope.cli.properties.verifying import CheckOptions
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.opened_models import describe_model, open_model
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import about
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import open_console, say, several_parts
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.errors import BudgetExceededError, CertificateError, ShapeError
from reluscope.networks.file_outputs import file_outputs, num_file_outputs
from reluscope.networks.network import Network

FORMAT = "reluscope check 1"
# The time did not suffice: neither shown nor refused.
OPEN = 4
# Outputs in files differ by no more from those of float64, relatively, where they were computed in float32.
OFF = 1e-3


def check(options: CheckOptions) -> int:
    """Check, print what came of it, and return the exit code."""
    model, path, claimed, common = options.model, options.safe, options.claimed, options.common
    budget = None if options.seconds is None else Budget(seconds=options.seconds)
    planned = plan_json(options.file)
    safe = read_property(path)
    is_proof = claimed.suffix.lower() == ".proof"
    given = Proof.load(claimed) if is_proof else read_counterexample(claimed)
    device = open_device(common.device)
    plain: dict[str, Any] = {"proof_parts": None, "counterexample": None, "stopped": ""}
    with show_progress(hidden=common.quiet) as bar:
        network = open_model(model, device, bar)
        with about(path):
            asked_network(network, safe)
        if isinstance(given, Proof):
            bar.say("Checking the proof")
            try:
                plain["proof_parts"] = check_proof(given, network, safe, budget=budget)
            except BudgetExceededError as error:
                plain["stopped"], plain["proof_parts"] = str(error), error.partial
        else:
            with about(claimed):
                _check_lengths(network, *given)
            plain["counterexample"] = _replayed(model, network, safe, *given)
    head = {
        "format": FORMAT,
        "model": describe_model(network, model.name),
        "property": {"name": path.name, "cases": len(safe.cases)},
        "verdict": "OPEN" if plain["stopped"] else "HOLDS" if is_proof else "VIOLATED",
    }
    plain = {**head, **plain}

    def show() -> None:
        console = open_console()
        say(console, f"{claimed.name}, of {model.name} and {path.name}", style="bold")
        for sentence in _sentences(plain, _parts(plain["proof_parts"], given) if isinstance(given, Proof) else ""):
            say(console, sentence)

    conclude(plain, planned, common, show)
    return OPEN if plain["stopped"] else 0


def _check_lengths(network: Network, inputs: np.ndarray, outputs: np.ndarray) -> None:
    number = num_file_outputs(network)
    if len(inputs) != network.num_inputs or len(outputs) not in (0, number):
        raise ShapeError(
            f"expected a counterexample of as many inputs and outputs as the network has, {network.num_inputs} and "
            f"{number}, got {len(inputs)} and {len(outputs)}"
        )


def _replayed(
    model: ModelArguments, network: Network, safe: Property, inputs: np.ndarray, outputs: np.ndarray
) -> dict[str, Any]:
    """Return what becomes of a counterexample in float64 and in float32; raise if it is none in either."""
    own = file_outputs(network, inputs[None])[0]
    found = replay(network, safe, inputs[None])
    single = run_in_float32(model, inputs[None])
    if single is not None and (single.shape[1] != len(own) or not np.isfinite(single).all()):
        single = None
    violates = None if single is None else _in_float32(safe, inputs, single[0])
    if found is None and not violates:
        boxes = [bool(((inputs >= case.lower) & (inputs <= case.upper)).all()) for case in safe.cases]
        why = "its outputs are not unsafe" if any(boxes) else "its inputs are in none of the property's boxes"
        arithmetic = "float64" if single is None else "float64 and float32"
        raise CertificateError(f"the counterexample is none: {why}, in {arithmetic}")
    return {
        "inputs": inputs.tolist(),
        "outputs": own.tolist(),
        "violates": found is not None,
        "float32_outputs": None if single is None else single[0].tolist(),
        "float32_violates": violates,
        "claimed_outputs_off": float(np.abs(outputs - own).max()) if len(outputs) else None,
    }


def _in_float32(safe: Property, inputs: np.ndarray, outputs: np.ndarray) -> bool:
    """Return whether outputs of float32 are unsafe at inputs that are, once they are float32, within their box."""
    near = inputs.astype(np.float32)
    values = [Fraction(value) for value in asked_outputs(safe, inputs, outputs).tolist()]
    return any(
        # Ends of boxes are rounded to float32, too: a verifier that works in it knows no others.
        ((near >= case.lower.astype(np.float32)) & (near <= case.upper.astype(np.float32))).all()
        and any(holds_at(one, values) for one in case.unsafe)
        for case in safe.cases
    )


def _parts(number: int, proof: Proof) -> str:
    """Return how many of a proof's parts were bounded: those that were halved need not be."""
    every = several_parts(len(proof), proof.kind)
    return every if number == len(proof) else f"{number:,} of its {every}"


def _sentences(plain: dict[str, Any], parts: str) -> list[str]:
    """Return what was found, in words."""
    one = plain["counterexample"]
    if one is None:
        if plain["stopped"]:
            return [f"OPEN: what was checked is as the proof says; {plain['stopped']} with --seconds."]
        return [f"HOLDS: the proof is one, by bounds on {parts} in whole numbers."]
    said = ["VIOLATED: the counterexample is one."]
    said.append(f"In float64, with all rounding: {'violated' if one['violates'] else 'not violated'}.")
    if one["float32_violates"] is not None:
        said.append(f"In float32, by onnxruntime: {'violated' if one['float32_violates'] else 'not violated'}.")
    if one["claimed_outputs_off"] is not None:
        off, largest = one["claimed_outputs_off"], max(map(abs, one["outputs"]))
        if off <= OFF * (1 + largest):
            said.append(f"The file's outputs are those of float64 up to {off:.3g}.")
        else:
            said.append(f"But the file's outputs are not those of this network here: they differ by up to {off:.3g}.")
    return said
