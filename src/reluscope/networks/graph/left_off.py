"""What a file does last, behind the outputs of its network: a softmax, or an increasing function of each output.

It is not piecewise linear, and nothing follows it, so the network ends before it and remembers it: whatever compares
outputs with numbers that users give is about the outputs of the file.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit, log_expit, log_softmax, softmax

from reluscope.errors import InputError
from reluscope.geometry.numbers.resolutions import OUTWARD
from reluscope.networks.graph.increasing_functions import LINEAR, LOG_SIGMOID, SIGMOID, TANH, Increasing, softplus

# Of what has a value at 0 that does not depend on settings.
_AT_ZERO = {"sigmoid": "0.5", "log_sigmoid": "log 0.5", "tanh": "0"}
_INCREASING = {"sigmoid": SIGMOID, "log_sigmoid": LOG_SIGMOID, "tanh": TANH}
# How far values move at most where what they are of moves by 1; of softmaxes, where all of it does.
_STEEPEST = {"sigmoid": 0.25, "log_sigmoid": 1.0, "tanh": 1.0, "softplus": 1.0, "softmax": 0.5, "log_softmax": 2.0}
# What evaluation in float64 may lose, relatively: 45 units in the last place, where libraries promise a few.
_LOST = 1e-14
# Beyond LINEAR the softplus is less than this above x.
_JUMP = 2.1e-9


@dataclass(frozen=True)
class LeftOff:
    """A softmax, or an increasing function of each output, that a file ends with and its network does not.

    Parameters
    ----------
    name : {"sigmoid", "log_sigmoid", "tanh", "softplus", "softmax", "log_softmax"}
    shape : tuple of int
        Of what it is applied to: the network's output.
    axes : tuple of int
        Of the shape: those along which a softmax sums.
    beta : float
        Of the softplus, ``log(1 + exp(beta z)) / beta``.
    of_two : bool
        Whether the file gives the probabilities of two classes, ``1 - sigmoid(z)`` and ``sigmoid(z)``, for one output
        z: the softmax of 0 and z.

    Examples
    --------
    >>> import reluscope as rs
    >>> from torch import nn
    >>> rs.load(nn.Sequential(nn.Linear(2, 3), nn.Softmax(1))).left_off
    LeftOff(name='softmax', shape=(3,), axes=(0,), beta=1.0, of_two=False)
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()
    beta: float = 1.0
    of_two: bool = False

    @property
    def note(self) -> str:
        """What a reader should know."""
        return note_of("sigmoid" if self.of_two else self.name)

    @property
    def num_outputs(self) -> int:
        """Number of entries of one output of the file."""
        return 2 if self.of_two else prod(self.shape)

    @property
    def is_softmax(self) -> bool:
        """Whether outputs depend on each other."""
        return self.name in ("softmax", "log_softmax")

    @property
    def function(self) -> Increasing:
        """The increasing function of each output; of softmaxes, of a lead of one of two over the other."""
        if self.name == "softplus":
            return softplus(self.beta)
        return _INCREASING[{"softmax": "sigmoid", "log_softmax": "log_sigmoid"}.get(self.name, self.name)]

    @property
    def groups(self) -> Int[np.ndarray, "g k"]:
        """The flattened outputs, of which each row has those that a softmax is taken of together."""
        if self.of_two:
            return np.array([[0, 1]])
        places = np.arange(prod(self.shape)).reshape(self.shape)
        apart = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        together = prod(self.shape[axis] for axis in self.axes)
        return places.transpose(*apart, *self.axes).reshape(-1, together)

    @property
    def is_one_softmax(self) -> bool:
        """Whether it is a softmax, or its logarithm, of all outputs together: probabilities of classes."""
        return self.is_softmax and len(self.groups) == 1

    def scores(self, outputs: Float[np.ndarray, "s m"]) -> Float[np.ndarray, "s k"]:
        """Return what it is a function of, entry by entry of the file's outputs: the network's, or 0 and its one."""
        return np.concatenate([np.zeros_like(outputs), outputs], axis=1) if self.of_two else outputs

    def values(
        self, outputs: Float[np.ndarray, "s m"], errors: Float[np.ndarray, "s m"]
    ) -> tuple[Float[np.ndarray, "s k"], Float[np.ndarray, "s k"]]:
        """Return the file's outputs from those of the network, and how far off they are at most."""
        scores, doubt = self.scores(outputs), self.scores(errors)
        found, size = np.empty_like(scores), 1 + np.abs(scores)
        if not self.is_softmax:
            found = self._increased(scores)
        else:
            function = log_softmax if self.name == "log_softmax" else softmax
            for group in self.groups:
                found[:, group] = function(scores[:, group], axis=1)
                size[:, group] = size[:, group].max(axis=1, keepdims=True) + len(group)
        moved = self.moved(doubt)
        if self.name == "softplus":
            moved += np.where(self.beta * (scores + doubt) > LINEAR, _JUMP / self.beta, 0.0)
        # What is rounded before an exponential grows with it, and logarithms lose a share of what they are of.
        lost = {"log_softmax": size, "softmax": found * size, "softplus": np.abs(found) * size * max(1.0, self.beta)}
        return found, moved + _LOST * lost.get(self.name, np.abs(found)) + np.finfo(float).tiny

    def moved(self, errors: Float[np.ndarray, "s k"]) -> Float[np.ndarray, "s k"]:
        """Return how far outputs of the file move at most where scores move by so much."""
        most = np.array(errors)
        for group in self.groups if self.is_softmax else ():
            most[:, group] = most[:, group].max(axis=1, keepdims=True)
        return _STEEPEST[self.name] * most * OUTWARD

    def _increased(self, scores: Float[np.ndarray, "s k"]) -> Float[np.ndarray, "s k"]:
        match self.name:
            case "sigmoid":
                return expit(scores)
            case "tanh":
                return np.tanh(scores)
            case "log_sigmoid":
                return log_expit(scores)
        return np.logaddexp(0.0, self.beta * scores) / self.beta


def note_of(name: str) -> str:
    """Return the note for what was left off."""
    left_off = f"A trailing {name} was left off"
    if name in _AT_ZERO:
        return f"{left_off}: where it is {_AT_ZERO[name]}, the output of the network is 0."
    return f"{left_off}."


def range_of(left_off: LeftOff) -> str:
    """Return in words where outputs of a file are."""
    lower, upper = left_off.function.lower, left_off.function.upper
    if lower is None:
        return f"below {upper}"
    return f"above {lower}" if upper is None else f"between {lower} and {upper}"


def refuse_left_off(what: str, left_off: LeftOff | None, instead: str = "") -> None:
    """Raise InputError for a question about outputs if something was left off.

    Such questions are answered for the outputs of piecewise-linear functions alone.
    """
    if left_off is not None:
        advice = instead or f"ask about network.logits, whose outputs are what the {left_off.name} is given"
        raise InputError(
            f"{what} is about the outputs of the file, which ends with a {left_off.name} that the network leaves off: "
            f"{advice}"
        )
