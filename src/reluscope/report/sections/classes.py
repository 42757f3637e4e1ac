"""Classes that occur within the linear regions of samples: exactly, and by the published test, which may miss some."""

from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.bodies.inscribed_balls import ball_seconds
from reluscope.analyses.classification.class_predictions import num_classes
from reluscope.analyses.local.classes_of_regions import (
    DISTORTION,
    HAS_BOUNDARY,
    NUM_AT_LIKELIEST,
    NUM_CLASSES,
    region_classes,
)
from reluscope.analyses.local.likeliest_points import likeliest_in_regions
from reluscope.analyses.samples.choosing import choose_samples
from reluscope.analyses.samples.data_box import data_box
from reluscope.budget import Budget
from reluscope.findings import Claim, Finding, Findings, Status
from reluscope.findings.written_findings import number
from reluscope.geometry.polyhedra.domains import Box
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportTable,
    Text,
    findings_table,
    numbers,
    plain_values,
)
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said, several
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted, is_out_of_time

TITLE = "Classes within one linear region"
POSITION = 68
MAX_SAMPLES = 5
MAX_ROWS = 8
MAX_CLASSES_DRAWN = 10
NUM_DRAWN = 3
# The nearest likeliest point of every class takes about so many times as long as telling whether classes occur.
DRAWN_COSTS = 4
SHARE_OF_SECONDS = 1 / 3
MEANING = (
    "On a region every output is affine, and the region may still reach over a decision boundary. A class lives in it "
    "if some point of the region belongs to it: that is a linear program for each class, decided by such a point or by "
    "a proof that there is none. The published test asks instead whether the point at which a class is likeliest "
    "belongs to it, and may find fewer with three or more classes. The distortion is how far the likeliest points are "
    "from the sample: how much of what it could become is within reach of one affine map."
)


def why_not(subject: Subject) -> str | None:
    """Return why the section is left out: in a regression, without gates, or if it would take too long."""
    network, settings = subject.network, subject.settings
    if subject.classes is None:
        return "This is a regression, so no classes live in a region."
    if not network.gates:
        return "The network has no gates, so there is one region, and all classes that occur live in it."
    box = data_box(subject.points)
    if box is None:
        return "All entries of the data are equal, so there is no box to cut regions down to."
    needed, limit = _each(subject, box), SHARE_OF_SECONDS * settings.planned_seconds
    if needed > limit:
        return (
            f"The classes of one region are {2 * num_classes(network):,} convex programs in {network.num_inputs:,} "
            f"dimensions, more than this section takes on (about {number(float(np.ceil(needed)))} s); "
            "rs.local.region_classes asks for them."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: two programs for each class and region, or the limit."""
    box = data_box(subject.points)
    work = 0.0 if box is None else min(len(subject.data), MAX_SAMPLES) * _each(subject, box)
    return 0.5 + min(SHARE_OF_SECONDS * subject.settings.planned_seconds, work)


def _each(subject: Subject, box: Box) -> float:
    return (1 + 2 * num_classes(subject.network)) * ball_seconds(subject.network, box) / 2


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Find the classes that occur within the regions of some samples."""
    network, settings = subject.network, subject.settings
    box = data_box(subject.points)
    assert box is not None
    number = settings.affordable(SHARE_OF_SECONDS, _each(subject, box), MAX_SAMPLES)
    rows = subject.drawn(number)
    found = region_classes(
        network, subject.points[rows], domain=box, **settings.effort(SHARE_OF_SECONDS, progress, 0.8)
    )
    if not found.is_done.any():
        sentence = "All samples looked at lie on a kink, and their codes have no region with an interior."
        return Content((Text(sentence),), interrupted=is_interrupted(found.stop))
    # Of the regions that were looked at, these numbers are exact.
    done = found.rows(found.is_done)
    shown = [done.mean(NUM_CLASSES), done.mean(NUM_AT_LIKELIEST), done.share(HAS_BOUNDARY), done.mean(DISTORTION)]
    described = f"In how many of {len(done):,} regions so many classes live"
    caption = f"How many classes live in the regions of {len(done):,} samples, exactly and by the published test."
    blocks: list[Block] = [
        numbers(*shown),
        Text(f"{MEANING} {_which(subject, found)}"),
        picture(plots.class_numbers(found), "class-numbers", described, caption),
        _table(subject, rows, done),
    ]
    blocks += _images(subject, rows, done, box)
    data = {
        "samples": rows[done.keys["sample"]].tolist(),
        "classes": [np.flatnonzero(row).tolist() for row in done.details["occurs"]],
        "classes_at_likeliest": [np.flatnonzero(row).tolist() for row in done.details["is_at_likeliest"]],
        "distortions": plain_values(done[DISTORTION].value),
    }
    return Content(
        tuple(blocks),
        Number(shown[0]),
        data,
        interrupted=is_interrupted(found.stop),
        sentences=(_answer(subject, shown[0], len(done)),),
    )


def _answer(subject: Subject, mean: Finding, number: int) -> Sentence:
    regions = f"{several(number, 'linear region')} of {subject.noun}s"
    if mean.value == 1 and mean.claim is Claim.EXACT:
        return Sentence(f"No decision boundary runs through the {regions} that were looked at.", samples=number)
    text = f"The {regions} that were looked at hold {said(mean)} of {num_classes(subject.network)} classes on average."
    return Sentence(text, samples=number)


def _which(subject: Subject, found: Findings) -> str:
    done, without = int(found.is_done.sum()), sum(status is Status.UNDEFINED for status in found.status)
    text = f"These are the regions of {done:,} of {len(subject.data):,} samples, cut down to the {found.domain}"
    text += ", as many as there was time for (--seconds)." if is_out_of_time(found.stop) else "."
    if without:
        text += f" {without:,} samples lie on a kink, and their code has no region with an interior."
    if not found.details["is_known"][found.is_done].all():
        text += " Classes that are ahead by no more than rounding are not counted, so numbers are lower bounds."
    return text


def _table(subject: Subject, rows: np.ndarray, found: Findings) -> ReportTable:
    assert subject.classes is not None
    found = found.rows(np.argsort(-found[NUM_CLASSES].value, kind="stable"))
    samples = rows[found.keys["sample"]]
    also = {
        "class": subject.classes[samples],
        "classes in its region": [_listed(occurs) for occurs in found.details["occurs"]],
    }
    return findings_table(
        replace(found, keys={"sample": samples}),
        "Regions with the most classes first.",
        quantities=(NUM_CLASSES, NUM_AT_LIKELIEST, DISTORTION),
        also=also,
        limit=MAX_ROWS,
    )


def _listed(occurs: np.ndarray, most: int = 12) -> str:
    classes = np.flatnonzero(occurs).tolist()
    return ", ".join(map(str, classes[:most])) + (", ..." if len(classes) > most else "")


def _images(subject: Subject, rows: np.ndarray, found: Findings, box: Box) -> list[Block]:
    """Return, where inputs are images, the likeliest point of each class in the regions of a few samples."""
    shape = subject.image_shape
    if shape is None or subject.classes is None or num_classes(subject.network) > MAX_CLASSES_DRAWN:
        return []
    settings, each = subject.settings, _each(subject, box)
    no_time: list[Block] = [Text("There was no time for the points at which classes are likeliest (--seconds).")]
    if each * (len(found) + DRAWN_COSTS) > SHARE_OF_SECONDS * settings.planned_seconds:
        return no_time
    left = SHARE_OF_SECONDS - each * len(found) / settings.planned_seconds
    looked_at = rows[found.keys["sample"]]
    number = settings.affordable(left, DRAWN_COSTS * each, NUM_DRAWN)
    samples = looked_at[choose_samples(subject.classes[looked_at], number, seed=settings.seed)]
    there = likeliest_in_regions(
        subject.network,
        subject.points[samples],
        domain=box,
        budget=Budget(seconds=max(0.0, settings.budget(SHARE_OF_SECONDS).seconds_allowed - found.seconds)),
        tolerance=settings.tolerance,
    )
    samples = samples[there.rows]
    if not len(samples):
        return no_time
    figure = plots.likeliest(
        there.points,
        there.classes,
        subject.classes[samples],
        x=subject.points[samples],
        shape=shape,
        rows=[f"sample {row:,}" for row in samples],
    )
    caption = (
        "A sample, and the point of its own region at which each class is likeliest. A green frame: it still has the "
        "sample's class; red with a cross: another one. One affine map turns the sample into any of them."
    )
    return [picture(figure, "likeliest", f"Likeliest points in the regions of {len(samples)} samples", caption)]
