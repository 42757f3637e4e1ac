"""Norms of inputs: l1, l2 or linf of vectors that positive weights scale, with their dual norms and steepest steps.

The dual norm of a form g is the largest value of ``g v`` over ``|v| <= 1``; so a hyperplane ``a y = b`` is
``|b - a x| / |a|*`` away from x, with the dual norm in the denominator. ``|v| = ||w v||_p`` has the dual norm
``||g / w||_q``.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from jaxtyping import Float

from reluscope.arguments import Positive, read_arguments, read_option
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.numbers.scales import lengths, units

if TYPE_CHECKING:
    from torch import Tensor

NormName = Literal["l1", "l2", "linf"]
_ORDERS = {"l1": 1.0, "l2": 2.0, "linf": inf}
_DUALS: dict[NormName, NormName] = {"l1": "linf", "l2": "l2", "linf": "l1"}
# Weights and their inverses are normal numbers, and so are products with inputs of ordinary size.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
# Weights that are shown one by one.
FEW_WEIGHTS = 6


@read_arguments
@dataclass(frozen=True, repr=False)
class Norm:
    """A norm of inputs, ``|v| = ||w v||_p`` with a positive weight for each input.

    Parameters
    ----------
    name : {"l1", "l2", "linf"}
        The p, of 1, 2 and infinity.
    weights : (n,) sequence, optional
        One positive number per input, or per slice coordinate on a slice; by default all are 1. A weight of 2 makes
        changes of that input twice as long.

    Raises
    ------
    InputError
        If a weight is not positive and finite, or below 1e-100 or above 1e100.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> norm = rs.Norm("l2", weights=[1.0, 2.0])
    >>> float(norm.size(np.array([3.0, 2.0]))), float(norm.dual.size(np.array([3.0, 8.0])))
    (5.0, 5.0)
    """

    name: NormName
    weights: tuple[Positive, ...] | None = None

    def __post_init__(self) -> None:
        for place, weight in enumerate(self.weights or ()):
            if not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
                raise InputError(f"expected weights from 1e-100 to 1e100, got weights[{place}] = {weight:g}")

    def __repr__(self) -> str:
        if self.weights is None:
            return f"Norm({self.name!r})"
        few = len(self.weights) <= FEW_WEIGHTS
        said = self.weights if few else f"{len(self.weights)} from {min(self.weights):g} to {max(self.weights):g}"
        return f"Norm({self.name!r}, weights={said})"

    def __str__(self) -> str:
        return self.name if self.weights is None else f"weighted {self.name}"

    @classmethod
    def of(cls, norm: "NormName | Norm") -> "Norm":
        """Return a norm that may be given by its name alone."""
        return norm if isinstance(norm, Norm) else cls(read_option(norm, "norm", _ORDERS))  # pyright: ignore[reportArgumentType]

    @property
    def order(self) -> float:
        """The p of the norm: 1, 2 or infinity."""
        return _ORDERS[self.name]

    @property
    def plain(self) -> "Norm":
        """The same norm without weights."""
        return self if self.weights is None else replace(self, weights=None)

    @cached_property
    def dual(self) -> "Norm":
        """The dual norm: l1 and linf are each other's, l2 is its own, and weights are inverted."""
        weights = None if self.weights is None else tuple((1 / self._weights).tolist())
        return Norm(_DUALS[self.name], weights)

    @cached_property
    def _weights(self) -> Float[np.ndarray, "..."]:
        return np.array(1.0 if self.weights is None else self.weights)

    def check_inputs(self, number: int) -> None:
        """Raise ShapeError unless there is one weight per input."""
        if self.weights is not None and len(self.weights) != number:
            raise ShapeError(f"expected one weight per input, {number} in all, got a norm with {len(self.weights)}")

    def size(self, vectors: Float[np.ndarray, "*batch n"]) -> Float[np.ndarray, "*batch"]:
        """Return the norm of vectors along the last axis."""
        scaled = vectors if self.weights is None else vectors * self._weights
        return lengths(scaled) if self.order == 2 else np.asarray(np.linalg.norm(scaled, self.order, axis=-1))

    def steepest(self, forms: Float[np.ndarray, "s n"]) -> Float[np.ndarray, "s n"]:
        """Return for each form g a vector v of norm 1 with ``g v = |g|*``; of a zero form the zero vector.

        In l1 the first of the largest entries takes the whole step; in linf inputs that do not matter stay.
        """
        scaled = forms if self.weights is None else forms / self._weights
        if self.order == inf:
            found = np.sign(scaled)
        elif self.order == 2:
            found = units(scaled)
        else:
            found = np.zeros_like(scaled)
            every, first = np.arange(len(forms)), np.abs(scaled).argmax(axis=-1)
            found[every, first] = np.sign(scaled[every, first])
        return found if self.weights is None else found / self._weights

    def ball_sides(self, dim: int) -> Float[np.ndarray, " n"]:
        """Return half the sides of the box around a ball of radius 1."""
        return np.broadcast_to(1 / self._weights, dim)

    def size_of_ones(self, dim: int) -> float:
        """Return the largest norm of vectors with entries up to 1."""
        return float(self.size(np.ones(dim)))

    def stretch(self, dim: int) -> float:
        """Return the largest Euclidean length of vectors of norm 1."""
        sides = self.ball_sides(dim)
        return float(sides.max()) if self.order < inf else sqrt(dim) if self.weights is None else float(lengths(sides))

    def room(self, others: Float[np.ndarray, "*k n"], radius: float, slack: float) -> Float[np.ndarray, "*k n"]:
        """Return how far one coordinate gets in a ball where all others go as far as given; without weights.

        Squares of the radius are larger by a share ``slack``.
        """
        if self.order == inf:
            return np.full_like(others, radius)
        powers = others**self.order
        rest = np.maximum(powers.sum(axis=-1, keepdims=True) - powers, 0.0)
        if self.order == 1:
            return np.maximum(radius - rest, 0.0)
        return np.sqrt(np.maximum(radius**2 * (1 + slack) - rest, 0.0))

    def size_of_tensor(self, vectors: "Tensor") -> "Tensor":
        """Return the norm along the last axis; in l2 only if squares are in range; without weights."""
        if self.order == 2:
            return vectors.square().sum(-1).sqrt()
        return vectors.abs().sum(-1) if self.order == 1 else vectors.abs().amax(-1)

    def joined(self, first: "Tensor", second: "Tensor") -> "Tensor":
        """Return the norms of vectors from the norms of two parts of them."""
        if self.order == 2:
            return first.hypot(second)
        return first + second if self.order == 1 else first.maximum(second)


AnyNorm: TypeAlias = NormName | Norm
L1, L2, LINF = Norm("l1"), Norm("l2"), Norm("linf")
