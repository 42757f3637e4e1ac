"""Linear regions at samples, at decision boundaries and at adversaries, and the radii of their inscribed balls.

Zhang and Wu (2020) call them manifold, decision and adversarial regions.
"""

from dataclasses import dataclass, replace

import numpy as np

from reluscope import plots
from reluscope.analyses.bodies.inscribed_balls import INRADIUS, ball_seconds, inscribed_balls
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.local.adversaries import pgd
from reluscope.analyses.local.class_ends import ClassEnds, LastOfClass, last_of_class
from reluscope.analyses.local.walk_targets import class_means, other_means, other_points
from reluscope.analyses.samples.data_box import data_box
from reluscope.budget import end_again
from reluscope.errors import IncompletePartitionError
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.findings.written_findings import number
from reluscope.geometry.polyhedra.domains import Box
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportPicture,
    ReportTable,
    Text,
    numbers,
    plain_values,
    table,
)
from reluscope.report.parts.known_values import surprise
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted

TITLE = "Linear regions at decision boundaries and adversaries"
POSITION = 66
MAX_SAMPLES = 60
MAX_BALLS = 10
SHARE_FOR_BALLS = 1 / 2
# The size of the box in which adversaries are looked for, as a share of the range of the data.
RADIUS = 0.1
STEPS = 40
KINDS = ("at the sample", "towards another class", "towards an adversary")
TARGETS = ("another class", "an adversary")
SHARE_OF_SEGMENT = declare(
    "share_of_segment",
    "share of the straight segment to the target at which the class is left",
    kind=Kind.SHARE,
    source="zhang2020",
)
MEANING = (
    "The manifold region is the sample's own. The decision region is where a straight segment to another class has the "
    "sample's class for the last time, the adversarial region the same on the segment to an adversary. Both ends are "
    "computed from the regions along the segment, with no steps and no bisection."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no such regions: without classes, gates or a second class, or if balls take too long."""
    network, settings = subject.network, subject.settings
    if subject.classes is None:
        return "This is a regression, so no class ends anywhere."
    if not network.gates:
        return "The network has no gates, so there is one region: all of input space."
    if len(np.unique(_known_classes(subject))) < 2 or len(np.unique(subject.classes)) < 2:
        return "All these samples have one class, so there is no other class to walk to."
    box = data_box(subject.points)
    assert box is not None  # samples of two classes differ
    needed, limit = 3 * ball_seconds(network, box), SHARE_FOR_BALLS * settings.planned_seconds
    if needed > limit:
        return (
            f"The inscribed balls of three regions of each sample take about {number(float(np.ceil(needed)))} s, more "
            "than this section takes on; rs.local.last_of_class finds the places, rs.region(net, x, "
            "domain=box).polyhedron.insphere() measures a region."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: forward passes along segments, adversaries, and three balls for each sample."""
    network, segments = subject.network, 2 * min(len(subject.data), MAX_SAMPLES)
    box = data_box(subject.points)
    walks = segments * (network.num_units * (subject.seconds_per_sample + 1e-5) + 1e-3)
    balls = 3 * min(len(subject.data), MAX_BALLS) * ball_seconds(network, box)
    return 0.5 + walks + min(SHARE_FOR_BALLS * subject.settings.planned_seconds, balls)


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Find where segments from some samples leave their class, then inscribed balls at a few of these points."""
    assert subject.classes is not None
    network, settings = subject.network, subject.settings
    rows = subject.drawn(MAX_SAMPLES)
    points, classes = subject.points[rows], subject.classes[rows]
    box = data_box(subject.points)
    assert box is not None
    try:
        targets, by_means = _targets(subject, classes)
        decision = last_of_class(network, points, targets, tolerance=settings.tolerance)
        progress(0.2)
        radius = RADIUS * float(np.ptp(subject.points))
        adversaries = pgd(network, points, classes, radius=radius, steps=STEPS, norm="linf", box=box)
        progress(0.3)
        adversarial = last_of_class(network, points, adversaries, tolerance=settings.tolerance)
    except IncompletePartitionError as error:  # with nothing to show
        raise end_again(error.stop) from None
    progress(0.4)
    segments = (decision, adversarial)
    balls = _balls(subject, points, segments, box, progress)
    shares = [_leaving(segment, what) for segment, what in zip(segments, TARGETS, strict=True)]
    medians = [_median(one, kind) for kind, one in balls.found.items()]
    blocks: list[Block] = [
        numbers(*medians, *shares),
        Text(_text(subject, len(rows), by_means, radius, box)),
        *([_picture(balls)] if balls.found else []),
        _table(segments),
    ]
    data = {
        "samples": [int(row) for row in rows],
        "share_of_segment": {
            kind: plain_values(segment.last.alphas) for kind, segment in zip(KINDS[1:], segments, strict=True)
        },
        "class_after": {kind: segment.last.after.tolist() for kind, segment in zip(KINDS[1:], segments, strict=True)},
        "ball_samples": [int(rows[row]) for row in balls.rows],
        "radii": {kind: plain_values(balls.table[:, place]) for place, kind in enumerate(KINDS)},
    }
    sentences = (_answer(subject, shares[0], _along(decision, decision.last)),)
    return Content(tuple(blocks), Number(shares[0]), data, interrupted=balls.interrupted, sentences=sentences)


def _answer(subject: Subject, share: Finding, along: Finding | None) -> Sentence:
    text = f"{said(share)} of straight segments to another class leave the class of their {subject.noun}"
    text += f", typically after {said(along)} of its length." if along is not None else "."
    return Sentence(text[:1].upper() + text[1:], surprise("leaving", share.value), share.num_samples)


def _known_classes(subject: Subject) -> np.ndarray:
    """Return the labels, or the predicted classes where there are none."""
    assert subject.classes is not None
    return subject.classes if subject.labels is None else subject.labels


def _targets(subject: Subject, classes: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return for every sample the mean of another class, or a point of one where some mean has not its own class."""
    assert subject.classes is not None
    network, seed, known = subject.network, subject.settings.seed, _known_classes(subject)
    means = class_means(network, subject.points, known)
    present = np.flatnonzero(np.isfinite(means[:, 0]))
    if (predicted_classes(network, means[present]) == present).all():
        return other_means(network, subject.points, known, classes, seed=seed), True
    return other_points(network, subject.points, subject.classes, classes, seed=seed), False


@dataclass(frozen=True)
class _BallsOfRegions:
    """Inscribed balls of the three regions of some samples, and their radii as a table, NaN where there is none."""

    found: dict[str, Findings]
    rows: np.ndarray
    table: np.ndarray
    interrupted: bool


def _balls(
    subject: Subject, points: np.ndarray, segments: tuple[LastOfClass, ...], box: Box, progress: ProgressFunction
) -> _BallsOfRegions:
    settings = subject.settings
    number = settings.affordable(SHARE_FOR_BALLS / 3, ball_seconds(subject.network, box), MAX_BALLS)
    ends = np.stack([segment.last.is_boundary for segment in segments])
    rows = np.argsort(-ends.sum(axis=0), kind="stable")[:number]
    table = np.full((len(rows), 3), np.nan)
    found, interrupted = {}, False
    for place, kind in enumerate(KINDS):
        there = np.arange(len(rows)) if place == 0 else np.flatnonzero(ends[place - 1][rows])
        if not len(there) or interrupted:
            continue
        at = points[rows[there]] if place == 0 else segments[place - 1].last.within[rows[there]]
        try:
            balls = inscribed_balls(
                subject.network,
                at,
                domain=box,
                budget=settings.budget(SHARE_FOR_BALLS / 3),
                tolerance=settings.tolerance,
                progress=lambda share, place=place: progress(0.4 + 0.6 * (place + share) / 3),
            )
        except KeyboardInterrupt:  # the segments are there
            interrupted = True
            continue
        interrupted = is_interrupted(balls.stop)
        if balls.is_done.any():
            table[there, place] = balls[INRADIUS].value
            found[kind] = balls
    return _BallsOfRegions(found, rows, table, interrupted)


def _median(balls: Findings, kind: str) -> Finding:
    return replace(balls.median(INRADIUS), name=f"median inradius {kind}")


def _leaving(segment: LastOfClass, what: str) -> Finding:
    """Return the share of segments that leave the class of their start."""
    number, leaving = len(segment), int(segment.last.is_boundary.sum())
    unsure = int((~segment.is_exact).sum())
    return Finding.of(
        leaving / number,
        max(0.0, (leaving - unsure) / number),
        min(1.0, (leaving + unsure) / number),
        name=f"segments to {what} that leave the class",
        definition=f"share of samples whose straight segment to {what} ends in a class other than the sample's: "
        f"{leaving:,} of {number:,}",
        domain=f"{number:,} samples",
        num_samples=number,
        method="exact partition of every segment; outputs are affine between its kinks",
        source="zhang2020",
        num_undecided=unsure,
        is_share=True,
    )


def _along(segment: LastOfClass, ends: ClassEnds) -> Finding | None:
    """Return the median share of a segment at which the class ends, over those that lead to another class, if any."""
    leaving = segment.last.is_boundary
    if not leaving.any():
        return None
    method = "exact partition of every segment; outputs are affine between its kinks"
    values, errors = ends.alphas[leaving], ends.errors[leaving]
    bounds = np.maximum(values - errors, 0.0), np.minimum(values + errors, 1.0)
    column = Column.of(SHARE_OF_SEGMENT, np.clip(values, *bounds), *bounds, method=method)
    return Findings.of(column, keys={"sample": np.arange(len(values))}).median(SHARE_OF_SEGMENT)


def _text(subject: Subject, number: int, by_means: bool, radius: float, box: Box) -> str:
    other = "the mean of another class"
    if not by_means:
        other = "a sample of another class, since some class means belong to other classes"
    return (
        f"{MEANING} Ways of {number:,} of {len(subject.data):,} samples lead to {other}, and to an adversary: where "
        f"the loss is large within {radius:.3g} of the sample in every input (linf, {STEPS} steps of projected "
        "gradient ascent); one that is not found may still be there. Small decision regions say that the network "
        f"bends more where classes meet. Regions are cut down to the {box.describe()}; balls are those of samples with "
        "all three places first."
    )


def _picture(balls: _BallsOfRegions) -> ReportPicture:
    figure = plots.radii_by_location(balls.table, KINDS)
    caption = "Radii of inscribed balls of regions at three places of the same samples, joined by thin lines."
    described = f"Radii of inscribed balls at {len(KINDS)} places of {len(balls.rows):,} samples"
    return picture(figure, "radii-by-location", described, caption)


def _table(segments: tuple[LastOfClass, ...]) -> ReportTable:
    columns = {
        "leave the class": [_leaving(segment, what) for segment, what in zip(segments, TARGETS, strict=True)],
        "first left at": [_along(segment, segment.first) for segment in segments],
        "last left at": [_along(segment, segment.last) for segment in segments],
        "class comes back": [_coming_back(segment, what) for segment, what in zip(segments, TARGETS, strict=True)],
    }
    caption = "Shares of segments, and the median share of the segment at which the class is left."
    return table({"segment": [f"to {what}" for what in TARGETS]}, columns, caption)


def _coming_back(segment: LastOfClass, what: str) -> Finding:
    """Return how many segments leave the class of their start, and have it again later on."""
    ends = segment.last.is_boundary
    number, unsure = int((segment.first.alphas < segment.last.alphas)[ends].sum()), int((~segment.is_exact).sum())
    return Finding.of(
        number,
        max(0, number - unsure),
        number + unsure,
        name=f"segments to {what} on which the class comes back",
        definition="segments that leave the class of their start, and have it again later on",
        domain=f"{int(ends.sum()):,} segments that end in another class",
        num_samples=int(ends.sum()),
        method="exact partition of every segment",
    )
