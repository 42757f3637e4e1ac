"""Networks trained to solve a problem from several first weights, with their weights at moments of the training.

All networks of a plan are trained at once; those that are finished are kept in the records of the setting.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float, Int

import reluscope as rs
from reluscope.studies import Record, Setting, Size
from reluscope_studies import stacked

# What the dissertation leaves open for these networks is as in its section 4.2.1: 1,000 points, half of them in the
# disc; a network with 95% of them right has solved the problem. The batch is the smallest, and best, of that section.
POINTS, SOLVED, BATCH = 1000, 0.95, 10
RATE = 0.1
MAX_ATTEMPTS = 20
DESCENT = partial(torch.optim.SGD, lr=RATE)
SHOWN = 200
WINDOW = rs.Box(-1.25, 1.25, 2)


@dataclass(frozen=True)
class Plan:
    """Which network is trained on which problem.

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
    """A network at several moments of its training.

    Parameters
    ----------
    epochs : (t,) float64
        The moments.
    weights : list of layers
        Those of each moment.
    number : int
        Which of the first weights it began with, from 0.
    training, testing : Dataset
    """

    epochs: Float[np.ndarray, " t"]
    weights: list[stacked.Layers]
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
    runs = attempts(setting, plan, MAX_ATTEMPTS)
    solved = (run for run in runs if run.is_solved)
    return next(solved, max(runs, key=lambda run: float(run.accuracies[-1])))


def attempts(setting: Setting, plan: Plan, number: int) -> list[Run]:
    """Return the runs from so many first weights: those in the records, and the others, which are trained now."""
    training, testing = (plan.problem(POINTS, seed=2 * setting.seed + part) for part in (0, 1))
    missing = [one for one in range(number) if f"{plan.name}-{one}" not in setting.records]
    if missing:
        setting.records.update(_train(setting, plan, training, missing))
    runs = []
    for one in range(number):
        arrays = setting.records[f"{plan.name}-{one}"].arrays
        weights = [
            [(arrays[f"W{layer}"][moment], arrays[f"b{layer}"][moment]) for layer in range(plan.depth)]
            for moment in range(len(plan.steps))
        ]
        runs.append(Run(plan.steps / -(-POINTS // BATCH), weights, one, training, testing))
    return runs


def _train(setting: Setting, plan: Plan, training: rs.datasets.Dataset, numbers: Sequence[int]) -> Mapping[str, Record]:
    """Train networks from the first weights of these numbers, and return a record of each."""
    assert training.labels is not None
    seeds = [int(np.random.default_rng([setting.seed, number]).integers(2**31)) for number in numbers]
    stack = stacked.initialize(
        plan.widths, num_inputs=training.points.shape[1], seeds=seeds, dtype=torch.float64, device=setting.device
    )
    done = stacked.train(
        stack,
        training.points,
        training.labels.astype(np.float64),
        loss="bce",
        optimizer=DESCENT,
        epochs=plan.epochs,
        batch=BATCH,
        order=seeds,
        snapshots=plan.steps.tolist(),
        progress=lambda share: setting.progress(f"Training {plan.name}, {len(seeds)} first weights", share),
    )
    records = {}
    for place, (number, seed) in enumerate(zip(numbers, seeds, strict=True)):
        moments = [one.layers(place) for one in done.snapshots]
        arrays = {
            f"{letter}{layer}": np.stack([layers[layer][part] for layers in moments])
            for layer in range(plan.depth)
            for part, letter in enumerate("Wb")
        }
        records[f"{plan.name}-{number}"] = Record({"seed": seed}, arrays)
    return records


def _accuracy(network: rs.Network, data: rs.datasets.Dataset) -> rs.Finding:
    assert data.labels is not None
    return rs.classification.accuracy(network, data.points, data.labels)
