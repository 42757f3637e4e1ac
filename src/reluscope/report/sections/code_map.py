"""Activation patterns of the samples in two dimensions, by classical scaling, and classes of nearest codes."""

import numpy as np

from reluscope import plots
from reluscope.analyses.codespace.class_distances import ALL_GATES
from reluscope.analyses.codespace.embedding import TRUST, Embedding, embed, embedding_trust
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes, sample_codes
from reluscope.findings import Claim, Column, Finding, Findings, Kind, Quantity, declare
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Content, Number, Text, cells, findings_table
from reluscope.report.parts.grouping import grouping
from reluscope.report.parts.known_values import compared
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject

TITLE = "Activation patterns in two dimensions"
POSITION = 31
MAX_SAMPLES = 1_000
MAX_GATES = 4
SHOWN = declare("shown_variance", "share of the codes' variance that the picture has", kind=Kind.SHARE)
SAME_CLASS = declare(
    "nearest_of_same_class",
    "mean over samples of the share of their class among the other samples whose code is nearest",
    kind=Kind.SHARE,
)
NEAREST_DISTANCE = declare(
    "median_distance_to_nearest",
    "median over samples of the number of units on which the nearest other code differs",
    unit="units",
)
TEXT = (
    "Each point is a sample, placed so that squared distances in the picture are as near as they can be to the numbers "
    "of units on which codes differ (classical scaling, a projection along the two directions in which codes vary "
    "most). A picture of two dimensions shows a part of that variation only; the table says which part, and whether "
    "points that are near in the picture are near in truth."
)
NEAREST = (
    "The last columns need no picture: how often the sample with the nearest code is of the same class, and how far "
    "away it is. Where the share grows from gate to gate, later gates tell classes apart better than earlier ones."
)


def why_not(subject: Subject) -> str | None:
    """Return why there is no picture: without gates, or with fewer than three samples."""
    if not subject.network.gates:
        return "The network has no gates, so every input has the same, empty code."
    if len(subject.data) < 3:
        return "A picture of distances needs three samples or more."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: distances and a projection for every gate that is shown."""
    number = min(len(subject.data), MAX_SAMPLES)
    shown = 1 + min(len(subject.network.gates), MAX_GATES)
    return 0.3 + shown * (0.2 + 5e-7 * number**2) + number * subject.seconds_per_sample


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Place the codes of the first gates, of those between, and of all gates together."""
    rows = np.arange(len(subject.data))
    if len(rows) > MAX_SAMPLES:
        chosen = np.random.default_rng(subject.settings.seed).choice(len(rows), MAX_SAMPLES, replace=False)
        rows = np.sort(chosen)
    samples = sample_codes(subject.network, subject.data.points[rows])
    parts = _parts(samples)
    groups = grouping(subject)
    if groups is not None and (groups.values[rows] == groups.values[rows[0]]).all():
        groups = None  # what all of them share tells nothing about their codes
    classes = np.zeros(len(rows), dtype=np.int64) if groups is None else groups.values[rows]
    placed: list[Embedding] = []
    rows_found = []
    for number, part in enumerate(parts.values()):
        placed.append(embed(part.codes, seed=subject.settings.seed))
        rows_found.append(_measured(part, placed[-1], classes))
        progress(0.9 * (number + 1) / len(parts))
    found = _table(parts, rows_found, with_classes=groups is not None, samples=samples)
    figure = plots.embeddings([[one.points for one in placed]], classes, rows=[""], columns=list(parts))
    described = f"Scatter plots of {len(rows):,} samples by their codes, for {', '.join(parts)}"
    caption = (
        f"{len(rows):,} samples by their codes."
        if len(rows) == len(subject.data)
        else (f"{len(rows):,} of {len(subject.data):,} samples, drawn at random, by their codes.")
    )
    if groups is not None:
        caption += f" Colours and marks are classes. {groups.sentence}"
    if len(parts) <= len(samples.codes.layout):
        caption += f" {len(parts) - 1} of {len(samples.codes.layout)} gates are shown, from the first to the last."
    note = (
        "Shown: the share of the codes' variance that the picture has. Trustworthiness: 1 where all neighbours in the "
        "picture are neighbours in code space, about 1/2 where chance decides."
    )
    blocks = (
        Text(TEXT),
        picture(figure, "code-map", described, caption),
        Text(NEAREST) if groups is not None else Text("The last column: how far away the nearest code is."),
        findings_table(found, note),
    )
    headline = cells(found, TRUST if groups is None else SAME_CLASS)[-1]
    shown = Number(headline) if isinstance(headline, Finding) else None
    return Content(blocks, shown, sentences=_answer(subject, headline, groups is not None))


def _answer(subject: Subject, headline: Finding | str, with_classes: bool) -> tuple[Sentence, ...]:
    if not isinstance(headline, Finding):
        return ()
    number = headline.num_samples
    if not with_classes:
        text = f"The picture of activation patterns keeps neighbours with a trustworthiness of {said(headline)}."
        return (Sentence(text, samples=number), *_one_class(subject))
    text = f"The {subject.noun} with the nearest activation pattern is of the same class in {said(headline)} of cases"
    return (compared(text, headline.value, "nearest_of_same_class", samples=number),)


def _one_class(subject: Subject) -> tuple[Sentence, ...]:
    """Say that all samples are of one class, where the section on labels has not said it."""
    classes = subject.classes
    if classes is None or subject.labels is not None or (classes != classes[0]).any():
        return ()
    text = f"The network gives all {len(classes):,} {subject.noun}s one class, {int(classes[0])}."
    return (Sentence(text, surprise=3.0, samples=len(classes)),)


def _parts(samples: SampleCodes) -> dict[str, SampleCodes]:
    """Return the codes of a few gates, evenly from the first to the last, and of all gates if there are several."""
    names = [gate.name for gate in samples.codes.layout]
    places = np.unique(np.linspace(0, len(names) - 1, min(len(names), MAX_GATES)).round().astype(int))
    parts = {names[place]: samples.of_gates(names[place]) for place in places}
    return parts if len(names) == 1 else {**parts, ALL_GATES: samples}


def _measured(samples: SampleCodes, placed: Embedding, classes: np.ndarray) -> dict[Quantity, tuple[float, ...]]:
    """Return value and ends of each quantity; nothing is known of nearest codes that rounding could change."""
    codes, is_open = samples.codes, bool(samples.in_doubt.any())
    table = codes.distance().astype(np.int64)
    np.fill_diagonal(table, np.iinfo(np.int64).max)
    least = table.min(axis=1)
    nearest = table == least[:, None]
    same = float(((nearest & (classes == classes[:, None])).sum(axis=1) / nearest.sum(axis=1)).mean())
    middle, trust = float(np.median(least)), embedding_trust(codes, placed)
    ends = (float(trust),) * 2 if trust.claim is Claim.EXACT or trust.interval is None else trust.interval
    return {
        SHOWN: (placed.share, placed.share, placed.share),
        TRUST: (float(trust), *ends),
        SAME_CLASS: (same, 0.0, 1.0) if is_open else (same, same, same),
        NEAREST_DISTANCE: (middle, 0.0, float(codes.layout.num_units)) if is_open else (middle, middle, middle),
    }


def _table(
    parts: dict[str, SampleCodes],
    rows: list[dict[Quantity, tuple[float, ...]]],
    *,
    with_classes: bool,
    samples: SampleCodes,
) -> Findings:
    quantities = [SHOWN, TRUST, *([SAME_CLASS] if with_classes else []), NEAREST_DISTANCE]
    columns = [
        Column.of(quantity, *np.array([row[quantity] for row in rows]).T, scale=1.0, method=METHOD)
        for quantity in quantities
    ]
    units = [part.codes.layout.num_units for part in parts.values()]
    keys = {"gate": list(parts), "units": units}
    return Findings.of(*columns, keys=keys, domain=samples.domain, num_samples=len(samples))
