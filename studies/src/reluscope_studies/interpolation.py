"""Functions of one variable as networks of one hidden layer, with a unit that bends at every knot but the last.

Lemma A.2.1 of Sattelberg, 2026: ``v(x) = d + sum_i a_i max(alpha (x - x_i), x - x_i)`` over the first k - 1 of k knots
has slope ``sum_(i <= j) a_i + alpha sum_(i > j) a_i`` between knots j and j + 1, so that one choice of a meets any
values at the knots. The matrix printed there as A.14 is the transposed one.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, nextafter
from sys import float_info

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import nn

from reluscope import Finding, load
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import RationalNetwork, Shown

__all__ = [
    "Interpolant",
    "error_upper",
    "errors_at",
    "interpolate",
    "least_squares",
]


@dataclass(frozen=True, eq=False, repr=False)
class Interpolant(Shown):
    """A continuous piecewise affine function of one variable as a network.

    Parameters
    ----------
    module : nn.Sequential
        Linear, ReLU or LeakyReLU, Linear, in float64; it bends at the knots but the last, exactly there.
    knots, values : (k,) float64
        Where pieces end, and the values asked for there.
    error_at_knots : Finding
        The largest difference between the network and the values, EXACT: 0, or the rounding of weights to float64.
    """

    module: nn.Sequential
    knots: Float[np.ndarray, " k"]
    values: Float[np.ndarray, " k"]
    error_at_knots: Finding

    @property
    def slopes(self) -> Float[np.ndarray, " p"]:
        """Slopes of the k - 1 pieces."""
        return np.diff(self.values) / np.diff(self.knots)

    @property
    def intercepts(self) -> Float[np.ndarray, " p"]:
        """Intercepts of the k - 1 pieces."""
        return self.values[:-1] - self.slopes * self.knots[:-1]


@read_arguments
def interpolate(knots: ArrayLike, values: ArrayLike, *, leak: float = 0.0) -> Interpolant:
    """Return a network that has given values at knots and is affine between them.

    Parameters
    ----------
    knots : (k,) array
        Increasing, at least two.
    values : (k,) array
    leak : float
        Slope of the units where they are inactive, in [0, 1); 0 is ReLU.

    Returns
    -------
    Interpolant
        With k - 1 units.

    Raises
    ------
    InputError, ShapeError
        If the knots do not increase, there are as many values as knots, or the leak is out of range.

    References
    ----------
    Sattelberg 2026, lemma A.2.1, with the matrix the right way round.

    Examples
    --------
    >>> found = interpolate([-1.0, 0.0, 2.0], [1.0, 0.0, 4.0])
    >>> found.error_at_knots.value, found.module(torch.tensor([[1.0]], dtype=torch.float64)).item()
    (0.0, 2.0)
    """
    places, targets = _read(knots, values, "knots", "values")
    if len(places) < 2 or not (np.diff(places) > 0).all():
        raise InputError(f"expected at least two knots, each greater than the one before, got {places.tolist()}")
    if not 0 <= leak < 1:
        raise InputError(f"expected a leak in [0, 1), got {leak}: 0 is ReLU, 1 would be affine")
    x, y = ([Fraction(entry) for entry in one.tolist()] for one in (places, targets))
    weights, start = _solve(x, y, Fraction(leak))
    module = _module(places[:-1].tolist(), [float(weight) for weight in weights], float(start), leak)
    worst, _ = _deviations(module, places, targets)
    finding = _exact(worst, "largest error at the knots", f"{len(x)} knots")
    return Interpolant(module, places, targets, finding)


@read_arguments
def least_squares(x: ArrayLike, y: ArrayLike, knots: ArrayLike, *, leak: float = 0.0) -> Interpolant:
    """Return the network with given knots, affine between them, that is nearest to samples.

    Parameters
    ----------
    x, y : (s,) arrays
        Samples, between the first and the last knot.
    knots : (k,) array
    leak : float
        As for `interpolate`.

    Returns
    -------
    Interpolant
        Its values at the knots have the least sum of squares over the samples, up to rounding.

    Raises
    ------
    InputError, ShapeError
        As `interpolate`; or if samples lie beyond the knots, or leave the value at a knot open.

    Examples
    --------
    >>> least_squares([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], [0.0, 2.0]).values.round(6).tolist()
    [0.333333, 0.333333]
    """
    points, targets = _read(x, y, "x", "y")
    places = read_array(knots, "knots", ndim=1)
    if len(places) < 2 or not (np.diff(places) > 0).all():
        raise InputError(f"expected at least two knots, each greater than the one before, got {places.tolist()}")
    if not len(points) or points.min() < places[0] or points.max() > places[-1]:
        raise InputError(f"expected samples between {places[0]:g} and {places[-1]:g}, the outer knots: add knots")
    # Row by row the share of every knot: hat functions.
    shares = np.stack([np.interp(points, places, hat) for hat in np.eye(len(places))], axis=1)
    values, _, rank, _ = np.linalg.lstsq(shares, targets, rcond=None)
    if rank < len(places):
        raise InputError(
            f"the samples leave the values at {len(places) - rank} of {len(places)} knots open: take fewer knots, or "
            "more samples between them"
        )
    return interpolate(places, values, leak=leak)


@read_arguments
def errors_at(found: Interpolant, x: ArrayLike, y: ArrayLike) -> tuple[Finding, Finding]:
    """Return the mean squared and the largest error at samples.

    Parameters
    ----------
    found : Interpolant
    x, y : (s,) arrays

    Returns
    -------
    tuple of Finding
        EXACT for these samples, in rational arithmetic, rounded at the end.

    Examples
    --------
    >>> found = interpolate([0.0, 2.0], [0.0, 0.0])
    >>> [float(one) for one in errors_at(found, [0.0, 1.0], [0.0, 1.0])]
    [0.5, 1.0]
    """
    points, targets = _read(x, y, "x", "y")
    if not len(points):
        raise InputError("expected at least one sample, got none")
    worst, squares = _deviations(found.module, points, targets)
    place = f"{len(points)} samples"
    return _exact(squares / len(points), "mean squared error", place), _exact(worst, "largest error", place)


@read_arguments
def error_upper(found: Interpolant, curvature: NonNegative) -> Finding:
    """Return a bound on the error between the knots, for functions that have the given values at them.

    Parameters
    ----------
    found : Interpolant
    curvature : float
        Largest absolute value of the function's second derivative: 1 for the sine.

    Returns
    -------
    Finding
        UPPER: an eighth of the curvature times the square of the longest piece, plus the error at the knots.

    Examples
    --------
    >>> error_upper(interpolate([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]), 2.0)  # x^2
    Finding(largest error between the knots: 0.25 (UPPER))
    """
    if not 0 <= curvature < inf:
        raise InputError(f"expected a bound on the second derivative, finite and not negative, got {curvature}")
    knots = [Fraction(knot) for knot in found.knots.tolist()]
    longest = max(after - before for before, after in pairwise(knots))
    worst, _ = _deviations(found.module, found.knots, found.values)
    bound = Fraction(curvature) * longest**2 / 8 + worst
    value = float(bound)
    return Finding.of(
        value if Fraction(value) >= bound else nextafter(value, inf),
        lower=-inf,
        name="largest error between the knots",
        domain=f"[{found.knots[0]:g}, {found.knots[-1]:g}]",
        method="Taylor's theorem",
    )


def _solve(x: list[Fraction], y: list[Fraction], leak: Fraction) -> tuple[list[Fraction], Fraction]:
    """Return the weights a_i and the constant d."""
    slopes = [(b - a) / (after - before) for (before, after), (a, b) in zip(pairwise(x), pairwise(y), strict=True)]
    # From one piece to the next, one unit goes from slope alpha to 1.
    rest = [(after - before) / (1 - leak) for before, after in pairwise(slopes)]
    weights = [slopes[0] - leak * sum(rest), *rest]
    start = y[0] - sum((leak * a * (x[0] - knot) for a, knot in zip(weights, x, strict=False)), Fraction(0))
    return weights, start


def _module(bends: list[float], weights: list[float], start: float, leak: float) -> nn.Sequential:
    first = nn.Linear(1, len(weights), dtype=torch.float64)
    last = nn.Linear(len(weights), 1, dtype=torch.float64)
    with torch.no_grad():
        first.weight.fill_(1.0)
        first.bias.copy_(-torch.tensor(bends, dtype=torch.float64))
        last.weight.copy_(torch.tensor([weights], dtype=torch.float64))
        last.bias.fill_(start)
    return nn.Sequential(first, nn.LeakyReLU(leak) if leak else nn.ReLU(), last)


def _deviations(module: nn.Sequential, x: np.ndarray, y: np.ndarray) -> tuple[Fraction, Fraction]:
    """Return the largest deviation at some points, and the sum of squares, exactly."""
    exact = RationalNetwork(load(module))
    outputs = (exact.output([Fraction(entry)])[0] for entry in x.tolist())
    gaps = [abs(value - Fraction(target)) for value, target in zip(outputs, y.tolist(), strict=True)]
    return max(gaps), sum((gap * gap for gap in gaps), Fraction(0))


def _exact(value: Fraction, name: str, place: str) -> Finding:
    number = float(value)
    rounding = float_info.epsilon * number
    return Finding.of(
        number, number - rounding, number + rounding, name=name, domain=place, method="rational arithmetic"
    )


def _read(one: ArrayLike, other: ArrayLike, first: str, second: str) -> tuple[np.ndarray, np.ndarray]:
    left, right = read_array(one, first, ndim=1), read_array(other, second, ndim=1)
    if left.shape != right.shape:
        raise ShapeError(f"expected as many {second} as {first}, got {len(right)} for {len(left)}")
    return left, right
