"""Boxes of inputs, halved again and again, with affine bounds of the outputs on each: what is known of large networks.

On a box every output is an affine function of the input up to a bounded rest (`enclose`). Bounds hold in real
arithmetic, so what they rule out does not occur.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.geometry.numbers.norms import LINF
from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.evaluation.enclosures import enclose
from reluscope.networks.network import Network
from reluscope.networks.passes.forms import Forms
from reluscope.tolerance import Tolerance

# Of a sum, relative to the magnitudes of its terms.
ROUNDING = Tolerance().rounding * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class OutputBox:
    """A box of inputs and forms of the outputs on it, in steps away from its centre."""

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    outputs: Forms

    @property
    def center(self) -> Float[np.ndarray, " n"]:
        """Midpoint."""
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> Float[np.ndarray, " n"]:
        """Half of every side, rounded up."""
        return half_sides(self.lower, self.upper)

    @property
    def volume(self) -> float:
        """Product of the sides."""
        return float(np.prod(self.upper - self.lower))

    def rows(
        self, A: Float[np.ndarray, "t m"]
    ) -> tuple[Float[np.ndarray, "t n"], Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Return linear functions of the outputs as ``G u + g``, up to a rest, with bounds on the rest."""
        forms = self.outputs
        sizes = np.abs(forms.centers) + np.abs(forms.weights) @ self.half + forms.spread
        rest = np.abs(A @ forms.noise).sum(axis=1) + np.abs(A) @ (forms.errors + ROUNDING * sizes)
        return A @ forms.weights, A @ forms.centers, rest

    def range(self, A: Float[np.ndarray, "t m"]) -> tuple[Float[np.ndarray, " t"], Float[np.ndarray, " t"]]:
        """Return bounds of linear functions of the outputs over the box."""
        slopes, middle, rest = self.rows(A)
        reach = np.abs(slopes) @ self.half + rest
        return middle - reach, middle + reach

    def axis(self, A: Float[np.ndarray, "t m"], sides: Float[np.ndarray, " n"] | None = None) -> int:
        """Return the axis along which linear functions of the outputs change most; see `axes`."""
        return axes(self.rows(A)[0][None], self.half[None], sides)[0]


def half_sides(lower: Float[np.ndarray, "*k n"], upper: Float[np.ndarray, "*k n"]) -> Float[np.ndarray, "*k n"]:
    """Return how far the rounded centre is from the ends, at most."""
    center = (lower + upper) / 2
    return np.where(lower < upper, np.nextafter(np.maximum(upper - center, center - lower), np.inf), 0.0)


def axes(
    slopes: Float[np.ndarray, "k t n"], half: Float[np.ndarray, "k n"], sides: Float[np.ndarray, " n"] | None = None
) -> list[int]:
    """Return the axes along which functions with such slopes change most on boxes.

    All inputs count for something, as a function may depend on them once others are halved. With ``sides`` of all that
    is searched, this does not depend on the inputs' units, and is a tenth.
    """
    least = 1.0 if sides is None else 0.1
    lengths = np.ones(half.shape[1]) if sides is None else np.where(sides > 0, sides, 1.0)
    weights = np.abs(slopes).sum(axis=1) * lengths
    weights = weights + np.maximum(least * weights.mean(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.argmax(half / lengths * weights, axis=1).tolist()


def middle(lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"], axis: int) -> float:
    """Return where a box is halved along an axis."""
    return float((lower[axis] + upper[axis]) / 2)


def halves(
    lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"], axis: int
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the two halves of a box along an axis, the lower one first."""
    low, high = upper.copy(), lower.copy()
    low[axis] = high[axis] = middle(lower, upper, axis)
    return (lower, low), (high, upper)


def halved(box: OutputBox, A: Float[np.ndarray, "t m"]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return the halves of a box along the side on which linear functions of its outputs depend most."""
    return halves(box.lower, box.upper, box.axis(A))


def output_box(network: Network, lower: Float[np.ndarray, " n"], upper: Float[np.ndarray, " n"]) -> OutputBox:
    """Return a box with forms of the outputs on it.

    Cost: about a forward pass for each input and each unit that may change its piece on the box.
    """
    center, half = (lower + upper) / 2, half_sides(lower, upper)
    steps = CutBall(np.inf, LINF, -half, half)
    gates = [stage.gate for stage in network.stages]
    first = [np.zeros(gate.num_units, dtype=np.int64) for gate in gates]
    last = [np.full(gate.num_units, gate.num_pieces - 1, dtype=np.int64) for gate in gates]
    found = enclose(network, center, steps, first, last, rounding=ROUNDING)
    assert found.outputs is not None  # the box is bounded
    return OutputBox(lower, upper, found.outputs)
