"""Networks of one width and depth that learn sine from many first weights at once; kept in the records.

First weights are independent trials, so that all can be trained as one stack, and the first that succeeds is known
exactly. The dissertation tries them one by one, and stops there.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from math import inf

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.stats import binomtest

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies import stacked
from reluscope_studies.sattelberg2026_ch5._sine import INTERVAL, X, Y

GOAL = 0.45
FIRST_EPOCHS, MORE_EPOCHS = 200, 1000
RATE = 0.1
DESCENT = partial(torch.optim.SGD, lr=RATE, fused=True)


@dataclass(frozen=True, eq=False)
class Cell:
    """The trials of one width and depth.

    Parameters
    ----------
    width, depth : int
        Units of every hidden layer, and hidden layers.
    losses : (t,) float32
        Mean squared error after the first epochs, trial by trial.
    layers : list of (W, b), optional
        The first network that reached the goal, after all epochs.
    """

    width: int
    depth: int
    losses: Float[np.ndarray, " t"]
    layers: stacked.Layers | None

    @property
    def first(self) -> int | None:
        """Number of the first trial that reached the goal, from 0."""
        return first_below(self.losses, GOAL)

    def tries(self, goal: float = GOAL) -> rs.Finding:
        """Return the number of first weights up to the first success: a LOWER bound where no trial succeeded."""
        first, where = first_below(self.losses, goal), f"width {self.width}, depth {self.depth}"
        return rs.Finding.of(
            len(self.losses) + 1 if first is None else first + 1,
            upper=inf if first is None else None,
            name=f"first weights until success, {where}",
            definition=f"trials up to the first with a mean squared error below {goal:g} after {FIRST_EPOCHS} epochs",
            domain=f"{len(self.losses)} seeded trials",
            source="sattelberg2026",
        )

    @cached_property
    def rate(self) -> rs.Finding:
        """The share of first weights that reach the goal."""
        number = int((self.losses < GOAL).sum())
        low, high = binomtest(number, len(self.losses)).proportion_ci(0.95)
        return rs.Finding.estimate(
            number / len(self.losses),
            name=f"rate of success, width {self.width}, depth {self.depth}",
            interval=(float(low), float(high)),
            definition=f"probability of a mean squared error below {GOAL:g}; 95 % interval of Clopper and Pearson",
            domain=f"{len(self.losses)} seeded trials",
            source="sattelberg2026",
        )

    def agrees(self, tries: int | None, most: int) -> bool:
        """Return whether so many tries, or with None more than ``most``, are no surprise at some rate in the interval.

        Both tails of the geometric distribution are to have at least 2.5 %.
        """
        assert self.rate.interval is not None
        low, high = self.rate.interval
        if tries is None:
            return (1 - low) ** most >= 0.025
        return (1 - low) ** (tries - 1) >= 0.025 and 1 - (1 - high) ** tries >= 0.025

    @cached_property
    def partition(self) -> rs.Partition | None:
        """The regions of the network on [-pi, pi]."""
        return None if self.layers is None else rs.partition(rs.load(self.layers), INTERVAL)

    @cached_property
    def error(self) -> rs.Finding | None:
        """The mean squared error of the network at the training points."""
        if self.layers is None:
            return None
        found = rs.regression.fits(rs.load(self.layers), X[:, None], Y[:, None])
        root, column = found.finding("root_mean_squared_error"), found["root_mean_squared_error"]
        return rs.Finding.of(
            float(root) ** 2,
            float(column.lower[0]) ** 2,
            float(column.upper[0]) ** 2,
            name=f"mean squared error, width {self.width}, depth {self.depth}",
            domain=root.domain,
            method="square of the root mean squared error",
            source="sattelberg2026",
        )


def first_below(losses: Float[np.ndarray, " t"], goal: float) -> int | None:
    """Return the number of the first loss below a goal, from 0; losses that are not finite are not."""
    return next(iter(np.flatnonzero(losses < goal).tolist()), None)


def seeds_of(setting: Setting, width: int, depth: int, trials: int) -> Int[np.ndarray, " t"]:
    """Return the seed of every trial: the first ones are the same however many there are."""
    return np.random.default_rng([setting.seed, width, depth]).integers(2**31, size=trials)


def cell(setting: Setting, width: int, depth: int, trials: int) -> Cell:
    """Return the trials in the records, or those made now, which are put there."""
    name = f"sine-{width}x{depth}"
    record = setting.records.get(name)
    if record is None:
        record = setting.records[name] = _record(setting, width, depth, trials)
    layers = None
    if "W0" in record.arrays:
        layers = [(record.arrays[f"W{layer}"], record.arrays[f"b{layer}"]) for layer in range(depth + 1)]
    return Cell(width, depth, record.arrays["losses"], layers)


def _record(setting: Setting, width: int, depth: int, trials: int) -> Record:
    seeds = seeds_of(setting, width, depth, trials)
    stack = stacked.initialize((width,) * depth, num_inputs=1, seeds=seeds.tolist(), device=setting.device)
    points, targets = X[:, None], Y[:, None]
    begun = stacked.train(stack, points, targets, loss="mse", optimizer=DESCENT, epochs=FIRST_EPOCHS)
    arrays = {"seeds": seeds, "losses": begun.losses.cpu().numpy()}
    first = first_below(arrays["losses"], GOAL)
    if first is not None:
        chosen = begun.stack.take([first])
        done = stacked.train(chosen, points, targets, loss="mse", optimizer=DESCENT, epochs=MORE_EPOCHS)
        for layer, (weight, bias) in enumerate(done.stack.layers(0)):
            arrays |= {f"W{layer}": weight, f"b{layer}": bias}
    return Record({"width": width, "depth": depth}, arrays)
