"""What ``reluscope partition`` has found, as JSON, as a picture, as files and as printed tables."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow.parquet
from matplotlib.figure import Figure

from reluscope import plots
from reluscope.analyses.bodies.measured_regions import typical_values
from reluscope.cli.reading.opened_domains import OpenedDomain
from reluscope.cli.reading.opened_models import describe_model
from reluscope.cli.terminal.outputs import Outputs, listed, write_all
from reluscope.cli.terminal.picture_files import picture_file
from reluscope.cli.terminal.printed_results import add_row, make_table, open_console, say, several, to_json
from reluscope.findings import Finding, Findings
from reluscope.findings.written_findings import signed, with_ends
from reluscope.geometry.polyhedra.domains import Box
from reluscope.partitions.ask.finishing_windows import Affordable
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_findings import facets_by_gate
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.region_quantities import chosen_quantities
from reluscope.partitions.streamed_partition import StreamedPartition

FORMAT = "reluscope partition 1"


@dataclass(frozen=True)
class PartitionResult:
    """A partition in memory or in a file, and what was found beside it."""

    model: str
    where: OpenedDomain
    part: Partition | StreamedPartition
    expected: Findings | None = None  # the forecast, where the partition is of a window
    coarse: Partition | None = None  # all of the domain by the first gates
    measured: Findings | None = None  # quantities of the regions
    proved: int | None = None  # regions of a certificate that was checked

    @staticmethod
    def of(model: str, where: OpenedDomain, found: Affordable) -> "PartitionResult":
        """Return what a budget sufficed for."""
        return PartitionResult(model, where, found.part, found.expected, found.coarse)

    def to_dict(self, files: Outputs) -> dict[str, Any]:
        """Return what was found as plain types."""
        part, where = self.part, self.where
        network, window = part.network, part.window
        assert network is not None
        assert isinstance(window, Box)
        plain = {
            "format": FORMAT,
            "model": describe_model(network, self.model),
            "domain": {
                "kind": where.kind,
                "description": where.words,
                "dimensions": part.dim,
                "low": window.lo.tolist(),
                "high": window.hi.tolist(),
                "samples": list(where.rows),
            },
            "findings": [
                part.finding().to_dict(),
                *([part.adjacency_finding().to_dict()] if _keeps_facets(part) else []),
            ],
            "num_facets": len(part.facets) if _keeps_facets(part) else None,
            "facets_by_gate": self._facets,
            "stopped": part.note,
            "num_open": part.num_open,
            "files": [str(path) for path in files.paths],
        }
        if isinstance(part, Partition):
            plain["expected"] = None if self.expected is None else self.expected.to_dict()
            plain["coarse"] = None if self.coarse is None else _describe_coarse(self.coarse)
        plain["regions_proved"] = self.proved
        if self.measured is not None:
            plain["quantities"] = [one.to_dict() for one in self._typical]
        return plain

    def draw(self, color: str | None) -> Figure:
        """Return the picture; the colour is as `reluscope.plots.partition` takes it, or ``"gate"``."""
        part, where = self.part, self.where
        assert isinstance(part, Partition)
        marks: dict[str, Any] = {}
        if where.points is not None:
            what = "sample" if where.rows else "point"
            marks = {"samples": where.points, "sample_labels": [f"{what} {label}" for label in where.labels]}
        if part.dim == 2:
            marks["coarse"] = self.coarse  # shown where regions were not reached
        figure = plots.boundaries(part, **marks) if color == "gate" else plots.partition(part, color=color, **marks)
        for axes in figure.axes if where.axes else ():
            for name, get, put in zip(
                where.axes, (axes.get_xlabel, axes.get_ylabel), (axes.set_xlabel, axes.set_ylabel), strict=False
            ):
                if get().startswith("distance"):
                    put(name)
        return figure

    def write(self, path: Path, color: str | None, plain: dict[str, Any]) -> None:
        """Write the file that a path is for, by its suffix."""
        part, suffix = self.part, path.suffix.lower()
        assert isinstance(part, Partition)
        if suffix == ".arrow":
            path.parent.mkdir(parents=True, exist_ok=True)
            part.save(path)
        elif suffix == ".parquet":
            table = io.BytesIO()
            names = dict.fromkeys([*(entry.name for entry in chosen_quantities(part, None)), *(self.measured or ())])
            pyarrow.parquet.write_table(part.to_table(list(names)), table)
            write_all({path: table.getvalue()})
        elif suffix == ".certificate":
            assert part.certificate is not None
            write_all({path: part.certificate.to_json()})
        elif suffix == ".json":
            write_all({path: to_json(plain) + "\n"})
        else:
            write_all({path: picture_file(self.draw(color), suffix, "partition")})

    def print(self, written: Sequence[Path]) -> None:
        """Print the number of regions, their quantities, and what the reader has to know of them."""
        part, where = self.part, self.where
        console = open_console()
        say(console, f"{self.model} on {where.words}", style="bold")
        finding = part.finding()
        table = make_table("", "value", "claim", right=("value",))
        add_row(table, finding.name, signed(finding), finding.claim)
        for name, number in self._facets.items():
            assert isinstance(part, Partition)
            add_row(table, f"  pieces of boundary made by {name}", number, part.adjacency_finding().claim)
        for one in self._typical:
            add_row(table, one.name, signed(one), one.claim)
        console.print(table)
        say(console, f"Counted: {finding.definition}, of the {finding.domain}, by {finding.method}.")
        for note in self.measured.notes if self.measured is not None else ():
            say(console, note)
        if self.proved is not None:
            say(
                console,
                f"A certificate of {several(self.proved, 'region')} was checked: they are all, in exact arithmetic.",
            )
        if self.expected is not None:
            share = part.domain.volume() / where.domain.volume()
            say(
                console,
                f"{expectation(self.expected)[:-1]}: more than the limits allow. So the largest window about the "
                f"middle was partitioned that they suffice for, {share:.2g} of the "
                f"{'length' if part.dim == 1 else 'area'}.",
            )
        if self.coarse is not None:
            gates = len(self.coarse.codes.layout)
            by = f"the first {gates} gates" if gates > 1 else "the first gate"
            say(console, f"All of it, by {by} alone: {signed(self.coarse.finding())} regions.")
        for sentence in _doubts(part):
            say(console, sentence)
        seconds = f"{part.work.get('seconds', 0.0):.2f} s{' for this window alone' * (self.expected is not None)}"
        say(
            console,
            f"{seconds}; {listed(written)} it." if written else f"{seconds}; to draw and save it, add -o FOLDER.",
        )

    @property
    def _typical(self) -> tuple[Finding, ...]:
        if self.measured is None or not isinstance(self.part, Partition):
            return ()
        return typical_values(self.part, self.measured)

    @property
    def _facets(self) -> dict[str, int]:
        return facets_by_gate(self.part) if _keeps_facets(self.part) else {}


def expectation(expected: Findings) -> str:
    """Return a forecast as a sentence."""
    regions, seconds = (with_ends(expected.finding(name)) for name in ("forecast_regions", "forecast_seconds"))
    return f"Expected: {regions} regions, in {seconds} s."


def _keeps_facets(part: Partition | StreamedPartition) -> TypeGuard[Partition]:
    """Tell whether facets are there without linear programs that may take longer than the partition."""
    return isinstance(part, Partition) and part.has_vertices and not part.jumps


def _describe_coarse(coarse: Partition) -> dict[str, Any]:
    """Return what is known of all of the domain, as plain types."""
    return {"num_gates": len(coarse.codes.layout), "findings": [coarse.finding().to_dict()]}


def _doubts(part: Partition | StreamedPartition) -> list[str]:
    """Return what keeps the number of regions from being exact, a sentence each."""
    found = []
    if part.num_open:
        found.append(
            f"The work stopped early ({part.note}) with {several(part.num_open, 'cell')} unfinished, so this is a "
            "lower bound: raise --regions or --seconds to see more."
        )
    if "gates_proved" in part.work:
        proved = len(part) - left_open(part).num_unconfirmed
        found.append(
            f"No proved bound on rounding decides {several(part.num_undecided, 'sign')}: measured rounding does, and "
            f"{several(proved, 'region')} of these {'is' if proved == 1 else 'are'} proved; "
            "reluscope.confirm proves more. Fewer gates, all proved: "
            'reluscope.coarse_partition(..., rounding="proved").'
        )
    elif part.note and isinstance(part, Partition) and not part.certified:
        found.append(
            f"Exact arithmetic did not come to its end ({part.note}): these are the regions that float64 finds, "
            "without certificate. Raise --seconds."
        )
    elif part.num_undecided:
        how = " With --certify rational arithmetic decides them." if part.dim <= 2 else ""
        found.append(f"Too close to zero to decide in float64: {several(part.num_undecided, 'sign')}.{how}")
    return found
