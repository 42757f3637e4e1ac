"""Preimages of the outputs of layers at samples: which other inputs give the same features, with an example image."""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from reluscope import plots
from reluscope.analyses.preimages import (
    GateLayer,
    PreimageKind,
    Preimages,
    SameFeatures,
    classify_at,
    invariant,
    layer_inputs,
    read_layer,
)
from reluscope.analyses.preimages.kinds import joined
from reluscope.analyses.samples.data_box import data_box
from reluscope.errors import ReluscopeError
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import FACETS
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.progress import ProgressFunction
from reluscope.report.parts.content import Block, Content, Number, ReportTable, Text, numbers, table
from reluscope.report.parts.page_drawings import picture
from reluscope.report.parts.sentences import Sentence, several
from reluscope.report.parts.subject import Subject

TITLE = "Preimages and invariances of layers"
POSITION = 36
MAX_SAMPLES, MAX_GATES, BLOCK = 100, 4, 5
SHARE_OF_SECONDS = 1 / 6
# Layers with more numbers in their matrix, or more inputs, are left out; so are pairs of images with more half-spaces.
MAX_ENTRIES, MAX_INPUTS = 2**23, 2_000
MAX_HALF_SPACE_ENTRIES = 2**21
# Multiplications and additions a second that the estimate of the time counts on.
MULTIPLICATIONS = 1e9
KINDS = (PreimageKind.SINGLETON, PreimageKind.COMPACT, PreimageKind.UNBOUNDED)
MEANING = (
    "All that gives the same output of a layer as a sample is the preimage of that output. It is a singleton if the "
    "layer keeps everything of what it reads, and else a polytope, compact or unbounded, of inputs that it takes for "
    "one. A unit that is on says what its pre-activation is, and so many independent ones leave fewer directions "
    "open; units that are off only bound the rest. Layers after the first are asked about what they read, whether "
    "the layers before can produce it or not."
)


def why_not(subject: Subject) -> str | None:
    """Return why there are no preimages: without gates that are functions of one number, or if all are too large."""
    network = subject.network
    if not network.gates:
        return "The network has no gates: what it cannot see is the null space of its matrix."
    if all(isinstance(stage.gate, Max) for stage in network.stages):
        return "The network has max gates only, whose preimages are unions of polyhedra, which this section leaves out."
    if not _positions(network):
        return (
            "The layers of this network are larger than this section takes on; rs.preimages.classify_at(net, x, "
            "gate=...) asks about one of them."
        )
    return None


def seconds(subject: Subject) -> float:
    """Return about how long it takes: a factorisation for every sample and gate, or the limit, and a picture."""
    number = min(MAX_SAMPLES, len(subject.data))
    work = sum(number * _each(subject.network, at) for at in _positions(subject.network))
    return 0.6 + min(work, SHARE_OF_SECONDS * subject.settings.planned_seconds)


def _each(network: Network, index: int) -> float:
    """Return about how many seconds the preimage of a gate's outputs at one sample takes."""
    return 1e-3 + 4.0 * _num_inputs(network, index) ** 3 / MULTIPLICATIONS


def content(subject: Subject, progress: ProgressFunction) -> Content:
    """Classify the preimages at samples, gate by gate, and find an image with the features of another."""
    settings = subject.settings
    rows = subject.drawn(MAX_SAMPLES)
    places = _positions(subject.network)
    by_layer: list[_LayerPreimages] = []
    pair, interrupted = None, False
    try:
        for number, place in enumerate(places):
            share = SHARE_OF_SECONDS / len(places)
            most = max(BLOCK, settings.affordable(share, _each(subject.network, place), len(rows)))
            limit = settings.budget(share).seconds_allowed
            by_layer.append(_preimages_of_layer(subject, rows, place, most, limit))
            progress(0.8 * (number + 1) / len(places))
        pair = _pair(subject, rows, by_layer[0])
    except KeyboardInterrupt:
        interrupted = True
    if not by_layer:
        return Content((Text(MEANING),), interrupted=True)
    first = by_layer[0]
    blocks: list[Block] = [
        numbers(*first.counts),
        Text(f"{MEANING} {_which(subject, by_layer)}"),
        _table(subject, by_layer),
    ]
    data = {
        "samples": [int(row) for row in rows[: max(len(one.found) for one in by_layer)]],
        "gates": [
            {
                "name": one.layer.name,
                "kinds": [PreimageKind(int(kind)).name.lower() for kind in one.found.kinds],
                "open_dimensions": one.found.dims.tolist(),
                "equations": one.found.num_equations.tolist(),
            }
            for one in by_layer
        ],
    }
    if pair is not None:
        blocks += pair.blocks(subject)
        data["pair"] = pair.describe()
    sentences = (_answer(subject, by_layer),)
    return Content(tuple(blocks), Number(first.counts[0]), data, interrupted=interrupted, sentences=sentences)


def _answer(subject: Subject, by_layer: list["_LayerPreimages"]) -> Sentence:
    """Say which is the first gate that is blind to something, and how often."""
    for one in by_layer:
        number, blind = len(one.found), int((one.found.dims > 0).sum())
        if blind:
            text = (
                f"{one.layer.name} is the first gate that does not see everything: at {blind:,} of {number:,} "
                f"{subject.noun}s, other values of what it reads have the same outputs."
            )
            return Sentence(text, samples=number)
    number = min(len(one.found) for one in by_layer)
    text = f"At {several(number, subject.noun)} no gate that was looked at loses anything of what it reads."
    return Sentence(text, samples=number)


@dataclass(frozen=True, eq=False)
class _LayerPreimages:
    """A layer, and the preimages of its outputs at the first samples."""

    layer: GateLayer
    found: Preimages
    num_asked: int

    @cached_property
    def counts(self) -> tuple[Finding, ...]:
        """Number of preimages of each kind, named after the gate."""
        found = (self.found.count(kind) for kind in KINDS)
        return tuple(replace(one, name=f"{self.layer.name}: {one.name}", work={}) for one in found)


@dataclass(frozen=True, eq=False)
class _Pair:
    """A sample, another input with the same features, and which features these are."""

    row: int
    target: int
    features: str
    found: SameFeatures
    shape: tuple[int, ...]

    def blocks(self, subject: Subject) -> list[Block]:
        """Return the picture and its numbers."""
        one = self.found
        same = Finding.of(
            one.proved_within,
            lower=-inf,
            name="difference of features of the two images",
            definition=f"largest difference of {self.features} in real arithmetic",
            method="outputs in float64 with bounds on their rounding",
        )
        size = Finding.of(
            one.set.dimension,
            name="dimensions of inputs with these features",
            definition=f"dimension of the polytope of inputs with equal {self.features}, within the range of the data",
            method="a point inside as many half-spaces as have one, by linear programs",
            resolution=FACETS,
        )
        change = Finding.of(
            one.change,
            upper=inf,
            name="change that is not seen",
            definition="l2 distance of the two images",
            method="distance of two inputs with the same features; there may be others further apart",
        )
        figure = plots.invariances([one], shape=self.shape, names=[f"sample {self.row:,}"])
        described = f"Sample {self.row}, sample {self.target}, an image with the features of the first, and the change"
        caption = (
            f"Of all inputs within the range of the data with the same {self.features} as sample {self.row:,}"
            f"{_class(subject, self.row)}, the nearest to sample {self.target:,}{_class(subject, self.target)}"
            f"{' that is in the same linear region' if one.set.within == 'region' else ''}. To the network it is the "
            "same input."
        )
        return [numbers(size, change, same), picture(figure, "invariance", described, caption)]

    def describe(self) -> dict:
        """Return plain types."""
        one = self.found
        return {
            "sample": self.row,
            "target": self.target,
            "features": self.features,
            "change": one.change,
            "difference": one.difference,
            "proved_within": one.proved_within,
        }


def _class(subject: Subject, row: int) -> str:
    return "" if subject.classes is None else f" (class {subject.classes[row]})"


def _positions(network: Network) -> list[int]:
    """Return the first pointwise gates whose layers are small enough."""
    return [
        index
        for index, stage in enumerate(network.stages)
        if not isinstance(stage.gate, Max)
        and _num_inputs(network, index) <= MAX_INPUTS
        and _num_inputs(network, index) * stage.gate.num_units <= MAX_ENTRIES
    ][:MAX_GATES]


def _num_inputs(network: Network, index: int) -> int:
    return sum(network.nodes[position].size for position in network.stages[index].reads)


def _preimages_of_layer(subject: Subject, rows: np.ndarray, place: int, most: int, limit: float) -> _LayerPreimages:
    """Return the kinds at so many samples at most, and no more after some seconds, but at a few."""
    layer = read_layer(subject.network, place)
    inputs = layer_inputs(subject.network, subject.points[rows[:most]], place)
    began, parts = time.perf_counter(), []
    for start in range(0, len(inputs), BLOCK):
        parts.append(classify_at(layer, inputs[start : start + BLOCK]))
        if time.perf_counter() - began > limit:
            break
    return _LayerPreimages(layer, joined(parts), len(rows))


def _pair(subject: Subject, rows: np.ndarray, first: _LayerPreimages) -> _Pair | None:
    """Return two images with equal features: of the first gate if that leaves something open, else of the outputs."""
    network = subject.network
    shape, box = subject.image_shape, data_box(subject.points)
    half_spaces = sum(gate.num_units * max(1, gate.num_pieces - 1) for gate in network.gates)
    if shape is None or box is None or half_spaces * network.num_inputs > MAX_HALF_SPACE_ENTRIES:
        return None
    place = int(np.argmax(first.found.dims))
    row = int(rows[place])
    target = _target(subject, rows, row)
    if target is None:
        return None
    is_layer = first.layer.name == network.gates[0].name and first.found.dims[place] > 0
    features = f"outputs of {first.layer.name}" if is_layer else "outputs of the network"
    try:
        found = invariant(
            network,
            subject.points[row],
            target=subject.points[target],
            domain=box,
            within="layer" if is_layer else "region",
            norm="l2",
        )
    except ReluscopeError:  # no region with an interior, or a gate that cannot be turned round: there is no picture
        return None
    return _Pair(row, target, features, found, shape) if found.change > 0 else None


def _target(subject: Subject, rows: np.ndarray, row: int) -> int | None:
    """Return the nearest of the drawn samples of another class, or of all others where there is none."""
    others = rows[rows != row]
    if subject.classes is not None:
        of_another = others[subject.classes[others] != subject.classes[row]]
        others = of_another if len(of_another) else others
    if not len(others):
        return None
    distances = np.linalg.norm(subject.points[others] - subject.points[row], axis=1)
    return int(others[np.argmin(distances)])


def _which(subject: Subject, by_layer: list[_LayerPreimages]) -> str:
    first = by_layer[0]
    text = f"These are the preimages at {len(first.found):,} of {len(subject.data):,} samples"
    text += ", as many as there was time for" if len(first.found) < first.num_asked else ""
    text += f", drawn by seed {subject.settings.seed}, with all of R^n as inputs."
    injective = [one.layer.name for one in by_layer if one.layer.is_injective]
    if injective:
        text += f" Injective, so that only too few equations leave anything open: {', '.join(injective)}."
    return text


def _table(subject: Subject, by_layer: list[_LayerPreimages]) -> ReportTable:
    keys = {
        "gate": [one.layer.name for one in by_layer],
        "reads": [one.layer.num_inputs for one in by_layer],
        "units": [one.layer.num_units for one in by_layer],
        "samples": [len(one.found) for one in by_layer],
        "units on": [_between(one.found.num_equations) for one in by_layer],
        "directions open": [_between(one.found.dims) for one in by_layer],
    }
    columns = {kind.name.lower(): [one.counts[place] for one in by_layer] for place, kind in enumerate(KINDS)}
    caption = (
        "Kinds of preimages of the gates' outputs at samples; how many units give equations, and how many directions "
        "these leave open."
    )
    left = len(subject.network.gates) - len(by_layer)
    if left:
        caption += (
            f" Left out of {len(subject.network.gates)} gates: {left}, as they are maxima, large, or come after the "
            f"first {MAX_GATES}."
        )
    return table(keys, columns, caption)


def _between(values: np.ndarray) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
