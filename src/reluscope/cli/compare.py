"""``reluscope compare``: how similar two models are on shared data, by coefficients, outputs, predictions and codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reluscope.analyses.similarity import METRICS, PairTable, Similarities
from reluscope.analyses.similarity import compare as compare_networks
from reluscope.cli.devices import open_device
from reluscope.cli.opening import ModelArguments, describe_model, open_model_and_data
from reluscope.cli.options import Common
from reluscope.cli.outputs import plan_outputs, write_all
from reluscope.cli.printing import add_row, make_table, open_console, print_json, say, to_json
from reluscope.cli.progress import show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opening import open_dataset
from reluscope.findings import Finding
from reluscope.findings.writing import signed
from reluscope.networks.network import Network

FORMAT = "reluscope compare 1"
# What a network gives with itself: for quantities beside the metrics.
OF_ITSELF = {"mapped_agreement": "1", "mapped_accuracy": "its accuracy", "drop": "0"}


def compare(
    models: tuple[ModelArguments, ModelArguments],
    data: str,
    *,
    labels: Path | None,
    test: str | None,
    test_labels: Path | None,
    samples: int | None,
    metrics: Sequence[str],
    ridge: float,
    output: Path | None,
    force: bool,
    common: Common,
) -> int:
    """Print the table, and return the exit code."""
    files = plan_outputs([output] if output else [], {".json": "what --json prints"}, force=force)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        first, fitted = open_model_and_data(models[0], data, labels=labels, most=samples, device=device, bar=bar)
        second, _ = open_model_and_data(models[1], data, labels=labels, most=samples, device=device, bar=bar)
        names = _names(models)
        judged = fitted if test is None else _test_data(test, test_labels, samples, first)
        bar.say("Comparing coefficients, outputs and codes")
        similarities = compare_networks(
            dict(zip(names, (first, second), strict=True)),
            judged.points,
            judged.labels,
            fit_on=None if test is None else fitted.points,
            metrics=metrics or None,
            ridge=ridge,
        )
        found = _Found((first, second), fitted, judged, similarities)
    plain = found.describe()
    if common.as_json:
        print_json(plain)
    elif not common.quiet:
        found.print()
    write_all({path: to_json(plain) + "\n" for path in files.paths})
    return 0


def _test_data(test: str, labels: Path | None, samples: int | None, network: Network) -> Dataset:
    dataset = open_dataset(test, labels)
    if samples is not None:
        dataset = dataset.limited(samples)
    return dataset.reshaped(network.input_shape)


def _names(models: tuple[ModelArguments, ModelArguments]) -> tuple[str, str]:
    """Return two different names: of the files, or of the weights, or with numbers."""
    names = (models[0].name, models[1].name)
    if names[0] == names[1]:
        weights = tuple(one.weights.name for one in models if one.weights is not None)
        names = (weights[0], weights[1]) if len(weights) == 2 else names
    return names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")


@dataclass(frozen=True, eq=False)
class _Found:
    """Findings about two networks."""

    networks: tuple[Network, Network]
    fitted: Dataset
    judged: Dataset
    found: Similarities

    def describe(self) -> dict[str, Any]:
        """Return everything as plain types."""
        found = self.found
        return {
            "format": FORMAT,
            "models": [
                describe_model(network, name) for network, name in zip(self.networks, found.networks, strict=True)
            ],
            "data": _describe(self.judged),
            "fitted_on": _describe(self.fitted),
            "accuracies": None if found.accuracies is None else [one.to_dict() for one in found.accuracies],
            "conditions": None if found.conditions is None else [one.to_dict() for one in found.conditions],
            "comparisons": [
                {
                    "name": name,
                    "title": table.title,
                    "is_symmetric": table.is_symmetric,
                    "first_to_second": _plain(table[0, 1]),
                    "second_to_first": _plain(table[1, 0]),
                }
                for name, table in found.tables.items()
            ],
            "notes": list(found.notes),
        }

    def print(self) -> None:
        """Print everything as a table."""
        console, found = open_console(), self.found
        one, other = found.networks
        say(console, f"{one} (A) and {other} (B) on {self.judged.describe()}", style="bold")
        columns = ("A to B", "B to A", "with itself")
        table = make_table("", *columns, right=columns)
        for name, entries in found.tables.items():
            back = "" if entries.is_symmetric else _cell(entries[1, 0])
            add_row(table, f"{entries.title} ({name})", _cell(entries[0, 1]), back, _of_itself(name, entries))
        console.print(table)
        if found.accuracies is not None:
            a, b = (_cell(finding) for finding in found.accuracies)
            say(console, f"Accuracy: {a} of A, {b} of B.")
        if found.conditions is not None:
            a, b = (_cell(finding) for finding in found.conditions)
            where = "the same samples" if self.fitted is self.judged else self.fitted.describe()
            say(console, f"Maps of coefficients were fitted on {where}; condition numbers {a} of A and {b} of B.")
        say(
            console,
            "EXACT without a sign. ≈ marks an ESTIMATE: float64 on these samples, or a class or code that rounding "
            "could change. Means are over outputs.",
        )
        for note in dict.fromkeys((*found.notes, *self.judged.notes)):
            say(console, f"Note: {note}")


def _describe(dataset: Dataset) -> dict[str, Any]:
    return {"name": dataset.name, "samples": len(dataset), "notes": list(dataset.notes)}


def _plain(finding: Finding | None) -> dict[str, Any] | None:
    return None if finding is None else finding.to_dict()


def _cell(finding: Finding | None) -> str:
    return "not defined" if finding is None else signed(finding)


def _of_itself(name: str, table: PairTable) -> str:
    if name in OF_ITSELF:
        return OF_ITSELF[name]
    value = METRICS[name.removeprefix("features_")].of_itself
    if None in (table[0, 0], table[1, 1]):
        return f"{_cell(table[0, 0])} and {_cell(table[1, 1])}"
    return f"{value:g}" if value is not None else f"{_cell(table[0, 0])} and {_cell(table[1, 1])}"
