"""``reluscope info``: the graph of a model, as a list of affine steps and gates."""

from dataclasses import asdict
from typing import Any

import torch

from reluscope.cli.models.graph import ListedStep, steps
from reluscope.cli.models.inspecting import InfoOptions
from reluscope.cli.reading.opened_models import open_model
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import (
    add_row,
    make_table,
    open_console,
    say,
    several,
    shape_of,
)
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.networks.network import Network

FORMAT = "reluscope info 1"
COLUMNS = ("", "step", "shape", "parameters", "units", "pieces", "reads", "name")
NUMBERS = ("", "parameters", "units", "pieces")
NARROW = 90


def info(given: InfoOptions) -> int:
    """Print a model's graph, and return the exit code."""
    files = plan_json(given.file)
    with show_progress(hidden=given.common.quiet) as bar:
        network = open_model(given.model, torch.device("cpu"), bar)
    name = given.model.name
    conclude(describe(network, name), files, given.common, lambda: _print(network, name))
    return 0


def describe(network: Network, name: str) -> dict[str, Any]:
    """Return what `info` prints, as plain types."""
    check = network.verification
    graph = steps(network)
    return {
        "format": FORMAT,
        "name": name,
        "fingerprint": network.fingerprint,
        "input_shape": list(network.input_shape),
        "output_shape": list(network.output_shape),
        "num_inputs": network.num_inputs,
        "num_outputs": network.num_outputs,
        "num_units": network.num_units,
        "num_parameters": sum(step.num_parameters for step in graph),
        "graph": [asdict(step) for step in graph],
        "gates": [asdict(gate) for gate in network.gates],
        "notes": list(network.notes),
        "verification": None if check is None else asdict(check),
    }


def _print(network: Network, name: str) -> None:
    console = open_console()
    graph = steps(network)
    say(
        console,
        f"{name}: input {shape_of(network.input_shape)}, output {shape_of(network.output_shape)}, "
        f"{several(network.num_units, 'unit')} in {several(len(network.gates), 'gate')}, "
        f"{several(sum(step.num_parameters for step in graph), 'parameter')}",
        style="bold",
    )
    # A narrow terminal shows what cannot be told from the rest.
    columns = [name for name in COLUMNS if console.width >= NARROW or name not in ("pieces", "name")]
    table = make_table(*columns, right=NUMBERS)
    for position, step in enumerate(graph):
        gate = None if step.gate is None else network.gates[step.gate]
        cells = {
            "": position,
            "step": f"gate: {step.operation}" if gate else step.operation,
            "shape": shape_of(step.shape),
            "parameters": step.num_parameters or "",
            "units": gate.num_units if gate else "",
            "pieces": gate.num_pieces if gate else "",
            "reads": _reads(position, step),
            "name": step.name,
        }
        add_row(table, *(cells[name] for name in columns))
    console.print(table)
    if not network.gates:
        say(console, "It has no gates: it is one affine map, with one region.")
    elif any(_reads(position, step) for position, step in enumerate(graph)):
        say(console, "A step reads the one above it, unless it says which.")
    for note in network.notes:
        say(console, f"Note: {note}")
    check = network.verification
    if check is not None:
        say(
            console,
            f"Checked against {check.reference} at {check.num_points:,} points: the largest difference of an output is "
            f"{check.largest_deviation:.2g}.",
        )
    say(console, f"Fingerprint {network.fingerprint[:16]}")


def _reads(position: int, step: ListedStep) -> str:
    """Return which steps are read, where that is not the one before."""
    return "" if step.reads in ((), (position - 1,)) else " and ".join(map(str, step.reads))
