"""Local affine maps of the network at samples: pictures for a few samples, norms for many."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from reluscope import plots
from reluscope.analyses.coefficients.jacobian_norms import NUM_MAPS, local_norms
from reluscope.analyses.coefficients.margins import linear_margins
from reluscope.analyses.samples.choosing import choose_samples
from reluscope.datasets.image_shapes import is_image
from reluscope.findings import Finding, Findings
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
from reluscope.report.parts.page_drawings import drawing, picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted

# Seconds of one multiplication in the singular values of a map.
PRODUCT = 5e-9
TITLE = "Local affine maps"
POSITION = 35
NUM_DRAWN = 6
MAX_SAMPLES = 1_000
MAX_OUTPUTS = 2
MAX_BYTES = 2**29
SHARE_OF_SECONDS = 0.25
NORMS = (
    "Within its region the network is one affine map, f(z) = W z + b. The spectral norm of W is the most by which the "
    "outputs move per unit of change of the input, and the Frobenius norm sums over all directions. Both are about "
    "changes that stay in the region."
)
SLOPE = (
    " The slope of the margin is how fast the lead over the nearest rival shrinks at most, per unit of change of the "
    "input."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no maps: if one alone is too large."""
    network = subject.network
    entries = network.num_inputs * network.num_outputs
    if 8 * entries > MAX_BYTES:
        return (
            f"One local map of this network has {network.num_outputs:,} x {network.num_inputs:,} numbers, more than "
            "this section looks at; net.linearize(x, outputs=[...]) gives some of its rows."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a forward pass per output or input for every sample, or the limit."""
    number = min(len(subject.data), MAX_SAMPLES)
    return 0.8 + min(SHARE_OF_SECONDS * subject.settings.planned_seconds, number * _each(subject))


def _each(subject: Subject) -> float:
    """Return about how many seconds one sample takes."""
    network = subject.network
    least = min(network.num_inputs, network.num_outputs)
    values = PRODUCT * least * network.num_inputs * network.num_outputs
    return (2 * least + 2) * subject.seconds_per_sample + values + 2e-5


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Draw a few samples' maps, and measure those of many."""
    network, settings, data = subject.network, subject.settings, subject.data
    most = settings.affordable(SHARE_OF_SECONDS, _each(subject), MAX_SAMPLES)
    rows = subject.drawn(most)
    found = local_norms(
        network,
        data.points[rows],
        margins=subject.is_classifier,
        population=len(data),
        **settings.effort(SHARE_OF_SECONDS, progress, 0.8),
    )
    medians = [found.median(name) for name in found]
    number = int(found.is_done.sum())
    text = NORMS + (SLOPE if subject.is_classifier else "")
    if not network.gates:
        text += " This network has no gates: it is one map everywhere."
    spread = f"{number:,} of {len(data):,} samples" if number < len(data) else f"all {len(data):,} samples"
    described = f"Histograms of norms of local maps, of {spread}"
    caption = f"How the sizes of the local maps are distributed, over {spread}{_why(found, len(data))}."
    drawn = picture(plots.norms(found), "norms", described, caption)
    blocks: list[Block] = [numbers(*medians, found.finding(NUM_MAPS)), Text(text), drawn]
    if not is_interrupted(found.stop):
        blocks.extend(_few(subject))
    sentences = (_answer(subject, medians[0], number),)
    return Content(tuple(blocks), Number(medians[0]), interrupted=is_interrupted(found.stop), sentences=sentences)


def _answer(subject: Subject, median: Finding, number: int) -> Sentence:
    text = (
        f"Close to a typical {subject.noun}, a change of length 1 moves the outputs by up to {said(median)} (spectral "
        f"norm, median of {number:,})."
    )
    return Sentence(text, samples=number)


def _why(found: Findings, number: int) -> str:
    if found.is_done.all():
        return ", drawn at random" if len(found) < number else ""
    return ", drawn at random, as many as there was time for (--seconds)"


def _few(subject: Subject) -> list[Block]:
    """Return the pictures and the table of a few samples."""
    network, data = subject.network, subject.data
    groups = subject.classes if subject.classes is not None else np.zeros(len(data), dtype=np.int64)
    rows = choose_samples(groups, NUM_DRAWN, seed=subject.settings.seed)
    points = data.points[rows]
    maps = network.linearize(points)
    norms = local_norms(network, points, margins=subject.is_classifier, tolerance=subject.settings.tolerance)
    margins = linear_margins(network, points).details if subject.is_classifier else None
    weight = maps.weight.cpu().numpy()
    if margins is None:
        shown, kinds = weight[:, :MAX_OUTPUTS], [f"output {index}" for index in range(network.num_outputs)]
        names = [f"sample {row}" for row in rows]
        meaning = "How each input moves an output: its coefficients in the local map"
        if network.num_outputs > MAX_OUTPUTS:
            meaning += f", for the first {MAX_OUTPUTS} of {network.num_outputs} outputs"
    elif network.num_outputs == 1:
        shown, kinds = weight, ["output"]
        names = [f"sample {row}: {one}" for row, one in zip(rows, margins["class"], strict=True)]
        meaning = "How each input moves the output, which stands for class 1 where it is positive"
    else:
        every = np.arange(len(rows))
        own = weight[every, margins["class"]]
        shown = np.stack([own, own - weight[every, margins["rival"]]], axis=1)
        kinds = ["for its class", "against the rival"]
        names = [
            f"{row}: {one} over {other}"
            for row, one, other in zip(rows, margins["class"], margins["rival"], strict=True)
        ]
        meaning = (
            "How each input moves the output of the sample's class, and the lead of that output over the nearest "
            "rival; a name gives the sample's number, its class and the rival"
        )
    pictures = _pictures(subject, points.reshape(len(rows), -1), shown, names, kinds[: shown.shape[1]])
    caption = f"{meaning}. Orange raises it, blue lowers it, on one scale. The samples are chosen by seed "
    caption += f"{subject.settings.seed}" + (", of as many classes as there are." if margins is not None else ".")
    return [ReportPicture(pictures, caption), _table(subject, rows, norms, margins)]


def _pictures(subject: Subject, points: np.ndarray, shown: np.ndarray, names: list[str], kinds: list[str]) -> tuple:
    # Flat inputs are images if the data came as such.
    shape = next((one for one in (subject.network.input_shape, subject.data.shape_before or ()) if len(one) > 1), ())
    described = f"Coefficients of the local maps of {len(points)} samples"
    if len(shape) in (2, 3) and min(shape[-2:]) > 1:
        # Samples beside each other, as they stand in the row of images above.
        maps = plots.coefficients(np.swapaxes(shown, 0, 1), shape=shape, rows=kinds, columns=names)
        drawn = drawing(maps, "local-maps", described)
        if is_image(shape):
            above = drawing(
                plots.samples(points, shape=shape, names=names), "samples", f"{len(points)} samples as images"
            )
            return above, drawn
        return (drawn,)
    return (drawing(plots.coefficients(shown, rows=names, columns=kinds), "local-maps", described),)


def _table(
    subject: Subject, rows: np.ndarray, norms: Findings, margins: Mapping[str, np.ndarray] | None
) -> ReportTable:
    also = {} if subject.labels is None else {"label": subject.labels[rows]}
    if margins is not None:
        also |= {name: margins[name] for name in ("class", "rival")}
    caption = "The same samples, by their numbers in the data from 0 on."
    return findings_table(replace(norms, keys={"sample": rows}), caption, also=also)
