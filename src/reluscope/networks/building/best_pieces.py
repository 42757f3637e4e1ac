"""Continuous piecewise-linear functions near smooth ones, with proved bounds on the distance.

The outer pieces are the lines that the function goes to, so that the bound holds everywhere. Between them breakpoints
lie so that all pieces have about the same error: a chord over a width h where the curvature is k is off by
``h^2 k / 8``, and half of that when it is moved by the other half (de Boor 1973; equioscillation for one piece).
"""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from jaxtyping import Float

from reluscope.errors import InputError
from reluscope.geometry.numbers.resolutions import SUMS, TINY
from reluscope.networks.building.smooth_functions import SMOOTH, SmoothFunction

# Relative to the whole mass: the least share that outer pieces begin at.
_LEAST_SHARE = 1e-15
# Breakpoints are multiples of the first, slopes of the second: intercepts are sums of products without rounding.
GRID, SLOPES = 2.0**-20, 2.0**-26
# Proofs end where the bound is at most this much above an error that is attained.
LOOSENESS = 1.01
MOST_PIECES = 512
_SAMPLES, _ROUNDS, _FARTHEST = 33, 25, 40.0


@dataclass(frozen=True)
class SmoothPieces:
    """A continuous piecewise-linear function in place of a smooth one.

    Pieces meet without rounding.
    """

    name: str  # of the smooth function
    points: Float[np.ndarray, " p"]  # breakpoints
    slopes: Float[np.ndarray, " q"]
    intercepts: Float[np.ndarray, " q"]
    error: float  # proved bound on the distance of the two, everywhere


@cache
def best_pieces(name: str, number: int) -> SmoothPieces:
    """Return a function of so many pieces near a smooth one; see the module."""
    check_number(name, number)
    function, best = SMOOTH[name], None
    ways = [_candidates(function, number, at_kinks=at_kinks) for at_kinks in {False, bool(function.kinks)}]
    for points, values in chain(*ways):
        found = _without_rounding(function, points, values)
        error = _sampled_error(function, *found)
        if best is None or error < best[0]:
            best = (error, found)
    assert best is not None
    points, slopes, intercepts = best[1]
    return SmoothPieces(name, points, slopes, intercepts, proved_error(function, points, slopes, intercepts))


def check_number(name: str, number: int) -> None:
    """Raise `InputError` unless a smooth function may be replaced by so many pieces."""
    fewest = SMOOTH[name].fewest
    if not fewest <= number <= MOST_PIECES:
        raise InputError(
            f"{name} is replaced by {fewest} to {MOST_PIECES} pieces, got {number}: give approximate={{{name!r}: 32}}"
        )


def proved_error(
    function: SmoothFunction,
    points: Float[np.ndarray, " p"],
    slopes: Float[np.ndarray, " q"],
    intercepts: Float[np.ndarray, " q"],
) -> float:
    """Return a proved bound on how far a piecewise-linear function is from a smooth one.

    The largest error on an interval of width w is at most the larger one at its ends plus ``w^2 / 8`` times a bound on
    the curvature. Intervals are halved, those of the largest bounds first.
    """
    reach = max(function.monotone_beyond, *np.abs(points).tolist()) + 1.0
    ends = [-reach, *points.tolist(), reach]
    lines = list(zip(slopes.tolist(), intercepts.tolist(), strict=True))
    attained, heap = 0.0, []

    def push(low: float, high: float, line: tuple[float, float], at_ends: tuple[float, float]) -> None:
        width = high - low
        bound = max(at_ends) + width * width / 8 * function.curvature(low, high) * (1 + SUMS)
        heapq.heappush(heap, (-bound, low, high, line, at_ends))

    for low, high, line in zip(ends[:-1], ends[1:], lines, strict=True):
        parts = [low, *(kink for kink in function.kinks if low < kink < high), high]
        errors = [function.error(x, *line) for x in parts]
        attained = max(attained, *errors)
        for place in range(len(parts) - 1):
            push(parts[place], parts[place + 1], line, (errors[place], errors[place + 1]))
    while -heap[0][0] > LOOSENESS * attained:
        _, low, high, line, (first, last) = heapq.heappop(heap)
        middle = low + (high - low) / 2
        error = function.error(middle, *line)
        attained = max(attained, error)
        push(low, middle, line, (first, error))
        push(middle, high, line, (error, last))
    # Beyond, the function comes ever closer to its line; the last piece may miss that by a rounded intercept.
    missed = [
        abs(line[1] - ideal[1]) + (math.inf if line[0] != ideal[0] else 0.0)
        for line, ideal in ((lines[0], function.left), (lines[-1], function.right))
    ]
    return math.nextafter(-heap[0][0] + 2 * max(missed), math.inf)


def _candidates(function: SmoothFunction, number: int, *, at_kinks: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield breakpoints and values there, nearer and nearer to equal errors; the outer ones at kinks if asked."""
    if number == 2:
        yield np.zeros(1), np.zeros(1)
        return
    x = np.linspace(-_FARTHEST, _FARTHEST, 80_001)
    f = function.values(x)
    tails = np.where(x < 0, f - _line(function.left, x), f - _line(function.right, x))
    density = np.sqrt(np.abs(np.gradient(np.gradient(f, x), x))) + TINY
    weight = np.ones_like(x)
    share = 1.0
    for _ in range(_ROUNDS):
        mass = np.concatenate([[0.0], np.cumsum((density * weight)[1:] * np.diff(x))])
        low, high = _LEAST_SHARE, 0.5
        for _ in range(50):  # where the outer pieces begin: their error is that of the others
            level = math.sqrt(low * high)
            first, last = _tail_ends(x, tails, share * level)
            part = (mass[last] - mass[first]) / (number - 2)
            low, high = (level, high) if part * part / 16 > level else (low, level)
        first, last = _tail_ends(x, tails, share * math.sqrt(low * high))
        points = np.interp(np.linspace(mass[first], mass[last], number - 1), mass, x)
        points[0], points[-1] = x[first], x[last]
        if at_kinks:
            points[0], points[-1] = function.kinks[0], function.kinks[-1]
        chords = _chord_errors(function, points)
        values = function.values(points)
        values[1:-1] -= (chords[:-1] + chords[1:])[: number - 3] / 4
        values[0], values[-1] = _line(function.left, points[0]), _line(function.right, points[-1])
        yield points, values
        errors = _errors_of_pieces(function, points, values)
        inner, outer = errors[1:-1], max(errors[0], errors[-1])
        typical = float(np.exp(np.log(inner).mean()))
        share *= (typical / outer) ** 0.3
        where = np.clip(np.searchsorted(points, x) - 1, 0, len(inner) - 1)
        weight *= ((inner / typical) ** 0.25)[where]


def _line(line: tuple[float, float], x: np.ndarray | float) -> np.ndarray | float:
    return line[0] * x + line[1]


def _tail_ends(x: np.ndarray, tails: np.ndarray, level: float) -> tuple[int, int]:
    """Return the outermost samples at which the function is this far from its lines."""
    beyond = np.flatnonzero(np.abs(tails) >= level)
    middle = len(x) // 2
    first, last = (beyond[0], beyond[-1]) if len(beyond) else (middle, middle)
    return int(min(first, middle - 1)), int(max(last, middle + 1))


def _chord_errors(function: SmoothFunction, points: np.ndarray) -> np.ndarray:
    """Return the largest difference of the chord and the function on every inner piece, with its sign."""
    share = np.linspace(0.0, 1.0, _SAMPLES)[None]
    f = function.values(points)
    inside = points[:-1, None] + np.diff(points)[:, None] * share
    away = f[:-1, None] + np.diff(f)[:, None] * share - function.values(inside.ravel()).reshape(inside.shape)
    return np.take_along_axis(away, np.abs(away).argmax(axis=1)[:, None], axis=1)[:, 0]


def _errors_of_pieces(function: SmoothFunction, points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the largest error on every piece, the outer ones up to some distance, at samples."""
    share = np.linspace(0.0, 1.0, _SAMPLES)[None]
    inside = points[:-1, None] + np.diff(points)[:, None] * share
    away = values[:-1, None] + np.diff(values)[:, None] * share - function.values(inside.ravel()).reshape(inside.shape)
    outer = []
    for line, end, way in ((function.left, points[0], -1.0), (function.right, points[-1], 1.0)):
        x = end + way * np.linspace(0.0, 8.0, 4 * _SAMPLES)
        outer.append(np.abs(function.values(x) - _line(line, x)).max())
    return np.concatenate([outer[:1], np.abs(away).max(axis=1), outer[1:]]) + TINY


def _without_rounding(
    function: SmoothFunction, points: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return breakpoints, slopes and intercepts so coarse that pieces meet in real arithmetic.

    Every slope leads from where the function has got to towards the next value, so that roundings do not add up.
    """
    points, values = np.round(points / GRID) * GRID, values.copy()
    values[-1] = _line(function.right, points[-1])
    slopes, intercepts = [function.left[0]], [function.left[1]]
    for place, point in enumerate(points.tolist()):
        here = slopes[-1] * point + intercepts[-1]
        if place + 1 < len(points):
            slope = round((values[place + 1] - here) / (points[place + 1] - point) / SLOPES) * SLOPES
        else:
            slope = function.right[0]
        intercepts.append(intercepts[-1] + (slopes[-1] - slope) * point)
        slopes.append(slope)
    return points, np.array(slopes), np.array(intercepts)


def _sampled_error(function: SmoothFunction, points: np.ndarray, slopes: np.ndarray, intercepts: np.ndarray) -> float:
    values = slopes[:-1] * points + intercepts[:-1]
    return float(_errors_of_pieces(function, points, values).max())
