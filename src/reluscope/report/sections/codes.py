"""Codes of the data: which samples the network treats alike, which units it uses, how far apart classes are."""

from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.codespace.class_distances import MOST_CLASSES, ClassDistances, class_distances
from reluscope.analyses.codespace.distinct import ClassCodes, DistinctCodes, count_distinct, count_distinct_by_class
from reluscope.analyses.codespace.duplicates import DuplicateUnits, duplicate_units
from reluscope.analyses.codespace.occupied_cells import Occupancy, occupancy
from reluscope.analyses.codespace.pair_distances import PairDistances, pair_distances
from reluscope.analyses.codespace.sampled import SampleCodes, correctly_classified, sample_codes
from reluscope.analyses.codespace.usage import UnitUsage, unit_usage
from reluscope.findings import Finding
from reluscope.report.content import Block, Content, Number, Picture, Table, Text, numbers
from reluscope.report.drawing import drawing
from reluscope.report.grouping import Grouping, grouping
from reluscope.report.subject import Subject, Tell

TITLE = "Codes of the data"
POSITION = 30
MOST_GATES = 60
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
    counting = 4e-9 * len(subject.data) * subject.network.num_units
    return 0.8 + counting + 4 * len(subject.data) * subject.seconds_per_sample


def content(subject: Subject, tell: Tell) -> Content:
    """Count codes and units, and compare classes."""
    network, settings = subject.network, subject.settings
    sampled = sample_codes(network, subject.data.points, tolerance=settings.tolerance)
    tell(0.6)
    found = count_distinct(sampled)
    usage = unit_usage(network, sampled)
    duplicates, filled = duplicate_units(sampled), occupancy(sampled)
    tell(0.75)
    groups = grouping(subject)
    blocks: list[Block] = [
        numbers(found.total, found.most_shared, usage.total.dead, usage.total.always_on, duplicates.total),
        Text(CODES),
        *_correct(subject, sampled),
        _gate_picture(found, usage),
        Text(USAGE),
        _gate_table(subject, found, usage, filled, duplicates),
    ]
    if groups is not None:
        blocks.extend(_by_class(count_distinct_by_class(sampled, groups.values), groups))
    tell(0.85)
    if len(subject.data) > 1:
        blocks.extend(_distances(sampled, groups, settings.seed))
    else:
        blocks.append(Text("There is one sample, so there are no distances between codes."))
    return Content(tuple(blocks), Number(found.total))


def _gate_picture(found: DistinctCodes, usage: UnitUsage) -> Picture:
    parts = [f"{one.name.removeprefix('distinct codes of ')} {int(one):,}" for one in (*found.by_gate, found.total)]
    described = ", ".join(f"{gate.name} {int(gate.dead):,} of {gate.num_units:,}" for gate in usage.by_gate[:12])
    return Picture(
        (
            drawing(plots.distinct_codes(found), "codes", "Bars of distinct codes: " + ", ".join(parts[:12])),
            drawing(plots.unit_usage(usage), "units", f"Bars of units by gate; dead units: {described}"),
        ),
        f"Distinct codes among {found.num_points:,} samples, by gate and over all gates, in front of the number of "
        "samples in grey. Then the units of each gate: those that change their piece over the samples, those that are "
        "always on, and those that are dead on these data.",
    )


def _correct(subject: Subject, sampled: SampleCodes) -> list[Block]:
    if not subject.is_classifier or subject.labels is None:
        return []
    chosen = correctly_classified(subject.network, sampled, subject.data.points, subject.labels)
    number = count_distinct(chosen).total
    return [numbers(replace(number, name="distinct codes of correctly classified samples"))]


def _gate_table(
    subject: Subject, found: DistinctCodes, usage: UnitUsage, filled: Occupancy, duplicates: DuplicateUnits
) -> Table:
    gates = subject.network.gates
    many = any(gate.num_pieces > 2 for gate in gates)
    columns = ["gate", "units", "distinct codes", "entropy, bits", "dead", "always on", "changing", "duplicate"]
    if many:
        columns += ["pieces", "pieces used"]
    rows = []
    columns_of_gates = (found.by_gate, filled.entropy_by_gate, usage.by_gate, duplicates.by_gate)
    for gate, count, entropy, used, twice in zip(gates, *columns_of_gates, strict=True):
        shown = (count, entropy, used.dead, used.always_on, used.changing, twice)
        row = [gate.name, gate.num_units, *map(Number, shown)]
        if many:
            row += [gate.num_pieces, Number(used.pieces_used)]
        rows.append(tuple(row))
    caption = (
        "Gates in order of evaluation. Duplicate units change their piece always together with a unit before them; "
        f"the entropy of the codes is at most {np.log2(found.num_points):.4g} bits for so many samples."
    )
    if many:
        caption += " Pieces used: the mean over the gate's units of how many of their pieces the samples use."
    return Table(tuple(columns), tuple(rows[:MOST_GATES]), caption + _left_out(len(rows), MOST_GATES, "gates"))


def _by_class(found: ClassCodes, groups: Grouping) -> list[Block]:
    order = np.sort(np.argsort(-found.sizes, kind="stable")[:MOST_CLASSES])
    rows = tuple((str(found.classes[row]), int(found.sizes[row]), Number(found.counts[row])) for row in order)
    caption = groups.sentence
    if len(found.classes) > len(order):
        caption += f" The {len(order)} largest of {len(found.classes)} classes are shown."
    return [numbers(found.mixed), Table(("class", "samples", "distinct codes"), rows, caption)]


def _distances(sampled: SampleCodes, groups: Grouping | None, seed: int) -> list[Block]:
    classes = np.zeros(len(sampled), dtype=np.int64) if groups is None else groups.values
    means = class_distances(sampled, classes)
    pairs = pair_distances(sampled, classes, seed=seed)
    one_kind = groups is None or len(means.classes) == 1
    found = [means.overall] if one_kind else [means.within, means.between]
    found += (
        [pairs.median(pairs.within + pairs.between, "median distance between samples")]
        if one_kind
        else [
            pairs.median(counts, f"median distance {kind}")
            for kind, counts in (("within a class", pairs.within), ("between classes", pairs.between))
            if counts.sum()
        ]
    )
    text = DISTANCES
    if groups is not None:
        text += f" {groups.sentence}" + (" All samples are of one class." if one_kind else "")
    drawings = [
        drawing(
            plots.distance_histogram(pairs, grouped=not one_kind),
            "pair-distances",
            f"Histogram of code distances of the pairs of {pairs.num_samples:,} samples",
        )
    ]
    if not one_kind:
        heat = drawing(
            plots.class_distances(means),
            "class-distances",
            f"Mean code distances between {len(means.classes)} classes as a table of coloured cells",
        )
        drawings.insert(0, heat)
    picture = Picture(tuple(drawings), _picture_caption(means, pairs, one_kind))
    shown = numbers(*(finding for finding in found if finding is not None))
    return [shown, Text(text), picture, _distance_table(sampled, means, one_kind)]


def _picture_caption(means: ClassDistances, pairs: PairDistances, one_kind: bool) -> str:
    caption = ""
    if not one_kind:
        caption = "Mean distance between samples of two classes, and on the diagonal within a class."
        if means.num_left_out:
            caption += f" The {len(means.classes)} largest classes are shown, {means.num_left_out} are left out."
        caption += " Beside it, how"
    if pairs.num_samples < pairs.population:
        which = f"{pairs.num_samples:,} of {pairs.population:,} samples, drawn at random"
    else:
        which = f"all {pairs.population:,} samples"
    return f"{caption or 'How'} the distances of pairs are distributed, for the pairs of {which}."


def _distance_table(sampled: SampleCodes, means: ClassDistances, one_kind: bool) -> Table:
    gates = sampled.codes.layout.gates
    kinds: list[tuple[str, tuple[Finding, ...]]] = [("within a class", means.within_by_gate)]
    kinds.append(("between classes", means.between_by_gate))
    if one_kind:
        kinds = [("between samples", means.overall_by_gate)]
    kinds = [(name, found) for name, found in kinds if found]
    rows = tuple(
        (gate.name, gate.num_units, *(Number(found[index]) for _, found in kinds)) for index, gate in enumerate(gates)
    )
    caption = "Mean distances gate by gate: on how many of the gate's units two samples differ."
    columns = ("gate", "units", *(name for name, _ in kinds))
    return Table(columns, rows[:MOST_GATES], caption + _left_out(len(rows), MOST_GATES, "gates"))


def _left_out(number: int, most: int, what: str) -> str:
    return f" The first {most} of {number} {what} are shown." if number > most else ""
