"""Linear regions around samples: distinct regions along random rays, and cosines of their decision directions."""

import numpy as np

from reluscope import plots
from reluscope.analyses.local.null_space_rays import ALONG_RAYS, null_space_rays
from reluscope.findings import Finding
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, ReportPicture, Text, numbers, plain_values
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import Stop, is_interrupted, is_out_of_time

TITLE = "Linear regions around samples"
POSITION = 64
MAX_SAMPLES = 30
RAYS = 30
REACH = 0.1
SHARE_OF_SECONDS = 1 / 4
# Crossings per unit and ray that the estimate of the time counts on, and what a sample takes besides.
CROSSINGS, OVERHEAD = 0.3, 0.01


def why_not(subject: Subject) -> str | None:
    """Return why there are no rays: without gates, without a direction that keeps the outputs, or on constant data."""
    network = subject.network
    if not network.gates:
        return "The network has no gates, so there is one region: all of input space."
    if network.num_outputs >= network.num_inputs:
        return (
            f"Rays leave a sample where its outputs do not change, and with {network.num_outputs:,} outputs of "
            f"{network.num_inputs:,} inputs there need not be such a direction."
        )
    if not np.ptp(subject.points) > 0:
        return "All entries of the data are equal, so there is no scale for the length of a ray."
    if _each(subject) > SHARE_OF_SECONDS * subject.settings.planned_seconds:
        return (
            "The rays from one sample cross more regions than this section has time for; "
            "rs.local.null_space_rays(net, x, count=1) walks along one."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: forward passes over crossings, or the limit."""
    work = min(len(subject.data), MAX_SAMPLES) * _each(subject)
    return 0.4 + min(SHARE_OF_SECONDS * subject.settings.planned_seconds, work)


def _each(subject: Subject) -> float:
    """Return about how many seconds the rays from one sample take."""
    crossings = CROSSINGS * subject.network.num_units * RAYS
    return OVERHEAD + crossings * (subject.seconds_per_sample + 1e-5)


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Walk along rays from some samples."""
    settings, data = subject.settings, subject.data
    number = settings.affordable(SHARE_OF_SECONDS, _each(subject), MAX_SAMPLES)
    rows = subject.drawn(number)
    reach = REACH * float(np.ptp(subject.points))
    found = null_space_rays(
        subject.network,
        subject.points[rows],
        count=RAYS,
        reach=reach,
        seed=settings.seed,
        population=len(data),
        **settings.effort(SHARE_OF_SECONDS, progress, 0.9),
    )
    found = found.rows(found.is_done)
    regions = found[ALONG_RAYS].value.astype(np.int64)
    cosines = np.concatenate(found.details["cosines"]) if _decides(subject) else np.zeros(0)
    cosines = cosines[np.isfinite(cosines)]
    median = found.median(ALONG_RAYS)
    shown = [median, *([_alike(cosines, len(found))] if len(cosines) else [])]
    blocks: list[Block] = [
        numbers(*shown),
        Text(_text(subject, reach, len(found), found.stop)),
        _picture(subject, regions, cosines),
    ]
    content_data = {
        "samples": rows[: len(found)].tolist(),
        "reach": reach,
        "regions": regions.tolist(),
        "crossings": found.details["num_crossings"].tolist(),
    }
    if len(cosines):
        content_data["cosines"] = [plain_values(one) for one in found.details["cosines"]]
    return Content(
        tuple(blocks),
        Number(median),
        content_data,
        interrupted=is_interrupted(found.stop),
        sentences=(_answer(subject, median, reach, len(found)),),
    )


def _answer(subject: Subject, median: Finding, reach: float, number: int) -> Sentence:
    text = (
        f"Within {reach:.3g} of a typical {subject.noun}, {RAYS} random rays along which outputs stay at first meet "
        f"{said(median)} linear regions (median of {number:,})."
    )
    return Sentence(text, samples=number)


def _decides(subject: Subject) -> bool:
    """Whether there is a decision direction: between two classes, or the slope of the only output."""
    return subject.is_classifier or subject.network.num_outputs == 1


def _alike(cosines: np.ndarray, number: int) -> Finding:
    return Finding.estimate(
        float(np.median(cosines)),
        name="median cosine of decision directions",
        definition="median of the cosine between the gradients, in a region around a sample and in its own, of the "
        "difference of the two outputs that are largest at the sample",
        domain=f"{len(cosines):,} regions around {number:,} samples",
        num_samples=number,
        method="local affine maps in float64; regions met by random rays stand for those around",
        source="zhang2020",
    )


def _text(subject: Subject, reach: float, number: int, stop: Stop | None) -> str:
    network = subject.network
    nullity = network.num_inputs - network.num_outputs
    what = "logit" if subject.is_classifier else "output"
    text = (
        f"From {number:,} of {len(subject.data):,} samples, {RAYS} random rays of length {reach:.3g} (a tenth of the "
        f"range of the data) leave in directions in which no {what} changes at first: a space of at least {nullity:,} "
        "dimensions, in which moving looks like doing nothing. All boundaries that a ray crosses are found, so the "
        "number of regions is right for these rays, and a lower bound for all that lies around."
    )
    if is_out_of_time(stop):
        text += " There was time for no more samples (--seconds)."
    if subject.is_classifier:
        text += (
            " The decision direction is where the lead of the largest output over the second grows fastest. A cosine "
            "near 1 says that a region around decides like the sample's own: the decision boundary, seen from there, "
            "runs the same way."
        )
    elif network.num_outputs == 1:
        text += " Cosines compare the slope of the output there with that at the sample: near 1, it rises the same way."
    return text


def _picture(subject: Subject, regions: np.ndarray, cosines: np.ndarray) -> ReportPicture:
    name = "this network"
    figure = plots.surrounding_regions({"": {name: regions}}, {"": {name: cosines}} if _decides(subject) else {})
    caption = (
        f"Left, distinct regions around each of {len(regions):,} samples: the box holds the middle half of them, the "
        "line is the median."
    )
    if len(cosines):
        caption += f" Right, the cosines of {len(cosines):,} regions; the triangle is the median."
    described = f"Box plot of numbers of regions around samples, from {regions.min():,} to {regions.max():,}"
    return picture(figure, "surrounding-regions", described, caption)
