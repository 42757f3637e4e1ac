"""Sizes of the linear regions of samples: distances to the nearest facet, inscribed balls, widths and diameters."""

from dataclasses import replace
from typing import Any

import numpy as np

from reluscope import plots
from reluscope.analyses.bodies.inscribed_balls import INRADIUS, ball_seconds, inscribed_balls
from reluscope.analyses.local.sizes_of_regions import DIAMETER, WIDTH, region_sizes
from reluscope.analyses.robustness.certified_radii import certified_radius
from reluscope.analyses.robustness.distance_quantities import BOUNDARY_DISTANCE, DECISION_DISTANCE
from reluscope.analyses.robustness.distance_to_facets import boundary_distance
from reluscope.analyses.samples.data_box import data_box
from reluscope.budget import Budget
from reluscope.findings import Column, Finding, Findings, Kind, Status, declare
from reluscope.findings.written_findings import number
from reluscope.geometry.polyhedra.domains import Box
from reluscope.progress import Progress, ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportPicture,
    ReportTable,
    Text,
    cells,
    findings_table,
    numbers,
    plain_values,
    table,
)
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, located
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted, is_out_of_time

TITLE = "Sizes of linear regions: facets and inscribed balls"
POSITION = 60
MAX_SAMPLES = 500
MAX_BALLS = 20
MAX_BYTES = 4 * 2**30
NUM_FIRST = declare(
    "num_nearest_facets", "samples whose nearest facet is where a unit of this gate changes its piece", kind=Kind.COUNT
)
SHARE_FOR_DISTANCES, SHARE_FOR_BALLS, SHARE_FOR_SIZES = 1 / 6, 1 / 2, 1 / 12
# Regions whose width and diameter are bounded, by about so many programs each.
NUM_WITH_SIZES, PROGRAMS = 3, 15
MEANING = (
    "The nearest facet is where the first unit changes its piece as one moves away from a sample: up to that distance, "
    "in every direction, the network is the sample's affine map."
)
BALLS = (
    "The inscribed ball is the largest ball anywhere in the sample's region; its centre may be far from the sample, "
    "which often lies close to a facet. Its radius says how thick the region is."
)
BOUNDARY = (
    "Where the affine map changes its class no farther away than the nearest facet, that is the exact distance to the "
    "decision boundary. Elsewhere the network keeps the sample's class at least up to the nearest facet. The least of "
    "the two distances keeps the class for certain, and is often far from tight."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no radii: without gates, or if one distance would take too much."""
    if not subject.network.gates:
        return "The network has no gates, so there is one region: all of input space."
    needed = _distance(subject)
    if needed > SHARE_FOR_DISTANCES * subject.settings.planned_seconds:
        return (
            f"The distance from a sample to its nearest facet takes about {number(float(np.ceil(needed)))} s, a pass "
            f"for each of {subject.network.num_inputs:,} inputs, more than this section takes on; "
            "rs.robustness.boundary_distance(net, x) asks for it."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: passes for every input and a linear program for every ball, or the limits."""
    network, limit = subject.network, subject.settings.planned_seconds
    distances = min(len(subject.data), MAX_SAMPLES) * _distance(subject)
    balls = min(len(subject.data), MAX_BALLS) * ball_seconds(network, None)
    sizes = NUM_WITH_SIZES * PROGRAMS * ball_seconds(network, None)
    return 0.5 + sum(
        min(share * limit, needed)
        for share, needed in ((SHARE_FOR_DISTANCES, distances), (SHARE_FOR_BALLS, balls), (SHARE_FOR_SIZES, sizes))
    )


def _distance(subject: Subject) -> float:
    """Return about how many seconds the distance of one sample takes."""
    return 1e-3 + subject.network.num_inputs * subject.seconds_per_sample


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Measure distances to facets, then balls for a few of the samples."""
    network, settings, data = subject.network, subject.settings, subject.data
    number = settings.affordable(SHARE_FOR_DISTANCES, _distance(subject), MAX_SAMPLES)
    rows = subject.drawn(number)
    points = data.points[rows]
    # A certified radius is measured along with the distance to the boundary.
    ask = certified_radius if subject.is_classifier else boundary_distance
    facets = ask(
        network, points, norm="l2", population=len(data), **settings.effort(SHARE_FOR_DISTANCES, progress, 0.3)
    )
    facets = facets.rows(np.flatnonzero(facets.is_done))
    interrupted = is_interrupted(facets.stop)
    balls = sizes = domain = None
    reason = ""
    if not interrupted:
        try:
            progress(0.35)
            balls, domain, reason = _balls(subject, points[: len(facets)], progress)
            interrupted = balls is not None and is_interrupted(balls.stop)
            if len(few := _with_balls(balls)[:NUM_WITH_SIZES]) and not interrupted:
                sizes = _sizes(subject, points[few], domain)
        except KeyboardInterrupt:  # the distances are there
            interrupted = True
    shown = [facets.median(BOUNDARY_DISTANCE)]
    if DECISION_DISTANCE in facets:
        shown += [facets.median(DECISION_DISTANCE), facets.share_exact(DECISION_DISTANCE)]
    if balls is not None and len(_with_balls(balls)):
        shown.append(balls.median(INRADIUS))
    text = f"{MEANING} {_which(subject, facets)}"
    blocks: list[Block] = [numbers(*shown), Text(text), _picture(subject, facets, balls), _first(subject, facets)]
    if DECISION_DISTANCE in facets:
        blocks.append(Text(BOUNDARY))
    if balls is not None:
        blocks.append(Text(f"{BALLS} {_domain(balls, domain)}"))
        blocks.append(_table(subject, rows, facets, balls))
        if sizes is not None and sizes.is_done.any():
            blocks.append(_sizes_table(rows[_with_balls(balls)[: len(sizes)]], sizes))
    elif reason:
        blocks.append(Text(reason))
    return Content(
        tuple(blocks),
        Number(shown[0]),
        _data(rows, facets, balls),
        interrupted=interrupted,
        sentences=(_answer(subject, shown[0], len(facets)),),
    )


def _answer(subject: Subject, median: Finding, number: int) -> Sentence:
    text = (
        f"A unit bends {located(median, '').strip()} from a typical {subject.noun} (l2, median of {number:,}); up to "
        "there the network is one affine map."
    )
    return Sentence(text.replace(" away from", " from"), samples=number)


def _balls(subject: Subject, points: np.ndarray, progress: ProgressFunction) -> tuple[Findings | None, Box | None, str]:
    """Return balls, the box around the data that regions are cut down to if any, or the sentence why there are none."""
    network, settings = subject.network, subject.settings
    limit = SHARE_FOR_BALLS * settings.planned_seconds
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    needed = ball_seconds(network)
    if needed > limit or 48 * rows * network.num_inputs > MAX_BYTES:
        reason = (
            f"The inscribed ball of one region is a linear program of {rows:,} half-spaces in {network.num_inputs:,} "
            f"dimensions, more than this section takes on (about {number(float(np.ceil(needed)))} s each); "
            "rs.inscribed_balls(net, x) asks for one."
        )
        return None, None, reason

    def find(number: int, domain: Box | None, spent: float = 0.0, progress: Progress = False) -> Findings:
        return inscribed_balls(
            network,
            points[:number],
            domain=domain,
            population=len(subject.data),
            budget=Budget(seconds=max(0.0, settings.budget(SHARE_FOR_BALLS).seconds_allowed - spent)),
            tolerance=settings.tolerance,
            progress=progress,
        )

    first = find(1, None)
    domain = data_box(subject.points) if np.isinf(first[INRADIUS].value[0]) else None
    if is_interrupted(first.stop):
        return first, None, ""
    most = settings.affordable(SHARE_FOR_BALLS, ball_seconds(network, domain), MAX_BALLS)
    return find(most, domain, first.seconds, lambda share: progress(0.35 + 0.65 * share)), domain, ""


def _with_balls(balls: Findings | None) -> np.ndarray:
    """Return the rows that have a ball."""
    return np.zeros(0, dtype=np.int64) if balls is None else np.flatnonzero(balls.is_done)


def _sizes(subject: Subject, points: np.ndarray, domain: Box | None) -> Findings | None:
    """Return widths and diameters of a few regions, or None where they would take too long."""
    network, settings = subject.network, subject.settings
    each = PROGRAMS * ball_seconds(network, domain)
    if each > SHARE_FOR_SIZES * settings.planned_seconds:
        return None
    points = points[: settings.affordable(SHARE_FOR_SIZES, each, len(points))]
    return region_sizes(
        network, points, domain=domain, budget=settings.budget(SHARE_FOR_SIZES), tolerance=settings.tolerance
    )


def _sizes_table(samples: np.ndarray, sizes: Findings) -> ReportTable:
    caption = (
        "Width: the least distance of two parallel hyperplanes with the region between them. Diameter: the largest "
        "distance of two of its points."
    )
    found = replace(sizes, keys={"sample": samples}).rows(sizes.is_done)
    return findings_table(found, caption, quantities=(WIDTH, DIAMETER))


def _domain(balls: Findings, domain: Box | None) -> str:
    if domain is not None:
        where = (
            "The first of these regions holds balls of every size, so all are cut down to the range of the data here: "
            f"the {domain.describe()}."
        )
    elif np.isinf(balls[INRADIUS].value).any():
        where = "Regions are not cut down by any box; those with an infinite radius hold balls of every size."
    else:
        where = "Regions are not cut down by any box."
    where += f" Balls were computed for {int(balls.is_done.sum()):,} samples"
    where += ", as many as there was time for (--seconds)." if is_out_of_time(balls.stop) else "."
    if without := sum(status is Status.UNDEFINED for status in balls.status):
        where += f" {without:,} samples lie on a kink, and their code has no region with an interior."
    return where


def _which(subject: Subject, facets: Findings) -> str:
    total = len(subject.data)
    if len(facets) == total:
        text = f"Distances are those of all {total:,} samples."
    else:
        text = f"Distances are those of {len(facets):,} of {total:,} samples, drawn at random"
        text += ", as many as there was time for (--seconds)." if is_out_of_time(facets.stop) else "."
    distances = facets[BOUNDARY_DISTANCE].value
    touching, free = int((distances == 0).sum()), int(np.isinf(distances).sum())
    if touching:
        text += (
            f" {touching:,} of them lie on a facet, up to rounding: a unit is exactly at a breakpoint there, or two "
            "candidates of a maximum are equal, as over empty parts of an image."
        )
    if free:
        text += f" Around {free:,} of them no unit can change its piece: their region is all of input space."
    return text


def _picture(subject: Subject, facets: Findings, balls: Findings | None) -> ReportPicture:
    names = [gate.name for gate in subject.network.gates]
    with_balls = balls is not None and bool(np.isfinite(balls[INRADIUS].value).any())
    caption = "Samples in order of their distance to the nearest facet, in the colour of the gate that bends there."
    if with_balls:
        caption += " Diamonds are the radii of inscribed balls, joined to their sample's dot."
    distances = facets[BOUNDARY_DISTANCE].value
    left_out = int((~np.isfinite(distances) | (distances == 0)).sum())
    if left_out:
        caption += f" {left_out:,} samples at a distance of zero or infinity have no dot."
    described = f"Distances to the nearest facet of {len(facets)} samples, in order, on a logarithmic scale"
    return picture(plots.radii(facets, names, balls=balls), "radii", described, caption)


def _first(subject: Subject, facets: Findings) -> ReportTable:
    gates, first = subject.network.gates, facets.details["sources"][:, 0]
    counts = Column.of(
        NUM_FIRST,
        [(first == index).sum() for index in range(len(gates))],
        method="least (b - a x) / |a| over all half-spaces of the region, in float64; the earlier gate at a tie",
    )
    found = Findings.of(
        counts, keys={"gate": [gate.name for gate in gates]}, domain=f"{len(facets):,} samples", num_samples=len(facets)
    )
    caption = "In which gate the nearest facet of each sample lies: the first to change its piece as one moves away."
    return findings_table(found, caption, also={"units": [gate.num_units for gate in gates]})


def _table(subject: Subject, rows: np.ndarray, facets: Findings, balls: Findings) -> ReportTable:
    with_balls, gates = _with_balls(balls), subject.network.gates
    facets, balls, samples = facets.rows(with_balls), balls.rows(with_balls), rows[with_balls]
    also: dict[str, Any] = {} if subject.classes is None else {"class": subject.classes[samples]}
    also["unit of the nearest facet"] = [
        f"{gates[gate].name}, unit {unit:,}" if gate >= 0 else "none" for gate, unit, _ in facets.details["sources"]
    ]
    also["from sample to centre"] = np.where(np.isfinite(balls.details["offsets"]), balls.details["offsets"], np.nan)
    distances, radii = (replace(one, keys={"sample": samples}) for one in (facets, balls))
    columns = {"nearest facet": cells(distances, BOUNDARY_DISTANCE), "radius of inscribed ball": cells(radii, INRADIUS)}
    caption = "Distances are Euclidean, in input space. Centres of largest balls need not be unique."
    return table({"sample": samples, **also}, columns, caption)


def _data(rows: np.ndarray, facets: Findings, balls: Findings | None) -> dict:
    data = {
        "samples": [int(row) for row in rows[: len(facets)]],
        "nearest_facet": plain_values(facets[BOUNDARY_DISTANCE].value),
        "nearest_gate": facets.details["sources"][:, 0].tolist(),
        "nearest_unit": facets.details["sources"][:, 1].tolist(),
    }
    if DECISION_DISTANCE in facets:
        certified = facets[DECISION_DISTANCE]
        data["class_certain_within"] = plain_values(certified.value)
        data["class_certain_within_is_exact"] = certified.is_exact.tolist()
    if balls is not None:
        found = _with_balls(balls)
        radii = balls[INRADIUS][found]
        data["ball_samples"] = rows[found].tolist()
        data["ball_radii"] = plain_values(radii.value)
        with np.errstate(invalid="ignore"):
            gaps = np.where(np.isinf(radii.value), 0.0, radii.upper - radii.value)
        data["ball_gaps"] = plain_values(gaps)
    return data
