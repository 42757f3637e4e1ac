"""The exact partition into linear regions of the plane through three samples."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from reluscope import plots
from reluscope.analyses.bodies.measured_regions import measure_regions, typical_values
from reluscope.analyses.planes import class_areas
from reluscope.analyses.planes.measures_of_planes import (
    BOUNDARY_LENGTH,
    NUM_FACETS,
    NUM_REGIONS,
    area_shares,
    plane_measures,
)
from reluscope.effort import Effort
from reluscope.findings import Claim, Finding, Findings
from reluscope.findings.written_findings import ends_in_words, number
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.geometry.polyhedra.slices import Plane
from reluscope.networks.evaluation.measured_rounding import said_of
from reluscope.partitions.ask.finishing_windows import affordable
from reluscope.partitions.decisions.decision_boundary import decision_boundary
from reluscope.partitions.partition_findings import facets_by_gate
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Attachment,
    Block,
    Content,
    Drawing,
    Number,
    ReportPicture,
    Text,
    findings_table,
    numbers,
    table,
)
from reluscope.report.parts.known_values import surprise
from reluscope.report.parts.page_drawings import drawing, picture
from reluscope.report.parts.plane_snapshot import snapshot
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted

TITLE = "Linear regions on a plane through three samples"
POSITION = 40
# Of the time, for outputs at corners and what is drawn.
SHARE_FOR_OUTPUTS = 0.4
# Of the time, for quantities of regions: what takes longer is left out.
SHARE_FOR_NUMBERS = 0.1


def why_not(subject: Subject) -> str | None:
    """Return why there is no plane: with one input, or without three samples in general position."""
    if subject.network.num_inputs < 2:
        return "The network has one input, so there is no plane; the segments below show its regions."
    if subject.triple is None:
        return "A plane needs three different samples that are not on a line, and the data have none."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a forward pass for a few vertices per pair of units, or the budget."""
    vertices = 2.0 * subject.network.num_units**2
    return min(subject.settings.planned_seconds, 1.0 + vertices * subject.seconds_per_sample)


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Partition the plane, draw it twice, and count."""
    del progress
    rows = subject.triple
    assert rows is not None
    settings = subject.settings
    samples = subject.points[list(rows)]
    plane = Plane(*samples, margin=settings.margin)
    # A plane has as many corners as regions, and outputs there take a part of the time.
    budget = replace(subject.region_budget(SHARE_FOR_OUTPUTS), seconds=settings.budget(1 - SHARE_FOR_OUTPUTS).seconds)
    with warnings.catch_warnings():
        # Interruption is told by the partition's note, and said on the page.
        warnings.simplefilter("ignore")
        found = affordable(subject.network, plane, Effort(budget, tolerance=settings.tolerance))
    part, coarse = found.part, found.coarse
    interrupted = is_interrupted(part.stop)
    boundary = decision_boundary(part)
    measured = plane_measures(part, boundary)
    regions = measured.finding(NUM_REGIONS)
    shown = (NUM_FACETS, BOUNDARY_LENGTH) if subject.is_classifier else (NUM_FACETS,)
    ahead = None if found.expected is None else found.expected.finding("forecast_regions")
    blocks: list[Block] = [numbers(regions, *(measured.finding(quantity) for quantity in shown))]
    if found.expected is not None and ahead is not None:
        # What is expected of the whole plane comes before the window that was done.
        blocks[:0] = [numbers(ahead), Text(_too_large(part, plane, found.expected))]
    blocks.append(Text(_introduction(subject, rows)))
    if regions.claim is not Claim.EXACT:
        blocks.append(Text(_incomplete(part)))
    size = int(regions)
    labels = [_label(subject, row) for row in rows]
    marks: dict[str, Any] = {"samples": samples, "sample_labels": labels, "coarse": coarse}
    gates = plots.boundaries(part, **marks)
    by_gate = drawing(gates, "plane-gates", f"Boundaries of {size:,} regions, coloured by gate")
    if subject.is_classifier:
        areas = class_areas(part)
        classes = plots.partition(part, color=areas, **marks)
        first = drawing(classes, "plane-classes", f"Class map of the plane with {size:,} regions")
        caption = f"{_SAMPLES} {_CLASSES} Then {_GATES}"
        blocks.append(ReportPicture((first, by_gate), caption, _images(subject, samples, labels)))
        if len(areas):
            blocks.append(findings_table(area_shares(part, areas)))
    else:
        rates = plots.partition(part, **marks)
        first = drawing(rates, "plane-regions", f"The {size:,} regions of the plane")
        caption = f"{_SAMPLES} First the regions themselves. Then {_GATES}"
        blocks.append(ReportPicture((first, by_gate), caption, _images(subject, samples, labels)))
    if found.expected is not None and coarse is not None:
        everywhere = plots.boundaries(coarse, samples=samples, sample_labels=labels)
        blocks.append(picture(everywhere, "plane-coarse", _COARSE, f"{_COARSE}."))
    if len(part):
        shown_again = None
        quantities = Findings.of(keys={"region": np.arange(len(part))})
        try:
            quantities = measure_regions(part, budget=settings.budget(SHARE_FOR_NUMBERS))
            shown_again = None if found.expected is not None else snapshot(subject, part, plane, rows)
        except KeyboardInterrupt:  # what was found stays
            interrupted = True
        if typical := typical_values(part, quantities):
            blocks.append(table({"": [one.name for one in typical]}, {"value": typical}, _TYPICAL))
        if shown_again is not None:
            blocks.append(shown_again)
        blocks.append(_attached(part, list(quantities)))
    data = {
        "samples": [int(row) for row in rows],
        "sample_coordinates": np.asarray(plane.project(samples)).tolist(),
        "boundary_pieces_by_gate": facets_by_gate(part),
    }
    if subject.classes is not None:
        data["sample_classes"] = [int(subject.classes[row]) for row in rows]
    return Content(
        tuple(blocks),
        Number(regions if ahead is None else ahead),
        data,
        interrupted=interrupted,
        sentences=(_answer(subject, regions) if ahead is None else _forecast(subject, regions, ahead),),
    )


def _answer(subject: Subject, regions: Finding) -> Sentence:
    where = f"the plane through three {subject.noun}s"
    if regions.value == 1 and regions.claim is Claim.EXACT:
        return Sentence(f"The network does not bend on {where}: it is one linear region.", surprise=2.0)
    text = f"The network has {said(regions)} linear regions on {where}."
    return Sentence(text, _unusual(subject, regions))


def _forecast(subject: Subject, in_window: Finding, ahead: Finding) -> Sentence:
    """Return what is expected of a plane that is too large, and how much of it is a window that was done."""
    ends = f", {ends_in_words(ahead)}," if ends_in_words(ahead) else ","
    text = (
        f"The plane through three {subject.noun}s is forecast to have {said(ahead)} linear regions{ends} of which a "
        f"small window about its middle was done: {said(in_window)}."
    )
    return Sentence(text, _unusual(subject, ahead))


def _unusual(subject: Subject, regions: Finding) -> float:
    return surprise("plane_per_unit", regions.value / max(1, subject.network.num_units))


def _too_large(part: Partition, plane: Slice, expected: Findings) -> str:
    findings = (expected.finding(name) for name in ("forecast_regions", "forecast_seconds"))
    regions, seconds = (ends_in_words(one) or said(one) for one in findings)
    share = part.domain.volume() / plane.volume()
    return (
        f"The whole plane is expected to have {regions} regions, and to take {seconds} seconds: more than the limits "
        f"allow. So this is the largest window about its middle that they suffice for, {share:.2g} of its area."
    )


_COARSE = "All of the plane by the first gates alone: each region of the network lies in one of these"
_TYPICAL = "Numbers of the regions: medians over all that were found."
_SAMPLES = "The same window twice, with the samples as circles."
_CLASSES = "First the class that wins, the regions in thin lines, the decision boundary bold."
_GATES = (
    "each piece of boundary in the colour of the gate that bends there, regions in grey by their share of active "
    "units. Lines of the first gate run straight; later gates bend where they cross earlier ones."
)


def _images(subject: Subject, samples: np.ndarray, names: list[str]) -> Drawing | None:
    """Return the samples as images, if they are."""
    shape = subject.image_shape
    if shape is None:
        return None
    described = f"The samples of the plane as images: {', '.join(names)}"
    return drawing(plots.samples(samples, shape=shape, names=names), "plane-samples", described)


MAX_CODE_BYTES = 32 * 2**20


def _attached(part: Partition, quantities: list[str]) -> Attachment:
    """Return the regions as a Parquet file, without their codes where these would fill it."""
    import pyarrow as pa
    import pyarrow.parquet

    table, left_out = part.to_table(quantities), ""
    if not part.codes.words.nbytes:
        table = table.drop_columns(["code"])  # without gates there is nothing to it, and Parquet has no empty bytes
    elif part.codes.words.nbytes > MAX_CODE_BYTES:
        table, left_out = table.drop_columns(["code"]), ", without codes, which would be larger than all else"
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    caption = f"all {len(part):,} regions as a table, one row each, in coordinates of the plane{left_out}."
    return Attachment("regions.parquet", sink.getvalue().to_pybytes(), caption)


def _label(subject: Subject, row: int) -> str:
    return f"sample {row:,}" if subject.classes is None else f"class {int(subject.classes[row])}"


def _introduction(subject: Subject, rows: tuple[int, int, int]) -> str:
    return (
        f"The plane runs through samples {_named(subject, rows)}, chosen by seed "
        f"{subject.settings.seed}. Inside every region the network is one affine map. Nothing is sampled here: regions "
        "are found by following the lines on which units change their piece."
    )


def _named(subject: Subject, rows: tuple[int, int, int]) -> str:
    classes, labels = subject.classes, subject.labels
    if classes is None:
        return f"{rows[0]:,}, {rows[1]:,} and {rows[2]:,}"
    first, second, third = (f"{row:,} (class {int(classes[row])})" for row in rows)
    kind = {3: "of three classes", 2: "of two classes", 1: "of one class"}[len({int(classes[row]) for row in rows})]
    right = labels is not None and all(labels[row] == classes[row] for row in rows)
    return f"{first}, {second} and {third}, {kind}{' and classified as labelled' * right}"


def _incomplete(part: Partition) -> str:
    if part.num_open:
        reason = "was interrupted" if is_interrupted(part.stop) else "reached its limit"
        return (
            f"The work on this plane {reason} with {number(part.num_open)} cells unfinished, so the numbers are lower "
            "bounds and empty parts of the pictures are not known. Raise the limits with --seconds and --regions."
        )
    if measured := said_of(part.work):
        return (
            f"This network is too deep for proved bounds on rounding at all gates: {measured}. So the number is an "
            f"estimate, of which {number(len(part) - int(part.work.get('cells_unconfirmed', 0)))} regions are proved."
        )
    return (
        f"{number(part.num_undecided)} signs were too close to zero to decide in float64, so the true number may be "
        "larger by as many regions."
    )
