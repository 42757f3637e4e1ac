"""``reluscope codes``: numbers of distinct codes of data, usage of units, and code distances of classes."""

from dataclasses import replace
from typing import Any

from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.analyses.codespace.class_distances import ALL_GATES, mean_code_distances
from reluscope.analyses.codespace.duplicates import duplicate_units
from reluscope.analyses.codespace.numbers_of_codes import NUM_CODES, distinct_codes
from reluscope.analyses.codespace.occupied_cells import occupancy
from reluscope.analyses.codespace.sampled import SampleCodes, correctly_classified, sample_codes
from reluscope.analyses.codespace.usage_of_units import unit_usage
from reluscope.cli.models.code_files import KINDS, code_files
from reluscope.cli.models.inspecting import CodesOptions
from reluscope.cli.reading.opened_models import describe_model, open_model_and_data
from reluscope.cli.terminal.device_names import open_device
from reluscope.cli.terminal.outputs import Outputs, conclude, plan_outputs, write_all
from reluscope.cli.terminal.printed_results import open_console, print_findings, say, several
from reluscope.cli.terminal.progress_bar import show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.findings import Finding, Findings
from reluscope.networks.network import Network

FORMAT = "reluscope codes 2"
MAX_CLASSES = 40


def codes(given: CodesOptions) -> int:
    """Print the table, save the codes where that is asked for, and return the exit code."""
    files = plan_outputs(given.output, KINDS, force=given.force)
    device = open_device(given.common.device)
    with show_progress(hidden=given.common.quiet) as bar:
        network, dataset = open_model_and_data(
            given.model, given.data, labels=given.labels, most=given.samples, device=device, bar=bar
        )
        bar.say(f"Codes of {several(len(dataset), 'sample')}")
        found = _CodeFindings(network, dataset, sample_codes(network, dataset.points))
        write_all(code_files(found.sampled.codes, dataset.labels, files))
    name = given.model.name
    conclude(found.describe(name, files), files, given.common, lambda: found.print(name, files))
    return 0


class _CodeFindings:
    """Findings about the codes of samples."""

    def __init__(self, network: Network, dataset: Dataset, sampled: SampleCodes) -> None:
        self.network, self.dataset, self.sampled = network, dataset, sampled
        self.gates: Findings = unit_usage(network, sampled).beside(
            distinct_codes(sampled),
            occupancy(sampled, dataset.labels),
            duplicate_units(sampled),
        )
        self.correct: Finding | None = None
        self.classes: Findings | None = None
        self.distances: Findings | None = None
        if dataset.labels is not None:
            self.classes = distinct_codes(sampled, dataset.labels)
            self.distances = mean_code_distances(sampled, dataset.labels)
            if dataset.labels.min() >= 0 and dataset.labels.max() < num_classes(network):
                counted = distinct_codes(correctly_classified(network, sampled, dataset.points, dataset.labels)).summary
                assert counted is not None
                self.correct = replace(
                    counted.finding(NUM_CODES), name="distinct codes of correctly classified samples"
                )

    def describe(self, model: str, files: Outputs) -> dict[str, Any]:
        """Return everything as plain types."""
        return {
            "format": FORMAT,
            "model": describe_model(self.network, model),
            "data": {
                "name": self.dataset.name,
                "samples": len(self.dataset),
                "labels": self.classes is not None,
                "notes": list(self.dataset.notes),
            },
            "gates": self.gates.to_dict(),
            "distinct_correctly_classified": None if self.correct is None else self.correct.to_dict(),
            "classes": None if self.classes is None else self.classes.to_dict(),
            "distances": None if self.distances is None else self.distances.to_dict(),
            "files": [str(path) for path in files.paths],
        }

    def print(self, model: str, files: Outputs) -> None:
        """Print everything as tables."""
        console = open_console()
        say(console, f"{model} on {self.dataset.describe()}", style="bold")
        print_findings(console, self.gates, whole=ALL_GATES)
        if self.classes is not None:
            print_findings(console, self.classes, most=MAX_CLASSES)
        if self.distances is not None:
            print_findings(console, self.distances.where(gate=ALL_GATES))
        if self.correct is not None:
            say(console, f"{self.correct.name[0].upper()}{self.correct.name[1:]}: {self.correct}")
        is_exact = all(column.is_exact.all() for column in self.gates.columns.values())
        what = "EXACT for these samples" if is_exact else "Within ends where rounding could change a code"
        say(
            console,
            f"{what}. Dead: one constant output on these samples. Duplicate: changes always together with a unit "
            "before it. Entropy and information are in bits.",
        )
        for note in self.dataset.notes:
            say(console, f"Note: {note}")
        if files.paths:
            say(console, f"The codes are in {' and '.join(map(str, files.paths))}.")
