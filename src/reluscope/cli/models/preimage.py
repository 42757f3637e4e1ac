"""``reluscope preimage``: which inputs a layer cannot tell from samples, as kinds of preimages with certificates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from reluscope.analyses.preimages import (
    Decider,
    GateLayer,
    PreimageKind,
    Preimages,
    classify_at,
    layer_inputs,
    read_layer,
    system,
)
from reluscope.analyses.preimages.kind_certificates import (
    Certificate,
    Check,
    Farkas,
    FullRank,
    PositiveCombination,
    RecessionDirection,
    SecondPoint,
)
from reluscope.analyses.preimages.kinds import joined
from reluscope.analyses.preimages.mixed_system import MixedSystem
from reluscope.cli.models.inspecting import PreimageOptions
from reluscope.cli.reading.box_options import box_of
from reluscope.cli.reading.opened_models import check_sample, describe_model, open_model_and_data
from reluscope.cli.terminal.ctrl_c import keeping_results
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.failures import interrupted
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, say, several
from reluscope.cli.terminal.progress_bar import Bar, show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.findings.written_findings import signed
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network

FORMAT = "reluscope preimage 1"
BLOCK = 200
# What gives a sample's output is not empty, as the sample is in it.
KINDS = (PreimageKind.SINGLETON, PreimageKind.COMPACT, PreimageKind.UNBOUNDED)
DECIDERS = (Decider.RANK, Decider.DIRECTION, Decider.COMBINATION, Decider.PROGRAM)
MEANINGS = {
    PreimageKind.SINGLETON: "one input only",
    PreimageKind.COMPACT: "a bounded set",
    PreimageKind.UNBOUNDED: "a set that goes on forever",
}


def preimage(given: PreimageOptions) -> int:
    """Print the kinds of preimages, and return the exit code."""
    files, sample, name = plan_json(given.file), given.sample, given.model.name
    device = open_device(given.common.device)
    with show_progress(hidden=given.common.quiet) as bar:
        network, dataset = open_model_and_data(
            given.model, given.data, labels=None, most=given.samples, device=device, bar=bar
        )
        if sample is not None:
            check_sample(sample, dataset)
        rows = np.arange(len(dataset)) if sample is None else np.array([sample])
        gate = _gate(network, given.gate)
        layer = read_layer(network, gate)
        inputs = layer_inputs(network, dataset.points[rows], gate)
        every, each = f"all that {layer.name} reads", "its {number} inputs"
        box = box_of(given.box, layer.num_inputs, every=every, each=each) if given.box else None
        kinds = _classified(layer, inputs, box, bar)
        found = _PreimageFindings(network, dataset, layer, rows[: len(kinds)], inputs, kinds, box, sample is not None)
    conclude(found.describe(name), files, given.common, lambda: found.print(name))
    if len(kinds) < len(rows):
        return interrupted(f"these are the first {several(len(kinds), 'sample')} of {len(rows):,}")
    return 0


def _gate(network: Network, given: str | None) -> str | int | None:
    """Return the gate that was named, or counted from 0."""
    if given is not None and given not in {gate.name for gate in network.gates} and given.isdecimal():
        return int(given)
    return given


def _classified(layer: GateLayer, inputs: np.ndarray, box: Box | None, bar: Bar) -> Preimages:
    """Return the kinds for all samples, or on Ctrl-C for those in the blocks before it."""
    parts: list[Preimages] = []
    with keeping_results():
        try:
            for start in range(0, len(inputs), BLOCK):
                bar.say(f"Preimages of {layer.name}", start / len(inputs))
                parts.append(classify_at(layer, inputs[start : start + BLOCK], domain=box))
        except KeyboardInterrupt:
            if not parts:
                raise
    return joined(parts)


@dataclass(frozen=True, eq=False)
class _PreimageFindings:
    """Findings about the preimages of a gate's outputs at some samples."""

    network: Network
    dataset: Dataset
    layer: GateLayer
    rows: np.ndarray
    inputs: np.ndarray
    kinds: Preimages
    box: Box | None
    is_one: bool

    def describe(self, model: str) -> dict[str, Any]:
        """Return everything as plain types."""
        layer, kinds = self.layer, self.kinds
        return {
            "format": FORMAT,
            "model": describe_model(self.network, model),
            "data": {"name": self.dataset.name, "samples": len(self.dataset), "notes": list(self.dataset.notes)},
            "gate": {
                "name": layer.name,
                "num_units": layer.num_units,
                "reads": list(layer.reads),
                "num_inputs": layer.num_inputs,
                "is_injective": layer.is_injective,
            },
            "domain": self._domain(),
            "findings": [kinds.count(kind).to_dict() for kind in KINDS],
            "samples": [
                {
                    "sample": int(row),
                    "kind": kinds.kind(place).name.lower(),
                    "is_proved": bool(kinds.is_proved[place]),
                    "decided_by": kinds.decider(place).name.lower(),
                    "equations": int(kinds.num_equations[place]),
                    "open_dimensions": int(kinds.dims[place]),
                }
                for place, row in enumerate(self.rows)
            ],
            "certificates": [
                {
                    "kind": type(one).__name__,
                    "sentence": _sentence(one, mixed),
                    "holds": bool(check.holds),
                    "is_proof": bool(check.is_proof),
                    "residual": check.residual,
                    "margin": check.margin,
                }
                for one, mixed, check in self._checked()
            ],
        }

    def print(self, model: str) -> None:
        """Print everything for people."""
        console = open_console()
        layer, kinds = self.layer, self.kinds
        what = f"sample {self.rows[0]:,} of {self.dataset.name}" if self.is_one else self.dataset.describe()
        say(console, f"What {layer.name} of {model} cannot tell from {what}", style="bold")
        say(console, f"{several(layer.num_units, 'unit')} that read {layer.num_inputs:,} values, in {self._domain()}.")
        if self.is_one:
            self._print_one()
        else:
            columns = ("samples", "equations", "directions left open", *(one.name.lower() for one in DECIDERS))
            table = make_table("preimage", *columns, right=columns)
            for kind in KINDS:
                some = kinds.kinds == kind
                if some.any():
                    deciders = (int((kinds.deciders[some] == one).sum()) for one in DECIDERS)
                    cells = (_between(kinds.num_equations[some]), _between(kinds.dims[some]), *deciders)
                    add_row(table, kind.name.lower(), signed(kinds.count(kind)), *cells)
            console.print(table)
            say(console, "Equations: units that say what their pre-activation is. The last columns: what decided.")
            say(console, self._claim())
        if layer.is_injective:
            say(
                console,
                "The gate is injective: there are equations only, and preimages are points or affine subspaces.",
            )
        for note in self.dataset.notes:
            say(console, f"Note: {note}")

    def _print_one(self) -> None:
        console, kinds = open_console(), self.kinds
        kind = kinds.kind(0)
        say(
            console,
            f"The preimage of its output is {kind.name.lower()}: {MEANINGS[kind]}. "
            f"{_giving(int(kinds.num_equations[0]))}, which leaves {several(int(kinds.dims[0]), 'direction')} open.",
        )
        for one, mixed, check in self._checked():
            say(console, _sentence(one, mixed))
            proof = "a proof" if check.is_proof else "right within the tolerance" if check.holds else "not confirmed"
            say(
                console, f"Checked on its own: {proof} (residual {check.residual:.1e} against {_number(check.margin)})."
            )
        say(console, self._claim())

    def _domain(self) -> str:
        return f"all of R^{self.layer.num_inputs}" if self.box is None else self.box.describe()

    def _claim(self) -> str:
        open_ = int((~self.kinds.is_proved).sum())
        if not open_:
            return "EXACT: every kind is proved beyond rounding, for the exact outputs in real arithmetic."
        return (
            f"ESTIMATE: {open_:,} of {len(self.kinds):,} are decided only within a tolerance of "
            f"{self.kinds.tolerance:g}."
        )

    def _checked(self) -> list[tuple[Certificate, MixedSystem, Check]]:
        """Return the certificates of one sample with what they are about, checked on their own."""
        if not self.is_one:
            return []
        mixed = system(self.layer, self.layer(self.inputs)[0], domain=self.box)
        return [(one, mixed, one.check(mixed, self.kinds.tolerance)) for one in self.kinds.certificates[0]]


def _sentence(certificate: Certificate, mixed: MixedSystem) -> str:
    """Return what a certificate says."""
    size = mixed.num_inputs
    match certificate:
        case FullRank(rows):
            spanned = several(size, "dimension")
            return f"The rows of {several(len(rows), 'equation')} span all {spanned}: one point at most."
        case PositiveCombination(rows, weights, None):
            return (
                f"{several(len(rows), 'inequality').replace('ys', 'ies')} with positive weights, from "
                f"{weights.min():.2g} to {weights.max():.2g}, add up to a combination of the equations, and with these "
                f"their rows span all {several(size, 'dimension')}: no direction leads to infinity."
            )
        case PositiveCombination(rows, weights, _):
            return (
                f"{several(len(rows), 'inequality').replace('ys', 'ies')} that are tight at the sample add up, with "
                f"positive weights from {weights.min():.2g} to {weights.max():.2g}, to a combination of the equations, "
                f"and with these their rows span all {several(size, 'dimension')}: there is no other point."
            )
        case RecessionDirection(direction):
            moving = int(np.count_nonzero(direction))
            return (
                f"Along one direction, in {several(moving, 'coordinate')}, the equations stay as they are and no "
                "inequality is ever violated: the layer gives the same output however far one goes."
            )
        case SecondPoint(point, other):
            apart = float(np.linalg.norm(other - point))
            return f"Another point with the same output is {_number(apart)} away."
        case Farkas(equation_weights, inequality_weights):
            used = int(np.count_nonzero(equation_weights) + np.count_nonzero(inequality_weights))
            return f"A combination of {several(used, 'row')} is a contradiction: there is no point."


def _giving(number: int) -> str:
    return "1 unit gives an equation" if number == 1 else f"{number:,} units give equations"


def _between(values: np.ndarray) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _number(value: float) -> str:
    return f"{value:.3g}"
