"""A network trained until it solves its problem, with its weights at moments of the way; kept in the records."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Record, Setting, Size
from reluscope_studies.sattelberg2026_descent import Layers, descend

# What the dissertation leaves open for these networks is as in its section 4.2.1: 1,000 points, half of them in the
# disc; a network with 95% of them right has solved the problem. The batch is the smallest, and best, of that section.
POINTS, SOLVED, BATCH = 1000, 0.95, 10
RATE = 0.1
MAX_ATTEMPTS = 20
SHOWN = 200
WINDOW = rs.Box(-1.25, 1.25, 2)


@dataclass(frozen=True)
class Plan:
    """What is trained.

    Parameters
    ----------
    name : str
        Of the study, before those of its pictures.
    problem : callable
        Takes a number of points and a seed.
    widths : tuple of int
    epochs : int
    moments : int
        At how many moments the weights are kept, first and last included.
    """

    name: str
    problem: Callable[..., rs.datasets.Dataset]
    widths: tuple[int, ...]
    epochs: int
    moments: int

    def describe(self) -> str:
        """Return the hidden layers, all of one width, in words."""
        (width,) = set(self.widths)
        return f"{width}" if len(self.widths) == 1 else f"{len(self.widths)} x {width}"

    @property
    def depth(self) -> int:
        """Layers with weights."""
        return len(self.widths) + 1

    @property
    def steps(self) -> np.ndarray:
        """Numbers of the steps after which weights are kept: denser at first, when most changes."""
        last = self.epochs * -(-POINTS // BATCH)
        shares = np.linspace(0, 1, self.moments) ** 2
        return np.unique(np.round(last * shares).astype(np.int64))


Plans = dict[Size, Plan]


@dataclass(frozen=True, eq=False)
class Run:
    """A network on its way.

    Parameters
    ----------
    epochs : (t,) float64
        The moments.
    weights : list of layers
        One for each moment.
    number : int
        Which of the first weights it began with, from 0.
    training, testing : Dataset
    """

    epochs: Float[np.ndarray, " t"]
    weights: list[Layers]
    number: int
    training: rs.datasets.Dataset
    testing: rs.datasets.Dataset

    @cached_property
    def networks(self) -> list[rs.Network]:
        """The network at every moment."""
        return [rs.load(layers) for layers in self.weights]

    def partition(self, moment: int) -> rs.Partition:
        """Return the exact partition of the window at a moment."""
        return rs.partition(self.networks[moment], WINDOW)

    @cached_property
    def accuracies(self) -> list[rs.Finding]:
        """The share of the training points that are right, at every moment."""
        return [_accuracy(network, self.training) for network in self.networks]

    @property
    def test_accuracy(self) -> rs.Finding:
        """The share of other points that are right, at the end."""
        return _accuracy(self.networks[-1], self.testing)

    @property
    def shown_labels(self) -> Int[np.ndarray, " p"]:
        """Classes of the training points that pictures show."""
        assert self.training.labels is not None
        return self.training.labels[:SHOWN]

    @property
    def shown_points(self) -> Float[np.ndarray, "p 2"]:
        """Training points that pictures show."""
        return self.training.points[:SHOWN]

    @property
    def is_solved(self) -> bool:
        """Whether the network ends with enough points right."""
        return float(self.accuracies[-1]) >= SOLVED


def trained(setting: Setting, plan: Plan) -> Run:
    """Return the first run that solves the problem, of at most 20; else the best."""
    runs: list[Run] = []
    for number in range(MAX_ATTEMPTS):
        runs.append(attempt(setting, plan, number))
        if runs[-1].is_solved:
            return runs[-1]
    return max(runs, key=lambda run: float(run.accuracies[-1]))


def attempt(setting: Setting, plan: Plan, number: int) -> Run:
    """Return the run from some first weights: that in the records, or one made now, which is put there at its end."""
    training, testing = (plan.problem(POINTS, seed=2 * setting.seed + part) for part in (0, 1))
    name = f"{plan.name}-{number}"
    record = setting.records.get(name)
    if record is None:
        record = setting.records[name] = _record(setting, plan, training, number)
    weights = [
        [(record.arrays[f"W{layer}"][moment], record.arrays[f"b{layer}"][moment]) for layer in range(plan.depth)]
        for moment in range(len(plan.steps))
    ]
    return Run(plan.steps / -(-POINTS // BATCH), weights, number, training, testing)


def _record(setting: Setting, plan: Plan, training: rs.datasets.Dataset, number: int) -> Record:
    assert training.labels is not None
    steps = plan.steps
    seed = int(np.random.default_rng([setting.seed, number]).integers(2**31))
    kept: list[Layers] = []
    way = descend(training.points, training.labels, plan.widths, epochs=plan.epochs, rate=RATE, batch=BATCH, seed=seed)
    for step, layers in enumerate(way):
        if step == steps[len(kept)]:
            kept.append([(weight.copy(), bias.copy()) for weight, bias in layers])
        if step % 500 == 0:
            setting.progress(f"Training {plan.name}, first weights {number + 1}", step / steps[-1])
    arrays = {
        f"{letter}{layer}": np.stack([layers[layer][part] for layers in kept])
        for layer in range(plan.depth)
        for part, letter in enumerate("Wb")
    }
    return Record({"seed": seed}, arrays)


def _accuracy(network: rs.Network, data: rs.datasets.Dataset) -> rs.Finding:
    assert data.labels is not None
    return rs.classification.accuracy(network, data.points, data.labels)
