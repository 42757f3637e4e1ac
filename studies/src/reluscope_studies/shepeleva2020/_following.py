"""Codes of samples during the training of a network: their number, and how well they separate the classes.

A code is that of the gates that are watched, the dense ones; all gates of the network are counted beside them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

import reluscope as rs
from reluscope.studies import Change, Record, Setting
from reluscope_studies.epochs import Loss
from reluscope_studies.labelled import Labelled
from reluscope_studies.records import plain_findings
from reluscope_studies.shepeleva2020._descent import descend
from reluscope_studies.shepeleva2020._samples import Samples
from reluscope_studies.sizes import ToTrainOn

# Codes of all gates are counted where they take less memory than this.
MAX_BYTES = 2**30
BLOCK = 4096
CODES = "num_distinct_codes"


@dataclass(frozen=True)
class Task:
    """The task of a network.

    Parameters
    ----------
    score : str
        What says how well it does.
    loss : callable
    targets : callable
        Takes samples, returns what the outputs are compared with.
    scores : callable
        Takes outputs and samples, returns one number per sample, whose mean is the score.
    """

    score: str
    loss: Loss
    targets: Callable[[Labelled], np.ndarray]
    scores: Callable[[np.ndarray, Labelled], np.ndarray]


CLASSIFICATION = Task(
    "accuracy",
    cross_entropy,
    lambda samples: samples.labels,
    lambda outputs, samples: (rs.classification.classes_of_outputs(outputs) == samples.labels).astype(np.float64),
)
RECONSTRUCTION = Task(
    "mean squared error",
    binary_cross_entropy_with_logits,
    lambda samples: samples.points,
    lambda outputs, samples: ((1 / (1 + np.exp(-outputs)) - samples.points) ** 2).mean(axis=1),
)


@dataclass(frozen=True, eq=False)
class Run:
    """One training.

    Parameters
    ----------
    name : str
        Of its record.
    label : str
        What a reader calls the network.
    rate : float
    batch : int
    epochs : tuple of int
        After which it is looked at; 0 is before training, the largest the last.
    build : callable
        Returns the untrained model.
    task : Task
    samples : Samples
    """

    name: str
    label: str
    rate: float
    batch: int
    epochs: tuple[int, ...]
    build: Callable[[], nn.Sequential]
    task: Task
    samples: Samples


@dataclass(frozen=True)
class Plan:
    """The size of a study.

    Parameters
    ----------
    name : str
        Of the study.
    batch : int
    epochs, shown : tuple of int
        After which the network is looked at, and which of these have pictures.
    most : tuple of int, optional
        Samples to train on and to validate with, at most.
    most_drawn : int
        Validation samples in pictures.
    last : int, optional
        Where training ends; by default after the last of the epochs.
    trained_on : int, optional
        Samples to train on, with a quarter as many to validate with, in place of `most`.
    """

    name: str
    batch: int
    epochs: tuple[int, ...]
    shown: tuple[int, ...]
    most: tuple[int, int] | None
    most_drawn: int
    last: int | None = field(default=None, kw_only=True)
    trained_on: int | None = field(default=None, kw_only=True)

    def until(self, epochs: tuple[int, ...]) -> tuple[int, ...]:
        """Return those epochs that are before the end of training, and the end.

        Examples
        --------
        >>> plan = Plan("heads", 256, (0, 1, 5, 10), (1, 10), None, 1000, last=7)
        >>> plan.until(plan.epochs), plan.until(plan.shown)
        ((0, 1, 5, 7), (1, 7))
        """
        return epochs if self.last is None else (*(one for one in epochs if one < self.last), self.last)


CHANGES: dict[Change, str] = {"epochs": "last", "points": ToTrainOn("trained_on")}


@dataclass(frozen=True, eq=False)
class Followed:
    """The codes and numbers found during a training.

    Parameters
    ----------
    run : Run
    record : Record
    """

    run: Run
    record: Record

    @cached_property
    def gates(self) -> tuple[rs.GateLayout, ...]:
        """Those that are watched."""
        return tuple(rs.GateLayout(name, units) for name, units in self.record.plain["gates"])

    def finding(self, epoch: int, part: str, what: str) -> rs.Finding | None:
        """Return a number about one part of the samples after an epoch, if it is there."""
        plain = self.record.plain["looks"][str(epoch)][part].get(what)
        return None if plain is None else rs.Finding.from_dict(plain)

    def findings(self, epoch: int) -> list[rs.Finding]:
        """Return all numbers after an epoch."""
        parts = self.record.plain["looks"][str(epoch)].values()
        return [rs.Finding.from_dict(plain) for part in parts for plain in part.values()]

    def codes(self, epoch: int, gate: str) -> rs.Codes:
        """Return the codes of one gate of the samples that are drawn."""
        return rs.Codes(self.record.arrays[f"words-{epoch}"], rs.CodeLayout(self.gates)).by_gate()[gate]

    @property
    def labels(self) -> np.ndarray:
        """Classes of the samples that are drawn."""
        return self.record.arrays["labels"]


def follow(run: Run, setting: Setting, *, watched: Callable[[str], bool], most_drawn: int) -> Followed:
    """Return the codes and numbers of a training, from the records of the setting if they are there.

    Parameters
    ----------
    run : Run
    setting : Setting
    watched : callable
        Whether the gate of a name is watched.
    most_drawn : int
        Validation samples whose codes are kept for pictures.
    """
    if run.name in setting.records:
        return Followed(run, setting.records[run.name])
    model = run.build()
    training, validation = run.samples.training, run.samples.validation
    traced = rs.load(model.eval(), input_shape=training.shape).to(setting.device)
    gates = tuple(rs.GateLayout(gate.name, gate.num_units) for gate in traced.gates if watched(gate.name))
    looks: dict[str, Any] = {}
    drawn = np.sort(np.random.default_rng(setting.seed).permutation(len(validation))[:most_drawn])
    arrays = {"labels": validation.labels[drawn]}

    def look(epoch: int) -> None:
        setting.progress(f"Training {run.label} at rate {run.rate:g}: epoch {epoch} of {max(run.epochs)}")
        network = traced.with_parameters({name: value.detach().cpu() for name, value in model.state_dict().items()})
        seen = {name: _see(network, part, run.task, gates) for name, part in run.samples.parts().items()}
        looks[str(epoch)] = {
            name: plain_findings(_named(_numbers(one, name, seen, run), f"{name}, {run.label}, epoch {epoch}"))
            for name, one in seen.items()
        }
        arrays[f"words-{epoch}"] = seen["validation"].sampled.codes.words[drawn]

    descend(
        model,
        training.points.reshape(len(training), *training.shape),
        run.task.targets(training),
        loss=run.task.loss,
        rate=run.rate,
        batch=run.batch,
        looked_at=run.epochs,
        look=look,
        seed=setting.seed,
        device=setting.device,
    )
    record = Record({"gates": [[gate.name, gate.num_units] for gate in gates], "looks": looks}, arrays)
    setting.records[run.name] = record
    return Followed(run, record)


@dataclass(frozen=True, eq=False)
class _Seen:
    """Codes of samples in the watched gates and in all gates, and the accuracy of the network."""

    samples: Labelled
    sampled: rs.codespace.SampleCodes
    whole: rs.codespace.SampleCodes | None
    scores: Float[np.ndarray, " s"]


def _see(network: rs.Network, samples: Labelled, task: Task, gates: tuple[rs.GateLayout, ...]) -> _Seen:
    """Evaluate samples block by block, so that only the codes of the watched gates are kept of large networks."""
    names = [gate.name for gate in gates]
    is_small = network.layout.num_words * 8 * len(samples) <= MAX_BYTES
    parts, wholes, scores = [], [], []
    for start in range(0, len(samples), BLOCK):
        rows = slice(start, start + BLOCK)
        some = replace(samples, points=samples.points[rows], labels=samples.labels[rows])
        sampled = rs.codespace.sample_codes(network, some.points)
        parts.append(sampled.of_gates(*names))
        outputs = network(some.points).cpu().numpy()
        scores.append(task.scores(outputs.reshape(len(some), -1), some))
        if is_small:
            wholes.append(sampled)
    return _Seen(samples, _together(parts), _together(wholes) if is_small else None, np.concatenate(scores))


def _together(parts: list[rs.codespace.SampleCodes]) -> rs.codespace.SampleCodes:
    codes, doubtful = rs.Codes.concatenate([one.codes for one in parts]), [one.doubtful for one in parts]
    return rs.codespace.SampleCodes(codes, np.concatenate(doubtful), 0.0)


def _numbers(seen: _Seen, part: str, parts: Mapping[str, _Seen], run: Run) -> dict[str, rs.Finding]:
    """Return all numbers about one part of the samples."""
    task, sampled = run.task, seen.sampled
    score = rs.Finding.estimate(
        float(seen.scores.mean()),
        name=task.score,
        definition=f"{task.score}: mean over samples, in float64 without bounds on rounding",
        domain=sampled.domain,
    )
    found = {task.score: score, **_counts(rs.codespace.distinct_codes(sampled))}
    if seen.whole is not None:
        found["codes of all gates"] = _counts(rs.codespace.distinct_codes(seen.whole))["codes"]
    if task is CLASSIFICATION:
        found |= _count_right(sampled, seen.scores > 0)
    if part == "validation":
        found |= _separation(seen, parts["training"])
    return found


def _counts(counted: rs.Findings) -> dict[str, rs.Finding]:
    assert counted.summary is not None
    found = {"codes": counted.summary.finding(CODES)}
    return found | {f"codes of {gate}": counted.finding(CODES, row) for row, gate in enumerate(counted.keys["gate"])}


def _count_right(sampled: rs.codespace.SampleCodes, right: Bool[np.ndarray, " s"]) -> dict[str, rs.Finding]:
    """Return the numbers of codes of correctly classified samples: of cells of the paper's kind that hold one."""
    if not right.any():
        none = rs.Finding.of(0, definition="no sample is classified correctly", domain=sampled.domain)
        whats = ("codes", *(f"codes of {gate.name}" for gate in sampled.codes.layout))
        return {f"correct {what}": none for what in whats}
    counted = _counts(rs.codespace.distinct_codes(sampled.select(right, what="correctly classified samples")))
    return {f"correct {what}": found for what, found in counted.items()}


def _separation(seen: _Seen, training: _Seen) -> dict[str, rs.Finding]:
    """Return for every gate how far apart classes are, and how often the nearest training code is of one's class."""
    labels = seen.samples.labels
    apart = rs.codespace.mean_code_distances(seen.sampled, labels)
    found: dict[str, rs.Finding] = {}
    of_training = training.sampled.codes.by_gate()
    for index, (gate, codes) in enumerate(seen.sampled.codes.by_gate().items()):
        pairs = {kind: apart.where(pairs=f"{kind} classes", gate=gate) for kind in ("within", "between")}
        if all(one.is_done.all() for one in pairs.values()):
            found |= {f"{kind} {gate}": one.finding("mean_code_distance") for kind, one in pairs.items()}
        _, nearest = rs.codespace.nearest_codes(of_training[gate], codes)
        unclear = int(seen.sampled.doubtful[:, index].sum() + training.sampled.doubtful[:, index].sum())
        share = float((training.samples.labels[nearest[:, 0]] == labels).mean())
        found[f"nearest {gate}"] = rs.Finding.of(
            share,
            0.0 if unclear else share,
            1.0 if unclear else share,
            is_share=True,
            domain=seen.sampled.domain,
            method="codes compared word by word",
            name=f"share of nearest codes of the same class, {gate}",
            definition="share of validation samples whose nearest training code, in Hamming distance and the first of "
            "several, is of their class",
        )
    return found


def _named(findings: Mapping[str, rs.Finding], where: str) -> dict[str, rs.Finding]:
    return {
        key: replace(finding, name=f"{key}: {where}", source="shepeleva2020", work={})
        for key, finding in findings.items()
    }
