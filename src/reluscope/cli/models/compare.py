"""``reluscope compare``: how similar two models are on shared data, by coefficients, outputs, predictions and codes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reluscope.analyses.classification.class_predictions import ACCURACY
from reluscope.analyses.similarity import METRICS, PAIR_QUANTITIES, compared_networks, pair_title
from reluscope.analyses.similarity import compare as compare_networks
from reluscope.analyses.similarity.tables import CONDITION_NUMBER
from reluscope.cli.models.inspecting import CompareOptions
from reluscope.cli.reading.model_arguments import ModelArguments
from reluscope.cli.reading.opened_models import describe_model, open_model_and_data
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.outputs import conclude, plan_json
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, say
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.datasets.opened_data import open_dataset
from reluscope.findings import Findings
from reluscope.findings.written_findings import written_cell
from reluscope.networks.network import Network

FORMAT = "reluscope compare 2"
# What a network gives with itself: for quantities beside the metrics.
OF_ITSELF = {"mapped_agreement": "1", "mapped_accuracy": "its accuracy", "drop": "0"}


def compare(given: CompareOptions) -> int:
    """Print the table, and return the exit code."""
    files = plan_json(given.file)
    device = open_device(given.common.device)
    with show_progress(hidden=given.common.quiet) as bar:
        (first, fitted), (second, _) = (
            open_model_and_data(model, given.data, labels=given.labels, most=given.samples, device=device, bar=bar)
            for model in given.models
        )
        names = _names(given.models)
        judged = fitted if given.test is None else _test_data(given.test, given.test_labels, given.samples, first)
        bar.say("Comparing coefficients, outputs and codes")
        similarities = compare_networks(
            dict(zip(names, (first, second), strict=True)),
            judged.points,
            judged.labels,
            fit_on=None if given.test is None else fitted.points,
            metrics=given.metric or None,
            ridge=given.ridge,
        )
        found = _ComparisonFindings((first, second), fitted, judged, similarities)
    conclude(found.describe(), files, given.common, found.print)
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
class _ComparisonFindings:
    """Findings about two networks."""

    networks: tuple[Network, Network]
    fitted: Dataset
    judged: Dataset
    found: Findings

    def describe(self) -> dict[str, Any]:
        """Return everything as plain types."""
        names = compared_networks(self.found)
        return {
            "format": FORMAT,
            "models": [describe_model(network, name) for network, name in zip(self.networks, names, strict=True)],
            "data": _describe(self.judged),
            "fitted_on": _describe(self.fitted),
            "pairs": self.found.to_dict(),
        }

    def print(self) -> None:
        """Print everything as a table."""
        console, found = open_console(), self.found
        one, other = compared_networks(found)
        say(console, f"{one} (A) and {other} (B) on {self.judged.describe()}", style="bold")
        columns = ("A to B", "B to A", "with itself")
        table = make_table("", *columns, right=columns)
        # Rows are the pairs A A, A B, B A, B B.
        for name in found:
            if name in PAIR_QUANTITIES:
                there = _cell(found, name, 1)
                back = "" if PAIR_QUANTITIES[name].is_symmetric else _cell(found, name, 2)
                add_row(table, f"{pair_title(found, name)} ({name})", there, back, _of_itself(found, name))
        console.print(table)
        if ACCURACY.name in found:
            a, b = (_cell(found, ACCURACY.name, row) for row in (0, 3))
            say(console, f"Accuracy: {a} of A, {b} of B.")
        if CONDITION_NUMBER.name in found:
            a, b = (_cell(found, CONDITION_NUMBER.name, row) for row in (0, 3))
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


def _cell(found: Findings, name: str, row: int) -> str:
    return written_cell(found, name, row) or "not defined"


def _of_itself(found: Findings, name: str) -> str:
    if name in OF_ITSELF:
        return OF_ITSELF[name]
    value = METRICS[name.removeprefix("features_")].of_itself
    if value is not None and np.isfinite(found[name].value[[0, 3]]).all():
        return f"{value:g}"
    return f"{_cell(found, name, 0)} and {_cell(found, name, 3)}"
