"""Numbers of linear regions on straight segments between samples."""

import warnings
from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.counting.segment_counts import NUM_REGIONS_ON_SEGMENT, count_along_segments
from reluscope.findings import Finding, Findings
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, Text, numbers
from reluscope.report.parts.known_values import surprise
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import Stop, is_by_budget, is_interrupted

TITLE = "Linear regions on segments between samples"
POSITION = 50


def why_not(subject: Subject) -> str | None:
    """Return why there are no segments: without two different samples."""
    if not len(subject.pairs):
        return "Segments need two different samples, and the data have only one."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a forward pass for some crossings per unit and segment, or the budget."""
    crossings = 2.0 * len(subject.pairs) * subject.network.num_units
    return min(subject.settings.planned_seconds, 0.5 + crossings * subject.seconds_per_sample)


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Count the regions on segments, within and between classes where there are classes."""
    pairs, settings = subject.pairs, subject.settings
    starts, ends = subject.points[pairs.first], subject.points[pairs.second]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = count_along_segments(
            subject.network, starts, ends, budget=subject.region_budget(1.0), tolerance=settings.tolerance
        )
    progress(0.9)
    kinds = _kinds(subject)
    regions = found[NUM_REGIONS_ON_SEGMENT]
    counts = regions.value.astype(np.int64)
    medians = [
        replace(
            found.rows(chosen).median(NUM_REGIONS_ON_SEGMENT),
            name="median regions per segment" + (f", {name}" if subject.is_classifier else ""),
        )
        for name, chosen in kinds
    ]
    groups = np.zeros(len(pairs), dtype=np.int64)
    for index, (_, chosen) in enumerate(kinds):
        groups[chosen] = index
    names = [f"{name} ({int(chosen.sum())})" for name, chosen in kinds]
    spread = ", ".join(f"{name}: from {counts[chosen].min():,} to {counts[chosen].max():,}" for name, chosen in kinds)
    figure, caption = plots.segment_counts(found, groups, names), f"One dot per segment; {spread} regions."
    drawn = picture(figure, "segments", f"Regions per segment. {spread}", caption + _hollow(found))
    text = (
        f"{len(pairs)} pairs of samples, chosen by seed {settings.seed}, are joined by straight segments, and the "
        "regions on each are counted."
    )
    if subject.is_classifier:
        text += (
            " Classes here are what the network says. Segments between classes tend to be longer, so look at the "
            "length as well."
        )
    text += f" The median length is {_median_lengths(found, kinds)}."
    blocks: tuple[Block, ...] = (numbers(*medians), Text(text), drawn)
    data = {
        "first": pairs.first.tolist(),
        "second": pairs.second.tolist(),
        "same_class": pairs.same.tolist() if subject.is_classifier else None,
        "regions": counts.tolist(),
        "claims": [str(claim) for claim in regions.claims],
        "lengths": found.details["length"].tolist(),
    }
    interrupted = is_interrupted(found.stop)
    return Content(
        blocks, Number(medians[-1]), data, interrupted=interrupted, sentences=(_answer(subject, medians, found.stop),)
    )


def _answer(subject: Subject, medians: list[Finding], stop: Stop | None) -> Sentence:
    last = medians[-1]
    article = "an" if subject.noun.startswith("i") else "a"
    is_across = last.name.endswith("different classes")
    other = f"{article} {subject.noun} of another class" if is_across else f"another {subject.noun}"
    number = last.num_samples
    so_far = ", as far as there was time to count" * is_by_budget(stop)
    text = f"A straight segment to {other} crosses {said(last)} linear regions{so_far} (median of {number} segments"
    text += f"; within a class {said(medians[0])})." if len(medians) > 1 else ")."
    return Sentence(text, surprise("regions_per_unit", last.value / max(1, subject.network.num_units)), number)


def _kinds(subject: Subject) -> list[tuple[str, np.ndarray]]:
    """Return names and rows of the groups of pairs that are compared."""
    same = subject.pairs.same
    if not subject.is_classifier:
        return [("all", np.ones(len(same), dtype=bool))]
    return [(name, chosen) for name, chosen in (("same class", same), ("different classes", ~same)) if chosen.any()]


def _median_lengths(found: Findings, kinds: list) -> str:
    return " and ".join(f"{np.median(found.details['length'][chosen]):.3g} ({name})" for name, chosen in kinds)


def _hollow(found: Findings) -> str:
    unclear = int((~found[NUM_REGIONS_ON_SEGMENT].is_exact).sum())
    return f" {unclear} hollow dots are lower bounds." if unclear else ""
