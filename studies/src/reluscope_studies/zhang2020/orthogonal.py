"""The remark of section 3.3: weights that are orthogonal at first are not after training."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

import reluscope as rs
from reluscope.studies import Change, Outcome, Record, Setting, StatementVerdict, Table
from reluscope_studies.fitting import Fit, fit_classifier
from reluscope_studies.interruption import Interruption
from reluscope_studies.labelled import Labelled, labelled_data
from reluscope_studies.records import plain_findings
from reluscope_studies.sizes import planned
from reluscope_studies.zhang2020._networks import KINDS, Architecture, centred

SENTENCE = "whether weights that are orthogonal at first are so after training"
POSITION = 27
DATA = "mnist"
CHANGES: dict[Change, str] = {"epochs": "fit.most_epochs"}

RATE = 1e-3
# Orthogonality is lost where the cosines of rows are above this share of those of random ones.
LOST = 0.5


@dataclass(frozen=True)
class Orthogonal(Architecture):
    """Networks whose first weights are orthogonal (Saxe and others 2014): rows of a layer, or columns where fewer."""

    def build(self, shape: tuple[int, ...], num_classes: int, kind: str, seed: int) -> nn.Sequential:
        """Return the untrained network."""
        model = super().build(shape, num_classes, kind, seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            for layer in model:
                if isinstance(layer, nn.Linear):
                    nn.init.orthogonal_(layer.weight)
        return model


@dataclass(frozen=True)
class Plan:
    """Which networks are trained."""

    hidden: tuple[int, ...]
    fit: Fit


PLANS = {"small": Plan((24, 24, 24), Fit(RATE, batch=16, most_epochs=60)), "full": Plan((1024,) * 3, Fit(RATE))}
STARTS = {"Glorot": Architecture, "orthogonal": Orthogonal}


@dataclass(frozen=True, eq=False)
class Compared:
    """Mean absolute cosines of the rows of every hidden layer, at first and after training."""

    start: str
    kind: str
    accuracy: rs.Finding
    before: Float[np.ndarray, " l"]
    after: Float[np.ndarray, " l"]


def protocol(setting: Setting) -> Outcome:
    """Train networks from both kinds of first weights that are not in the records yet, and compare their layers."""
    plan = planned(setting, PLANS, CHANGES)
    training, testing = (centred(part) for part in labelled_data(setting))
    found: list[Compared] = []
    with Interruption() as ctrl_c:
        for (start, make), kind in product(STARTS.items(), KINDS):
            found.append(_compared(setting, plan, start, make(plan.hidden), kind, training, testing))
    said = (
        f"Networks of {Architecture(plan.hidden).describe()}, trained on {training.name}: {plan.fit.describe()}. The "
        "cosines are those of all pairs of rows of a layer's weights. Those of independent random rows are what "
        "nothing but chance leaves; those of orthogonal ones are 0, as far as there are no more rows than columns."
    )
    tables = (_table(found),) if found else ()
    return Outcome((said,), tuple(_findings(found)), tables, (), ctrl_c.came, verdicts=tuple(_verdicts(found)))


def _compared(
    setting: Setting,
    plan: Plan,
    start: str,
    architecture: Architecture,
    kind: str,
    training: Labelled,
    testing: Labelled,
) -> Compared:
    """Train one network if it is not in the records, and compare its layers before and after."""
    name = f"{start.lower()}-{kind.replace(' ', '-')}"
    number = int(max(training.labels.max(), testing.labels.max())) + 1
    model = architecture.build(training.shape, number, kind, setting.seed)
    before = hidden_cosines(model)
    kept = setting.records.get(name)
    if kept is None:
        setting.progress(f"Training {kind} from {start} weights")
        points = training.points.reshape(len(training), *training.shape)
        fit_classifier(model, points, training.labels, fit=plan.fit, seed=setting.seed, device=setting.device)
        network = rs.load(model.eval(), input_shape=training.shape)
        accuracy = rs.classification.accuracy(network, testing.points, testing.labels)
        arrays = {part: value.numpy() for part, value in model.state_dict().items()}
        kept = setting.records[name] = Record(plain_findings({"accuracy": accuracy}), arrays)
    model.load_state_dict({part: torch.from_numpy(value.copy()) for part, value in kept.arrays.items()})
    accuracy = rs.Finding.from_dict(kept.plain["accuracy"])
    return Compared(start, kind, accuracy, before, hidden_cosines(model))


def hidden_cosines(model: nn.Sequential) -> Float[np.ndarray, " l"]:
    """Return the mean absolute cosine of two rows of the weights of each hidden layer.

    Examples
    --------
    >>> model = Orthogonal((3,)).build((1, 2, 2), 2, "vanilla", seed=0)
    >>> bool(hidden_cosines(model)[0] < 1e-6)
    True
    """
    weights = [layer.weight.detach().double().numpy() for layer in model if isinstance(layer, nn.Linear)][:-1]
    return np.array([_cosine(one) for one in weights])


def _cosine(rows: Float[np.ndarray, "u n"]) -> float:
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(sizes > 0, sizes, 1.0)
    pairs = np.triu_indices(len(rows), 1)
    return float(np.abs(units @ units.T)[pairs].mean()) if len(rows) > 1 else 0.0


def _findings(found: Sequence[Compared]) -> list[rs.Finding]:
    return [
        rs.Finding.of(
            float(value),
            name=f"mean absolute cosine of rows, layer {layer}, {when}: {one.kind}, {one.start} weights",
            definition="mean over pairs of rows of a layer's weights",
            domain="the networks of this study",
            source="zhang2020",
        )
        for one in found
        for when, values in (("at first", one.before), ("after training", one.after))
        for layer, value in enumerate(values, 1)
    ]


def _table(found: Sequence[Compared]) -> Table:
    rows = tuple(
        (one.start, one.kind, f"{100 * float(one.accuracy):.1f} %", str(layer), f"{before:.3f}", f"{after:.3f}")
        for one in found
        for layer, (before, after) in enumerate(zip(one.before, one.after, strict=True), 1)
    )
    columns = ("first weights", "network", "test accuracy", "layer", "cosine at first", "after training")
    return Table(columns, rows, "Mean absolute cosines of the rows of a layer's weights.")


def _verdicts(found: Sequence[Compared]) -> Iterator[StatementVerdict]:
    own = [one for one in found if one.start == "orthogonal"]
    if own:
        before, after = (np.concatenate([getattr(one, when) for one in own]) for when in ("before", "after"))
        random = np.concatenate([one.before for one in found if one.start != "orthogonal"])
        yield StatementVerdict(
            "orthogonality of the first weights is broken by training",
            "section 3.3",
            "broken, without a number",
            f"mean absolute cosines of {before.max():.2g} at most become {after.min():.3f} to {after.max():.3f}; "
            f"random weights begin with {random.min():.3f} to {random.max():.3f}",
            bool(after.min() > LOST * random.min()),
        )
