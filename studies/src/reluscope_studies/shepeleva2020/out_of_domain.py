"""Codes of samples outside the domain of the training data, and whether codes distinguish them from samples in it.

The claim is that of Jamil, Liu, Cole, Blanchard, King, Kirby and Peterson, "Dual graphs of polyhedral decompositions
for the detection of adversarial attacks", 2022, as Sattelberg, "Local linearity of ReLU neural networks", 2026, cites
it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

import numpy as np
import torch
from jaxtyping import Float
from sklearn.neighbors import NearestNeighbors

import reluscope as rs
from reluscope.studies import Change, Outcome, Picture, Record, Setting, StatementVerdict, Table
from reluscope_studies import plots
from reluscope_studies.fitting import Fit, fit_classifier
from reluscope_studies.interruption import Interruption
from reluscope_studies.records import plain_findings
from reluscope_studies.shepeleva2020._foreign import INSIDE, foreign_samples
from reluscope_studies.shepeleva2020._networks import classifier
from reluscope_studies.shepeleva2020._samples import Samples, samples_of
from reluscope_studies.sizes import ToTrainOn, planned
from reluscope_studies.verdicts import of_cases

SENTENCE = "codes of samples out of the domain of the training data: rotated, shuffled, noise, other images"
POSITION = 50
DATA = "mnist"
BESIDE = "cifar10"
CHANGES: dict[Change, str] = {
    "replicates": "replicates",
    "epochs": "fit.most_epochs",
    "points": ToTrainOn("trained_on"),
}

HEAD = (256, 128, 128)
ALL = "all gates"
PROBABILITY, NEAREST = "largest probability", "nearest training image"


@dataclass(frozen=True)
class Plan:
    """The size of the study: convolutional blocks by the network's name, training, number of networks of each kind."""

    blocks: Mapping[str, tuple[tuple[int, int], ...]]
    fit: Fit
    replicates: int
    most: tuple[int, int] | None
    trained_on: int | None = None


BLOCKS = {"dense": (), "convolutional": ((8, 1), (16, 1))}
PLANS = {
    "small": Plan(BLOCKS, Fit(1e-3, batch=16, most_epochs=30), 3, (4000, 1000)),
    "full": Plan(BLOCKS, Fit(1e-3), 3, None),
}


# An area under the curve above which samples are told apart.
TOLD = 0.9


@dataclass(frozen=True, eq=False)
class _Judged:
    """Results for one network: findings by (quantity, score, kind), and distances of samples to codes."""

    network: str
    record: Record

    def finding(self, what: str, score: str, kind: str) -> rs.Finding:
        return rs.Finding.from_dict(self.record.plain["findings"][f"{what}/{score}/{kind}"])

    @property
    def findings(self) -> list[rs.Finding]:
        return [rs.Finding.from_dict(plain) for plain in self.record.plain["findings"].values()]

    @property
    def gates(self) -> list[str]:
        return self.record.plain["gates"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and ask how far samples are from occupied codes."""
    plan = planned(setting, PLANS, CHANGES)
    samples = samples_of(setting, plan.most, plan.trained_on)
    kinds = foreign_samples(samples.validation, setting.beside, seed=setting.seed)
    judged = []
    with Interruption() as ctrl_c:
        nearest = {}
        for name, blocks in plan.blocks.items():
            for replicate in range(plan.replicates):
                key = f"{name}-{replicate}"
                if key not in setting.records:
                    nearest = nearest or _nearest_images(samples, kinds, setting)
                    setting.records[key] = _judge(setting, plan, samples, kinds, nearest, name, blocks, replicate)
                judged.append(_Judged(name, setting.records[key]))
    findings = tuple(finding for one in judged for finding in one.findings)
    sentences = (*_done(plan, samples, setting), *_came_out(judged, kinds))
    tables = (_areas(judged, kinds), _new(judged, kinds)) if judged else ()
    pictures = (_picture(judged, kinds),) if judged else ()
    return Outcome(
        sentences, findings, tables, pictures, ctrl_c.came, verdicts=tuple(_verdicts(judged, kinds)) if judged else ()
    )


def _verdicts(judged: Sequence[_Judged], kinds: Mapping[str, np.ndarray]) -> Iterator[StatementVerdict]:
    """Return what becomes of the claim of others that samples out of the domain have other codes."""
    foreign = [kind for kind in kinds if kind != INSIDE]
    new = {kind: mean(float(one.finding("new", ALL, kind)) for one in judged) for kind in kinds}
    yield of_cases(
        "samples out of the domain have codes that no training sample has, samples in it have not",
        "Jamil and others (2022)",
        "in words",
        ", ".join(f"{kind} {100 * share:.1f} %" for kind, share in new.items()),
        [min(new[kind] for kind in foreign) > 0.5 > new[INSIDE]],
    )
    areas = {kind: [float(one.finding("auroc", ALL, kind)) for one in judged] for kind in foreign}
    yield of_cases(
        "distances to occupied codes tell them apart",
        "Jamil and others (2022)",
        "in words",
        "least areas under the ROC curve: " + ", ".join(f"{kind} {min(found):.3f}" for kind, found in areas.items()),
        (area > TOLD for found in areas.values() for area in found),
    )


def _judge(
    setting: Setting,
    plan: Plan,
    samples: Samples,
    kinds: Mapping[str, np.ndarray],
    nearest: Mapping[str, np.ndarray],
    name: str,
    blocks: Sequence[tuple[int, int]],
    replicate: int,
) -> Record:
    """Train one network and return everything about it."""
    training, validation = samples.training, samples.validation
    seed = int(np.random.default_rng([setting.seed, replicate]).integers(2**31))
    setting.progress(f"Training {name} network {replicate + 1} of {plan.replicates}")
    model = classifier(training.shape, blocks, HEAD, len(samples.names), seed=seed)
    shaped = training.points.reshape(len(training), *training.shape)
    fit_classifier(model, shaped, training.labels, fit=plan.fit, seed=seed, device=setting.device)
    network = rs.load(model, input_shape=training.shape).to(setting.device)
    setting.progress(f"Codes of {name} network {replicate + 1}")
    scores = {PROBABILITY: {kind: _uncertainty(network, points) for kind, points in kinds.items()}, NEAREST: nearest}
    right = rs.classification.accuracy(network, validation.points, validation.labels)
    found = {f"accuracy/validation/{INSIDE}": right}
    occupied = rs.codespace.sample_codes(network, training.points)
    codes = {kind: rs.codespace.sample_codes(network, points) for kind, points in kinds.items()}
    gates = [ALL, *(gate.name for gate in network.gates)]
    for gate in gates:
        chosen = [one.name for one in network.gates] if gate == ALL else [gate]
        there = occupied.of_gates(*chosen)
        far = {kind: rs.codespace.novelty(there, own.of_gates(*chosen)) for kind, own in codes.items()}
        scores[gate] = {kind: one["novelty"] for kind, one in far.items()}
        found |= {f"new/{gate}/{kind}": one.share("is_in_unoccupied_cell") for kind, one in far.items()}
    for score, by_kind in scores.items():
        for kind, values in by_kind.items():
            if kind != INSIDE:
                found[f"auroc/{score}/{kind}"] = rs.codespace.auroc(by_kind[INSIDE], values)
    named = {}
    for key, finding in found.items():
        what = key.partition("/")[2].replace("/", ", ")
        label = f"{finding.name}: {what}, {name} network {replicate + 1}"
        named[key] = replace(finding, name=label, source="sattelberg2026", work={})
    arrays = {f"{gate}/{kind}": scores[gate][kind].value.astype(np.float32) for gate in gates for kind in kinds}
    return Record({"findings": plain_findings(named), "gates": gates}, arrays)


def _uncertainty(network: rs.Network, points: Float[np.ndarray, "s n"]) -> Float[np.ndarray, " s"]:
    """Return less the logarithm of the largest class probability: the order is that of probabilities, without ties."""
    outputs = network(points)
    return -torch.log_softmax(outputs.reshape(len(outputs), -1), dim=1).amax(dim=1).cpu().numpy()


def _nearest_images(samples: Samples, kinds: Mapping[str, np.ndarray], setting: Setting) -> dict[str, np.ndarray]:
    setting.progress("Looking for the nearest training images")
    search = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(samples.training.points)
    return {kind: search.kneighbors(points)[0][:, 0] for kind, points in kinds.items()}


def _areas(judged: Sequence[_Judged], kinds: Mapping[str, np.ndarray]) -> Table:
    """Return the table of areas under the curve."""
    foreign = [kind for kind in kinds if kind != INSIDE]
    rows = []
    for name, group in _by_network(judged):
        for score in (*group[0].gates, PROBABILITY, NEAREST):
            cells = [_span([float(one.finding("auroc", score, kind)) for one in group]) for kind in foreign]
            code = "" if score in (PROBABILITY, NEAREST) else "code distance, "
            rows.append((name, f"{code}{score}", *cells))
    caption = (
        "Area under the ROC curve: 1 tells all foreign samples from those in the domain, 0.5 is chance. Mean over "
        "networks, least and most in brackets. The distance of a code is to the nearest code of a training sample."
    )
    return Table(("network", "score", *foreign), tuple(rows), caption)


def _new(judged: Sequence[_Judged], kinds: Mapping[str, np.ndarray]) -> Table:
    """Return the table of shares of samples in cells that hold no training sample."""
    rows = [
        (name, gate, *(f"{100 * mean(float(one.finding('new', gate, kind)) for one in group):.1f} %" for kind in kinds))
        for name, group in _by_network(judged)
        for gate in group[0].gates
    ]
    caption = "Share of samples whose code no training sample has, gate by gate; mean over networks."
    return Table(("network", "gate", *kinds), tuple(rows), caption)


def _by_network(judged: Sequence[_Judged]) -> Iterator[tuple[str, list[_Judged]]]:
    for name in dict.fromkeys(one.network for one in judged):
        yield name, [one for one in judged if one.network == name]


def _span(values: Sequence[float]) -> str:
    return f"{mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def _picture(judged: Sequence[_Judged], kinds: Mapping[str, np.ndarray]) -> Picture:
    panels = {}
    for name, (first, *_) in _by_network(judged):
        shown = {"first gate": first.gates[1], "last gate": first.gates[-1], ALL: ALL}
        panels[name] = {
            title: {kind: first.record.arrays[f"{gate}/{kind}"] for kind in kinds} for title, gate in shown.items()
        }
    return Picture(
        "out-of-domain",
        plots.novelty(panels),
        "How far samples are from the nearest code of a training sample, in units that differ: share of samples within "
        "a distance, for the first network of each kind.",
    )


def _done(plan: Plan, samples: Samples, setting: Setting) -> list[str]:
    blocks = {name: " and ".join(str(filters) for filters, _ in own) for name, own in plan.blocks.items() if own}
    convolutional = f"; {', '.join(f'{name} ones have {own} filters of 3 x 3 below' for name, own in blocks.items())}"
    other = f", and images of {setting.beside.name} in grey" if setting.beside is not None else ""
    return [
        (
            "The claim is that samples in and out of the domain have different bit strings, that is, lie in different "
            "cells, as Sattelberg (2026) cites Jamil and others (Dual graphs of polyhedral decompositions for the "
            "detection of adversarial attacks, 2022; Leveraging linear mapping for model-agnostic adversarial defense, "
            "2023) and Liu and others (Integrating geometries of ReLU feedforward neural networks, 2023). What those "
            "papers did in detail was not followed."
        ),
        (
            f"{samples.describe()}, pixels in [0, 1]. {plan.replicates} networks of each kind, "
            f"{' and '.join(plan.blocks)}, of {', '.join(map(str, HEAD))} dense units{convolutional}: "
            f"{plan.fit.describe()}. Foreign samples are the validation images turned by a quarter, with their pixels "
            f"shuffled (all alike), uniform noise{other}. Beside distances of codes stands what needs no codes: the "
            "largest class probability, and the distance to the nearest training image."
        ),
    ]


def _came_out(judged: Sequence[_Judged], kinds: Mapping[str, np.ndarray]) -> list[str]:
    if not judged:
        return []
    foreign = [kind for kind in kinds if kind != INSIDE]
    lines = []
    for name, group in _by_network(judged):
        inside = mean(float(one.finding("new", ALL, INSIDE)) for one in group)
        lines.append(
            f"To the {name} networks {100 * inside:.1f} % of the samples in the domain have a code of all gates that "
            "no training sample has, so that a new code alone says little; distances of codes tell foreign samples "
            "apart with areas of "
            + ", ".join(
                f"{mean(float(one.finding('auroc', ALL, kind)) for one in group):.3f} ({kind}; largest probability "
                f"{mean(float(one.finding('auroc', PROBABILITY, kind)) for one in group):.3f})"
                for kind in foreign
            )
            + "."
        )
    return lines
