"""A ReLU network along an interval, in fractions: its affine pieces one after the other, and what follows from them.

Layers are pairs ``(W, b)`` with a ReLU after each but the last, as `rs.load` takes them; every float64 is the fraction
that it is. Layer by layer, each piece is cut where a unit is zero. Nothing here knows of tolerances.
"""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Piece(NamedTuple):
    """The outputs ``slopes * x + constants`` from a start to an end."""

    start: Fraction
    end: Fraction
    slopes: tuple[Fraction, ...]
    constants: tuple[Fraction, ...]

    def at(self, x: Fraction, row: Sequence[Fraction]) -> Fraction:
        """Return a weighted sum of the outputs at a point."""
        return sum(
            (w * (slope * x + constant) for w, slope, constant in zip(row, self.slopes, self.constants, strict=True)),
            Fraction(0),
        )


def pieces_of(layers, low: float, high: float) -> list[Piece]:
    """Return the affine pieces of a network of one input from a low to a high end, in ascending order."""
    found = [Piece(Fraction(low), Fraction(high), (Fraction(1),), (Fraction(0),))]
    for number, (weight, bias) in enumerate(layers):
        rows = [[Fraction(float(entry)) for entry in row] for row in weight]
        shifts = [Fraction(float(entry)) for entry in bias]
        found = [_affine(piece, rows, shifts) for piece in found]
        if number < len(layers) - 1:
            found = [part for piece in found for part in _cut(piece)]
    return found


def _affine(piece: Piece, rows, shifts) -> Piece:
    slopes = tuple(sum((w * s for w, s in zip(row, piece.slopes, strict=True)), Fraction(0)) for row in rows)
    constants = tuple(
        sum((w * c for w, c in zip(row, piece.constants, strict=True)), shift)
        for row, shift in zip(rows, shifts, strict=True)
    )
    return Piece(piece.start, piece.end, slopes, constants)


def _cut(piece: Piece) -> list[Piece]:
    """Return the parts of a piece between the zeros of its entries, after a ReLU."""
    zeros = {-c / s for s, c in zip(piece.slopes, piece.constants, strict=True) if s}
    ends = [piece.start, *sorted(zero for zero in zeros if piece.start < zero < piece.end), piece.end]
    parts = []
    for start, end in itertools.pairwise(ends):
        middle = (start + end) / 2
        is_on = [s * middle + c > 0 for s, c in zip(piece.slopes, piece.constants, strict=True)]
        zero = Fraction(0)
        parts.append(
            Piece(
                start,
                end,
                tuple(s if on else zero for s, on in zip(piece.slopes, is_on, strict=True)),
                tuple(c if on else zero for c, on in zip(piece.constants, is_on, strict=True)),
            )
        )
    return parts


def length_below(pieces: list[Piece], rows, ends) -> Fraction:
    """Return the length on which every row of outputs is at most its end."""
    total = Fraction(0)
    for piece in pieces:
        start, end = piece.start, piece.end
        for row, top in zip(rows, ends, strict=True):
            weights = [Fraction(float(entry)) for entry in row]
            slope = sum((w * s for w, s in zip(weights, piece.slopes, strict=True)), Fraction(0))
            rest = Fraction(float(top)) - sum(
                (w * c for w, c in zip(weights, piece.constants, strict=True)), Fraction(0)
            )
            if slope == 0:
                end = end if rest >= 0 else start
            elif slope > 0:
                end = min(end, rest / slope)
            else:
                start = max(start, rest / slope)
        total += max(Fraction(0), end - start)
    return total


def largest(pieces: list[Piece], row) -> Fraction:
    """Return the largest value of a row of outputs."""
    weights = [Fraction(float(entry)) for entry in row]
    return max(piece.at(x, weights) for piece in pieces for x in (piece.start, piece.end))


def image_length(pieces: list[Piece]) -> Fraction:
    """Return the length of all values of a single output: it is continuous."""
    return largest(pieces, [1.0]) + largest(pieces, [-1.0])


def different_maps_in_a_row(pieces: list[Piece]) -> int:
    """Return how many intervals there are on each of which the outputs are one affine map."""
    maps = [(piece.slopes, piece.constants) for piece in pieces]
    return 1 + sum(one != other for one, other in itertools.pairwise(maps))


def ties_of_scores(pieces: list[Piece]) -> tuple[int, bool]:
    """Return at how many points a single output is 0, and whether it is 0 on a whole piece."""
    zeros: set[Fraction] = set()
    has_plateau = False
    for piece in pieces:
        (slope,), (constant,) = piece.slopes, piece.constants
        if slope == 0:
            has_plateau |= constant == 0
        elif piece.start <= -constant / slope <= piece.end:
            zeros.add(-constant / slope)
    return len(zeros), has_plateau
