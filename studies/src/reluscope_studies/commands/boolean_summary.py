"""``reluscope boolean``: spectrum, class, swaps value and the smallest known network of one Boolean function."""

from typing import Any

import numpy as np

from reluscope import Budget, Finding
from reluscope.errors import InputError
from reluscope.extending.printing import (
    add_row,
    bibliography,
    conclude,
    make_table,
    open_console,
    plan_json,
    print_numbers,
    say,
    several,
    show_progress,
)
from reluscope_studies.boolean.constructions import Construction
from reluscope_studies.boolean.function import BooleanFunction
from reluscope_studies.boolean.npn import MAX_INPUTS, NpnClass, npn_class
from reluscope_studies.boolean.smallest import smallest_known
from reluscope_studies.boolean.spectra import degree, entropy, influences, spectrum, total_influence
from reluscope_studies.boolean.swapping import swaps
from reluscope_studies.boolean.thresholds import threshold_test
from reluscope_studies.commands.boolean_functions import BooleanOptions

FORMAT = "reluscope boolean 1"
_MAX_INPUTS_OF_NETWORK = 10
_MAX_COEFFICIENTS = 32


def boolean(given: BooleanOptions) -> int:
    """Print what is known of a function, and return the exit code."""
    files = plan_json(given.file)
    function = read_function(given.function, given.inputs)
    if function.num_inputs > _MAX_INPUTS_OF_NETWORK:
        raise InputError(f"expected a function of at most {_MAX_INPUTS_OF_NETWORK} inputs, got {function.num_inputs}")
    with show_progress(hidden=given.common.quiet) as bar:
        bar.say("Looking for the best direction")
        plain, findings = look(function, leak=given.leak, budget=Budget(seconds=given.seconds))
    plain = {"format": FORMAT, "text": given.function, **plain}
    conclude(plain, files, given.common, lambda: _print(function, plain, findings))
    return 0


def read_function(text: str, inputs: int | None) -> BooleanFunction:
    """Return the function that a formula, a truth table or a number describes.

    Zeros and ones are a truth table, unless the number of inputs is given and asks for more or fewer digits; other
    digits are a number, which needs the number of inputs.
    """
    is_table = set(text) <= {"0", "1"} and len(text) > 1
    if is_table and (inputs in (None, (len(text) - 1).bit_length()) or text[0] == "0"):
        function = BooleanFunction.of_values(text)
        if inputs not in (None, function.num_inputs):
            raise InputError(f"expected a truth table of 2^{inputs} digits with --inputs {inputs}, got {len(text)}")
        return function
    if text.isdecimal() and (inputs is not None or text not in ("0", "1")):
        if inputs is None:
            raise InputError(f"expected the number of inputs of function number {text}: add --inputs")
        if len(text) > 4000:
            raise InputError(f"expected a number of at most 4,000 digits, got {len(text):,}: give a formula")
        return BooleanFunction(inputs, int(text))
    return BooleanFunction.of_formula(text, num_inputs=inputs)


def look(function: BooleanFunction, *, leak: float, budget: Budget) -> tuple[dict[str, Any], list[Finding]]:
    """Return what is known of a function as plain types, and the numbers among it."""
    known = smallest_known(function, leak=leak, budget=budget)
    found = known.swaps or swaps(function, budget=budget)
    test = threshold_test(function)
    group = npn_class(function) if function.num_inputs <= MAX_INPUTS else None
    findings = [degree(function), total_influence(function), entropy(function), found.value, known.num_units]
    plain = {
        "num_inputs": function.num_inputs,
        "number": str(function.number),
        "truth_table": "".join(map(str, function.values.tolist())),
        "class": None if group is None else _class(group),
        "spectrum": [
            {"inputs": _set(function, index), "coefficient": float(value)}
            for index, value in enumerate(spectrum(function))
            if value
        ],
        "influences": influences(function).tolist(),
        "findings": [finding.to_dict() for finding in findings],
        "direction": found.direction.tolist(),
        "threshold": {"weights": list(test.weights), "constant": test.constant} if test.is_threshold else None,
        "network": _network(known.construction),
        "reported": known.reported,
        "sources": [{"key": one.key, "citation": str(one)} for one in bibliography(["sattelberg2026"])],
    }
    return plain, findings


def _class(group: NpnClass) -> dict[str, Any]:
    return {"representative": str(group.representative.number), "size": group.size}


def _set(function: BooleanFunction, index: int) -> list[str]:
    n = function.num_inputs
    return [f"x{i + 1}" for i in range(n) if index >> (n - 1 - i) & 1]


def _network(construction: Construction) -> dict[str, Any]:
    tensors = [tensor.detach().tolist() for tensor in construction.module.parameters()]
    return {
        "widths": list(construction.widths),
        "leak": construction.leak,
        "method": construction.method,
        "layers": [{"weight": weight, "bias": bias} for weight, bias in zip(tensors[0::2], tensors[1::2], strict=True)],
    }


def _print(function: BooleanFunction, plain: dict[str, Any], findings: list[Finding]) -> None:
    console = open_console()
    say(console, f"{function}, {several(function.num_inputs, 'input')}", style="bold")
    if function.is_constant:
        say(console, f"The value is {function.number & 1} at every input.")
    if plain["class"] is not None:
        say(console, f"NPN class {plain['class']['representative']}, of {several(plain['class']['size'], 'function')}.")
    print_numbers(console, findings, title="number", also=["ends", "method"])
    shown = sorted(plain["spectrum"], key=lambda one: -abs(one["coefficient"]))[:_MAX_COEFFICIENTS]
    table = make_table("coefficient", "of", right=("coefficient",))
    for one in shown:
        add_row(table, f"{one['coefficient']:g}", " ".join(one["inputs"]) or "1")
    console.print(table)
    if len(shown) < len(plain["spectrum"]):
        say(console, f"{len(plain['spectrum']) - len(shown):,} smaller coefficients are left out; --json has all.")
    say(console, f"Best direction: ({', '.join(map(str, plain['direction']))})")
    network = plain["network"]
    widths = " + ".join(map(str, network["widths"])) or "no"
    say(
        console, f"Smallest network known: {widths} hidden units, right on all inputs (checked in rational arithmetic)."
    )
    for number, layer in enumerate(network["layers"]):
        rows = zip(np.round(layer["weight"], 4).tolist(), np.round(layer["bias"], 4).tolist(), strict=True)
        text = "; ".join(f"{' '.join(f'{entry:g}' for entry in row)} | {bias:g}" for row, bias in rows)
        say(console, f"  layer {number + 1}, weights | bias: {text}")
    if plain["reported"]:
        say(console, f"{plain['reported']}.")
    say(console, "")
    for source in plain["sources"]:
        say(console, f"{source['key']}: {source['citation']}")
