"""The plane through three samples, cut exactly into the network's regions."""

import warnings
from dataclasses import replace

from reluscope import plots
from reluscope.analyses.planes.view import PlaneView, class_shares, view_plane
from reluscope.findings import Claim
from reluscope.report.content import Block, Content, Number, Picture, Table, Text, number, numbers
from reluscope.report.drawing import drawing
from reluscope.report.subject import Subject, Tell

TITLE = "A plane through three samples"
POSITION = 40


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
    return min(subject.settings.seconds, 1.0 + vertices * subject.seconds_per_sample)


def content(subject: Subject, tell: Tell) -> Content:
    """Partition the plane, draw it twice, and count."""
    del tell
    rows = subject.triple
    assert rows is not None
    settings = subject.settings
    with warnings.catch_warnings():
        # Interruption is told by the partition's note, and said on the page.
        warnings.simplefilter("ignore")
        view = view_plane(
            subject.network,
            subject.points[list(rows)],
            margin=settings.margin,
            budget=settings.budget,
            tolerance=settings.tolerance,
        )
    regions, facets, length = view.findings()
    regions = replace(regions, name="regions in the plane")
    blocks: list[Block] = [numbers(regions, facets, length), Text(_introduction(subject, rows))]
    if regions.claim is not Claim.EXACT:
        blocks.append(Text(_incomplete(view)))
    size = int(regions)
    pictures = Picture(
        (
            drawing(plots.class_map(view), "plane-classes", f"Class map of the plane with {size:,} regions"),
            drawing(plots.boundaries(view), "plane-gates", f"Boundaries of {size:,} regions, coloured by gate"),
        ),
        "The same window twice, with the samples as circles. First the class that wins, the regions in thin lines, the "
        "decision boundary bold. Then each piece of boundary in the colour of the gate that bends there, regions in "
        "grey by their share of active units. Lines of the first gate run straight; later gates bend where they cross "
        "earlier ones.",
    )
    blocks.append(pictures)
    shares = class_shares(view) if len(view.areas) else ()
    if shares:
        cells = tuple((one.name.removeprefix("share of "), Number(one, f"{100 * float(one):.2f} %")) for one in shares)
        blocks.append(Table(("largest output", "share of the window"), cells))
    data = {
        "samples": [int(row) for row in rows],
        "sample_classes": view.sample_classes.tolist(),
        "sample_coordinates": view.samples.tolist(),
        "boundary_pieces_by_gate": {
            name: int((view.facet_gates == index).sum()) for index, name in enumerate(view.gate_names)
        },
    }
    stopped = view.partition.note == "interrupted"
    return Content(tuple(blocks), Number(regions), data, interrupted=stopped)


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


def _incomplete(view: PlaneView) -> str:
    part = view.partition
    if part.num_open:
        reason = "was interrupted" if part.note == "interrupted" else "reached its limit"
        return (
            f"The work on this plane {reason} with {number(part.num_open)} cells unfinished, so the numbers are lower "
            "bounds and empty parts of the pictures are not known. Raise the limits with --seconds and --regions."
        )
    return (
        f"{number(part.num_undecided)} signs were too close to zero to decide in float64, so the true number may be "
        "larger by as many regions."
    )
