"""``reluscope info``: what is in a model."""

import json
from pathlib import Path

import rich.box
from rich.console import Console
from rich.table import Table

from reluscope.cli.models import open_network
from reluscope.networks.network import Network


def info(model: str, *, input_shape: tuple[int, ...] | None, weights: Path | None, as_json: bool) -> int:
    """Print a model's shapes and gates, and return the exit code."""
    network = open_network(model, weights=weights, input_shape=input_shape)
    if as_json:
        print(json.dumps(describe(network, Path(model).name), indent=1, allow_nan=False))
    else:
        _print(network, Path(model).name)
    return 0


def describe(network: Network, name: str) -> dict:
    """Return what `info` prints, as plain types."""
    check = network.verification
    return {
        "name": name,
        "fingerprint": network.fingerprint,
        "input_shape": list(network.input_shape),
        "output_shape": list(network.output_shape),
        "num_inputs": network.num_inputs,
        "num_outputs": network.num_outputs,
        "num_units": network.num_units,
        "gates": [
            {
                "name": gate.name,
                "kind": gate.kind,
                "shape": list(gate.shape),
                "num_units": gate.num_units,
                "num_pieces": gate.num_pieces,
            }
            for gate in network.gates
        ],
        "notes": list(network.notes),
        "verification": None
        if check is None
        else {
            "num_points": check.num_points,
            "largest_deviation": check.largest_deviation,
            "reference": check.reference,
        },
    }


def _print(network: Network, name: str) -> None:
    console = Console(highlight=False)
    gates = f"{_several(network.num_units, 'unit')} in {_several(len(network.gates), 'gate')}"
    shapes = f"input {_shape(network.input_shape)}, output {_shape(network.output_shape)}"
    console.print(f"[bold]{name}[/bold]: {shapes}, {gates}", soft_wrap=True)
    if network.gates:
        table = Table(box=rich.box.SIMPLE_HEAD)
        for column in ("", "gate", "kind", "shape"):
            table.add_column(column)
        table.add_column("units", justify="right")
        table.add_column("pieces", justify="right")
        for index, gate in enumerate(network.gates):
            units = f"{gate.num_units:,}"
            table.add_row(str(index + 1), gate.name, gate.kind, _shape(gate.shape), units, str(gate.num_pieces))
        console.print(table)
    else:
        console.print("It has no gates: it is one affine map, with one region.")
    for note in network.notes:
        console.print(f"Note: {note}", soft_wrap=True)
    check = network.verification
    if check is not None:
        console.print(
            f"Checked against {check.reference} at {check.num_points:,} points: the largest difference of an output is "
            f"{check.largest_deviation:.2g}.",
            soft_wrap=True,
        )
    console.print(f"Fingerprint {network.fingerprint[:16]}")


def _several(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "1"
