"""Angles between the hyperplanes of one sample's linear region: between all of them, and between its facets."""

import numpy as np

from reluscope import plots
from reluscope.analyses.local.facets_of_regions import RegionFacets, facets_are_quick, region_facets
from reluscope.analyses.local.hyperplane_angles import Directions, directions
from reluscope.analyses.samples.choosing import choose_samples
from reluscope.analyses.samples.data_box import data_box
from reluscope.errors import DegenerateGeometryError
from reluscope.findings import Finding
from reluscope.findings.written_findings import number
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, ReportTable, Text, numbers, plain_values, table
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject

TITLE = "Directions of hyperplanes: angles"
POSITION = 62
SHARE_OF_SECONDS = 1 / 2
MAX_GATES = 6
# Multiplications and additions a second that the estimate of the time counts on.
MULTIPLICATIONS = 1e10
MEANING = (
    "Where a unit changes its piece there is a hyperplane, and its normal is turned into the sample's region: two "
    "hyperplanes at 0° bound the region from the same side, at 180° they face each other, at 90° one tells nothing "
    "about the other."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no angles: without gates, or if they would take too long."""
    if not subject.network.gates:
        return "The network has no gates, so no hyperplane bounds a region."
    needed, limit = _work(subject.network), SHARE_OF_SECONDS * subject.settings.planned_seconds
    if needed > limit:
        return (
            f"The angles between all pairs of {_num_rows(subject.network):,} hyperplanes take about "
            f"{number(float(np.ceil(needed)))} s, more than this section takes on; rs.local.directions(net, x) asks "
            "for them, with rows= for some of them."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: products of all normals, and pictures."""
    return 0.7 + _work(subject.network)


def _num_rows(network: Network) -> int:
    return sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)


def _work(network: Network) -> float:
    rows = _num_rows(network)
    return rows * network.num_inputs * (rows + 10.0) / MULTIPLICATIONS


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Measure the angles at one sample."""
    network, settings = subject.network, subject.settings
    groups = subject.classes if subject.classes is not None else np.zeros(len(subject.data), dtype=np.int64)
    sample = int(choose_samples(groups, 1, seed=settings.seed)[0])
    point = subject.points[sample : sample + 1]
    (found,) = directions(network, point, tolerance=settings.tolerance)
    progress(0.6)
    box = data_box(subject.points)
    facets = _facets(subject, point, box) if box is not None else None
    progress(0.8)
    mean = _mean(found, f"all hyperplanes at sample {sample:,}", "mean angle between hyperplanes")
    shown = [_count(found, sample), *mean]
    if facets is not None:
        where = f"the facets of the region of sample {sample:,}"
        shown += [facets[0].number(), *_mean(facets[1], where, "mean angle between facets")]
    blocks: list[Block] = [numbers(*shown), Text(_text(subject, found, sample, facets[0] if facets else None))]
    described = f"Angles between {len(found):,} hyperplanes, as an image by gates, and how often each angle occurs"
    caption = (
        "Left, the angle of each hyperplane (down) with each other one (across), gate by gate; right, how often each "
        "angle occurs, over one degree each."
    )
    blocks.append(picture(plots.directions(found), "directions", described, caption))
    if _pairs(found):
        blocks.append(_table(found))
    data = {
        "sample": sample,
        "gates": list(found.gates),
        "means": [plain_values(row) for row in found.means],
        "medians": [plain_values(row) for row in found.medians],
        "degrees": found.edges.tolist(),
        "pairs": found.all_counts.tolist(),
    }
    headline = mean[0] if mean else shown[0]
    return Content(tuple(blocks), Number(headline), data, sentences=_answer(subject, headline))


def _answer(subject: Subject, headline: Finding) -> tuple[Sentence, ...]:
    if headline.unit != "degrees":
        return ()
    text = f"Around one {subject.noun}, hyperplanes meet at {said(headline)} on average; random ones would at 90°."
    return (Sentence(text, samples=1),)


def _facets(subject: Subject, point: np.ndarray, box: Box) -> tuple[RegionFacets, Directions] | None:
    """Return the facets within the box and the angles between them, where that is quick."""
    network, tolerance = subject.network, subject.settings.tolerance
    if not facets_are_quick(network):
        return None
    try:
        facets = region_facets(network, point, domain=box, tolerance=tolerance)
    except DegenerateGeometryError:  # on a kink whose code has no region with an interior
        return None
    (found,) = directions(network, point, rows=[facets.units], pixels=0, tolerance=tolerance)
    return facets, found


def _pairs(found: Directions) -> int:
    return int(found.all_counts.sum())


def _text(subject: Subject, found: Directions, sample: int, facets: RegionFacets | None) -> str:
    spread = np.rad2deg(1 / np.sqrt(subject.network.num_inputs))
    text = (
        f"{MEANING} Random directions in {subject.network.num_inputs:,} dimensions are 90° apart, give or take "
        f"{spread:.2g}°. These are the hyperplanes at sample {sample:,}, chosen by seed {subject.settings.seed}."
    )
    if found.num_constant:
        text += (
            f" {found.num_constant:,} more are constant around the sample and have no direction, as units behind dead "
            "ones."
        )
    if facets is not None:
        text += (
            " Hyperplanes may pass the region by; those that touch it are its facets, here of the region "
            f"{facets.domain}, whose sides are {len(facets) - len(facets.units):,} more."
        )
    return text


def _count(found: Directions, sample: int) -> Finding:
    return Finding.of(
        len(found),
        name="hyperplanes",
        definition="hyperplanes on which a unit changes its piece by the sample's affine map, one for each change",
        domain=f"sample {sample:,}",
        method="derivatives of all pre-activations in float64; those within rounding of zero are constant",
        num_undecided=0,
    )


def _mean(found: Directions, where: str, name: str) -> list[Finding]:
    """Return the mean angle, if there are two hyperplanes."""
    return [_angle(found.mean, _pairs(found), where, name)] if _pairs(found) else []


def _angle(value: float, pairs: int, where: str, name: str) -> Finding:
    return Finding.within(
        value,
        1e-5,
        scale=180.0,
        name=name,
        definition="mean angle in degrees between the normals of two different hyperplanes, turned into the region",
        domain=f"{pairs:,} pairs, {where}",
        method="arc cosines of products of unit normals in float64",
        source="zhang2020",
        unit="degrees",
    )


def _table(found: Directions) -> ReportTable:
    """Return the mean angles by pairs of gates."""
    sizes = np.diff(found.rows)
    present = np.flatnonzero(sizes)
    gates = present[:MAX_GATES].tolist()
    keys = {"gate": [found.gates[gate] for gate in gates], "hyperplanes": sizes[gates]}
    columns = {found.gates[other]: [_of_gates(found, one, other) for one in gates] for other in gates}
    caption = "Mean angles between the hyperplanes of two gates; within a gate each pair counts once."
    if len(present) > MAX_GATES:
        caption += f" The first {MAX_GATES} of {len(present)} gates are shown."
    return table(keys, columns, caption)


def _of_gates(found: Directions, one: int, other: int) -> Finding | None:
    """Return the mean angle between the hyperplanes of two gates; None below the diagonal, and without pairs."""
    pairs = int(found.counts[one, other].sum())
    if other < one or not pairs:
        return None
    where = f"{found.gates[one]} with {found.gates[other]}"
    return _angle(float(found.means[one, other]), pairs, where, f"mean angle of {where}")
