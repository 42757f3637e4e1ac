"""Betti numbers, and lengths of unions, in fractions."""

from collections.abc import Sequence
from fractions import Fraction

from fuzzer import true_cones as cones
from fuzzer.true_answers import MOST_SETS
from fuzzer.true_cones import RationalCone, Vector
from fuzzer.truth import (
    TooLargeError,
)


def betti_numbers(sets: Sequence[RationalCone], dimension: int) -> list[int]:
    """Return the Betti numbers of a union of closed convex sets, none empty: those of its nerve.

    Raises TooLargeError if there are many sets.
    """
    sets = _maximal(sets)
    if len(sets) > MOST_SETS[dimension]:
        raise TooLargeError
    simplices: list[dict[tuple[int, ...], RationalCone]] = [{(i,): one for i, one in enumerate(sets)}]
    for _ in range(dimension):
        upper: dict[tuple[int, ...], RationalCone] = {}
        for simplex, meet in simplices[-1].items():
            for other in range(simplex[-1] + 1, len(sets)):
                part = cones.intersection(meet, sets[other])
                if not part.is_empty:
                    upper[(*simplex, other)] = part
        simplices.append(upper)
    ranks = [0] + [_boundary_rank(list(simplices[k]), list(simplices[k - 1])) for k in range(1, dimension + 1)]
    # Of dimension d itself a closed set in a space of d dimensions has none.
    return [len(simplices[k]) - ranks[k] - ranks[k + 1] for k in range(dimension)] + [0]


def _maximal(sets: Sequence[RationalCone]) -> list[RationalCone]:
    """Return those of some convex sets that are in no other one."""
    kept: list[RationalCone] = []
    for one in sorted(sets, key=lambda cone: -cone.rank):
        if not any(_contains(other, one) for other in kept):
            kept.append(one)
    return kept


def _contains(outer: RationalCone, inner: RationalCone) -> bool:
    return all(cones.dot(row, ray) >= 0 for row in outer.rows for ray in inner.rays) and all(
        _is_on(outer, row, inner) for row in outer.rows
    )


def _is_on(outer: RationalCone, row: Vector, inner: RationalCone) -> bool:
    """Tell whether a row that vanishes on the outer set does so on the inner one."""
    if any(cones.dot(row, ray) for ray in outer.rays):
        return True
    return not any(cones.dot(row, ray) for ray in inner.rays)


def _boundary_rank(simplices: list[tuple[int, ...]], faces: list[tuple[int, ...]]) -> int:
    """Return the rank of a boundary over the field of two elements."""
    places = {face: position for position, face in enumerate(faces)}
    pivots: dict[int, int] = {}
    for simplex in simplices:
        column = 0
        for i in range(len(simplex)):
            column ^= 1 << places[simplex[:i] + simplex[i + 1 :]]
        while column:
            high = column.bit_length()
            if high not in pivots:
                pivots[high] = column
                break
            column ^= pivots[high]
    return len(pivots)


def union_length(pieces: Sequence[RationalCone]) -> float:
    """Return the total length of segments in the plane, what several share counted once; of points their number."""
    if pieces and pieces[0].length == 2:
        return float(len({piece.vertices[0] for piece in pieces}))
    lines: dict[Vector, list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]] = {}
    for piece in pieces:
        ends = sorted(piece.vertices)
        if len(ends) == 2:
            (a, b), (c, d) = ends
            row = cones.integers((b - d, c - a, a * d - b * c))
            lines.setdefault(max(row, tuple(-entry for entry in row)), []).append((ends[0], ends[1]))
    total = 0.0
    for segments in lines.values():
        start, stop = None, None
        for low, high in sorted(segments):
            if stop is None or low > stop:
                total += _length(start, stop)
                start, stop = low, high
            else:
                stop = max(stop, high)
        total += _length(start, stop)
    return total


def _length(start: Sequence[Fraction] | None, stop: Sequence[Fraction] | None) -> float:
    if start is None or stop is None:
        return 0.0
    square = sum(((a - b) ** 2 for a, b in zip(start, stop, strict=True)), Fraction(0))
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return float(square / Fraction(4) ** shift) ** 0.5 * 2.0**shift
