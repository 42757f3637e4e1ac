"""A training that is taken step by step, and whose steps can be looked at again.

The seed decides everything: first weights, batches, dropout. Steps are the same however many are taken at a time.
"""

import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from reluscope.analyses.tracking.kept_weights import arrays_of
from reluscope.datasets.dataset import Dataset
from reluscope.errors import InputError, PositionError
from reluscope.explorer.learning.batches import Batches
from reluscope.explorer.learning.draws import Draws
from reluscope.explorer.learning.kept_steps import MOST_BYTES, KeptSteps, State
from reluscope.explorer.learning.layered_model import layered_model
from reluscope.explorer.learning.learning_curve import CurvePoint, LearningCurve
from reluscope.explorer.learning.lesson import Lesson
from reluscope.explorer.learning.objective import objective_of, outputs_for
from reluscope.explorer.learning.optimisers import OPTIMISERS, Optimiser
from reluscope.explorer.learning.unit_weights import (
    FeedingLayer,
    Move,
    UnitWeights,
    feeding_layers,
    move_unit,
    read_unit,
)
from reluscope.networks.models.load import load
from reluscope.networks.network import Network
from reluscope.single_threaded import one_thread

MOST_CLASSES = 100
# Samples at which loss and accuracy are measured: at most and at least, and weights times samples in between.
MOST_MEASURED, LEAST_MEASURED, MEASURED_WORK = 2_000, 100, 20_000_000
# Samples at which layers are compared with gates.
COMPARED = 32


class Training:
    """A model in training on data with labels.

    `given` is a module to train a copy of; without it the lesson says what the model is.
    """

    def __init__(
        self, lesson: Lesson, data: Dataset, given: nn.Module | None = None, *, most_bytes: int = MOST_BYTES
    ) -> None:
        self.lesson, self.given = lesson, given
        self._draws = Draws(lesson.seed)
        with self._draws.going_on(), one_thread():
            self._model = _layered(lesson, data) if given is None else _copied(given)
            self.first = load(self._model.eval(), data=data.points)
        self.data = data.reshaped(self.first.input_shape)
        self._objective = objective_of(self.first, self.data)
        self._trained = [one for one in self._model.parameters() if one.requires_grad]
        if not self._trained:
            raise InputError("the model has no weights to train: give one that has")
        self._points = torch.as_tensor(self.data.points.copy(), dtype=self._trained[0].dtype)
        self._batches = Batches(len(self.data), lesson.seed)
        self._layers = feeding_layers(self._model, self.first, self._points[:COMPARED])
        self._optimiser: Optimiser = OPTIMISERS[lesson.optimiser](self._trained)
        self._is_by_hand = False
        self.kept, self.curve = KeptSteps(most_bytes), LearningCurve()
        self.kept.keep(0, arrays_of(self._model.state_dict()))
        self._measure()

    @property
    def step(self) -> int:
        """How many steps there are."""
        return self.kept.newest

    @property
    def is_classification(self) -> bool:
        """Whether classes are learnt."""
        return self._objective.is_classification

    @property
    def movable(self) -> tuple[bool, ...]:
        """For each gate whether the weights of its units can be moved."""
        return tuple(layer is not None for layer in self._layers)

    @property
    def samples(self) -> tuple[int, int]:
        """How many samples are learnt, and how many are held out."""
        return len(self._batches.seen), len(self._batches.unseen)

    def learn(self, count: int, stop: Callable[[], bool] = lambda: False) -> None:
        """Take so many steps, or fewer if `stop` says so.

        InputError if a step fails or leaves weights that are not finite: the step before it stays the newest.
        """
        self._model.train()
        try:
            with self._draws.going_on(), one_thread():
                for _ in range(count):
                    if stop():
                        break
                    self._take_step()
        finally:
            self._measure()

    def adjust(self, lesson: Lesson) -> None:
        """Go on with other settings of the optimiser."""
        self.lesson = lesson

    def network_at(self, step: int | None = None) -> Network:
        """Return the network after a step that is kept, by default the newest."""
        return self.first.with_parameters(self._state(step))

    def unit(self, gate: int, unit: int, step: int | None = None) -> UnitWeights:
        """Return the weights of a unit after a step; see `move` for the errors."""
        return read_unit(self._state(step), self._layer(gate, unit), unit)

    def move(self, gate: int, unit: int, move: Move, step: int | None = None) -> None:
        """Move weights of a unit by hand, from what they were after a step: this is a new step.

        Moves that follow each other are one step. InputError if there is no such unit, or no linear layer feeds it.
        """
        state = move_unit(self._state(step), self._layer(gate, unit), unit, move)
        goes_on = self._is_by_hand and step in (None, self.step)
        self._jump(self.step if goes_on else self.step + 1, state)

    def return_to(self, step: int) -> None:
        """Make the weights of an earlier step those of a new one, from which the training goes on."""
        state = self._state(step)
        if step != self.step:
            self._jump(self.step + 1, state)

    def _state(self, step: int | None) -> State:
        return self.kept.at(self.step if step is None else step)

    def _layer(self, gate: int, unit: int) -> FeedingLayer:
        gates = self.first.gates
        if not 0 <= gate < len(gates):
            raise PositionError(f"gate must be one of 0 to {len(gates) - 1}, got {gate}")
        if not 0 <= unit < gates[gate].num_units:
            raise PositionError(
                f"unit of {gates[gate].name} must be one of 0 to {gates[gate].num_units - 1}, got {unit}"
            )
        layer = self._layers[gate]
        if layer is None:
            raise InputError(
                f"no linear layer feeds the units of {gates[gate].name}, which have no weights of their own to move: "
                "choose another layer"
            )
        return layer

    def _take_step(self) -> None:
        rows = self._batches.next(self.lesson.batch_size)
        try:
            loss = self._objective.loss(self._outputs(rows), rows)
            loss.backward()
            self._optimiser.step(self.lesson.rate, self.lesson.weight_decay)
        except Exception as error:
            self._restore()
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"a training step of this model fails with {first!r}: give one that takes batches of "
                f"{self.lesson.batch_size} in training mode"
            ) from error
        state = arrays_of(self._model.state_dict())
        if not all(np.isfinite(array).all() for array in state.values()):
            failed = self.step + 1
            self._restore()
            raise InputError(
                f"step {failed} leaves weights that are not finite: choose a lower rate, and go on from an earlier step"
            )
        self._is_by_hand = False
        self.kept.keep(self.step + 1, state)

    def _outputs(self, rows: Tensor) -> Tensor:
        return self._model(self._points[rows]).reshape(len(rows), -1)

    @torch.no_grad()
    def _measure(self) -> None:
        self._model.eval()
        work = MEASURED_WORK // sum(one.numel() for one in self._trained)
        most = min(MOST_MEASURED, max(LEAST_MEASURED, work))
        found = {}
        for name, rows in (("seen", self._batches.seen), ("unseen", self._batches.unseen)):
            some = torch.from_numpy(np.ascontiguousarray(rows[:most]))
            outputs = self._outputs(some) if len(some) else None
            found[name] = (
                (None, None)
                if outputs is None
                else (float(self._objective.loss(outputs, some)), self._objective.accuracy(outputs, some))
            )
        (loss, accuracy), (unseen_loss, unseen_accuracy) = found["seen"], found["unseen"]
        assert loss is not None
        self.curve.add(CurvePoint(self.step, loss, unseen_loss, accuracy, unseen_accuracy))

    def _jump(self, step: int, state: State) -> None:
        """Make a state the newest, by hand."""
        self.kept.keep(step, state)
        self._is_by_hand = True
        self._restore()
        self._measure()

    def _restore(self) -> None:
        """Give the model the newest weights that are kept, and a fresh optimiser."""
        state = self._state(None)
        self._model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in state.items()})
        self._optimiser = OPTIMISERS[self.lesson.optimiser](self._trained)


def _layered(lesson: Lesson, data: Dataset) -> nn.Module:
    """Return the untrained model of a lesson on data."""
    num_outputs, has_classes = outputs_for(data, MOST_CLASSES)
    points = data.points.reshape(len(data), -1)
    with torch.no_grad():
        return layered_model(lesson, points, num_outputs, None if has_classes else data.targets)


def _copied(given: nn.Module) -> nn.Module:
    """Return a copy of a module to train, on this machine's processor."""
    try:
        return copy.deepcopy(given).cpu()
    except Exception as error:
        raise InputError(f"expected a model that copy.deepcopy can copy, but it fails: {error}") from error
