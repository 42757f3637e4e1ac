"""Networks of n + 1 units trained on ball and shell, many at once, kept in the records; their decision regions."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

import reluscope as rs
from reluscope.studies import Record, Setting
from reluscope_studies import annulus, stacked

RATE, RADIUS = 0.01, 0.5
# Of an unbounded region it is told in how many of these directions it is so, at so far a point.
DIRECTIONS, FAR = 20_000, 1e6


@dataclass(frozen=True)
class Plan:
    """Which networks are trained, with Adam at rate 0.01.

    Parameters
    ----------
    dim : int
    loss : {"mse", "bce"}
    leak : float
    batch : int
    is_normalized : bool
    samples, epochs, networks : int
    goal : float
        Share of the samples that ends the training of a network.
    """

    dim: int
    loss: str
    leak: float
    batch: int
    is_normalized: bool
    samples: int
    epochs: int
    networks: int
    goal: float

    @property
    def name(self) -> str:
        """What its record is called."""
        scale = "normalized" if self.is_normalized else "plain"
        return f"networks-{self.dim}-{self.loss}-{self.leak:g}-{self.batch}-{scale}"


@dataclass(frozen=True, eq=False)
class Networks:
    """Trained networks and their data."""

    plan: Plan
    training: rs.datasets.Dataset
    weights: tuple[
        Float[np.ndarray, "k u n"], Float[np.ndarray, "k u"], Float[np.ndarray, "k 1 u"], Float[np.ndarray, "k 1"]
    ]

    def layers(self, index: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return one network as layers."""
        weight, bias, output, constant = (part[index].astype(np.float64) for part in self.weights)
        return [(weight, bias), (output, constant)]

    def accuracies(self, data: rs.datasets.Dataset) -> Float[np.ndarray, " k"]:
        """Return the share of points that each network has right."""
        assert data.labels is not None
        every = range(self.plan.networks)
        return np.array([((self._values(row, data.points) > 0) == (data.labels == 1)).mean() for row in every])

    def _values(self, index: int, points: Float[np.ndarray, "s n"]) -> Float[np.ndarray, " s"]:
        """Return the outputs of one network."""
        (weight, bias), (output, constant) = self.layers(index)
        pre = points @ weight.T + bias
        return np.where(pre > 0, pre, self.plan.leak * pre) @ output[0] + constant

    @cached_property
    def solved(self) -> np.ndarray:
        """Which networks have 95 % of the training samples right."""
        return self.accuracies(self.training) >= 0.95

    @cached_property
    def whole_regions(self) -> dict[int, annulus.DecisionRegion]:
        """Decision regions of the networks that have solved the problem."""
        rows = np.flatnonzero(self.solved).tolist()
        return {row: annulus.decision_region(self.layers(row), leak=self.plan.leak) for row in rows}

    @cached_property
    def regions(self) -> dict[int, annulus.DecisionRegion]:
        """The same; of unbounded ones only the part around the origin, where that is a polytope."""
        return {
            row: region if region.is_bounded else annulus.part_around_origin(region) or region
            for row, region in self.whole_regions.items()
        }

    @property
    def num_with_rest(self) -> int:
        """Number of networks whose decision region has parts beside the polytope around the origin."""
        return sum(self.regions[row] is not region for row, region in self.whole_regions.items())

    @cached_property
    def shapes(self) -> dict[int, annulus.Shape]:
        """Shape of each of these regions."""
        return {row: annulus.recognize(region) for row, region in self.regions.items()}

    @property
    def open_shares(self) -> dict[int, float]:
        """In which share of random directions each of the unbounded regions goes on without end; 0 is below 1/20,000.

        Of a unit vector d the network is asked at 10^6 d.
        """
        rng = np.random.default_rng(0)
        directions = rng.normal(size=(DIRECTIONS, self.plan.dim))
        far = FAR * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        rows = [row for row, shape in self.shapes.items() if shape is annulus.Shape.UNBOUNDED]
        return {row: float((self._values(row, far) <= 0).mean()) for row in rows}

    @property
    def counts(self) -> Counter[annulus.Shape]:
        """Number of decision regions of each shape."""
        return Counter(self.shapes.values())


def data_of(plan: Plan, seed: int, samples: int | None = None) -> rs.datasets.Dataset:
    """Return samples of a plan's problem, in the scale of its training samples."""
    return rs.datasets.ball_shell(
        samples or plan.samples, plan.dim, radius=RADIUS, is_normalized=plan.is_normalized, seed=seed
    )


def trained(setting: Setting, plan: Plan) -> Networks:
    """Return the networks of a plan: those of the records, or trained now and put there."""
    training = data_of(plan, 2 * setting.seed)
    record = setting.records.get(plan.name)
    if record is None:
        record = setting.records[plan.name] = _record(setting, plan, training)
    weight, bias, output, constant = (record.arrays[name] for name in ("W", "b", "a", "c"))
    return Networks(plan, training, (weight, bias, output, constant))


def _record(setting: Setting, plan: Plan, training: rs.datasets.Dataset) -> Record:
    assert training.labels is not None
    low = 0.0 if plan.loss == "bce" else -1.0
    seeds = np.random.default_rng([setting.seed, plan.dim]).integers(2**31, size=plan.networks)
    stack = stacked.initialize(
        (plan.dim + 1,), num_inputs=plan.dim, seeds=seeds.tolist(), leak=plan.leak, device=setting.device
    )
    done = stacked.train(
        stack,
        np.array(training.points),
        np.where(training.labels == 1, 1.0, low),
        loss=plan.loss,
        optimizer=partial(torch.optim.Adam, lr=RATE, fused=True),
        epochs=plan.epochs,
        batch=None if plan.batch >= plan.samples else plan.batch,
        order=setting.seed,
        goal=partial(_are_right, share=plan.goal),
        progress=lambda share: setting.progress(f"Training {plan.networks} {plan.name}", share),
    )
    arrays = {name: values.cpu().numpy() for name, values in zip("Wbac", _parts(done.stack), strict=True)}
    return Record({"epochs": done.epochs.tolist()}, arrays)


def _parts(stack: stacked.Stack) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return stack.weights[0], stack.biases[0], stack.weights[1], stack.biases[1]


def _are_right(outputs: Tensor, targets: Tensor, share: float) -> Tensor:
    return ((outputs > 0) == (targets > 0)).double().mean(dim=(1, 2)) >= share
