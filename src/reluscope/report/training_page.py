"""A page about the records of a training run: tracked quantities over epochs, first and last record, planes, cost."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from reluscope import plots
from reluscope.analyses.tracking.record_quantities import QUANTITIES
from reluscope.analyses.tracking.records import Records
from reluscope.errors import ReluscopeError
from reluscope.findings import Finding
from reluscope.findings.written_findings import number
from reluscope.partitions.partition_in_memory import Partition
from reluscope.report.page import Page, render_page
from reluscope.report.parts.content import Block, Content, Number, Text, numbers, table
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.page_drawings import picture
from reluscope.version import __version__

AT_A_GLANCE = ("accuracy", "distinct_codes", "changed_samples", "median_segment_regions", "spectral_norm")
MAX_PLANES = 3
MAX_ROWS = 200


def render_records(records: Records) -> str:
    """Return the page of a run as a complete HTML document."""
    sections = [_tracked(records)]
    if len(records):
        sections += [_course(records), _ends(records)]
        sections += [_planes(records)] if records.partition_files else []
        sections += [_cost(records)]
    warning = "" if len(records) else "There are no records in this file yet."
    footer = f"Written by reluscope {__version__} from {records.path.name}, which has the same numbers and more."
    return render_page(
        Page("reluscope tracking report", records.path.stem, _samples(records), sections, footer, warning, is_open=True)
    )


def records_as_plain(records: Records) -> dict[str, object]:
    """Return records as plain types, ready for JSON: every number with its claim."""
    overhead = records.overhead()
    logged = records.logged
    return {
        "format": "reluscope tracking report 1",
        "file": records.path.name,
        "samples": records.num_samples,
        "gates": [
            dict(zip(("name", "kind", "units", "pieces"), gate, strict=True)) for gate in records.settings["gates"]
        ],
        "segments": len(records.settings["segments"]),
        "plane": records.settings["plane"],
        "overhead": None if overhead is None else overhead.to_dict(),
        "records": [
            {
                "epoch": row["epoch"],
                "step": row["step"],
                "time": row["time"].isoformat(),
                "seconds": row["seconds"],
                "seconds_between": row["seconds_between"],
                "note": row["note"],
                "logged": {name: values[place] for name, values in logged.items()},
                "findings": [{**found.to_dict(), "name": title} for title, _, found in _findings(records, place)],
            }
            for place, row in enumerate(records.rows)
        ],
    }


def _section(name: str, title: str, blocks: list[Block], headline: Number | None = None) -> SectionResult:
    return SectionResult(name, title, "done", content=Content(tuple(blocks), headline))


def _samples(records: Records) -> str:
    return f"{records.num_samples:,} samples"


def _tracked(records: Records) -> SectionResult:
    settings = records.settings
    units = sum(gate[2] for gate in settings["gates"])
    said = f"Every record looks at the same {_samples(records)}"
    if settings["segments"]:
        share = settings["segment_share"]
        way = "the whole way" if share == 1 else f"{100 * share:.3g} % of the way"
        said += f", {len(settings['segments'])} segments from one of them {way} to another"
    if settings["plane"]:
        said += f", a {settings['plane']}"
    said += f", and the Jacobian at {len(settings['jacobians'])} of them."
    if settings["labels_digest"] is None:
        said += " There are no labels, so accuracy is not known."
    blocks: list[Block] = []
    last = [one for name in AT_A_GLANCE if len(records) and (one := records.findings(name)[-1]) is not None]
    if last:
        blocks += [Text(f"At the last record, epoch {records.rows[-1]['epoch']:g}:"), numbers(*last)]
    gates = settings["gates"]
    blocks += [Text(said), Text(f"The network has {number(units)} units in {len(gates)} gates.")]
    if gates:
        names = ("gate", "kind", "units", "pieces of a unit")
        keys: dict[str, Any] = dict(zip(names, zip(*gates, strict=True), strict=True))
        blocks.append(table(keys, {}, limit=MAX_ROWS))
    blocks += [Text(f"Note to record {record}: {note}.") for record, note in records.notes]
    return _section("tracked", "What was tracked", blocks, Number(last[0]) if last else None)


def _course(records: Records) -> SectionResult:
    figure = plots.tracking(records)
    caption = (
        "One point per record. Hollow marks are lower bounds or estimates, full ones are EXACT. Changes are those "
        "since the record before."
    )
    said = f"Numbers of {len(records):,} records over epochs; the table below has the first and the last."
    return _section("course", "Through training", [picture(figure, "tracking", said, caption)])


def _ends(records: Records) -> SectionResult:
    # Of the segments the median is enough here; the file and the JSON have each.
    first, last = (
        {title: found for title, name, found in _findings(records, place) if QUANTITIES[name].per != "segment"}
        for place in (0, len(records) - 1)
    )
    names = list(dict.fromkeys([*first, *last]))
    logged = records.logged
    columns = {
        f"{which}, epoch {records.rows[place]['epoch']:g}": [
            *(ends.get(name) for name in names),
            *(values[place] for values in logged.values()),
        ]
        for which, place, ends in (("first", 0, first), ("last", -1, last))
    }
    keys = {"quantity": [*names, *(f"{name} (logged)" for name in logged)]}
    plane = records.findings("plane_regions")[-1]
    return _section(
        "ends",
        "The first and the last record",
        [table(keys, columns, limit=MAX_ROWS)],
        None if plane is None else Number(plane),
    )


def _planes(records: Records) -> SectionResult:
    there = records.partition_files
    chosen = sorted({round(place) for place in np.linspace(0, len(there) - 1, min(MAX_PLANES, len(there)))})
    blocks: list[Block] = []
    for place in chosen:
        epoch, path = there[place]
        try:
            part = Partition.load(path)
        except ReluscopeError as error:
            blocks.append(Text(f"Epoch {epoch:g} cannot be shown: {error}."))
            continue
        found = Number(part.finding())
        caption = (
            f"Epoch {epoch:g}: {found.text} regions ({found.finding.claim}), each boundary in the colour of its gate."
        )
        figure = plots.boundaries(part)
        blocks.append(picture(figure, f"plane-{place}", caption, caption))
    return _section("planes", "The plane", blocks)


def _cost(records: Records) -> SectionResult:
    cost = records.cost()
    blocks: list[Block] = [numbers(*cost)] if cost else []
    headline = Number(cost[0]) if cost else None
    rows = records.rows[-MAX_ROWS:]
    keys = {
        "epoch": [row["epoch"] for row in rows],
        "seconds of recording": [row["seconds"] + (row["seconds_writing"] or 0.0) for row in rows],
        "seconds since the record before": [row["seconds_between"] for row in rows],
    }
    caption = f"The last {MAX_ROWS} of {len(records):,} records." if len(records) > MAX_ROWS else ""
    blocks.append(table(keys, {}, caption, limit=MAX_ROWS))
    return _section("cost", "What recording cost", blocks, headline)


def _findings(records: Records, place: int) -> Iterator[tuple[str, str, Finding]]:
    """Yield names for readers, names of quantities, and findings of one record."""
    for name, quantity in QUANTITIES.items():
        found = records.findings(name)[place]
        if isinstance(found, Finding):
            yield quantity.title, name, found
        elif found is not None:
            for index, one in enumerate(found):
                if one is not None and quantity.per == "gate":
                    yield f"{quantity.title.removesuffix(', by gate')}, gate {records.gates[index]}", name, one
                elif one is not None:
                    yield f"{quantity.title} {index + 1}", name, one
