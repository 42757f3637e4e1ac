"""Active subspaces of the outputs over samples, and norms of the Jacobians of logits and probabilities."""

import numpy as np

from reluscope import plots
from reluscope.analyses.coefficients.probability_jacobians import OF_LOGITS, OF_PROBABILITIES, probability_norms
from reluscope.analyses.sensitivity import ActiveSubspaces, OutputAlong, active_subspaces, output_along
from reluscope.effort import Effort
from reluscope.findings import Finding
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, ReportTable, Text, numbers, plain_values, table
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject

TITLE = "Sensitivity: active subspaces"
POSITION = 38
MAX_SAMPLES = 500
MAX_OUTPUTS = 10
MIN_SAMPLES = 10
MAX_SHOWN = 5
SHARE_OF_SECONDS = 0.1
# Multiplications and additions a second that the estimate of the time counts on.
MULTIPLICATIONS = 3e9
DIRECTIONS = (
    "The gradient of an output changes from region to region. Its products over samples have directions as "
    "eigenvectors, ordered by how much of the output's variation they carry (active subspaces). Where the first one "
    "carries nearly all, the output is nearly a function of the position along one direction; of a linear network it "
    "carries all."
)
PROBABILITIES = (
    " The norm of the Jacobian of the probabilities says how strongly the classification answers to small changes: it "
    "is small where the network is sure, however steep its outputs are."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no directions: without gates, or if a few samples would take too much."""
    if not subject.network.gates:
        return "The network has no gates: its outputs vary along their weights, the same at every sample."
    if _affordable(subject) < min(MIN_SAMPLES, len(subject.data)):
        return (
            "The gradients of this network take longer than this section may; rs.sensitivity.active_subspaces(net, x) "
            "finds their directions."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: gradients of some samples, and the eigenvectors of their products."""
    number = min(_affordable(subject), len(subject.data), MAX_SAMPLES)
    return 0.8 + number * _seconds_per_sample(subject)


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Find the directions of the first outputs, and what they explain."""
    network = subject.network
    number = min(_affordable(subject), MAX_SAMPLES)
    rows = subject.drawn(number)
    points = subject.points[rows]
    tolerance = subject.settings.tolerance
    outputs = range(min(MAX_OUTPUTS, network.num_outputs))
    found = active_subspaces(network, points, outputs=outputs, num_directions=1, tolerance=tolerance)
    progress(0.5)
    moving = [j for j in outputs if found.directions[j, 0].any()]
    along = {j: output_along(network, points, found.directions[j, 0], output=j, tolerance=tolerance) for j in moving}
    progress(0.7)
    norms = probability_norms(network, points, Effort.of(tolerance=tolerance))
    kinds = (OF_PROBABILITIES, OF_LOGITS) if subject.is_classifier else (OF_LOGITS,)
    means = [norms.mean(kind) for kind in kinds]
    shares = [found.share(j) for j in outputs]
    blocks: list[Block] = [
        numbers(*means),
        Text(DIRECTIONS + (PROBABILITIES if subject.is_classifier else "")),
        *_pictures(subject, found, along),
        _table(found, along),
    ]
    data = {"samples": [int(row) for row in rows], "shares": plain_values(float(share) for share in shares)}
    return Content(tuple(blocks), Number(means[0]), data, sentences=(_answer(subject, shares[0], len(points)),))


def _answer(subject: Subject, share: Finding, number: int) -> Sentence:
    which = "the output" if subject.network.num_outputs == 1 else "output 0"
    text = (
        f"One direction of the input carries {said(share)} of the variation of {which} over {number:,} {subject.noun}s."
    )
    return Sentence(text, samples=number)


def _seconds_per_sample(subject: Subject) -> float:
    """Return about how long one sample takes: its gradients twice, their products, its part of a decomposition."""
    network = subject.network
    shown = min(MAX_OUTPUTS, network.num_outputs)
    side = min(MAX_SAMPLES, network.num_inputs, len(subject.data))
    products = shown * side * (network.num_inputs + 10 * side)
    passes = 4 * min(network.num_inputs, network.num_outputs) + 8
    return passes * subject.seconds_per_sample + products / MULTIPLICATIONS


def _affordable(subject: Subject) -> int:
    """Return how many samples are looked at where there are enough of them."""
    return int(SHARE_OF_SECONDS * subject.settings.planned_seconds / _seconds_per_sample(subject))


def _pictures(subject: Subject, found: ActiveSubspaces, along: dict[int, OutputAlong]) -> list[Block]:
    """Draw the eigenvalues, the first directions where they are images, and the outputs along them."""
    spectrum = plots.gradient_eigenvalues({"network": found})
    said = "over the outputs, with a band from the least to the largest" if len(found) > 1 else "of the output"
    caption = f"How much of the variation each direction carries: median {said}."
    blocks: list[Block] = [picture(spectrum, "eigenvalues", "Eigenvalues of the products of gradients", caption)]
    if not along:
        return blocks
    names = [f"output {j}" for j in along]
    shape = subject.image_shape
    if shape is not None:
        weights = np.stack([found.directions[j, 0] for j in along])[None]
        images = plots.coefficients(weights, shape=shape, rows=["direction"], columns=names)
        caption = "The direction along which each output varies most, as an image"
        signed = ": orange raises the output, blue lowers it."
        caption += ", the length over channels." if len(shape) == 3 and shape[0] > 1 else signed
        blocks.append(picture(images, "first-directions", "First directions as images", caption))
    few = plots.outputs_along([list(along.values())[:MAX_SHOWN]], columns=names[:MAX_SHOWN])
    caption = (
        "Outputs of samples over their positions along their first direction, and how much of the variance a line "
        "through them explains."
    )
    blocks.append(picture(few, "along", "Outputs over positions along directions", caption))
    return blocks


def _table(found: ActiveSubspaces, along: dict[int, OutputAlong]) -> ReportTable:
    places = range(len(found))
    columns = {
        "share of the first direction": [found.share(j) for j in places],
        "variance explained along it": [along[j].explained() if j in along else None for j in places],
        "directions": [found.rank(j) for j in places],
    }
    caption = "Directions beyond the number in the last column carry less than rounding, or nothing."
    return table({"output": found.outputs}, columns, caption)
