"""Figure 4 faced: what moves the number of positive outputs at which preimages turn from unbounded to compact.

The paper gives neither the first weights nor the scale of the inputs, and does not say whether there are biases. Here
networks are trained with each of three kinds of first weights, three scales, and with and without biases.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from torch import nn

import reluscope as rs
from reluscope.studies import Change, Outcome, Record, Setting, StatementVerdict, Table
from reluscope_studies.behrmann2018._networks import MLP, Training
from reluscope_studies.behrmann2018.preimages import PAPER_BOUNDED_FROM, PAPER_POINTS_FROM
from reluscope_studies.classifiers import trained
from reluscope_studies.first_weights import glorot
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.sizes import planned
from reluscope_studies.verdicts import not_comparable

SENTENCE = "where preimages turn from unbounded to compact, by first weights, scale of the inputs and biases"
POSITION = 25
REPEATS = ("Figure 4",)
DATA = "mnist"
CHANGES: dict[Change, str] = {"replicates": "replicates", "points": "points", "epochs": "training.epochs"}

PARTS = "WEIGHTS, SCALE, BIASES, such as 'PyTorch, standardised, no biases' or 'He, *'"
WEIGHTS, SCALES, BIASES = ("Glorot", "PyTorch", "He"), ("[0, 1]", "[-1, 1]", "standardised"), ("biases", "no biases")
Choice = tuple[str, str, str, int]


@dataclass(frozen=True)
class FirstPlan:
    """How large the networks are, and how many of each kind are trained.

    Parameters
    ----------
    hidden : tuple of int
    training : Training
    replicates : int
        First weights of each kind.
    points : int
        Test samples of each network at which the kind of the preimage is asked, of those with fewer positive outputs
        than inputs.
    """

    hidden: tuple[int, int]
    training: Training
    replicates: int
    points: int


PLANS = {
    # As in behrmann2018/preimages.
    "small": FirstPlan((72, 64), Training("Adam", 1e-3, 25, 100), 1, 120),
    "full": FirstPlan((3500, 784), MLP, 3, 500),
}


@dataclass(frozen=True)
class _Start:
    """A network by the kind of its first weights."""

    name: str
    hidden: tuple[int, int]
    weights: str
    has_biases: bool
    number: int

    def build(self, shape: tuple[int, ...], num_classes: int, seed: int) -> nn.Sequential:
        """Return the untrained network."""
        sizes = (int(np.prod(shape)), *self.hidden, num_classes)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1_000 * seed + self.number)
            first, second, third = (nn.Linear(sizes[k], sizes[k + 1], bias=self.has_biases) for k in range(3))
            model = nn.Sequential(nn.Flatten(), first, nn.ReLU(), second, nn.ReLU(), third)
            if self.weights == "He":
                for layer in (first, second, third):
                    nn.init.kaiming_normal_(layer.weight)
                    if layer.bias is not None:
                        nn.init.zeros_(layer.bias)
        return glorot(model, seed=1_000 * seed + self.number) if self.weights == "Glorot" else model


@dataclass(frozen=True)
class Found:
    """Positive outputs of some samples, by the kind of their preimage, and the number of inputs."""

    bounded: tuple[int, ...]
    unbounded: tuple[int, ...]
    num_inputs: int
    accuracy: float

    @property
    def ends(self) -> tuple[float, float]:
        """Where the first preimage is bounded and the last is not, by the number of inputs; NaN where none is."""
        first, last = min(self.bounded, default=np.nan), max(self.unbounded, default=np.nan)
        return first / self.num_inputs, last / self.num_inputs


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and ask for kinds of preimages."""
    plan = planned(setting, PLANS, CHANGES)
    training, testing = labelled_data(setting)
    kinds = [kind for kind in product(WEIGHTS, SCALES, BIASES) if setting.wants(", ".join(kind))]
    if not kinds:
        raise rs.errors.InputError(f"--only names no kind of network: they are called {PARTS}")
    found: dict[Choice, Found] = {}
    with Interruption() as ctrl_c:
        for kind, number in product(kinds, range(plan.replicates)):
            found[*kind, number] = _found(setting, plan, (*kind, number), training, testing)
    verdicts = tuple(_verdicts(found)) if found else ()
    return Outcome(
        (
            (
                f"Networks of {' and '.join(map(str, plan.hidden))} units on {training.name} ({len(training):,} "
                f"samples): {plan.training.describe()}. Kinds of preimages of the first layer at up to "
                f"{plan.points:,} test samples with fewer positive outputs than inputs, spread evenly over their "
                "numbers."
            ),
            (
                "Glorot: uniform weights and zero biases, as in Keras; PyTorch: its usual uniform weights and biases; "
                "He: normal weights and zero biases."
            ),
            *(f"{note[0].upper()}{note[1:]}: {data.name}." for data in (training, testing) for note in data.notes),
        ),
        tuple(_findings(found)),
        (_by_factor(found),) if found else (),
        interrupted=ctrl_c.came,
        verdicts=not_comparable(verdicts) if setting.size == "small" else verdicts,
    )


def _found(setting: Setting, plan: FirstPlan, choice: Choice, training: Labelled, testing: Labelled) -> Found:
    weights, scale, biases, number = choice
    name = " ".join(map(str, choice))
    parts = [replace(part, points=_scaled(part.points, training.points, scale)) for part in (training, testing)]
    start = _Start(name, plan.hidden, weights, biases == BIASES[0], number)
    network, accuracy = trained(setting, start, plan.training, *parts)
    key = f"{name}, kinds"
    if key not in setting.records:
        setting.progress(f"Preimages of {name}")
        points = parts[1].points
        layer = rs.preimages.read_layer(network)
        positive = (layer(points) > 0).sum(axis=1)
        few = np.flatnonzero(positive < layer.num_inputs)
        few = few[np.argsort(positive[few], kind="stable")]
        chosen = few[np.unique(np.linspace(0, len(few) - 1, min(len(few), plan.points)).astype(int))]
        is_unbounded = np.zeros(len(chosen), dtype=bool)
        if len(chosen):
            is_unbounded = rs.preimages.classify_at(layer, points[chosen]).kinds == rs.preimages.PreimageKind.UNBOUNDED
        arrays = {"positive": positive[chosen], "unbounded": is_unbounded}
        setting.records[key] = Record({"inputs": layer.num_inputs}, arrays)
    kept = setting.records[key]
    positive, is_unbounded = kept.arrays["positive"], kept.arrays["unbounded"]
    return Found(
        tuple(positive[~is_unbounded].tolist()),
        tuple(positive[is_unbounded].tolist()),
        int(kept.plain["inputs"]),
        float(accuracy),
    )


def _scaled(points: np.ndarray, training: np.ndarray, scale: str) -> np.ndarray:
    """Return points whose pixels are between 0 and 1 on another scale."""
    shift, by = {
        "[0, 1]": (0.0, 1.0),
        "[-1, 1]": (0.5, 0.5),
        "standardised": (float(training.mean()), float(training.std())),
    }[scale]
    return (points - shift) / by


def _findings(found: dict[Choice, Found]) -> Iterator[rs.Finding]:
    for choice, one in found.items():
        for what, value in zip(("first bounded", "last unbounded"), one.ends, strict=True):
            if not np.isnan(value):
                yield rs.Finding.of(
                    value,
                    name=f"{what}: {', '.join(map(str, choice))}",
                    definition="positive outputs of the first layer by the number of inputs",
                    domain=f"{len(one.bounded) + len(one.unbounded):,} test samples",
                    source="behrmann2018",
                    resolution=1e-12,
                )


def _span(values: list[float]) -> str:
    known = [value for value in values if not np.isnan(value)]
    return f"{np.mean(known):.2f} ({min(known):.2f} to {max(known):.2f})" if known else "-"


def _groups(found: dict[Choice, Found]) -> Iterator[tuple[str, list[Found]]]:
    for place, names in enumerate((WEIGHTS, SCALES, BIASES)):
        for name in names:
            some = [one for choice, one in found.items() if choice[place] == name]
            if some:
                yield name, some


def _by_factor(found: dict[Choice, Found]) -> Table:
    rows = tuple(
        (
            name,
            str(len(some)),
            f"{100 * np.mean([one.accuracy for one in some]):.1f} %",
            _span([one.ends[0] for one in some]),
            _span([one.ends[1] for one in some]),
        )
        for name, some in _groups(found)
    )
    printed = f"{PAPER_BOUNDED_FROM / PAPER_POINTS_FROM:.2f} and {(PAPER_POINTS_FROM - 1) / PAPER_POINTS_FROM:.2f}"
    caption = (
        "Where the first preimage is bounded and the last unbounded: positive outputs by the number of inputs, means "
        f"over networks, least and most in brackets. In the paper's Figure 4 these are {printed}."
    )
    return Table(("", "networks", "accuracy", "first bounded", "last unbounded"), rows, caption)


def _verdicts(found: dict[Choice, Found]) -> Iterator[StatementVerdict]:
    first, last = PAPER_BOUNDED_FROM / PAPER_POINTS_FROM, (PAPER_POINTS_FROM - 1) / PAPER_POINTS_FROM
    ends = np.array([one.ends for one in found.values()])
    known = ends[~np.isnan(ends).any(axis=1)]
    holds = None
    if len(known):
        holds = bool((known[:, 0].min() <= first <= known[:, 0].max()) and (known[:, 1].max() >= last))
    yield StatementVerdict(
        "preimages turn from unbounded to bounded just below as many positive outputs as inputs, however weights begin",
        "Figure 4",
        f"from {first:.2f} to {last:.2f} of the inputs",
        f"from {_span(ends[:, 0].tolist())} to {_span(ends[:, 1].tolist())}, over {len(found)} networks",
        holds,
    )
