"""Activation patterns (codes) of the data: distinct codes, dead and always-on units, distances between classes."""

from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.codespace.class_distances import (
    ALL,
    ALL_GATES,
    BETWEEN,
    MEAN_DISTANCE,
    NUM_CLASSES,
    WITHIN,
    class_distances,
    mean_code_distances,
)
from reluscope.analyses.codespace.duplicates import NUM_DUPLICATES, duplicate_units
from reluscope.analyses.codespace.numbers_of_codes import LARGEST_CELL, NUM_CODES, NUM_SAMPLES, distinct_codes
from reluscope.analyses.codespace.occupied_cells import ENTROPY, NUM_MIXED, occupancy
from reluscope.analyses.codespace.pair_distances import MEDIAN_DISTANCE, pair_distances
from reluscope.analyses.codespace.sampled import SampleCodes, correctly_classified, sample_codes
from reluscope.analyses.codespace.usage_of_units import NUM_ALWAYS_ON, NUM_CHANGING, NUM_DEAD, PIECES_USED, unit_usage
from reluscope.findings import Claim, Findings, Status
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportPicture,
    ReportTable,
    Text,
    findings_table,
    numbers,
)
from reluscope.report.parts.grouping import Grouping, grouping
from reluscope.report.parts.known_values import compared, surprise
from reluscope.report.parts.page_drawings import drawing
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject

# Seconds of one unit at one sample.
COUNTED = 4e-9
TITLE = "Activation patterns of the data"
POSITION = 30
CODES = (
    "The code of a sample says which piece every unit uses. Samples with one code lie in one region, and the network "
    "is one affine map on them. The number of distinct codes is the number of regions that hold a sample, so the "
    "network has at least that many regions. Where a gate has few codes, it tells few samples apart."
)
USAGE = (
    "A unit that stays on one piece does not bend the network at any sample. It is dead on these data if that piece is "
    "flat, as a ReLU is below zero: its output is the same at every sample. It is always on if the piece is not flat, "
    "or if a maximum always takes the same candidate. Both are statements about these samples; elsewhere in input "
    "space such a unit may change."
)
DISTANCES = (
    "The distance of two codes is the number of units on which they differ. Means are over all pairs of different "
    "samples."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no codes: without gates."""
    if not subject.network.gates:
        return "The network has no gates, so every input has the same, empty code."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: four forward passes over the samples, and counting."""
    counting = COUNTED * len(subject.data) * subject.network.num_units
    return 0.8 + counting + 4 * len(subject.data) * subject.seconds_per_sample


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Count codes and units, and compare classes."""
    network, settings = subject.network, subject.settings
    sampled = sample_codes(network, subject.data.points, tolerance=settings.tolerance)
    progress(0.6)
    groups = grouping(subject)
    gates = unit_usage(network, sampled).beside(
        distinct_codes(sampled), duplicate_units(sampled), occupancy(sampled, None if groups is None else groups.values)
    )
    whole = gates.summary
    assert whole is not None
    progress(0.75)
    blocks: list[Block] = [
        numbers(*(whole.finding(one) for one in (NUM_CODES, LARGEST_CELL, NUM_DEAD, NUM_ALWAYS_ON, NUM_DUPLICATES))),
        Text(CODES),
        *_correct(subject, sampled),
        _gate_picture(gates, len(sampled)),
        Text(USAGE),
        _gate_table(gates, len(sampled)),
    ]
    if groups is not None:
        blocks.append(numbers(whole.finding(NUM_MIXED)))
        blocks.append(_class_table(distinct_codes(sampled, groups.values), groups))
    progress(0.85)
    if len(subject.data) > 1:
        blocks.extend(_distances(sampled, groups, settings.seed))
    else:
        blocks.append(Text("There is one sample, so there are no distances between codes."))
    sentences = (_regions(subject, whole), *_dead_gates(subject, gates), *_idle(subject, gates, whole))
    return Content(tuple(blocks), Number(whole.finding(NUM_CODES)), sentences=sentences)


def _regions(subject: Subject, whole: Findings) -> Sentence:
    """Say in how many regions the samples lie."""
    number, codes = len(subject.data), whole.finding(NUM_CODES)
    largest = whole.finding(LARGEST_CELL)
    if codes.value == number and codes.claim in (Claim.EXACT, Claim.LOWER):
        text = f"All {number:,} {subject.noun}s lie in different linear regions: no two have one activation pattern."
        return Sentence(text, samples=number)
    if codes.claim is Claim.EXACT and codes.value == 1:
        text = f"All {number:,} {subject.noun}s lie in one linear region: the network is one affine map on all of them."
        return Sentence(text, surprise=3.0, samples=number)
    text = f"The {number:,} {subject.noun}s lie in {said(codes)} linear regions"
    text += f"; the fullest holds {said(largest)}." if largest.claim is Claim.EXACT else "."
    return Sentence(text, surprise("distinct", codes.value / number), number)


def _dead_gates(subject: Subject, gates: Findings) -> list[Sentence]:
    """Name the gates that hand on the same values for every sample."""
    number, found = len(subject.data), []
    for row, (name, units) in enumerate(zip(gates.keys["gate"], gates.keys["units"], strict=True)):
        dead = gates.finding(NUM_DEAD, row)
        if dead.claim is Claim.EXACT and dead.value == units:
            text = (
                f"All {int(units):,} units of {name} are dead on these {number:,} {subject.noun}s: that gate hands on "
                "the same values for every one of them."
            )
            found.append(Sentence(text, surprise=4.0, samples=number))
    return found


def _idle(subject: Subject, gates: Findings, whole: Findings) -> list[Sentence]:
    """Say how many units repeat others, and how many do nothing, where that is more than elsewhere."""
    number, units = len(subject.data), int(sum(gates.keys["units"]))
    copies, dead, fixed = (whole.finding(one) for one in (NUM_DUPLICATES, NUM_DEAD, NUM_ALWAYS_ON))
    found = []
    if copies.value:
        text = (
            f"{_capital(said(copies))} of {units:,} units bend on these {subject.noun}s only together with another "
            "unit: there they repeat it"
        )
        found.append(compared(text, copies.value / units, "duplicate", samples=number))
    for what, count, name in (("dead", dead, "dead"), ("always on", fixed, "always_on")):
        text = f"{_capital(said(count))} of {units:,} units are {what} on these {subject.noun}s: they do not bend there"
        found.append(compared(text, count.value / units, name, samples=number))
    return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _gate_picture(gates: Findings, num_samples: int) -> ReportPicture:
    names = gates.keys["gate"].tolist()
    codes = [f"{name} {number:,.0f}" for name, number in zip(names, gates[NUM_CODES].value, strict=True)]
    dead = [
        f"{name} {number:,.0f} of {units:,}"
        for name, number, units in zip(names, gates[NUM_DEAD].value, gates.keys["units"], strict=True)
    ]
    return ReportPicture(
        (
            drawing(
                plots.distinct_codes(gates, num_samples), "codes", "Bars of distinct codes: " + ", ".join(codes[:12])
            ),
            drawing(plots.unit_usage(gates), "units", "Bars of units by gate; dead units: " + ", ".join(dead[:12])),
        ),
        f"Distinct codes among {num_samples:,} samples, by gate and over all gates, in front of the number of "
        "samples in grey. Then the units of each gate: those that change their piece over the samples, those that are "
        "always on, and those that are dead on these data.",
    )


def _correct(subject: Subject, sampled: SampleCodes) -> list[Block]:
    if not subject.is_classifier or subject.labels is None:
        return []
    chosen = correctly_classified(subject.network, sampled, subject.data.points, subject.labels)
    counted = distinct_codes(chosen).summary
    assert counted is not None
    return [numbers(replace(counted.finding(NUM_CODES), name="distinct codes of correctly classified samples"))]


def _gate_table(gates: Findings, num_samples: int) -> ReportTable:
    shown = [NUM_CODES, ENTROPY, NUM_DEAD, NUM_ALWAYS_ON, NUM_CHANGING, NUM_DUPLICATES]
    caption = (
        "Gates in order of evaluation. Duplicate units change their piece always together with a unit before them; "
        f"the entropy of the codes is at most {np.log2(num_samples):.4g} bits for so many samples."
    )
    if gates.keys["pieces"].max(initial=0) > 2:
        shown.append(PIECES_USED)
        caption += " Pieces used: the mean over the gate's units of how many of their pieces the samples use."
    return findings_table(gates, caption, quantities=shown)


def _class_table(found: Findings, groups: Grouping) -> ReportTable:
    order = np.sort(np.argsort(-found[NUM_SAMPLES].value, kind="stable")[:NUM_CLASSES])
    caption = groups.sentence
    if len(found) > len(order):
        caption += f" The {len(order)} largest of {len(found)} classes are shown."
    return findings_table(found.rows(order), caption)


def _distances(sampled: SampleCodes, groups: Grouping | None, seed: int) -> list[Block]:
    classes = np.zeros(len(sampled), dtype=np.int64) if groups is None else groups.values
    means, pairs = mean_code_distances(sampled, classes), pair_distances(sampled, classes, seed=seed)
    one_kind = len(np.unique(classes)) == 1
    text = DISTANCES
    if groups is not None:
        text += f" {groups.sentence}" + (" All samples are of one class." if one_kind else "")
    histogram = drawing(
        plots.distance_histogram(pairs, grouped=not one_kind),
        "pair-distances",
        f"Histogram of code distances of {pairs.domain}",
    )
    drawings, caption = [histogram], "How"
    if not one_kind:
        by_class = class_distances(sampled, classes)
        num_shown, num_classes = len(np.unique(by_class.keys["class"])), len(np.unique(classes))
        described = f"Mean code distances between {num_shown} classes as a table of coloured cells"
        drawings.insert(0, drawing(plots.class_distances(by_class), "class-distances", described))
        caption = "Mean distance between samples of two classes, and on the diagonal within a class."
        if num_shown < num_classes:
            caption += f" The {num_shown} largest classes are shown, {num_classes - num_shown} are left out."
        caption += " Beside it, how"
    caption += f" the distances of pairs are distributed, for {pairs.domain}."
    kinds = [ALL] if one_kind else [WITHIN, BETWEEN]
    shown = [
        replace(finding, name=f"{finding.name}, {kind}")
        for table, quantity in ((means.where(gate=ALL_GATES), MEAN_DISTANCE), (pairs, MEDIAN_DISTANCE))
        for kind in kinds
        if _has(rows := table.where(pairs=kind), quantity.name)
        for finding in [rows.finding(quantity)]
    ]
    chosen = np.isin(means.keys["pairs"], kinds) & (means.keys["gate"] != ALL_GATES) & means.is_done
    table = findings_table(
        means.rows(chosen), "Mean distances gate by gate: on how many of the gate's units two samples differ."
    )
    return [numbers(*shown), Text(text), ReportPicture(tuple(drawings), caption), table]


def _has(found: Findings, name: str) -> bool:
    return found.status[0] is Status.DONE and not np.isnan(found[name].value[0])
