"""How far the decision boundary is: within a sample's region, and of the whole network, as far as a search comes."""

from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.choosing import choose_samples
from reluscope.analyses.radii import ball_seconds
from reluscope.analyses.robustness import (
    BoundaryDistances,
    DecisionDistances,
    DistancesWithin,
    boundary_distance,
    decision_distance,
    decision_distance_within,
)
from reluscope.findings import Claim, Finding
from reluscope.geometry.norms import Norm
from reluscope.partitions.budget import Budget
from reluscope.report.content import (
    Block,
    Content,
    Number,
    Picture,
    Table,
    Text,
    number,
    numbers,
    plain_values,
    possibly_infinite,
)
from reluscope.report.drawing import drawing
from reluscope.report.subject import Subject, Tell

TITLE = "How far another class is"
POSITION = 70
FEW = 3
MOST_REGIONS = 15
SHARE_OF_SECONDS = 1 / 3
NORMS: tuple[Norm, ...] = ("l2", "linf")
MEANING = (
    "The distance to the decision boundary is how little has to be added to a sample for another class: in l2 as the "
    "length of what is added, in linf as its largest entry. A search goes on to ever farther regions until no nearer "
    "change of class is left. Where it ends early, the class is certain up to the "
    "number shown. Within the sample's own region the distance is exact, and nothing is said where the region does not "
    "reach another class."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no such distances: in a regression, without gates, or if one region takes too long."""
    limit = SHARE_OF_SECONDS * subject.settings.seconds
    if subject.classes is None:
        return "This is a regression, so there is no decision boundary."
    needed = _each(subject)
    if needed > limit:
        return (
            f"The nearest change of class within one region takes about {number(float(np.ceil(needed)))} s, more than "
            "this section takes on; rs.robustness asks for it."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a program for each region opened, or the limit."""
    searches = len(NORMS) * min(FEW, len(subject.data))
    return 0.5 + min(SHARE_OF_SECONDS * subject.settings.seconds, searches * MOST_REGIONS * _each(subject) / 10)


def _each(subject: Subject) -> float:
    return ball_seconds(subject.network)


def content(subject: Subject, tell: Tell) -> Content:
    """Measure distances of a few samples in every norm."""
    assert subject.classes is not None
    network, settings = subject.network, subject.settings
    rows = choose_samples(subject.classes, FEW, seed=settings.seed)
    points = subject.points[rows]
    budget = Budget(regions=MOST_REGIONS, seconds=SHARE_OF_SECONDS * settings.seconds / (len(NORMS) * len(rows)))
    facets: list[BoundaryDistances] = []
    within: list[DistancesWithin] = []
    whole: list[DecisionDistances] = []
    interrupted = False
    for place, norm in enumerate(NORMS):
        try:
            facets.append(boundary_distance(network, points, norm=norm, tolerance=settings.tolerance))
            within.append(decision_distance_within(network, points, norm=norm, tolerance=settings.tolerance))
            tell((place + 0.2) / len(NORMS))
            found = decision_distance(network, points, norm=norm, budget=budget, tolerance=settings.tolerance)
            whole.append(_at_least_affine(found, facets[-1], within[-1]))
            interrupted = whole[-1].stopped[-1] == "interrupted"
            tell((place + 1) / len(NORMS))
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            break
    if not whole:
        raise KeyboardInterrupt
    facets, within = facets[: len(whole)], within[: len(whole)]
    medians = [possibly_infinite(_median(one, len(rows))) for one in whole]
    names = [f"{row:,} (class {subject.classes[row]})" for row in rows]
    figure = plots.robustness(facets, within, whole, names)
    described = f"Distances of {len(rows)} samples to the nearest facet and to the decision boundary"
    blocks: list[Block] = [
        numbers(*medians, *(_finished(one) for one in whole)),
        Text(f"{MEANING} {_which(subject, len(rows), budget)}"),
        Picture(
            (drawing(figure, "robustness", described),),
            "Samples, by their numbers in the data: where the first unit bends, and where the class changes.",
        ),
        _table(subject, rows, within, whole),
    ]
    data = {
        "samples": rows.tolist(),
        "distances": [
            {
                "norm": one.norm,
                "lower": plain_values(one.lower),
                "upper": plain_values(one.upper),
                "is_exact": one.is_exact.tolist(),
                "class_beyond": one.adversarial.tolist(),
                "within": plain_values(inside.distances),
            }
            for one, inside in zip(whole, within, strict=True)
        ],
    }
    return Content(tuple(blocks), medians[0], data, interrupted=interrupted)


def _which(subject: Subject, number_of_samples: int, budget: Budget) -> str:
    return (
        f"These are {number_of_samples} of {len(subject.data):,} samples, chosen by seed {subject.settings.seed} from "
        f"as many classes as there are; each search looks into up to {budget.regions} regions or sets of them, for up "
        f"to {budget.seconds:.2g} s. No box bounds the inputs. rs.robustness.decision_distance searches on."
    )


def _at_least_affine(found: DecisionDistances, facets: BoundaryDistances, within: DistancesWithin) -> DecisionDistances:
    """Raise lower bounds to what the sample's own region says: up to its nearest facet the network is one map."""
    reached = len(found)
    own = np.minimum(facets.distances - facets.errors, within.lower - within.errors)[:reached]
    return replace(found, lower=np.where(found.is_exact, found.lower, np.maximum(found.lower, own)))


def _median(found: DecisionDistances, asked: int) -> Finding:
    """Return the median distance: EXACT if all searches came to their end, else LOWER."""
    exact = bool(found.is_exact.all()) and len(found) == asked
    lower, upper = (float(np.median(ends)) for ends in (found.lower, found.upper))
    gaps = np.subtract(found.upper, found.lower, out=np.zeros(len(found)), where=np.isfinite(found.upper))
    errors = gaps + found.errors
    return Finding(
        upper if exact else lower,
        Claim.EXACT if exact else Claim.LOWER,
        name=f"median {found.norm} distance to another class",
        interval=None if exact else (lower, upper),
        definition=f"median over {len(found)} samples of the least {found.norm} distance at which a change of class "
        "begins",
        domain=f"{len(found)} samples, {found.domain}",
        method="best-first search over regions, nearest points by quadratic or linear programs with dual bounds",
        tolerance=float(errors.max(initial=0.0)) if exact else None,
        num_undecided=int(found.num_undecided.sum()),
        work={"seconds": float(found.seconds.sum())},
    )


def _finished(found: DecisionDistances) -> Finding:
    return Finding(
        int(found.is_exact.sum()),
        Claim.EXACT,
        name=f"exact {found.norm} distances",
        definition=f"samples of {len(found)} whose search came to its end, so that the distance is exact",
        domain=f"{len(found)} samples",
        method="best-first search over regions",
    )


def _table(subject: Subject, rows: np.ndarray, within: list[DistancesWithin], whole: list[DecisionDistances]) -> Table:
    assert subject.classes is not None
    table = []
    for place, row in enumerate(rows):
        for inside, one in zip(within, whole, strict=True):
            if place >= len(one):
                continue
            other = int(one.adversarial[place])
            table.append(
                (
                    f"{row:,}",
                    str(int(subject.classes[row])),
                    one.norm,
                    possibly_infinite(one.finding(place)),
                    "" if one.is_exact[place] or not np.isfinite(one.upper[place]) else Number(_at_most(one, place)),
                    "" if other < 0 else str(other),
                    _inside(inside.finding(place)),
                )
            )
    columns = ("sample", "class", "norm", "to another class", "at most", "which class", "within its region")
    caption = (
        "Where a search was not finished, a lower bound, and the nearest change of class that it has found, if any."
    )
    return Table(columns, tuple(table), caption)


def _inside(finding: Finding) -> Number:
    return Number(finding) if np.isfinite(finding.value) else Number(finding, "none there")


def _at_most(found: DecisionDistances, place: int) -> Finding:
    return replace(
        found.finding(place),
        value=float(found.upper[place]),
        claim=Claim.UPPER,
        name="distance to a change of class that was found",
        interval=None,
        tolerance=float(found.errors[place]),
    )
