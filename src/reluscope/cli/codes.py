"""``reluscope codes``: how many different codes data have, which units are used, and how far apart classes are."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reluscope.analyses.classification.classes import num_classes
from reluscope.analyses.codespace.class_distances import ClassDistances, class_distances
from reluscope.analyses.codespace.distinct import ClassCodes, DistinctCodes, count_distinct, count_distinct_by_class
from reluscope.analyses.codespace.duplicates import DuplicateUnits, duplicate_units
from reluscope.analyses.codespace.occupied_cells import Occupancy, occupancy
from reluscope.analyses.codespace.sampled import SampleCodes, correctly_classified, sample_codes
from reluscope.analyses.codespace.usage import GateUsage, UnitUsage, unit_usage
from reluscope.cli.code_files import KINDS, code_files
from reluscope.cli.devices import open_device
from reluscope.cli.opening import ModelArguments, describe_model, open_model_and_data
from reluscope.cli.options import Common
from reluscope.cli.outputs import Outputs, plan_outputs, write_all
from reluscope.cli.printing import add_row, make_table, open_console, print_json, say, several
from reluscope.cli.progress import show_progress
from reluscope.datasets.dataset import Dataset
from reluscope.findings import Finding
from reluscope.networks.network import Network
from reluscope.report.content import Number

FORMAT = "reluscope codes 1"
MOST_CLASSES = 40
# Of a gate, or of all: units in use, distinct codes, their entropy, duplicate units.
Row = tuple[GateUsage, Finding, Finding, Finding]


def codes(
    model: ModelArguments,
    data: str,
    *,
    labels: Path | None,
    samples: int | None,
    output: Sequence[Path],
    force: bool,
    common: Common,
) -> int:
    """Print the table, save the codes where that is asked for, and return the exit code."""
    files = plan_outputs(output, KINDS, force=force)
    device = open_device(common.device)
    with show_progress(hidden=common.quiet) as bar:
        network, dataset = open_model_and_data(model, data, labels=labels, most=samples, device=device, bar=bar)
        bar.say(f"Codes of {several(len(dataset), 'sample')}")
        found = _Found(network, dataset, sample_codes(network, dataset.points))
        write_all(code_files(found.sampled.codes, dataset.labels, files))
    if common.as_json:
        print_json(found.describe(model.name, files))
    elif not common.quiet:
        found.print(model.name, files)
    return 0


class _Found:
    """What the codes of samples say."""

    def __init__(self, network: Network, dataset: Dataset, sampled: SampleCodes) -> None:
        self.network, self.dataset, self.sampled = network, dataset, sampled
        self.distinct: DistinctCodes = count_distinct(sampled)
        self.usage: UnitUsage = unit_usage(network, sampled)
        self.duplicates: DuplicateUnits = duplicate_units(sampled)
        self.occupancy: Occupancy = occupancy(sampled, dataset.labels)
        self.correct: DistinctCodes | None = None
        self.by_class: ClassCodes | None = None
        self.distances: ClassDistances | None = None
        if dataset.labels is not None:
            self.by_class = count_distinct_by_class(sampled, dataset.labels)
            self.distances = class_distances(sampled, dataset.labels)
            if dataset.labels.min() >= 0 and dataset.labels.max() < num_classes(network):
                self.correct = count_distinct(correctly_classified(network, sampled, dataset.points, dataset.labels))

    @property
    def _gates(self) -> "list[Row]":
        rows = (self.usage.by_gate, self.distinct.by_gate, self.occupancy.entropy_by_gate, self.duplicates.by_gate)
        return list(zip(*rows, strict=True))

    @property
    def _total(self) -> "Row":
        return self.usage.total, self.distinct.total, self.occupancy.entropy, self.duplicates.total

    def describe(self, model: str, files: Outputs) -> dict[str, Any]:
        """Return everything as plain types."""
        rows = [
            _usage(*found) | {"kind": gate.kind} for found, gate in zip(self._gates, self.network.gates, strict=True)
        ]
        by_class, distances = self.by_class, self.distances
        return {
            "format": FORMAT,
            "model": describe_model(self.network, model),
            "data": {
                "name": self.dataset.name,
                "samples": len(self.dataset),
                "labels": by_class is not None,
                "notes": list(self.dataset.notes),
            },
            "gates": rows,
            "total": _usage(*self._total),
            "information_on_the_class": _plain(self.occupancy.information),
            "samples_alone": self.occupancy.alone.to_dict(),
            "distinct_correctly_classified": _plain(self.correct.total if self.correct else None),
            "most_shared": self.distinct.most_shared.to_dict(),
            "classes": []
            if by_class is None
            else [
                {"class": int(one), "samples": int(size), "distinct": count.to_dict()}
                for one, size, count in zip(by_class.classes, by_class.sizes, by_class.counts, strict=True)
            ],
            "shared_by_classes": None if by_class is None else by_class.mixed.to_dict(),
            "distance_within_classes": _plain(distances.within if distances else None),
            "distance_between_classes": _plain(distances.between if distances else None),
            "files": [str(path) for path in files.paths],
        }

    def print(self, model: str, files: Outputs) -> None:
        """Print everything as tables."""
        console = open_console()
        say(console, f"{model} on {self.dataset.describe()}", style="bold")
        numbers = ("units", "pieces", "codes", "bits", "dead", "always on", "changing", "duplicate")
        table = make_table("gate", *numbers, right=numbers)
        for usage, distinct, entropy, duplicate in (*self._gates, self._total):
            cells = (_cell(one) for one in (usage.dead, usage.always_on, usage.changing, duplicate))
            bits = f"{float(entropy):.2f}"
            add_row(table, usage.name, usage.num_units, usage.num_pieces, _cell(distinct), bits, *cells)
        console.print(table)
        if self.by_class is not None:
            table = make_table("class", "samples", "distinct codes", right=("class", "samples", "distinct codes"))
            rows = list(zip(self.by_class.classes, self.by_class.sizes, self.by_class.counts, strict=True))
            for one, size, count in rows[:MOST_CLASSES]:
                add_row(table, int(one), int(size), _cell(count))
            console.print(table)
            if len(rows) > MOST_CLASSES:
                say(console, f"The first {MOST_CLASSES} of {len(rows):,} classes are shown; --json has all.")
        further = [self.distinct.most_shared, self.occupancy.alone]
        if self.occupancy.information is not None:
            further.append(self.occupancy.information)
        if self.correct is not None:
            further.append(replace(self.correct.total, name="distinct codes of correctly classified samples"))
        if self.by_class is not None:
            further.append(self.by_class.mixed)
        if self.distances is not None:
            further += [one for one in (self.distances.within, self.distances.between) if one is not None]
        for finding in further:
            say(console, f"{finding.name[0].upper()}{finding.name[1:]}: {_cell(finding)} ({finding.claim})")
        claims = sorted({str(one.claim) for one in (*self.distinct.by_gate, self.distinct.total)})
        what = "for these samples" if claims == ["EXACT"] else "where rounding could change a code, within an interval"
        say(
            console,
            f"{' and '.join(claims)} {what}. Dead: one constant output on these samples. Duplicate: "
            "changes always together with a unit before it. Codes: how many differ; bits: their entropy.",
        )
        for note in self.dataset.notes:
            say(console, f"Note: {note}")
        if files.paths:
            say(console, f"The codes are in {' and '.join(map(str, files.paths))}.")


def _usage(usage: GateUsage, distinct: Finding, entropy: Finding, duplicates: Finding) -> dict[str, Any]:
    return {
        "name": usage.name,
        "num_units": usage.num_units,
        "num_pieces": usage.num_pieces,
        "distinct": distinct.to_dict(),
        "dead": usage.dead.to_dict(),
        "always_on": usage.always_on.to_dict(),
        "changing": usage.changing.to_dict(),
        "pieces_used": usage.pieces_used.to_dict(),
        "entropy": entropy.to_dict(),
        "duplicates": duplicates.to_dict(),
    }


def _plain(finding: Finding | None) -> dict[str, Any] | None:
    return None if finding is None else finding.to_dict()


def _cell(finding: Finding) -> str:
    return Number(finding).text
