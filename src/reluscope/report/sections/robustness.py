"""Distances of samples to the decision boundary: within their linear region, and of the whole network by a search."""

from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.bodies.inscribed_balls import ball_seconds
from reluscope.analyses.robustness import boundary_distance, decision_distance, decision_distance_within
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE, DECISION_DISTANCE_WITHIN
from reluscope.analyses.samples.choosing import choose_samples
from reluscope.budget import Budget
from reluscope.findings import Claim, Finding, Findings, Status
from reluscope.findings.written_findings import number
from reluscope.geometry.numbers.norms import NormName
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportTable,
    Text,
    cells,
    numbers,
    plain_values,
    table,
)
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, located
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted

TITLE = "Robustness: distances to the decision boundary"
POSITION = 70
NUM_DRAWN = 10
MAX_REGIONS = 15
SHARE_OF_SECONDS = 1 / 3
NORMS: tuple[NormName, ...] = ("l2", "linf")
# What a search takes: some seconds, and as long as so many inscribed balls.
SEARCH, PROGRAMS = 0.2, 1.5
MEANING = (
    "The distance to the decision boundary is how little has to be added to a sample for another class: in l2 as the "
    "length of what is added, in linf as its largest entry. A search goes on to ever farther regions until no nearer "
    "change of class is left. Where it ends early, the class is certain up to the "
    "number shown. Within the sample's own region the distance is exact, and nothing is said where the region does not "
    "reach another class."
)

CAPTION = "Samples, by their numbers in the data: where the first unit bends, and where the class changes."


def why_not(subject: Subject) -> str | None:
    """Return why there are no such distances: in a regression, without gates, or if one region takes too long."""
    limit = SHARE_OF_SECONDS * subject.settings.planned_seconds
    if subject.classes is None:
        return "This is a regression, so there is no decision boundary."
    needed = ball_seconds(subject.network)
    if needed > limit:
        return (
            f"The nearest change of class within one region takes about {number(float(np.ceil(needed)))} s, more than "
            "this section takes on; rs.robustness asks for it."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: searches around some samples, or the limit."""
    number = min(NUM_DRAWN, len(subject.data))
    return 0.5 + min(SHARE_OF_SECONDS * subject.settings.planned_seconds, number * _each(subject))


def _each(subject: Subject) -> float:
    """Return about how many seconds the searches around one sample take: more than most in one region."""
    return len(NORMS) * (SEARCH + PROGRAMS * ball_seconds(subject.network))


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Measure distances of a few samples in every norm."""
    assert subject.classes is not None
    network, settings = subject.network, subject.settings
    number = settings.affordable(SHARE_OF_SECONDS, _each(subject), NUM_DRAWN)
    rows = choose_samples(subject.classes, number, seed=settings.seed)
    points = subject.points[rows]
    # Of each norm's time an eighth for facets, and one for the regions of the samples themselves.
    share = SHARE_OF_SECONDS / len(NORMS)
    eighth = settings.budget(share / 8)
    budget = replace(settings.budget(share * 3 / 4 / len(rows)), regions=MAX_REGIONS)
    facets: list[Findings] = []
    within: list[Findings] = []
    whole: list[Findings] = []
    interrupted = False
    for place, norm in enumerate(NORMS):
        try:
            first = boundary_distance(network, points, norm=norm, budget=eighth, tolerance=settings.tolerance)
            own = decision_distance_within(network, points, norm=norm, budget=eighth, tolerance=settings.tolerance)
            # As many as there was time for, from the first on.
            points = points[: min(_reached(first), _reached(own))]
            facets.append(first)
            within.append(own)
            progress((place + 0.2) / len(NORMS))
            whole.append(decision_distance(network, points, norm=norm, budget=budget, tolerance=settings.tolerance))
            interrupted = is_interrupted(whole[-1].stop)
            progress((place + 1) / len(NORMS))
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            break
    if not whole:
        raise KeyboardInterrupt
    facets, within, whole = (
        [one.rows(slice(0, len(points))) for one in each[: len(whole)]] for each in (facets, within, whole)
    )
    rows = rows[: len(points)]
    medians = [one.median(DECISION_DISTANCE) for one in whole]
    names = [f"{row:,} (class {subject.classes[row]})" for row in rows]
    figure = plots.robustness(facets, within, whole, names)
    described = f"Distances of {len(rows)} samples to the nearest facet and to the decision boundary"
    blocks: list[Block] = [
        numbers(*medians, *(one.share_exact(DECISION_DISTANCE) for one in whole)),
        Text(f"{MEANING} {_which(subject, len(rows), budget)}"),
        picture(figure, "robustness", described, CAPTION),
        _table(subject, rows, within, whole),
    ]
    data = {
        "samples": rows.tolist(),
        "distances": [
            {
                "norm": norm,
                "lower": plain_values(one[DECISION_DISTANCE].lower),
                "upper": plain_values(one[DECISION_DISTANCE].upper),
                "is_exact": one[DECISION_DISTANCE].is_exact.tolist(),
                "class_beyond": one.details["adversarial"].tolist(),
                "within": plain_values(inside[DECISION_DISTANCE_WITHIN].value),
            }
            for norm, one, inside in zip(NORMS, whole, within, strict=False)
        ],
    }
    sentences = (_answer(subject, medians[0], len(rows)),)
    return Content(tuple(blocks), Number(medians[0]), data, interrupted=interrupted, sentences=sentences)


def _reached(found: Findings) -> int:
    return sum(status is not Status.NOT_REACHED for status in found.status)


def _answer(subject: Subject, median: Finding, number: int) -> Sentence:
    if np.isinf(median.value) and median.claim is Claim.EXACT:
        return Sentence(f"No change of a typical {subject.noun} leads to another class.", surprise=2.0, samples=number)
    where = located(median, "changes")
    text = f"The class of a typical {subject.noun} {where} (robustness radius, l2, median of {number:,})."
    return Sentence(text, samples=number)


def _which(subject: Subject, number_of_samples: int, budget: Budget) -> str:
    limit = "" if subject.settings.seconds is None else f", for up to {budget.seconds:.2g} s"
    return (
        f"These are {number_of_samples} of {len(subject.data):,} samples, chosen by seed {subject.settings.seed} from "
        f"as many classes as there are; each search looks into up to {budget.regions} regions or sets of them"
        f"{limit}. No box bounds the inputs. rs.robustness.decision_distance searches on."
    )


def _table(subject: Subject, rows: np.ndarray, within: list[Findings], whole: list[Findings]) -> ReportTable:
    assert subject.classes is not None
    norms = NORMS[: len(whole)]
    others = [one.details["adversarial"].tolist() for one in whole]
    keys = {
        "sample": np.tile(rows, len(norms)),
        "class": np.tile(subject.classes[rows], len(norms)),
        "norm": np.repeat(norms, len(rows)),
    }
    columns = {
        "to another class": [entry for one in whole for entry in cells(one, DECISION_DISTANCE)],
        "which class": [None if other < 0 else other for one in others for other in one],
        "within its region": [entry for one in within for entry in cells(one, DECISION_DISTANCE_WITHIN)],
    }
    caption = (
        "Where a search was not finished, a lower bound, and in brackets how far the nearest change of class is that "
        "it has found, if any. An infinite distance says that there is no other class."
    )
    return table(keys, columns, caption)
