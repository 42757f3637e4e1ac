"""How large the regions of samples are: distances to the nearest facet, inscribed balls, and what bends first."""

import numpy as np

from reluscope import plots
from reluscope.analyses.local.sizes import DIAMETER, WIDTH, region_sizes
from reluscope.analyses.radii import (
    BoundaryDistances,
    FacetDistances,
    InscribedBalls,
    ball_seconds,
    boundary_distances,
    data_box,
    facet_distances,
    inscribed_balls,
)
from reluscope.findings import Claim, Finding, Findings
from reluscope.geometry.domains import Box
from reluscope.report.content import (
    Block,
    Content,
    Number,
    Picture,
    Table,
    Text,
    measured,
    number,
    numbers,
    percentage,
    plain_values,
    possibly_infinite,
)
from reluscope.report.drawing import drawing
from reluscope.report.subject import Subject, Tell

TITLE = "How large the regions are"
POSITION = 60
MOST_SAMPLES = 500
MOST_BALLS = 20
MOST_GATES = 60
MOST_BYTES = 4 * 2**30
SHARE_FOR_DISTANCES, SHARE_FOR_BALLS, SHARE_FOR_SIZES = 1 / 6, 1 / 2, 1 / 12
# Regions whose width and diameter are bounded, by about so many programs each.
FEW, PROGRAMS = 3, 15
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
    """Return why there are no radii: without gates."""
    if not subject.network.gates:
        return "The network has no gates, so there is one region: all of input space."
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: passes for every input and a linear program for every ball, or the limits."""
    network, limit = subject.network, subject.settings.seconds
    number = min(len(subject.data), MOST_SAMPLES)
    distances = number * (1e-3 + network.num_inputs * subject.seconds_per_sample)
    balls = min(len(subject.data), MOST_BALLS) * ball_seconds(network, None)
    sizes = FEW * PROGRAMS * ball_seconds(network, None)
    return 0.5 + sum(
        min(share * limit, needed)
        for share, needed in (
            (SHARE_FOR_DISTANCES, distances),
            (SHARE_FOR_BALLS, balls),
            (SHARE_FOR_SIZES, sizes),
        )
    )


def content(subject: Subject, tell: Tell) -> Content:
    """Measure distances to facets, then balls for a few of the samples."""
    network, settings, data = subject.network, subject.settings, subject.data
    rows = np.random.default_rng(settings.seed).permutation(len(data))[:MOST_SAMPLES]
    points = data.points[rows]
    facets = facet_distances(
        network,
        points,
        population=len(data),
        seconds=SHARE_FOR_DISTANCES * settings.seconds,
        tolerance=settings.tolerance,
        tell=lambda share: tell(0.3 * share),
    )
    rows = rows[: len(facets)]
    interrupted = facets.stopped == "interrupted"
    balls = sizes = reason = boundary = None
    if not interrupted:
        try:
            if subject.is_classifier:
                boundary = boundary_distances(network, points, facets, tolerance=settings.tolerance)
            tell(0.35)
            balls, reason = _balls(subject, points[: len(facets)], tell)
            interrupted = balls is not None and balls.stopped == "interrupted"
            if balls is not None and len(balls) and not interrupted:
                sizes = _sizes(subject, points, balls)
        except KeyboardInterrupt:  # the distances are there
            interrupted = True
    median = facets.median()
    shown = [possibly_infinite(median)]
    if boundary is not None:
        shown += [possibly_infinite(boundary.median()), percentage(boundary.share())]
    if balls is not None and len(balls):
        shown.append(possibly_infinite(balls.median()))
    text = f"{MEANING} {_which(subject, facets)}"
    blocks: list[Block] = [numbers(*shown), Text(text), _picture(subject, facets, balls), _first(subject, facets)]
    if boundary is not None:
        blocks.append(Text(BOUNDARY))
    if balls is not None:
        blocks.append(Text(f"{BALLS} {_domain(balls)}"))
        blocks.append(_table(subject, rows, facets, balls))
        if sizes is not None and sizes.is_done.any():
            blocks.append(_sizes_table(rows[balls.rows[:FEW]], sizes))
    elif reason is not None:
        blocks.append(Text(reason))
    return Content(tuple(blocks), shown[0], _data(rows, facets, boundary, balls), interrupted=interrupted)


def _balls(subject: Subject, points: np.ndarray, tell: Tell) -> tuple[InscribedBalls | None, str | None]:
    """Return balls, in the whole space or in a box around the data, or the sentence why there are none."""
    network, settings = subject.network, subject.settings
    limit = SHARE_FOR_BALLS * settings.seconds
    rows = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    needed = ball_seconds(network)
    if needed > limit or 48 * rows * network.num_inputs > MOST_BYTES:
        return None, (
            f"The inscribed ball of one region is a linear program of {rows:,} half-spaces in {network.num_inputs:,} "
            f"dimensions, more than this section takes on (about {number(float(np.ceil(needed)))} s each); "
            "rs.region(net, x).polyhedron.insphere() asks for one."
        )

    def find(number: int, domain: Box | None, spent: float = 0.0, tell: Tell | None = None) -> InscribedBalls:
        return inscribed_balls(
            network,
            points[:number],
            domain=domain,
            population=len(subject.data),
            seconds=limit - spent,
            tolerance=settings.tolerance,
            tell=tell,
        )

    box = data_box(subject.points)
    first = find(1, None)
    is_unbounded = bool(len(first)) and bool(np.isinf(first.radii[0]))
    domain = box if is_unbounded else None
    if first.stopped == "interrupted":
        return first, None
    return find(MOST_BALLS, domain, first.seconds, lambda share: tell(0.35 + 0.65 * share)), None


def _sizes(subject: Subject, points: np.ndarray, balls: InscribedBalls) -> Findings | None:
    """Return widths and diameters of a few of the regions, or None where they would take too long."""
    network, limit = subject.network, SHARE_FOR_SIZES * subject.settings.seconds
    if PROGRAMS * ball_seconds(network, balls.domain) > limit:
        return None
    some, tolerance = points[balls.rows[:FEW]], subject.settings.tolerance
    return region_sizes(network, some, domain=balls.domain, seconds=limit, tolerance=tolerance)


def _sizes_table(samples: np.ndarray, sizes: Findings) -> Table:
    table = [
        (f"{int(samples[row]):,}", measured(sizes, WIDTH, row), measured(sizes, DIAMETER, row))
        for row in np.flatnonzero(sizes.is_done).tolist()
    ]
    caption = (
        "Width: the least distance of two parallel hyperplanes with the region between them. Diameter: the largest "
        "distance of two of its points."
    )
    return Table(("sample", "minimal width of its region", "diameter"), tuple(table), caption)


def _domain(balls: InscribedBalls) -> str:
    if balls.domain is not None:
        where = (
            "The first of these regions holds balls of every size, so all are cut down to the range of the data here: "
            f"the {balls.domain.describe()}."
        )
    elif len(balls) and np.isinf(balls.radii).any():
        where = "Regions are not cut down by any box; those with an infinite radius hold balls of every size."
    else:
        where = "Regions are not cut down by any box."
    where += f" Balls were computed for {len(balls):,} samples"
    where += ", as many as there was time for (--seconds)." if balls.stopped == "time" else "."
    if len(balls.without):
        where += f" {len(balls.without):,} samples lie on a kink, and their code has no region with an interior."
    return where


def _which(subject: Subject, facets: FacetDistances) -> str:
    total = len(subject.data)
    if len(facets) == total:
        text = f"Distances are those of all {total:,} samples."
    else:
        text = f"Distances are those of {len(facets):,} of {total:,} samples, drawn at random"
        text += ", as many as there was time for (--seconds)." if facets.stopped == "time" else "."
    touching, free = int(facets.nearest.is_on_boundary.sum()), int(np.isinf(facets.distances).sum())
    if touching:
        text += (
            f" {touching:,} of them lie on a facet, up to rounding: a unit is exactly at a breakpoint there, or two "
            "candidates of a maximum are equal, as over empty parts of an image."
        )
    if free:
        text += f" Around {free:,} of them no unit can change its piece: their region is all of input space."
    return text


def _picture(subject: Subject, facets: FacetDistances, balls: InscribedBalls | None) -> Picture:
    names = [gate.name for gate in subject.network.gates]
    with_balls = balls is not None and bool(np.isfinite(balls.radii).any())
    caption = "Samples in order of their distance to the nearest facet, in the colour of the gate that bends there."
    if with_balls:
        caption += " Diamonds are the radii of inscribed balls, joined to their sample's dot."
    left_out = int((~np.isfinite(facets.distances) | (facets.distances == 0)).sum())
    if left_out:
        caption += f" {left_out:,} samples at a distance of zero or infinity have no dot."
    described = f"Distances to the nearest facet of {len(facets)} samples, in order, on a logarithmic scale"
    return Picture((drawing(plots.radii(facets, names, balls=balls), "radii", described),), caption)


def _first(subject: Subject, facets: FacetDistances) -> Table:
    rows = []
    for index, gate in enumerate(subject.network.gates):
        finding = Finding(
            int((facets.gates == index).sum()),
            Claim.EXACT,
            name=f"nearest facets of {gate.name}",
            definition="number of samples whose nearest facet is where a unit of this gate changes its piece",
            domain=f"{len(facets):,} samples",
            method="least (b - a x) / |a| over all half-spaces of the region, in float64; the earlier gate at a tie",
        )
        rows.append((gate.name, gate.num_units, Number(finding)))
    caption = "Which gate bends first, as one moves away from a sample."
    if len(rows) > MOST_GATES:
        caption += f" The first {MOST_GATES} of {len(rows)} gates are shown."
    return Table(("gate", "units", "samples it bends first for"), tuple(rows[:MOST_GATES]), caption)


def _table(subject: Subject, rows: np.ndarray, facets: FacetDistances, balls: InscribedBalls) -> Table:
    gates, table = subject.network.gates, []
    for position, row in enumerate(balls.rows):
        cells: list = [f"{int(rows[row]):,}"]
        if subject.classes is not None:
            cells.append(str(int(subject.classes[rows[row]])))
        gate, unit, _ = facets.nearest.sources[row]
        cells.append(f"{gates[gate].name}, unit {unit:,}" if gate >= 0 else "none")
        offset = balls.offsets[position]
        cells += [possibly_infinite(facets.finding(int(row))), possibly_infinite(balls.finding(position))]
        cells.append(number(float(offset)) if np.isfinite(offset) else "")
        table.append(tuple(cells))
    columns = ["sample", *(["class"] if subject.classes is not None else []), "bends first", "nearest facet"]
    columns += ["radius of inscribed ball", "from sample to centre"]
    caption = "Distances are Euclidean, in input space. Centres of largest balls need not be unique."
    return Table(tuple(columns), tuple(table), caption)


def _data(
    rows: np.ndarray, facets: FacetDistances, boundary: BoundaryDistances | None, balls: InscribedBalls | None
) -> dict:
    data = {
        "samples": [int(row) for row in rows],
        "nearest_facet": plain_values(facets.distances),
        "nearest_gate": facets.gates.tolist(),
        "nearest_unit": facets.nearest.sources[:, 1].tolist(),
    }
    if boundary is not None:
        data["class_certain_within"] = plain_values(boundary.lower)
        data["class_certain_within_is_exact"] = boundary.is_exact.tolist()
    if balls is not None:
        data["ball_samples"] = [int(rows[row]) for row in balls.rows]
        data["ball_radii"] = plain_values(balls.radii)
        data["ball_gaps"] = plain_values(balls.gaps)
    return data
