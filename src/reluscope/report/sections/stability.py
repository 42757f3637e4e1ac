"""Singular values of the network's Jacobians after every layer, and their condition numbers."""

import numpy as np

from reluscope import plots
from reluscope.analyses.stability import curve, layers, spectra
from reluscope.analyses.stability.layer_jacobians import NetworkLayer
from reluscope.analyses.stability.layer_spectra import jacobian_bytes
from reluscope.analyses.stability.stability_measures import CONDITION, EFFECTIVE_RANK, LARGEST, NUM_NONZERO
from reluscope.findings import Finding, Findings
from reluscope.findings.written_findings import number
from reluscope.networks.network import Network
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import (
    Block,
    Content,
    Number,
    ReportPicture,
    ReportTable,
    Text,
    median,
    medians_table,
    numbers,
    plain_values,
)
from reluscope.report.parts.known_values import surprise
from reluscope.report.parts.page_drawings import drawing
from reluscope.report.parts.sentences import Sentence, said
from reluscope.report.parts.subject import Subject
from reluscope.stopping import is_interrupted

TITLE = "Stability of the inverse: singular values"
POSITION = 37
MAX_SAMPLES = 20
SHARE_OF_SECONDS = 1 / 6
# Multiplications and additions a second that the estimate of the time counts on.
MULTIPLICATIONS = 3e9
MEMORY = 4 * 2**30
MAX_CURVES = 6
MAX_ROWS = 24
MEASURES = (NUM_NONZERO, CONDITION, LARGEST, EFFECTIVE_RANK)
MEANING = (
    "On the region of a sample, what a layer hands on is an affine function of the input. The singular values of its "
    "Jacobian say by how much it stretches directions: along those with the value zero the layer sees nothing, and "
    "along those with small ones a small change of its features stands for a large change of the input. The condition "
    "number is the largest divided by the smallest that is not zero."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no singular values: without gates, or if one sample would take too much."""
    network = subject.network
    if not network.gates:
        return "The network has no gates: it is the same affine map everywhere, with nothing to follow through layers."
    needed, limit = _work(network), SHARE_OF_SECONDS * subject.settings.planned_seconds
    if needed > limit or jacobian_bytes(network) > MEMORY:
        return (
            f"The singular values of all layers take about {number(float(np.ceil(needed)))} s and "
            f"{number(jacobian_bytes(network) / 2**30)} GB for one sample, more than this section takes on; "
            "rs.stability.spectra(net, x) asks for them, rs.stability.extremes(net, x) for the largest and smallest."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a few samples, and two pictures."""
    wanted = min(MAX_SAMPLES, len(subject.data)) * _work(subject.network)
    return 0.6 + min(wanted, SHARE_OF_SECONDS * subject.settings.planned_seconds)


def _work(network: Network) -> float:
    """Return about how many seconds one sample takes."""
    n = network.num_inputs
    entries = sum(layer.size for layer in layers(network))
    products = sum(3.0 * max(layer.size, n) * min(layer.size, n) ** 2 for layer in layers(network))
    return 0.002 * len(layers(network)) + (products + 100.0 * n * entries) / MULTIPLICATIONS


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Follow the singular values at a few samples."""
    settings = subject.settings
    number = settings.affordable(SHARE_OF_SECONDS, _work(subject.network), MAX_SAMPLES)
    chosen = subject.drawn(number)
    found = spectra(
        subject.network,
        subject.points[chosen],
        population=len(subject.data),
        **settings.effort(SHARE_OF_SECONDS, progress, 0.8, MEMORY),
    )
    every = layers(subject.network)
    by_layer = [found.where(layer=layer.name) for layer in every]
    medians = [median(by_layer[-1], which) for which in (CONDITION, NUM_NONZERO, LARGEST)]
    shown = [one for one in medians if isinstance(one, Finding)]
    blocks: list[Block] = [
        numbers(*shown),
        Text(_text(subject, every, by_layer)),
        ReportPicture(
            (
                drawing(
                    plots.spectra(found, layers=_curves(every)),
                    "stability",
                    "Singular values after the gates, in descending order",
                ),
                drawing(
                    plots.spectra_by_layer({"network": found}),
                    "stability-layers",
                    "Entries, nonzero singular values and condition number of every layer",
                ),
            ),
            "First, singular values after gates and at the output, from the largest: medians over samples, with bands "
            "from the first to the third quartile. Then, by layer: entries, nonzero values, condition numbers.",
        ),
        _table(every, found),
    ]
    data = {
        "samples": [int(row) for row in chosen[: int(by_layer[0].is_done.sum())]],
        "layers": [layer.name for layer in every],
        "kinds": [layer.kind for layer in every],
        **{which.name: [_plain(median(one, which)) for one in by_layer] for which in MEASURES},
        "curves": [plain_values(curve(found, layer.name)) for layer in every],
    }
    return Content(
        tuple(blocks),
        Number(shown[0]) if shown else None,
        data,
        interrupted=is_interrupted(found.stop),
        sentences=_answer(subject, medians[0]),
    )


def _answer(subject: Subject, median: Finding | str) -> tuple[Sentence, ...]:
    if not isinstance(median, Finding):
        text = "No direction of the input reaches the output: all singular values are zero where they were asked for."
        return (Sentence(text, surprise=2.0),)
    number = median.num_samples
    if subject.network.num_outputs == 1:
        return (
            Sentence(
                f"There is one output, so one direction of the input reaches it at every {subject.noun}.", 0.0, number
            ),
        )
    text = (
        f"Of the directions that reach the output, the most stretched one is stretched {said(median)} times as much as "
        f"the least (condition number, median of {number} {subject.noun}s)."
    )
    return (Sentence(text, surprise("condition", median.value), number),)


def _plain(cell: Finding | str) -> float | None:
    return cell.value if isinstance(cell, Finding) else None


def _curves(every: tuple[NetworkLayer, ...]) -> list[int]:
    """Return gates, evenly through the network where there are many, and the output."""
    gates = [index for index, layer in enumerate(every) if layer.kind == "gate"]
    rest = [len(every) - 1] if every[-1].kind == "affine" else []
    most = MAX_CURVES - len(rest)
    if len(gates) > most:
        gates = [gates[place] for place in np.linspace(0, len(gates) - 1, most).round().astype(int)]
    return gates + rest


def _text(subject: Subject, every: tuple[NetworkLayer, ...], by_layer: list[Findings]) -> str:
    text = (
        f"{MEANING} These are medians over {int(by_layer[0].is_done.sum()):,} of {len(subject.data):,} samples, drawn "
        f"by seed {subject.settings.seed}."
    )
    medians = [_plain(median(one, NUM_NONZERO)) for one in by_layer]
    n = subject.network.num_inputs
    blind = next((place for place, value in enumerate(medians) if value is not None and value < n), None)
    if blind is None:
        return text + f" No layer loses any of the {n:,} directions of the input at most samples."
    layer = every[blind]
    return text + (
        f" The first layer that loses some of the {n:,} directions of the input is {layer.name} ({layer.kind}), which "
        f"keeps {medians[blind]:,.0f}."
    )


def _table(every: tuple[NetworkLayer, ...], found: Findings) -> ReportTable:
    caption = (
        "Medians over samples. A singular value counts as nonzero above a share of the largest that rounding explains; "
        "the effective rank is the exponential of the entropy of the singular values."
    )
    also = {"kind": [layer.kind for layer in every], "entries": [layer.size for layer in every]}
    return medians_table(found, "layer", caption, quantities=MEASURES, also=also, limit=MAX_ROWS)
