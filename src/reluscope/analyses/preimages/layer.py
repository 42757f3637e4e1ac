"""A layer ``y = gate(A x + b)``: one pointwise gate of a network, and the affine map from what is read before it.

In front of the first gate that is the input of the network; deeper down it is the output of the gates before, and x is
then any point of that space, whether earlier layers reach it or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.networks.network import Network
from reluscope.shown import Shown

Matrix = np.ndarray | scipy.sparse.csr_array

# Squares of what is larger, or of rows that are smaller without being zero, leave the range of float64.
MAX_ENTRY = 1e100
# Gate functions are inverted up to so many units in the last place.
ULPS = 8


@dataclass(frozen=True, eq=False, repr=False)
class GateLayer(Shown):
    """The function ``x -> gate(A x + b)`` of one pointwise gate.

    Parameters
    ----------
    weight : (u, n) array or scipy.sparse.csr_array
        The matrix A, one row per unit; sparse if most of a large matrix is zero.
    bias : (u,) float64
    breakpoints, slopes, intercepts : (p, u), (p + 1, u) and (p + 1, u) float64
        The gate, unit by unit, as in `reluscope.networks.graph.nodes.Pointwise`.
    name : str
        Of the gate.
    reads : tuple of str
        The values that form x, flattened and concatenated.

    Examples
    --------
    >>> import numpy as np
    >>> from reluscope.analyses.preimages.reading_layers import read_layer
    >>> layer = read_layer(([[1, 0], [0, 1]], [0, -1]))
    >>> layer.num_inputs, layer.num_units, layer(np.array([[2.0, 3.0]])).tolist()
    (2, 2, [[2.0, 2.0]])
    """

    weight: Matrix
    bias: Float[np.ndarray, " u"]
    breakpoints: Float[np.ndarray, "p u"]
    slopes: Float[np.ndarray, "q u"]
    intercepts: Float[np.ndarray, "q u"]
    name: str = "relu"
    reads: tuple[str, ...] = ("input",)

    @property
    def num_inputs(self) -> int:
        """Number of entries n of one input of the layer."""
        return self.weight.shape[1]  # pyright: ignore[reportOptionalSubscript]

    @property
    def num_units(self) -> int:
        """Number of units u."""
        return len(self.bias)

    @property
    def is_injective(self) -> bool:
        """Whether the gate gives every output at one pre-activation only: then preimages are affine subspaces."""
        real = np.isfinite(np.concatenate([np.zeros((1, self.num_units)), self.breakpoints]))
        signs = np.sign(np.where(real, self.slopes, self.slopes[0]))
        return bool((signs != 0).all() and (signs == signs[0]).all())

    def _check_units(self, values: np.ndarray, name: str) -> None:
        if values.shape[1] != len(self.bias):
            raise ShapeError(f"{name} must have one entry for each of {len(self.bias)} units, got shape {values.shape}")

    @read_arguments
    def preactivations(self, x: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s u"]:
        """Return ``A x + b`` at some points."""
        num_inputs = self.weight.shape[1]  # pyright: ignore[reportOptionalSubscript]
        if x.shape[1] != num_inputs:
            raise ShapeError(f"x must have {num_inputs} coordinates, got an array of shape {x.shape}")
        return np.asarray(self.weight @ x.T).T + self.bias

    @read_arguments
    def __call__(self, x: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s u"]:
        """Return ``gate(A x + b)`` at some points."""
        return self.apply(self.preactivations(x))

    @read_arguments
    def apply(self, pre: Float[np.ndarray, "s u"]) -> Float[np.ndarray, "s u"]:
        """Return the gate's outputs at some pre-activations."""
        self._check_units(pre, "pre")
        result = self.slopes[0] * pre + self.intercepts[0]
        for piece, threshold in enumerate(self.breakpoints, start=1):
            result = np.where(pre > threshold, self.slopes[piece] * pre + self.intercepts[piece], result)
        return result

    @read_arguments
    def intervals(self, y: Float[np.ndarray, "s u"]) -> tuple[Float[np.ndarray, "s u"], Float[np.ndarray, "s u"]]:
        """Return, unit by unit, the interval of pre-activations with the given outputs of the gate.

        Returns
        -------
        lower, upper : (s, u) float64
            Equal where the gate has one pre-activation for the output; infinite on a side without an end.

        Raises
        ------
        InputError
            If an output is not an output of the gate, or a unit has it on two separate intervals, as ``abs`` does.
        """
        self._check_units(y, "y")
        lower, upper = np.full(y.shape, np.inf), np.full(y.shape, -np.inf)
        for piece in self._inverted(y):
            fits, slack = piece.fits, piece.slack
            first = np.where(piece.steep, np.maximum(piece.low, np.minimum(piece.point, piece.high)), piece.low)
            last = np.where(piece.steep, first, piece.high)
            apart = fits & (lower <= upper) & (first > upper + slack)
            if apart.any():
                row, unit = np.argwhere(apart)[0]
                raise InputError(
                    f"expected a gate that gives each output on one interval, and unit {unit} of {self.name!r} gives "
                    f"{y[row, unit]:g} on two (at {upper[row, unit]:g} and {first[row, unit]:g}): the preimage is a "
                    "union, take the region of one input instead (rs.region)"
                )
            lower, upper = (
                np.where(fits, np.minimum(lower, first), lower),
                np.where(fits, np.maximum(upper, last), upper),
            )
        missing = lower > upper
        if missing.any():
            row, unit = np.argwhere(missing)[0]
            raise InputError(
                f"expected outputs that {self.name!r} can give, and unit {unit} of output {row} is {y[row, unit]:g}: "
                "pass what comes out of the gate, not what goes in"
            )
        return lower, upper

    @read_arguments
    def inversion_errors(self, y: Float[np.ndarray, "s u"]) -> Float[np.ndarray, " s"]:
        """Return how far the ends of `intervals` are at most from those in real arithmetic.

        Returns
        -------
        (s,) float64
            Zero for a ReLU; infinite if an output is within rounding of a flat piece and not on it, and is read as
            being there.
        """
        self._check_units(y, "y")
        found = np.zeros(len(y))
        for piece in self._inverted(y):
            # Powers of two divide without rounding.
            is_plain = (np.frexp(piece.slope)[0] % 0.5 == 0) & (piece.intercept == 0)
            is_right = np.where(
                piece.steep,
                is_plain & (piece.low <= piece.point) & (piece.point <= piece.high),
                y == piece.intercept,
            )
            errors = np.where(piece.fits & ~is_right, np.where(piece.steep, piece.slack, np.inf), 0.0)
            found = np.maximum(found, errors.max(axis=1, initial=0.0))
        return found

    def _inverted(self, y: np.ndarray) -> Iterator["_InvertedPiece"]:
        """Invert the pieces of the gate one by one, as if each had no end, and tell which outputs are theirs."""
        nowhere = np.full((1, self.num_units), np.inf)
        edges = np.concatenate([-nowhere, self.breakpoints, nowhere])
        for index, (slope, intercept) in enumerate(zip(self.slopes, self.intercepts, strict=True)):
            low, high = np.broadcast_to(edges[index], y.shape), np.broadcast_to(edges[index + 1], y.shape)
            steep = slope != 0
            point = (y - intercept) / np.where(steep, slope, 1.0)
            slack = ULPS * np.finfo(float).eps * (np.abs(y) + np.abs(intercept)) / np.where(steep, np.abs(slope), 1.0)
            fits = np.where(steep, (low - slack <= point) & (point <= high + slack), np.abs(y - intercept) <= slack)
            yield _InvertedPiece(slope, intercept, low, high, steep, point, slack, fits & (low < high))


class _InvertedPiece(NamedTuple):
    """One piece of a gate and the pre-activations at which it, or the line it is part of, gives some outputs."""

    slope: np.ndarray
    intercept: np.ndarray
    low: np.ndarray
    high: np.ndarray
    steep: np.ndarray
    point: np.ndarray
    slack: np.ndarray
    fits: np.ndarray


# What stands for a layer: a pair (A, b) for relu(A x + b).
LayerLike = GateLayer | Network | tuple[ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix, ArrayLike]


def check_rows(matrix: Matrix, what: str) -> None:
    """Refuse a matrix whose rows have lengths that cannot be squared."""
    highest = abs(matrix).max(axis=1)
    largest = np.asarray(highest if isinstance(highest, np.ndarray) else highest.toarray()).reshape(-1)
    check_sizes(largest, what)
    small = (largest > 0) & (largest < 1 / MAX_ENTRY)
    if small.any():
        raise InputError(
            f"expected rows of zeros or with an entry above {1 / MAX_ENTRY:g}, but row {int(np.argmax(small))} of "
            f"{what} has none larger than {largest[small][0]:g}: scale it, which changes no preimage"
        )


def check_sizes(values: np.ndarray, what: str) -> None:
    """Refuse numbers whose squares float64 does not hold."""
    largest = np.abs(values).max(initial=0.0)
    if largest > MAX_ENTRY:
        raise InputError(
            f"expected {what} up to {MAX_ENTRY:g} in size, got {largest:g}: scale the layer, which changes no preimage"
        )
